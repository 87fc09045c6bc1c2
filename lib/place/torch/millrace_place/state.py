"""What a module, or the random numbers, are before a run, so that the run can be made again as it was."""
import collections
import random
import sys

import torch

from .items import identity, storage_bytes

SMALL = 65536
_CONTAINERS = (list, dict, set, collections.deque, collections.OrderedDict, collections.defaultdict)
_PLAIN = {k for k in torch.nn.Module().__dict__ if k not in ('_parameters', '_buffers')}


def precision():
    """torch.autocast as it is: its arguments."""
    return torch.get_autocast_cpu_dtype(), torch.is_autocast_cpu_enabled()


class Random:
    """All generators that a module may draw from."""

    def __init__(self):
        self.torch, self.python = torch.get_rng_state(), random.getstate()
        numpy = sys.modules.get('numpy')
        self.numpy = numpy and numpy.random.get_state()

    def put(self):
        torch.set_rng_state(self.torch)
        random.setstate(self.python)
        if self.numpy:
            sys.modules['numpy'].random.set_state(self.numpy)


class State:
    """The attributes of a module and of all inside it: by reference, containers and buffers by value.

    changing: identities of large buffers that a run changes; other large ones are only looked after.  None: all are
    left alone."""

    def __init__(self, module, changing):
        self.before, self.copies, self.watched = [], set(), []
        for m in module.modules():
            had = {}
            for key, v in m.__dict__.items():
                had[key] = v.copy() if type(v) in _CONTAINERS and key not in _PLAIN else v
            had['_buffers'] = dict(m._buffers)
            if changing is not None:
                had['_buffers'] = {k: self._buffer(b, changing) for k, b in had['_buffers'].items()}
            self.watched += [(p, p._version) for p in m._parameters.values() if p is not None]
            self.before.append((m, had))

    def _buffer(self, b, changing):
        if b is None:
            return None
        if storage_bytes(b) > SMALL and identity(b) not in changing:
            self.watched.append((b, b._version))
            return b
        copy = b.detach().clone()
        self.copies.add(identity(copy))
        return copy

    def ran(self):
        """After the run: buffers that it left alone need no copies."""
        for m, had in self.before:
            for k, copy in had['_buffers'].items():
                b = m._buffers.get(k)
                if (copy is not None and b is not None and b is not copy and b.shape == copy.shape
                        and torch.equal(b, copy)):
                    self.copies.discard(identity(copy))
                    self.watched.append((b, b._version))
                    had['_buffers'][k] = b

    def changed(self):
        """Is something else now that cannot be put back?"""
        return any(t._version != version for t, version in self.watched)

    def __enter__(self):
        """Everything as it was before the run; once.  Only what differs is touched: other threads may run modules."""
        self.now = [(m, had, self._put(m, had)) for m, had in self.before]

    @staticmethod
    def _put(m, had):
        now = dict(m.__dict__)
        for key, v in had.items():
            if key not in now or (now[key] is not v and not (type(v) in _CONTAINERS and _alike(v, now[key]))):
                m.__dict__[key] = v
        for key in now.keys() - had.keys():
            m.__dict__.pop(key, None)
        return now

    def __exit__(self, *_):
        for m, _, now in self.now:
            self._put(m, now)
        self.before, self.now = [], None


def _alike(a, b):
    """Two containers with the same things."""
    if type(a) is not type(b) or len(a) != len(b):
        return False
    if isinstance(a, dict):
        return all(k in b and b[k] is v for k, v in a.items())
    return all(x in b for x in a) if isinstance(a, set) else all(x is y for x, y in zip(a, b))


def _print(v, depth):
    if isinstance(v, torch.Tensor):
        return id(v), v._version if not v.is_inference() else 0
    if v is None or isinstance(v, (bool, int, float, complex, str, bytes, torch.nn.Module, type)) or depth == 0:
        return v if isinstance(v, (bool, int, float, complex, str, bytes)) else id(v)
    if isinstance(v, dict):
        return id(v), tuple((id(k), _print(x, depth - 1)) for k, x in list(v.items())[:1000])
    if isinstance(v, (list, tuple, set, frozenset, collections.deque)):
        return id(v), tuple(_print(x, depth - 1) for x in list(v)[:1000])
    if hasattr(v, '__dict__') and not callable(v):
        return id(v), _print(vars(v), depth - 1)
    return id(v)


def marks(module):
    """Fingerprints of the objects that modules hold and State cannot put back: (module, attribute) -> fingerprint."""
    found = {}
    for name, m in module.named_modules():
        for key, v in m.__dict__.items():
            if key in _PLAIN or key in ('_parameters', '_buffers') or isinstance(v, torch.Tensor):
                continue
            if isinstance(v, torch.Generator):
                found[name, key] = v.get_state().sum().item()
            elif isinstance(v, _CONTAINERS + (tuple,)):
                found[name, key] = tuple(_print(x, 3) for x in list(v.values() if isinstance(v, dict) else v)[:1000]
                                         if not isinstance(x, (bool, int, float, str, torch.Tensor, type(None))))
            elif hasattr(v, '__dict__') and not callable(v) and not isinstance(v, type):
                found[name, key] = _print(v, 3)
    return found
