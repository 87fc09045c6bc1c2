"""The slow memory: a file beside the page cache, with slots for storages."""
import collections
import ctypes
import os
import time
import weakref

import torch

from . import heap
from .native import C

UNIT = 4096


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


def tensor_at(address, n, then=None):
    """The n bytes there as a tensor; freed with the last tensor on them, then then() is called."""
    memory = (ctypes.c_ubyte * n).from_address(address)
    if then:                                             # finalizers run last first
        weakref.finalize(memory, then).atexit = False
    weakref.finalize(memory, C.heap_give, address).atexit = False
    return torch.frombuffer(memory, dtype=torch.uint8)


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
        self.end, self.slots = 0, collections.defaultdict(list)

    def slot(self, n):
        n = up(n)
        if self.slots[n]:
            return self.slots[n].pop()
        self.end += n
        return self.end - n

    def give_back(self, at, n):
        self.slots[up(n)].append(at)

    def write(self, at, address, n):
        error = C.tier_write(self.fd, at, address, n)
        if error:
            raise OSError(error, f'the tier cannot be written: {os.strerror(error)}')

    def read(self, at, n, aside=False):
        """aside: heap.needed() does not count it."""
        error = ctypes.c_int()
        address = C.tier_read(self.fd, at, n, aside, error)
        if not address:
            raise OSError(error.value, f'the tier cannot be read: {os.strerror(error.value)}')
        return tensor_at(address, n)

    def rates(self, room):
        """Bytes per second of reads and writes, the better of two, of what is small beside the memory that there is;
        first writes are not counted."""
        n = max(1 << 20, min(32 << 20, heap.available() // 8, room // 8)) // UNIT * UNIT
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
