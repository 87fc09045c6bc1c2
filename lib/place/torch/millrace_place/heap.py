"""The memory of freed tensors: given back to the system when the process grows beyond what its plan needs, not before.

An allocator that gives back every large block at once makes every new tensor pay for fresh pages (a densenet step
took half as long again); one that gives back nothing keeps holes, and the peak hardly falls.  So freed memory is kept
for the next tensor until the process takes more than `target` bytes; then holes go.  With tcmalloc (preloaded, as
python3 -m millrace_place does) large blocks lie apart from small objects and leave smaller holes than in glibc's heap."""
import ctypes
import glob
import os

STEP, ONCE = 32 << 20, 8 << 20                           # given back beyond need, so that it is not done all the time;
                                                         # at once: tcmalloc lets nobody allocate meanwhile
_libc = ctypes.CDLL(None)
_tcmalloc = hasattr(_libc, 'MallocExtension_ReleaseToSystem')
if _tcmalloc:
    _libc.MallocExtension_ReleaseToSystem.argtypes = [ctypes.c_size_t]
_pages = os.sysconf('SC_PAGE_SIZE')


def prepare():
    """glibc: tensors lie in the heap, where their memory is used again.  No effect on other allocators."""
    _libc.mallopt(-3, 32 << 20)                          # M_MMAP_THRESHOLD, the largest that it takes


def resident():
    """Bytes of the process in memory."""
    with open('/proc/self/statm', 'rb', 0) as f:
        return int(f.read().split()[1]) * _pages


def tidy(target):
    """Gives holes back if the process takes more than target bytes."""
    over = resident() - target
    if over > 0:
        if _tcmalloc:
            for _ in range(0, over + STEP, ONCE):
                _libc.MallocExtension_ReleaseToSystem(ONCE)
        else:
            _libc.malloc_trim(0)


def preload():
    """tcmalloc's file, or None."""
    found = glob.glob('/usr/lib/*/libtcmalloc_minimal.so.[0-9]') + glob.glob('/usr/lib64/libtcmalloc_minimal.so.[0-9]')
    return sorted(found)[0] if found else None
