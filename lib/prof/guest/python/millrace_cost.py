"""Cost of recording a call.

    millrace_cost.py PROGRAM DENSITY MODE DIR     one run; prints  total_ns,calls  of the measured loop
        MODE: bare | wrap | double | tree | cprofile | setprofile | yappi
    A program is a loop of C calls with Python work between them; DENSITY 1, 4 or 16 scales how much of the time lies outside
    recorded calls (16: few calls).  double: every call passes two wrappers, so the hook runs twice.
"""
import math
import operator
import sys
import time
import zlib

DATA = bytes(range(256)) * 8
TEXT = "the quick brown fox jumps over the lazy dog " * 4


def work(n):
    x = 0
    for i in range(n):
        x += i & 7
    return x


def programs():
    import binascii
    import itertools
    import json
    import random
    r = random.Random(1)
    numbers = [r.random() for _ in range(64)]
    tree = {"a": [1, 2, 3], "b": {"c": "text"}}
    dumps = json.encoder.c_make_encoder is not None and json.dumps
    return {
        "sqrt": (math.sqrt, (2.0,), 60), "hypot": (math.hypot, (3.0, 4.0), 50), "fsum": (math.fsum, (numbers,), 40),
        "crc32": (zlib.crc32, (DATA,), 30), "adler32": (zlib.adler32, (DATA,), 30), "hexlify": (binascii.hexlify, (DATA,), 20),
        "sorted": (sorted, (numbers,), 20), "repr": (repr, (tree,), 30), "sum": (sum, (range(100),), 30),
        "compress": (zlib.compress, (DATA, 1), 1)}


def loop(f, args, n, inner):
    start = time.process_time_ns()                        # CPU time: other processes do not count
    for _ in range(n):
        f(*args)
        work(inner)
    return time.process_time_ns() - start


def run(program, density, mode, directory, millions=1.0):
    f, args, weight = programs()[program]
    n = max(200, int(weight * 1000 * millions / density))
    inner = 3 * density
    if mode in ("wrap", "double"):
        import _millrace
        _millrace.start(directory)
        f = _millrace.wrap(f, "bench", program, "Backend")
        if mode == "double":
            f = _millrace.wrap(f, "bench", program, "Backend")
        _millrace.enable()
    elif mode == "tree":
        import _millrace
        _millrace.start(directory, True)
        _millrace.enable()
    elif mode == "cprofile":
        import cProfile
        p = cProfile.Profile()
        p.enable()
    elif mode == "setprofile":
        events = []
        clock = time.perf_counter_ns
        sys.setprofile(lambda frame, event, arg: events.append((event, clock())))
    elif mode == "yappi":
        import yappi
        yappi.start(builtins=True)
    loop(f, args, n // 20 + 1, inner)
    total = loop(f, args, n, inner)
    if mode == "setprofile":
        sys.setprofile(None)
    return total, n


if __name__ == "__main__":
    program, density, mode, directory = sys.argv[1:5]
    print("%d,%d" % run(program, int(density), mode, directory, float(sys.argv[5]) if len(sys.argv) > 5 else 1.0))
