"""The memory of freed tensors: kept for the next ones until the process takes more than its plan needs, not before.

An allocator that gives back every large block at once makes every new tensor pay for fresh pages (a densenet step
took half as long again); one that gives back nothing keeps holes, and the peak hardly falls.  With millrace's own
(preloaded, as python3 -m millrace_place does) large blocks lie apart from small objects and leave few holes, and its
resident bytes are known exactly; the C library's heap is trimmed when the process grows beyond its target."""
import ctypes
import os

from .native import C, path

_libc = ctypes.CDLL(None)
_pages = os.sysconf('SC_PAGE_SIZE')
ours = bool(C.heap_preloaded())


def prepare():
    """glibc: tensors lie in the heap, where their memory is used again."""
    if not ours:
        _libc.mallopt(-3, 32 << 20)                      # M_MMAP_THRESHOLD, the largest that it takes


def resident():
    """Bytes of the process in memory."""
    with open('/proc/self/statm', 'rb', 0) as f:
        return int(f.read().split()[1]) * _pages


def available():
    """Bytes that the system, and the memory group of the process, can still give."""
    with open('/proc/meminfo') as f:
        free = next(int(line.split()[1]) << 10 for line in f if line.startswith('MemAvailable'))
    for limit, used in _group():
        free = min(free, max(0, limit - used))
    return free


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
            values = []
            for name in names:
                try:
                    with open(os.path.join(top, *parts[:k], name)) as f:
                        values.append(int(f.read()))
                except (OSError, ValueError):            # "max", or not there
                    pass
            if len(values) == 2 and values[0] < 1 << 60:
                yield values


def needed():
    """Bytes that the process needs now: of our heap those in use, of others what is left when holes are gone."""
    if ours:
        return C.heap_used()
    _libc.malloc_trim(0)
    return resident()


def preload():
    """The library to preload, or None."""
    return path()
