"""The slow memory: a file beside the page cache, with slots for storages and page-aligned buffers to read them into."""
import collections
import ctypes
import mmap
import os
import threading
import time
import weakref

import torch

UNIT, CHUNK = 4096, 8 << 20
SPARE_BYTES = 32 << 20                                   # buffers kept for the next reads


def up(n):
    return (n + UNIT - 1) // UNIT * UNIT


def _in_memory(directory):
    """A file system that lives in memory takes O_DIRECT and saves nothing."""
    best, kind = '', ''
    with open('/proc/self/mounts') as mounts:
        for line in mounts:
            where, what = line.split()[1:3]
            where = where.encode().decode('unicode_escape')
            if (directory + '/').startswith(where.rstrip('/') + '/') and len(where) >= len(best):
                best, kind = where, what
    return kind in ('tmpfs', 'ramfs')


class Buffers:
    """Page-aligned memory; a buffer comes back when the last tensor on it dies."""

    def __init__(self):
        self.free, self.spare, self.lock = collections.defaultdict(list), 0, threading.Lock()

    def get(self, n):
        n = up(n)
        with self.lock:
            m = self.free[n].pop() if self.free[n] else None
            self.spare -= n if m else 0
        if m is None:
            m = mmap.mmap(-1, n, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)   # shared memory has no huge pages
            m.madvise(mmap.MADV_HUGEPAGE)
        view = memoryview(m)
        weakref.finalize(view, self._back, n, m)
        return view

    def _back(self, n, m):
        with self.lock:
            if self.spare + n <= SPARE_BYTES:
                self.free[n].append(m)
                self.spare += n


class File:
    """Slots of a file without a name: it is gone with the process, however that ends."""

    def __init__(self, directory):
        directory = os.path.realpath(directory)
        if _in_memory(directory):
            raise ValueError(f'{directory} is memory itself (tmpfs): nothing would be saved; see tier=')
        try:
            self.fd = os.open(directory, os.O_RDWR | os.O_TMPFILE | os.O_DIRECT, 0o600)
        except OSError as e:
            raise OSError(e.errno, f'{directory}: no file for direct input and output can be made here: {e.strerror}')
        self.buffers, self.end, self.lock = Buffers(), 0, threading.Lock()
        self.slots = collections.defaultdict(list)
        self.bounce = mmap.mmap(-1, CHUNK, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.bounce_at = ctypes.addressof(ctypes.c_char.from_buffer(self.bounce))
        self.writing = threading.Lock()

    def slot(self, n):
        n = up(n)
        with self.lock:
            if self.slots[n]:
                return self.slots[n].pop()
            self.end += n
            return self.end - n

    def give_back(self, at, n):
        with self.lock:
            self.slots[up(n)].append(at)

    def write(self, at, address, n):
        """Whole pages of memory that begins with a page go out as they lie, the rest through a buffer (glibc aligns
        tensors to 64 bytes only); memmove and pwrite run without the GIL."""
        with self.writing:
            done = 0
            if address % UNIT == 0 and n >= UNIT:
                done = n // UNIT * UNIT
                self._all(os.pwrite, memoryview((ctypes.c_char * done).from_address(address)), at)
            while done < n:
                part = min(CHUNK, n - done)
                ctypes.memmove(self.bounce_at, address + done, part)
                self._all(os.pwrite, memoryview(self.bounce)[:up(part)], at + done)
                done += part

    def read(self, at, n):
        view = self.buffers.get(n)
        for done in range(0, up(n), CHUNK):
            self._all(lambda part, offset: os.preadv(self.fd, [part], offset), view[done:done + CHUNK], at + done)
        return torch.frombuffer(view, dtype=torch.uint8)[:n]

    def _all(self, call, part, offset):
        while len(part):
            k = call(self.fd, part, offset) if call is os.pwrite else call(part, offset)
            if k <= 0:
                raise OSError('the tier gave fewer bytes than were written')
            part, offset = part[k:], offset + k

    def rates(self, n=64 << 20):
        """Bytes per second of reads and writes of n bytes, the better of two; first writes are not counted."""
        source, at, best = torch.ones(n, dtype=torch.uint8), self.slot(n), [0, 0]
        self.write(at, source.data_ptr(), n)
        for _ in range(2):
            for k, call in enumerate((lambda: self.read(at, n), lambda: self.write(at, source.data_ptr(), n))):
                start = time.perf_counter()
                call()
                best[k] = max(best[k], n / (time.perf_counter() - start))
        self.give_back(at, n)
        return best

    def __del__(self):
        if hasattr(self, 'fd'):
            os.close(self.fd)
