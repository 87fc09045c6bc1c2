"""What rests while a layer is at work, in the tier: the state of optimisers (momentum, Adam's two averages) from the
beginning of a step of the model until somebody asks for it, and gradients from when they are made to the end of the
backward pass.  Only where a limit of the process cannot be kept without.

Whoever asks an optimiser for its state, itself, state_dict(), a copy, finds all of it back in memory."""
import collections
import os
from collections.abc import MutableMapping

import torch

from .items import LARGE, StorageWeakRef, ordinary, rebuild, storage_bytes, storage_of, view_of


def _large(t):
    """A tensor that is alone on its memory."""
    return (isinstance(t, torch.Tensor) and ordinary(t) and t._base is None and not t.requires_grad
            and storage_bytes(t) == t.numel() * t.element_size() >= LARGE)


class Places:
    """Of tensors that left; back() puts them where they were."""

    def __init__(self, file):
        self.file, self.of, self.process = file, [], os.getpid()

    def leave(self, t, put):
        """put(t): to where t came from."""
        n, at = storage_bytes(t), self.file.slot(storage_bytes(t))
        self.file.write(at, t.data_ptr(), n)
        self.of.append((put, at, n, view_of(t), StorageWeakRef(storage_of(t))))
        put(None)

    def back(self):
        if self.of and os.getpid() != self.process:
            raise RuntimeError('millrace_place: what the optimizer keeps is with the process that this is a fork of')
        while self.of:                                   # who still has one may have changed it: it is that one
            put, at, n, view, alive = self.of.pop()
            held = torch.UntypedStorage._new_with_weak_ptr(alive.cdata)
            memory = self.file.read(at, n) if held is None else torch.empty(0, dtype=torch.uint8).set_(held)
            put(rebuild(memory, view).detach())
            self.file.give_back(at, n)


class Away(MutableMapping):
    """In place of optimizer.state: the first question brings it back.  inside: what it was."""

    def __init__(self, optimizer, file):
        self.optimizer, self.inside, self.places = optimizer, optimizer.state, Places(file)
        for inner in self.inside.values():
            for key in [k for k, t in inner.items() if _large(t)] if isinstance(inner, dict) else ():
                self.places.leave(inner[key], lambda t, inner=inner, key=key: inner.__setitem__(key, t))
        optimizer.state = self

    def back(self):
        self.places.back()
        if self.optimizer.state is self:
            self.optimizer.state = self.inside
        return self.inside

    def __getitem__(self, key):
        return self.back()[key]

    def __setitem__(self, key, value):
        self.back()[key] = value

    def __delitem__(self, key):
        del self.back()[key]

    def __iter__(self):
        return iter(self.back())

    def __len__(self):
        return len(self.back())

    def __reduce_ex__(self, protocol):
        return self.back().__reduce_ex__(protocol)


def send(optimizers, file):
    for o in optimizers:
        if type(o.state) is collections.defaultdict:
            Away(o, file)


def resting(optimizers):
    """Bytes that are away."""
    return sum(n for o in optimizers if isinstance(o.state, Away) for _, _, n, *_ in o.state.places.of)


class Gradients:
    """Of one backward pass, from its beginning."""

    def __init__(self, model, file):
        self.places, self.queued, self.hooks = Places(file), False, []
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            return                                       # others look at gradients while they are made
        with torch.enable_grad():
            for p in model.parameters():
                if p.requires_grad and p.is_leaf and p.numel() * p.element_size() >= LARGE:
                    node = p.expand_as(p).grad_fn.next_functions[0][0]
                    self.hooks.append(node.register_hook(lambda *_, p=p: self.made(p)))

    def made(self, p):
        if not self.queued:
            torch.autograd.Variable._execution_engine.queue_callback(self.end)
        self.queued = True
        if _large(p.grad):
            self.places.leave(p.grad, lambda g: setattr(p, 'grad', g))

    def end(self):
        for hook in self.hooks:
            hook.remove()
        self.places.back()
        self.hooks = []
