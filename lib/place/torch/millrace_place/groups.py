"""Modules that run again in the backward pass instead of keeping what they save, and which may."""
import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from .items import identity
from .state import Random, State, precision
from .watch import Unseen, plain

CHANGED = 'a tensor that autograd saved was changed by an inplace operation'
LEAVES = (type(None), bool, int, float, complex, str, bytes, torch.dtype, torch.device, torch.memory_format,
          torch.layout, slice, type(...))


def tensors_of(tree):
    return [x for x in tree_flatten(tree)[0] if isinstance(x, torch.Tensor)]


def unfit(module, args, kwargs):
    """Why a module cannot run twice, as far as can be told before it runs; None if it may."""
    for leaf in tree_flatten((args, kwargs))[0]:
        if not isinstance(leaf, (torch.Tensor, *LEAVES)):
            return f'is called with a {type(leaf).__name__}, which it may change'
    for m in module.modules():
        kind = type(m).__name__
        if isinstance(m, torch.jit.ScriptModule):
            return 'is TorchScript, which saves other tensors from run to run'
        if isinstance(m, (torch.nn.SyncBatchNorm, torch.nn.parallel.DistributedDataParallel)) or 'Sharded' in kind:
            return f'talks to other processes ({kind})'
        for hook in (*m._forward_hooks.values(), *m._forward_pre_hooks.values()):
            where = getattr(hook, '__module__', None) or type(hook).__module__
            if not where.startswith('torch.'):
                return f'has a hook ({getattr(hook, "__qualname__", type(hook).__name__)})'
    return None


class Input:
    """An argument of the first run."""
    __slots__ = ('handle', 'need')

    def __init__(self, host, t):
        self.handle, self.need = host.pack(t), t.requires_grad


class Inner:
    """What autograd holds in place of tensor k of a run."""
    __slots__ = ('run', 'k')

    def __init__(self, run, k):
        self.run, self.k = run, k

    def __del__(self):
        if self.run.tensors is not None:
            self.run.tensors[self.k] = None


class Run:
    """A call of a module that keeps its arguments only, and runs once more when autograd asks for what it saved.

    The graph is that of the first run; the second gives it back what it saved and nothing else, so gradients are added
    in the order of the plain step.  The second run sees random numbers, attributes and buffers as the first one saw
    them, and what it does to them is forgotten.

    host: known (identities that live anyway), changing (see State), pack, unpack; grant, ran and settle(name, run)."""

    def __init__(self, host, name, module, args, kwargs):
        self.host, self.name, self.module = host, name, module
        leaves, self.spec = tree_flatten((args, kwargs))
        given = {id(x): x for x in leaves if isinstance(x, torch.Tensor)}
        self.inputs = {key: Input(host, t) for key, t in given.items()}
        self.leaves = [self.inputs[id(x)] if isinstance(x, torch.Tensor) else x for x in leaves]
        self.saved, self.tensors, self.granted, self.extra = [], None, False, 0

    def first(self, args, kwargs):
        self.random, self.state = Random(), State(self.module, self.host.changing)
        self.precision = precision()
        versions = [(t, t._version) for t in tensors_of((args, kwargs))]
        with Unseen(), torch.autograd.graph.saved_tensors_hooks(self.pack, self.unpack):
            out = plain(self.module, args, kwargs)
        self.state.ran()
        if any(t._version != v for t, v in versions) or self.state.changed():
            raise RuntimeError(f'millrace_place: {self.name} changed its arguments, parameters or a large buffer in '
                               f'place, and the plan runs it twice: Plan(.., keep_modules=[{self.name!r}])')
        return out

    def pack(self, t):
        if identity(t) in self.host.known:
            return self.host.pack(t)
        self.saved.append((t.dtype, t.size()))
        return Inner(self, len(self.saved) - 1)

    def unpack(self, handle):
        if not isinstance(handle, Inner):
            return self.host.unpack(handle)
        if self.tensors is None:
            self.again()
        t, version = self.tensors[handle.k]
        if t._version != version:
            raise RuntimeError(CHANGED)
        return t

    def again(self):
        values = {}
        for i in self.inputs.values():
            t = self.host.unpack(i.handle).detach()
            values[id(i)] = t.requires_grad_() if i.need else t
        self.inputs = None
        if self.state.changed():
            raise RuntimeError(CHANGED)
        self.granted = True
        self.host.grant(self.name, self)
        args, kwargs = tree_unflatten([values.get(id(x), x) if isinstance(x, Input) else x for x in self.leaves],
                                      self.spec)
        self.leaves = values = None
        known, found, now = self.host.known | self.state.copies, [], Random()

        def pack(t):
            if identity(t) in known:
                return t.detach()
            found.append((t.detach(), t._version))
            return found[-1][0]
        self.random.put()
        try:
            with Unseen(), self.state, torch.enable_grad(), torch.autocast(
                    'cpu', *self.precision), torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
                plain(self.module, args, kwargs)
        finally:
            now.put()
        if [(t.dtype, t.size()) for t, _ in found] != self.saved:
            raise RuntimeError(f'millrace_place: {self.name} did something else in its second run than in its first: '
                               f'Plan(.., keep_modules=[{self.name!r}])')
        self.tensors, self.state, self.random = found, None, None
        self.host.ran(self.name, self)

    def __del__(self):
        if getattr(self, 'granted', False):
            self.host.settle(self.name, self)


def choose(calls, gain, total):
    """Modules whose second run is worth a choice of its own: none inside another, none with much more than 1/16 of all.

    calls: name -> call (fields may, children); gain: name -> bytes saved only inside and not its inputs."""
    def inside(name):
        return [g for child in calls[name].children for g in best(child)]

    def best(name):
        below = inside(name)
        if not calls[name].may or gain[name] == 0:
            return below
        if gain[name] <= total / 16 or sum(gain[g] for g in below) < gain[name] / 2:
            return [name]
        return below
    return best('')
