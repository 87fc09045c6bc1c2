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


def needed():
    """Bytes that the process needs now: of our heap those in use, of others what is left when holes are gone."""
    if ours:
        return C.heap_used()
    _libc.malloc_trim(0)
    return resident()


def preload():
    """The library to preload, or None."""
    return path()
