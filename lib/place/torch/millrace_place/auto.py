"""A plan for a script that says nothing of one: the first training step is watched, the rest obeys.

The first step sends away everything large at once, so it fits where later ones do.  In it are seen: which module is
called by the script itself and saves most, with what arguments, and what gradients come back to its outputs.  The same
call with the same gradients is the step that the plan is made, and proved, with; the memory of what is saved outside of
it (a loss, other models) is left free."""
import dataclasses
import sys
import time
from collections.abc import Mapping

import torch

from . import heap
from .limit import Limit, spelled
from .record import Record
from .state import precision
from .tier import File
from .watch import Watching, hooks, plain


def found_in(thing, depth=6):
    """Tensors in whatever a model returns."""
    if isinstance(thing, torch.Tensor):
        return [thing]
    if isinstance(thing, Mapping):
        inside = list(thing.values())
    elif isinstance(thing, (list, tuple, set)):
        inside = list(thing)
    elif dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        inside = list(vars(thing).values())
    else:
        return []
    return [t for x in inside for t in found_in(x, depth - 1)] if depth else []


class Seen:
    """A call of a module by the script itself."""

    def __init__(self, module, args, kwargs):
        self.module, self.args, self.kwargs, self.gradients, self.bytes, self.calls = module, args, kwargs, {}, 0, 0
        self.precision = precision()

    def out(self, out):
        self.calls += 1
        for k, t in enumerate(found_in(out)):
            if t.requires_grad and self.calls == 1:
                t.register_hook(lambda g, k=k: self.gradients.__setitem__(k, g))

    def step(self):
        with torch.autocast('cpu', *self.precision):
            out = found_in(plain(self.module, self.args, self.kwargs))
        return sum((out[k] * g).sum() for k, g in self.gradients.items())


class Auto:
    """From start() to stop(): the modules that this thread trains are watched, the largest gets a plan."""

    def __init__(self, limit='auto', tier='/var/tmp', out=None, **how):
        Limit(limit)                                     # wrong words are wrong now, not after the first step
        self.limit, self.tier, self.how, self.file = limit, tier, how, File(tier)
        self.plan, self.root, self.calls, self.record, self.hooks, self.busy = None, None, {}, None, None, False
        self.outside, self.steps, self.begun, self.out = 0, 0, time.time(), out or sys.stderr

    def start(self):
        heap.prepare()
        self.watching, self.backward = Watching(self.see), torch.autograd.backward
        self.watching.__enter__()
        torch.autograd.backward = self.back
        return self

    def stop(self):
        self.pause()
        torch.autograd.backward = self.backward
        self.watching.__exit__()

    __enter__ = start

    def __exit__(self, *_):
        self.stop()

    def see(self, module, args, kwargs):
        if self.busy or not torch.is_grad_enabled() or not any(p.requires_grad for p in module.parameters()):
            return plain(module, args, kwargs)
        self.busy = True
        try:
            if self.plan is not None:
                return self.obey(module, args, kwargs)
            if self.record is None:
                self.watch(module)
            seen = self.calls.setdefault(module, Seen(module, args, kwargs))
            before = self.record.saved_bytes()
            out = plain(module, args, kwargs)
            seen.bytes += self.record.saved_bytes() - before
            seen.out(out)
            return out
        finally:
            self.busy = False

    def obey(self, module, args, kwargs):
        if module is not self.root:
            return plain(module, args, kwargs)
        with self.plan:
            return plain(module, args, kwargs)

    def watch(self, module):
        self.record = Record(module, self.file)
        self.record.top = Limit(self.limit).process
        self.record.zero = time.perf_counter()
        self.hooks = hooks(self.record.pack, self.record.unpack)
        self.hooks.__enter__()

    def pause(self):
        if self.hooks is not None:
            self.hooks.__exit__()
            self.hooks = None

    def back(self, *args, **kwargs):
        """In place of torch.autograd.backward."""
        first = self.hooks is not None
        self.pause()
        result = self.backward(*args, **kwargs)
        if self.plan is not None:
            self.steps += 1
        elif first:
            self.make()
        return result

    def make(self):
        from . import Plan
        calls = [s for s in self.calls.values() if s.gradients]
        total, self.calls = self.record.saved_bytes(), {}
        for s in self.record.storages:
            if s.at is not None:
                self.file.give_back(s.at, s.bytes)
        self.record = None
        if not calls:
            return
        best = max(calls, key=lambda s: s.bytes)
        self.busy, torch.autograd.backward = True, self.backward
        try:
            self.plan = Plan(best.module, best.step, self.limit, tier=self.tier,
                             extra_bytes=total - best.bytes // best.calls, **self.how)
        finally:
            self.busy, torch.autograd.backward = False, self.back
        self.root = best.module
        self.say(f'{spelled(self.plan.limit_bytes)} of {spelled(self.plan.saved_bytes)} that a step of '
                 f'{type(self.root).__name__} saves stay in memory: {len(self.plan.away)} tensors leave, '
                 f'{len(self.plan.again)} modules run twice; a step takes {self.plan.objective_seconds:.3g} s for '
                 f'{self.plan.plain_seconds:.3g} as planned; {self.plan.proof or "not proved"}')

    def say(self, text):
        print('millrace_place: ' + text, file=self.out, flush=True)

    def report(self):
        """What it cost."""
        with open('/proc/self/status') as f:
            peak = next(int(line.split()[1]) << 10 for line in f if line.startswith('VmHWM'))
        if self.plan is None:
            self.say(f'no training step was seen; the process took {spelled(peak)}')
            return
        p = self.plan
        over = ', exceeded' if p.wanted.process and peak > p.wanted.process else ''
        self.say(f'{self.steps} steps; the process took {spelled(peak)}, limit {self.limit}{over}; at most '
                 f'{spelled(p.most_bytes)} of saved tensors stayed; {p.stalled_seconds:.3g} s were waited for the disk'
                 + (f'; {spelled(p.unmatched_bytes)} were not as in the step that was recorded' if p.unmatched_bytes
                    else ''))
