"""A step that obeys a plan: what is sent away goes to the tier when it is saved and comes back before it is used."""
import atexit
import ctypes
import errno
import os
import threading
import weakref

import torch

from .groups import CHANGED, Run
from .items import LARGE, Item, Peeked, clash, identity, ordinary, rebuild, storage_bytes, view_of
from .native import C, ROOM_LATER
from .rest import Gradients
from .tier import tensor_at
from .watch import Watching, hooks, plain

STOPPED = ('millrace_place: this plan moves nothing any more: the program ends, '
           'or this process was forked after it was made')
_movers = weakref.WeakSet()


@atexit.register
def _halt():
    """Before Python takes its objects apart, in any order: nobody may still write from their memory."""
    for mover in list(_movers):
        C.mover_halt(mover.c)


class Saved(Item):
    """An item that autograd saved.  Dies with the last handle; its bytes then count no more."""
    __slots__ = ('step', 'block', 'away', 'at', 'tensor', 'spoiled', 'view')

    def __init__(self, step, t):
        super().__init__(t)
        self.step, self.block, self.away, self.at, self.tensor, self.spoiled = step, None, False, None, None, False
        self.view = None

    def __del__(self):
        if self.block is not None:
            C.block_drop(self.block)
            if not self.away:
                self.step.plan.kept_bytes -= self.bytes
        if self.at is not None:
            self.step.mover.file.give_back(self.at, self.bytes)


class Handle:
    """What autograd holds in place of the tensor."""
    __slots__ = ('saved', 'tensor', 'version', 'view', '__weakref__')

    def __init__(self, saved, tensor, version, view):
        self.saved, self.tensor, self.version, self.view = saved, tensor, version, view


class Mover:
    """The two threads between memory and the file (lib/place/guest/mover.h)."""

    def __init__(self, file, limit, cap, order, workspace, blocks):
        self.file, self.limit = file, limit
        self.group = {name: k for k, name in enumerate(workspace)}
        turns = [which if what == 'read' else ~self.group[which]
                 for what, which in order if what == 'read' or which in self.group]
        self.c = C.mover_new(file.fd, limit, cap, (ctypes.c_int32 * len(turns))(*turns), len(turns),
                             (ctypes.c_uint64 * len(workspace))(*workspace.values()), len(workspace), blocks)
        if not self.c:
            raise RuntimeError('millrace_place: no memory or no threads for the mover')
        weakref.finalize(self, C.mover_stop, self.c).atexit = False
        _movers.add(self)
        self.out, self.lock = {}, threading.Lock()       # block -> (saved, tensor, version) while it is written

    resident = property(lambda self: C.mover_resident(self.c))
    most = property(lambda self: C.mover_most(self.c))
    stalled = property(lambda self: C.mover_stalled(self.c))

    def drain(self):
        """Lets go of what was written."""
        while True:
            block = C.mover_written(self.c)
            if block is None:
                return
            with self.lock:
                saved = self.out.pop(block, None)
                if saved is None:                        # another thread has not said yet what it is
                    self.out[block] = None
                    continue
            self.over(*saved)

    def sent(self, block, *saved):
        """Holds a tensor until it is written."""
        with self.lock:
            early = block in self.out
            if early:
                del self.out[block]
            else:
                self.out[block] = saved
        if early:
            self.over(*saved)

    @staticmethod
    def over(saved, t, version):
        saved.spoiled = t._version != version            # an error where it is used, as in the plain step

    def judge(self, result):
        """True: done.  False: once more."""
        if result == errno.ECANCELED:
            raise RuntimeError(STOPPED)
        if result > 0:
            raise RuntimeError('millrace_place: the tier failed') from OSError(result, os.strerror(result))
        if result == ROOM_LATER:
            self.drain()
        return result == 0


