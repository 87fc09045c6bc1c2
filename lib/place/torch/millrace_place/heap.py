"""The memory of freed tensors: kept for the next ones until the process takes more than its plan needs, not before.

An allocator that gives back every large block at once makes every new tensor pay for fresh pages (a densenet step
took half as long again); one that gives back nothing keeps holes, and the peak hardly falls.  With millrace's own large
blocks lie apart from small objects and leave few holes, and its resident bytes are known exactly.  PyTorch's tensors
come from it as soon as this is imported (its library is told to ask ours), or from the start where it is preloaded
(python3 -m millrace_place).  Where neither can be, the C library's heap is trimmed when the process grows."""
import contextlib
import ctypes
import os

import torch                                             # its library is there before it is told to ask ours

from .native import C

_libc = ctypes.CDLL(None)
_pages = os.sysconf('SC_PAGE_SIZE')
ours = bool(C.heap_preloaded() or (os.environ.get('MILLRACE_HEAP') != 'libc' and C.heap_adopt(b'libc10.so')))


def prepare():
    """glibc: tensors lie in the heap, where their memory is used again."""
    if not ours:
        _libc.mallopt(-3, 32 << 20)                      # M_MMAP_THRESHOLD, the largest that it takes


def resident():
    """Bytes of the process in memory."""
    with open('/proc/self/statm', 'rb', 0) as f:
        return int(f.read().split()[1]) * _pages


def tidy():
    """Gives back what is free."""
    if ours:
        C.heap_cap(1)
        C.heap_cap(0)
    _libc.malloc_trim(0)


def top(bytes_):
    """Holes go back to the system from here on; None: they are kept."""
    if ours:
        C.heap_cap(cap(bytes_) if bytes_ else 0)


def bound(bytes_):
    """The process stays below: what would take it above is refused."""
    if ours:
        C.heap_bound(max(bytes_ - beside(), 1))


@contextlib.contextmanager
def bounded(bytes_):
    """MemoryError(bytes that the process would have taken) inside, before the system kills it."""
    if not ours:
        yield
        return
    bound(bytes_)
    try:
        yield
    except (RuntimeError, OSError) as e:
        refused = C.heap_refused()
        if refused:
            raise MemoryError(beside() + refused) from e
        raise
    finally:
        C.heap_bound(0)


def beside():
    """Bytes of the process that are not in our heap."""
    return resident() - (C.heap_resident() if ours else 0)


def available():
    """Bytes that the system, and the memory group of the process, can still give."""
    with open('/proc/meminfo') as f:
        free = next(int(line.split()[1]) << 10 for line in f if line.startswith('MemAvailable'))
    for limit, used in _group():
        free = min(free, max(0, limit - used))
    return free


def _number(path):
    with open(path) as f:
        return int(f.read())


def _group():
    """(limit, used) of the memory groups that the process is in, of both kinds."""
    try:
        with open('/proc/self/cgroup') as f:
            rows = [line.rstrip('\n').split(':', 2) for line in f]
    except OSError:
        return
    for _, kinds, where in rows:
        if kinds == 'memory':
            top, names = '/sys/fs/cgroup/memory', ('memory.limit_in_bytes', 'memory.usage_in_bytes')
        elif not kinds:
            top, names = '/sys/fs/cgroup', ('memory.max', 'memory.current')
        else:
            continue
        parts = where.strip('/').split('/')
        for k in range(len(parts) + 1):
            folder = os.path.join(top, *parts[:k])
            try:
                limit, used = (_number(os.path.join(folder, name)) for name in names)
                with open(os.path.join(folder, 'memory.stat')) as f:
                    stat = dict(line.split() for line in f)
            except (OSError, ValueError):                # "max", or not there
                continue
            files = sum(int(stat.get(name, 0)) for name in ('inactive_file', 'active_file'))
            if limit < 1 << 60:
                yield limit, max(0, used - files)


def cap(bytes_):
    """What the mover is to keep so that the process takes so much: of our heap, or of all where that is not used."""
    return max(bytes_ - bytes_ // 64 - beside(), 1) if ours else bytes_


def needed():
    """Bytes that the process needs beside what is read aside, the most since the last call, without holes."""
    if ours:
        return beside() + C.heap_most()
    _libc.malloc_trim(0)
    return resident()
