"""The C side: where tensors lie, and what moves them (lib/place/guest)."""
import ctypes
import os
import shutil

_HERE = os.path.dirname(os.path.realpath(__file__))


def path():
    """Of the library: installed beside this file, or built; None if it is nowhere."""
    program = os.environ.get('PLACE_OFFLOAD') or shutil.which('place-offload') or ''
    places = [_HERE, os.path.join(_HERE, '../../../../build/place'),
              os.path.join(os.path.dirname(os.path.realpath(program)), '../build/place')]
    for place in filter(None, [os.environ.get('MILLRACE_MOVER'), *(os.path.join(p, 'mover.so') for p in places)]):
        if os.path.exists(place):
            return os.path.realpath(place)
    return None


def _load():
    where = path()
    if where is None:
        raise RuntimeError('millrace_place: mover.so of millrace is not built (make) or not found, see MILLRACE_MOVER')
    pointer, size, number, file = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int, ctypes.c_int64
    waits, quick = ctypes.CDLL(where), ctypes.PyDLL(where)     # the first releases Python's lock, the second keeps it
    kinds = {
        'tier_write': (waits, number, [number, file, pointer, size]),
        'tier_read': (waits, pointer, [number, file, size, ctypes.c_bool, ctypes.POINTER(number)]),
        'mover_new': (quick, pointer, [number, size, size, pointer, number, pointer, number, number]),
        'mover_halt': (waits, None, [pointer]), 'mover_stop': (waits, None, [pointer]),
        'mover_resident': (quick, size, [pointer]), 'mover_most': (quick, size, [pointer]),
        'mover_stalled': (quick, ctypes.c_double, [pointer]),
        'pass_new': (quick, pointer, [pointer]), 'pass_free': (quick, None, [pointer]),
        'pass_begin': (quick, None, [pointer]),
        'mover_keep': (waits, number, [pointer, number, pointer, size, file, ctypes.POINTER(pointer)]),
        'mover_written': (quick, pointer, [pointer]),
        'mover_fetch': (waits, number, [pointer, ctypes.POINTER(pointer)]),
        'mover_peek': (waits, number, [pointer, ctypes.POINTER(pointer)]),
        'block_drop': (quick, None, [pointer]), 'mover_grant': (quick, None, [pointer, number]),
        'mover_settle': (quick, None, [pointer, number]), 'mover_extra': (quick, None, [pointer, file]),
        'heap_give': (quick, None, [pointer]),
        'heap_preloaded': (quick, number, []), 'heap_adopt': (quick, number, [ctypes.c_char_p]),
        'heap_used': (quick, size, []), 'heap_resident': (quick, size, []),
        'heap_most': (quick, size, []), 'heap_refused': (quick, size, []),
        'heap_cap': (quick, None, [size]), 'heap_bound': (quick, None, [size])}

    Library = type('Library', (), {})
    for name, (library, result, arguments) in kinds.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
        setattr(Library, name, staticmethod(function))
    return Library


C = _load()
ROOM_LATER = -1
