"""A step that obeys a plan: what is sent away goes to the tier when it is saved and comes back before it is used."""
import collections
import threading
import time
import weakref

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from . import heap
from .groups import identity, storage_bytes


class Saved:
    """One storage that autograd saved.  Dies with the last handle; its bytes then count no more."""

    def __init__(self, step, number, t, away):
        self.step, self.number, self.bytes, self.away = step, number, storage_bytes(t), away
        self.version, self.at, self.written, self.loading = t._version, None, False, False
        self.tensor, self.resident = None, self.bytes
        self.alive = StorageWeakRef(t.untyped_storage() if hasattr(t, 'untyped_storage') else t.storage())

    def __del__(self):
        self.step.mover.release(self.resident)
        if self.at is not None:
            self.step.mover.file.give_back(self.at, self.bytes)


class Handle:
    """What autograd holds in place of the tensor."""
    __slots__ = ('saved', 'tensor', 'version', 'view')

    def __init__(self, saved, tensor, version, view):
        self.saved, self.tensor, self.version, self.view = saved, tensor, version, view


class Mover:
    """Two threads between memory and the file, and the account of the bytes that saved tensors take."""

    def __init__(self, file, limit, target):
        self.file, self.limit, self.target = file, limit, target
        self.lock = threading.Condition(threading.RLock())
        self.out, self.step, self.trouble = collections.deque(), None, None
        self.resident = self.most = self.over = 0
        self.stalled = 0.
        for work in (self.write_all, self.read_all):
            threading.Thread(target=self.guard, args=(work,), daemon=True).start()

    def guard(self, work):
        try:
            work()
        except BaseException as e:
            with self.lock:
                self.trouble = e
                self.lock.notify_all()

    def take(self, n):                                   # lock held
        self.resident += n
        self.most = max(self.most, self.resident)

    def release(self, n):
        with self.lock:
            self.resident -= n
            self.lock.notify_all()

    def wait(self, ready):                               # lock held
        start = time.perf_counter()
        while not ready():
            if self.trouble:
                raise RuntimeError('millrace_place: the tier failed') from self.trouble
            self.lock.wait()
        self.stalled += time.perf_counter() - start

    def write_all(self):
        while True:
            with self.lock:
                while not self.out:
                    self.lock.wait()
                s, t = self.out[0]
            self.file.write(s.at, t.data_ptr() - t.storage_offset() * t.element_size(), s.bytes)
            with self.lock:
                changed = t._version != s.version
                self.out.popleft()
                s.written, s.resident = True, 0
                self.release(s.bytes)
                if changed:
                    raise RuntimeError('a tensor that autograd saved was changed by an inplace operation')
            del s, t
            heap.tidy(self.target)

    def read_all(self):
        while True:
            with self.lock:
                while not (self.step and self.step() and self.step().next_ready()):
                    self.lock.wait()
                step = self.step()
                s = step.start_next()
            if s is not None:
                heap.tidy(self.target)
                t = self.file.read(s.at, s.bytes)
                with self.lock:
                    s.tensor = t
                    self.lock.notify_all()
                del t
            del s, step


class Step:
    """From `with plan:` to the end of the backward pass."""

    def __init__(self, plan):
        self.plan, self.mover = plan, plan.mover
        self.table, self.count, self.known = {}, 0, plan.known()
        self.waiting, self.wanted, self.begun = {}, None, False
        self.todo = collections.deque(plan.order)
        self.grants, self.granted = {}, set()

    # ---- forward

    def pack(self, t):
        key, version = identity(t), t._version
        if key in self.known or t.device.type != 'cpu' or t.layout != torch.strided or self.begun:
            return Handle(None, t.detach(), version, None)
        s = self.table.get(key)
        s = s and s()
        if s is None:
            number, n = self.count, storage_bytes(t)
            self.count += 1
            fits = number < len(self.plan.bytes) and self.plan.bytes[number] == n
            away = fits and number in self.plan.away
            m = self.mover
            with m.lock:
                if not (fits and self.plan.outside[number]):
                    m.wait(lambda: m.resident + n <= m.limit or not m.out)
                    m.take(n)
                    s = Saved(self, number, t, away)
                    if away:
                        s.at = m.file.slot(n)
                        self.waiting[number] = weakref.ref(s)
                        m.out.append((s, t.detach()))
                        m.lock.notify_all()
                else:
                    s = Saved(self, number, t, False)
                    s.resident = 0
            self.table[key] = weakref.ref(s)
        if s.away:
            return Handle(s, None, version, (t.dtype, t.size(), t.stride(), t.storage_offset()))
        return Handle(s, t.detach(), version, None)

    # ---- backward

    def begin(self):
        if not self.begun:
            with self.mover.lock:
                self.begun = True
                self.table.clear()
                self.mover.step = weakref.ref(self)
                self.mover.lock.notify_all()

    def next_ready(self):                                # lock held: is there something to read now?
        while self.begun and self.todo:
            what, which = self.todo[0]
            if what == 'group':
                n = self.plan.workspace.get(which, 0)
                if which not in self.granted and self.mover.resident + n > self.mover.limit:
                    return False
                return True
            s = self.waiting.get(which)
            s = s and s()
            if s is None or s.loading:                   # gone, or never sent
                self.todo.popleft()
                continue
            return s.written and (self.wanted == which or self.mover.resident + s.bytes <= self.mover.limit)
        return False

    def start_next(self):                                # lock held
        what, which = self.todo.popleft()
        if what == 'group':
            self.grant(which)
            return None
        s = self.waiting[which]()
        if s is None:
            return None
        s.loading, s.resident = True, s.bytes
        self.mover.take(s.bytes)
        return s

    def grant(self, name):                               # lock held
        if name not in self.granted:
            self.granted.add(name)
            self.grants[name] = self.plan.workspace.get(name, 0)
            self.mover.take(self.grants[name])

    def unpack(self, handle):
        self.begin()
        s, m = handle.saved, self.mover
        if handle.tensor is not None:
            if handle.tensor._version != handle.version:
                raise RuntimeError('a tensor that autograd saved was changed by an inplace operation')
            return handle.tensor
        with m.lock:
            if s.tensor is None:
                if not s.loading:                        # out of the recorded order: this one first
                    self.todo.appendleft(('read', s.number))
                    self.waiting[s.number] = weakref.ref(s)
                self.wanted = s.number
                m.lock.notify_all()
                m.wait(lambda: s.tensor is not None)
                self.wanted = None
            dtype, size, stride, offset = handle.view
            return s.tensor.view(dtype).as_strided(size, stride, offset)

    def around(self, name):
        step, m = self, self.mover

        class Around:
            def __enter__(self):
                with m.lock:
                    step.grant(name)

            def __exit__(self, *_):
                m.release(step.grants.pop(name, 0))
        return Around()
