"""A step that obeys a plan: what is sent away goes to the tier when it is saved and comes back before it is used."""
import atexit
import ctypes
import errno
import os
import weakref

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from .groups import identity, storage_bytes, storage_of
from .native import C, ROOM_LATER
from .tier import tensor_at

CHANGED = 'a tensor that autograd saved was changed by an inplace operation'
STOPPED = ('millrace_place: this plan moves nothing any more: the program ends, '
           'or this process was forked after it was made')
_movers = weakref.WeakSet()


@atexit.register
def _halt():
    """Before Python takes its objects apart, in any order: nobody may still write from their memory."""
    for mover in list(_movers):
        C.mover_halt(mover.c)


class Saved:
    """One storage that autograd saved.  Dies with the last handle; its bytes then count no more."""
    __slots__ = ('step', 'block', 'bytes', 'away', 'version', 'at', 'tensor', 'alive', '__weakref__')

    def __init__(self, step, block, t, n, version, at):
        self.step, self.block, self.bytes, self.version, self.at = step, block, n, version, at
        self.away, self.tensor = at is not None, None
        self.alive = StorageWeakRef(storage_of(t))       # so that no other storage takes its identity

    def __del__(self):
        if self.block is not None:
            C.block_drop(self.block)
        if self.at is not None:
            self.step.mover.file.give_back(self.at, self.bytes)


class Handle:
    """What autograd holds in place of the tensor."""
    __slots__ = ('saved', 'tensor', 'version', 'view')

    def __init__(self, saved, tensor, version, view):
        self.saved, self.tensor, self.version, self.view = saved, tensor, version, view


class Mover:
    """The two threads between memory and the file (lib/place/plugin/mover.h)."""

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
        self.out = {}                                    # block -> (saved, tensor) while it is written

    resident = property(lambda self: C.mover_resident(self.c))
    most = property(lambda self: C.mover_most(self.c))
    stalled = property(lambda self: C.mover_stalled(self.c))

    def drain(self):
        """Lets go of what was written."""
        while True:
            block = C.mover_written(self.c)
            if block is None:
                return
            saved, t = self.out.pop(block)
            if t._version != saved.version:
                raise RuntimeError(CHANGED)

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
        self.table, self.count, self.known, self.begun = {}, 0, plan.known(), False
        self.c = C.pass_new(self.mover.c)
        if not self.c:
            raise RuntimeError(STOPPED)

    def __del__(self):
        if self.c:
            C.pass_free(self.c)

    # ---- forward

    def pack(self, t):
        key, version = identity(t), t._version
        if key in self.known or self.begun or t.device.type != 'cpu' or t.layout != torch.strided:
            return Handle(None, t.detach(), version, None)
        s = self.table.get(key)
        s = s and s()
        if s is None:
            s = self.save(t, version)
            self.table[key] = weakref.ref(s)
        if s.away:
            return Handle(s, None, version, (t.dtype, t.size(), t.stride(), t.storage_offset()))
        return Handle(s, t.detach(), version, None)

    def save(self, t, version):
        plan, mover, number, n = self.plan, self.mover, self.count, storage_bytes(t)
        self.count += 1
        fits = number < len(plan.bytes) and plan.bytes[number] == n
        if fits and plan.outside[number]:
            return Saved(self, None, t, n, version, None)
        mover.drain()
        at = mover.file.slot(n) if fits and number in plan.away else None
        address = None if at is None else t.data_ptr() - t.storage_offset() * t.element_size()
        block = ctypes.c_void_p()
        while not mover.judge(C.mover_keep(self.c, number, address, n, -1 if at is None else at, block)):
            pass
        s = Saved(self, block.value, t, n, version, at)
        if at is not None:
            mover.out[block.value] = s, t.detach()
        return s

    # ---- backward

    def begin(self):
        if not self.begun:
            self.begun = True
            self.table.clear()
            self.mover.drain()
            C.pass_begin(self.c)

    def unpack(self, handle):
        self.begin()
        s, t = handle.saved, handle.tensor
        if t is not None:
            if t._version != handle.version:
                raise RuntimeError(CHANGED)
            return t
        if s.tensor is None:
            self.mover.drain()
            at = ctypes.c_void_p()
            while not self.mover.judge(C.mover_fetch(s.block, at)):
                pass
            s.tensor = tensor_at(at.value, s.bytes)
        dtype, size, stride, offset = handle.view
        return s.tensor.view(dtype).as_strided(size, stride, offset)

    def around(self, name):
        step, group = self, self.mover.group.get(name)

        class Around:
            def __enter__(self):
                if group is not None:
                    C.mover_grant(step.c, group)

            def __exit__(self, *_):
                if group is not None:
                    C.mover_settle(step.c, group)
        return Around()