class Step:
    """From `with plan:` to the end of the backward pass."""

    def __init__(self, plan):
        self.plan, self.mover = plan, plan.mover
        self.table, self.count, self.known, self.begun, self.strange = {}, 0, plan.known(), False, False
        self.changing, self.inside, self.peeked = plan.changing, False, Peeked()
        self.c = C.pass_new(self.mover.c)
        if not self.c:
            raise RuntimeError(STOPPED)

    def __del__(self):
        if self.c:
            C.pass_free(self.c)

    def contexts(self):
        return self, Watching(self.see), hooks(self.pack, self.unpack)

    def __enter__(self):
        self.inside = True

    def __exit__(self, *_):
        self.inside = False

    # ---- forward

    def see(self, module, args, kwargs):
        name = self.plan.twice.get(module)
        if name is None or self.begun or not torch.is_grad_enabled():
            return plain(module, args, kwargs)
        return Run(self, name, module, args, kwargs).first(args, kwargs)

    def pack(self, t):
        version = t._version
        if not ordinary(t) or identity(t) in self.known:
            return Handle(None, t.detach(), version, None)
        same = self.table.setdefault(identity(t), [])
        for ref in same:
            s = ref()
            if s is not None and s.has(t):
                break
        else:
            s, kept = self.peeked.find(t)
            if s is not None:
                return Handle(s, kept, version if kept is None else kept._version, view_of(t))
            s = self.save(t)
            same.append(weakref.ref(s))
        if not s.away:
            return Handle(s, t.detach(), version, None)
        return Handle(s, None, version, s.view or view_of(t))

    def save(self, t):
        """The decision for the n-th save of the recorded step; more is sent away where the limit asks for it."""
        plan, mover, number = self.plan, self.mover, self.count
        self.count += 1
        s = Saved(self, t)
        if not self.begun and not plan.as_recorded(number, s):
            self.strange = True
        elif not self.begun and plan.outside[number]:
            return s
        mover.drain()
        leaves = number in plan.away and s.sendable and not s.small()
        room = plan.limit_bytes - (plan.largest if self.strange else 0)
        if plan.kept_bytes + s.bytes > room and s.sendable and s.bytes >= LARGE:
            leaves = True
        leaves = leaves and not self.begun and number not in plan.stay and not clash(
            [s, *filter(None, (ref() for ref in self.table[identity(t)]))])
        address = holder = at = None
        if leaves:
            at = mover.file.slot(s.bytes)
            address, holder, view = s.content(t)
            s.view = None if s.whole else view
        block = ctypes.c_void_p()
        while not mover.judge(C.mover_keep(self.c, number, address, s.bytes, -1 if at is None else at, block)):
            pass
        s.block, s.away, s.at = block.value, leaves, at
        if leaves:
            mover.sent(block.value, s, holder, holder._version)
        else:
            plan.kept_bytes += s.bytes
        return s

    # ---- backward

    def begin(self):
        if not self.begun:
            self.begun = True
            self.table.clear()
            self.mover.drain()
            if self.plan.rests:
                self.plan.gradients = Gradients(self.plan.model, self.mover.file)
            C.pass_begin(self.c)

    def peek(self, handle):
        """What leaves is read for a while; it stays away."""
        s, n, at = handle.saved, handle.saved.bytes, ctypes.c_void_p()
        while not self.mover.judge(C.mover_peek(s.block, at)):
            pass
        memory = tensor_at(at.value, n, lambda: C.mover_extra(self.c, -n))
        self.peeked.add(memory, s)
        return rebuild(memory, handle.view)

    def unpack(self, handle):
        s, t = handle.saved, handle.tensor
        if not (self.inside and self.plan.inner):
            self.begin()
        if t is not None:
            if t._version != handle.version:
                raise RuntimeError(CHANGED)
            if s is not None and not self.begun:
                self.peeked.add(t, s, handle)
            return t
        if not self.begun:
            return self.peek(handle)
        if s.tensor is None:
            self.mover.drain()
            at = ctypes.c_void_p()
            while not self.mover.judge(C.mover_fetch(s.block, at)):
                pass
            s.tensor = tensor_at(at.value, s.bytes)
        if s.spoiled:
            raise RuntimeError(CHANGED)
        return rebuild(s.tensor, handle.view)

    # ---- modules that run twice

    def grant(self, name, run):
        C.mover_grant(self.c, self.mover.group[name])

    def ran(self, name, run):
        """Another shape takes other room than was recorded."""
        if self.strange:
            held = {identity(t): storage_bytes(t) for t, _ in run.tensors}
            run.extra = sum(held.values()) - self.plan.workspace[name]
            C.mover_extra(self.c, run.extra)

    def settle(self, name, run):
        C.mover_extra(self.c, -run.extra)
        C.mover_settle(self.c, self.mover.group[name])
