"""Record where the time of a Python program goes: Python, C libraries, operations, phases.

    import millrace_prof as prof
    prof.start("out/run")                  # done by prof-record for unchanged scripts
    with prof.operation("train"):          # operations nest, per thread
        ...
    prof.phase("evaluation"); prof.end_pass(); prof.progress(0.5)

Functions are recorded in place where that is possible; see record_module and wrap.  Read the logs with prof-log.
"""
import atexit
import fnmatch
import importlib.machinery
import sys
import threading

import _millrace as _rec
from _millrace import disable, dropped, enable, end_pass, operation, phase, progress

op = operation
_rules = []                                               # (pattern of module.name, category); the first match counts
_simulators = ("pybullet*", "mujoco*", "atari_py*", "ale_py*", "Box2D*", "*_box2d*")
_started = False


def category_of(full_name):
    """Category that the rules give to module.name, None for: not recorded."""
    for pattern, category in _rules:
        if fnmatch.fnmatchcase(full_name, pattern):
            return category
    return None


def wrap(module, pattern, category="Backend"):
    """Record the callables of a module whose names match: builtins in place, others by a wrapper.  Returns how many."""
    if isinstance(module, str):
        module = importlib.import_module(module)
    name = getattr(module, "__name__", type(module).__name__)
    done = 0
    for key in fnmatch.filter(dir(module), pattern):
        target = getattr(module, key, None)
        if not callable(target) or (isinstance(target, type) and key != pattern):
            continue
        if not _rec.patch(target, name, key, category):
            setattr(module, key, _rec.wrap(target, name, key, category))
        done += 1
    return done


def unwrap(module, pattern="*"):
    """Undo wrap."""
    for key in fnmatch.filter(dir(module), pattern):
        target = getattr(module, key, None)
        if type(target) is _rec.wrapper:
            setattr(module, key, target.__wrapped__)
        elif callable(target):
            _rec.unpatch(target)


def wrapped(target, name=None, category="Backend"):
    """A recorded stand-in for one callable; category Python for callbacks that C calls."""
    return _rec.wrap(target, getattr(target, "__module__", "") or "", name or getattr(target, "__name__", "?"), category)



def record_module(module):
    """Record in place the builtins of an extension module for which there is a rule."""
    name = module.__name__
    if name == "_millrace":
        return
    if name == "_ctypes":
        category = category_of("ctypes.*")
        if category:
            _rec.hook_ctypes(module.CFuncPtr, category)
        return
    for key, target in list(vars(module).items()):
        if key.startswith("__") or not callable(target):
            continue
        category = category_of(name + "." + key)
        if category:
            _rec.patch(target, name, key, category)


class _Loader(importlib.machinery.ExtensionFileLoader):
    def exec_module(self, module):
        super().exec_module(module)
        record_module(module)


class _BuiltinLoader:
    """The loader of modules that live in the interpreter, which are recorded once they are there."""

    def __getattr__(self, name):
        return getattr(importlib.machinery.BuiltinImporter, name)

    def exec_module(self, module):
        importlib.machinery.BuiltinImporter.exec_module(module)
        record_module(module)


class _BuiltinFinder:
    """Stands first."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        spec = importlib.machinery.BuiltinImporter.find_spec(name)
        if spec:
            spec.loader = _BuiltinLoader()
        return spec


class _Finder:
    """Stands right before the finder of files and records extension modules as they are imported."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec and type(spec.loader) is importlib.machinery.ExtensionFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def start(directory, rules=None, tree=False, defaults=True, enabled=True):
    """Record to a directory.  rules: [(pattern, category)] on module.name; defaults: C functions of extension modules
    outside the standard library, and foreign functions of ctypes; tree: Python's call tree as well (slower)."""
    global _started
    _rules[:] = list(rules or [])
    if defaults:
        _rules.extend((p, "Simulator") for p in _simulators)
        _rules.append(("ctypes.*", "Backend"))
        _rules.extend((m + sep, None) for m in sys.stdlib_module_names for sep in (".*",))
        _rules.append(("*", "Backend"))
    _rec.start(directory, tree)
    if not _started:
        _started = True
        at = next((i for i, f in enumerate(sys.meta_path) if f is importlib.machinery.PathFinder), len(sys.meta_path))
        sys.meta_path.insert(at, _Finder)
        sys.meta_path.insert(0, _BuiltinFinder)
        threading.setprofile(lambda *_: _rec.new_thread())
        atexit.register(disable)
    for pattern, category in rules or []:                 # modules that live in the interpreter itself
        module = pattern.rsplit(".", 1)[0]
        if category and module in sys.builtin_module_names:
            importlib.import_module(module)
    for module in list(sys.modules.values()):
        spec = getattr(module, "__spec__", None)
        if isinstance(getattr(spec, "loader", None), importlib.machinery.ExtensionFileLoader) \
                or getattr(module, "__name__", "") in sys.builtin_module_names:
            record_module(module)
    if enabled:
        enable()


def stop():
    disable()


class Profiler:
    """The original toolkit's interface: collect only between enable_profiling and disable_profiling."""

    def __init__(self, directory="checkpoints", bench_names=None, num_calls=None, tree=False, rules=None, **ignored):
        self.directory, self.bench_names, self.num_calls = directory, bench_names, num_calls
        if not _started:
            start(directory, rules=rules, tree=tree, enabled=False)
        else:
            disable()

    def enable_profiling(self, bench_name=None):
        enable()
        self._operation = operation(bench_name) if bench_name else None
        if self._operation:
            self._operation.__enter__()

    def disable_profiling(self, bench_name=None):
        if self._operation:
            self._operation.__exit__(None, None, None)
        end_pass()
        disable()

    def dump(self, *ignored):
        """Nothing is left to do: records are on their way as soon as they are made."""

    operation = staticmethod(operation)
    phase = staticmethod(phase)
    set_phase = staticmethod(phase)
