"""Starts the recorder in every Python process that prof-record's environment reaches, then hands on to the next
sitecustomize on the path, which this one hides."""
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))


def _next_sitecustomize():
    import _frozen_importlib as bootstrap                 # importlib itself would make the start longer
    import _frozen_importlib_external as external
    path = [p for p in sys.path if os.path.abspath(p or ".") != _here]
    spec = external.PathFinder.find_spec("sitecustomize", path)
    if spec and spec.loader:
        spec.loader.exec_module(bootstrap.module_from_spec(spec))


def _refuse(why):
    """The program that prof-record was asked for is not begun; one that it starts later runs unrecorded."""
    version = "%d.%d" % sys.version_info[:2]
    known = (3, 9) <= sys.version_info[:2] <= (3, 13)
    sys.stderr.write("millrace recorder: %s has nothing for Python %s (%s); %s\n" % (
        _here, version, why, "make python PYTHON=" + sys.executable if known else "it can be built for 3.9 to 3.13"))
    if os.environ.get("MILLRACE_PROF_MAIN") == str(os.getpid()):
        sys.stderr.flush()
        os._exit(1)


def _start():
    import millrace_prof
    millrace_prof.start(
        os.environ["MILLRACE_PROF_DIR"],
        rules=[(r.rpartition("=")[0] or r, r.rpartition("=")[2] if "=" in r else "Backend")
               for r in os.environ.get("MILLRACE_PROF_RULES", "").split("\n") if r],
        tree=os.environ.get("MILLRACE_PROF_TREE") == "1",
        defaults=os.environ.get("MILLRACE_PROF_DEFAULTS") != "0",
        judge=int(os.environ.get("MILLRACE_PROF_JUDGE", "0")),
        enabled=os.environ.get("MILLRACE_PROF_WAIT") != "1")


if sys.version_info >= (3, 5):
    _next_sitecustomize()
if os.environ.get("MILLRACE_PROF_DIR"):
    try:
        import _millrace
    except ImportError as e:
        _refuse(e)
    else:
        if not _millrace.filtered():                      # what a filter lets pass is not known
            _start()
