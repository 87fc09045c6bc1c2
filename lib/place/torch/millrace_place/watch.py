"""Calls of modules, seen while a step is recorded or obeys a plan; the model itself is not touched.

torch.nn.Module.__call__ is ours as long as somebody watches, and does nothing in threads where nobody does.  So a copy
of the model is a copy, torch.save writes what it always wrote, and nothing is left behind."""
import sys
import threading

import torch
from torch.nn import Module

_lock = threading.Lock()
_here = threading.local()
_watchers, _plain = 0, None
_compiling = getattr(getattr(torch, 'compiler', None), 'is_compiling', bool)     # what is compiled is one piece


def _call(module, *args, **kwargs):
    see = None if _compiling() else getattr(_here, 'see', None)
    if see is None:
        return _plain(module, *args, **kwargs)
    return see(module, args, kwargs)


def plain(module, args, kwargs):
    """The call as it is without us."""
    call = Module.__call__ if _plain is None else _plain
    return call(module, *args, **kwargs)


def outside(function):
    """torch.compile is not to compile it."""
    compiler = sys.modules.get('torch._dynamo')
    return compiler.disable(function) if compiler else function


def hooks(pack, unpack):
    """For what autograd saves."""
    return torch.autograd.graph.saved_tensors_hooks(outside(pack), outside(unpack))


class Watching:
    """In its context see(module, args, kwargs) is called in place of every module of this thread."""

    def __init__(self, see):
        self.see = outside(see)

    def __enter__(self):
        global _watchers, _plain
        with _lock:
            if _watchers == 0:
                _plain, Module.__call__ = Module.__call__, _call
            _watchers += 1
        self.before, _here.see = getattr(_here, 'see', None), self.see

    def __exit__(self, *_):
        global _watchers, _plain
        _here.see = self.before
        with _lock:
            _watchers -= 1
            if _watchers == 0:
                Module.__call__, _plain = _plain, None


class Unseen:
    """Nobody watches this thread for a while."""

    def __enter__(self):
        self.before, _here.see = getattr(_here, 'see', None), None

    def __exit__(self, *_):
        _here.see = self.before
