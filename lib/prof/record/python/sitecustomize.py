"""Starts the recorder in every Python process that prof-record's environment reaches, then hands on to the next
sitecustomize on the path, which this one hides."""
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))


def _next_sitecustomize():
    import importlib.machinery
    import importlib.util
    path = [p for p in sys.path if os.path.abspath(p or ".") != _here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec and spec.loader:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


_next_sitecustomize()
try:
    if os.environ.get("MILLRACE_PROF_DIR"):
        import millrace_prof
except ImportError as e:                                  # another Python: the program runs all the same
    sys.stderr.write("millrace recorder: %s; this is Python %d.%d, not recorded\n" % ((e,) + sys.version_info[:2]))
else:
    if os.environ.get("MILLRACE_PROF_DIR"):
        millrace_prof.start(
            os.environ["MILLRACE_PROF_DIR"],
            rules=[(r.rpartition("=")[0] or r, r.rpartition("=")[2] if "=" in r else "Backend")
                   for r in os.environ.get("MILLRACE_PROF_RULES", "").split("\n") if r],
            tree=os.environ.get("MILLRACE_PROF_TREE") == "1",
            defaults=os.environ.get("MILLRACE_PROF_DEFAULTS") != "0",
            judge=int(os.environ.get("MILLRACE_PROF_JUDGE", "0")),
            enabled=os.environ.get("MILLRACE_PROF_WAIT") != "1")
