"""Ten small programs of Python and C on which the correction of a profile is tested, see make prof-correct-bench.

    millrace_programs.py NAME UNITS [WAY]    prints  cpu_ns,wall_ns,probe_ns  of UNITS units of work, after a tenth as many to warm
                                             up; probe: of a fixed loop right before and right after, the slower
    millrace_programs.py --list              prints  name,units,few: units that take some 50 ms, pattern of a few of its calls

Under prof-record --wait only the work is recorded: phase "warm", then phase "measured", which is what was timed.  WAY: under
cprofile, setprofile or yappi instead; nothing else is loaded for a bare run.
"""
import os
import random
import sys
import time


def cartpole():
    """A pole on a cart and a small network: many calls of NumPy on small arrays."""
    import numpy as np
    from contextlib import redirect_stdout
    import io
    rng = random.Random(1)
    w1 = np.array([[rng.gauss(0, 1) for _ in range(32)] for _ in range(4)], np.float32)
    w2 = np.array([[rng.gauss(0, 1) for _ in range(2)] for _ in range(32)], np.float32)

    def work(n):
        x, v, angle, turn = 0.0, 0.0, 0.02, 0.0
        out = io.StringIO()
        for i in range(n):
            state = np.array((x, v, angle, turn), np.float32)
            hidden = np.maximum(np.matmul(state, w1), 0)
            q = np.matmul(hidden, w2)
            error = np.subtract(q, np.float32(0.5))
            np.subtract(w2, np.multiply(np.outer(hidden, error), np.float32(1e-4)), out=w2)
            push = 10.0 if q[1] > q[0] else -10.0
            x, v, angle, turn = x + 0.02 * v, v + 0.01 * push, angle + 0.02 * turn, turn - 0.01 * push
            if abs(x) > 2.4 or abs(angle) > 0.2:
                with redirect_stdout(out):
                    print(i, x)
                x, v, angle, turn = 0.0, 0.0, 0.02, 0.0
    return work


def kmeans():
    import numpy as np
    rng = np.random.default_rng(1)
    points = rng.normal(size=(400, 3))

    def work(n):
        centres = points[:6].copy()
        for _ in range(n):
            distance = np.add.reduce(np.square(np.subtract(points[:, None, :], centres)), axis=2)
            nearest = np.argmin(distance, axis=1)
            for k in range(6):
                mine = points[np.equal(nearest, k)]
                if len(mine):
                    np.divide(np.add.reduce(mine, axis=0), len(mine), out=centres[k])
    return work


def json_():
    import json
    rng = random.Random(1)
    records = [{"id": i, "name": "n%d" % i, "tags": ["a", "b", str(i)], "score": rng.random(), "ok": i % 3 == 0} for i in range(8)]

    def total(o):
        if isinstance(o, dict):
            return sum(map(total, o.values()))
        if isinstance(o, list):
            return sum(map(total, o))
        return len(o) if isinstance(o, str) else int(o)

    def work(n):
        for _ in range(n):
            total(json.loads(json.dumps(records)))
    return work


def re_():
    import re
    token = re.compile(r"(?P<number>\d+(\.\d+)?)|(?P<name>[a-z_]\w*)|(?P<sign>[-+*/()=])|(?P<blank>\s+)")
    text = "speed = (distance_1 - 12.5) / 3 + offset * scale_2\n" * 4

    def work(n):
        for _ in range(n):
            count = {}
            for m in token.finditer(text):
                kind, word = m.lastgroup, m.group()
                count[kind] = count.get(kind, 0) + len(word)
            re.sub(r"\d+", lambda m: chr(ord(m.group()[0]) ^ 1), text)
    return work


def zlib_():
    import zlib
    rng = random.Random(1)
    blocks = [bytes(rng.choice(b"abcdefgh ") for _ in range(1500)) for _ in range(8)]

    def work(n):
        check = 0
        for i in range(n):
            block = blocks[i & 7]
            packed = zlib.compress(block, 1)
            check = zlib.crc32(packed, check)
            for at in range(0, len(packed), 64):
                check = zlib.adler32(packed[at:at + 64], check)
            assert len(zlib.decompress(packed)) == len(block)
    return work


def sqlite():
    import math
    import sqlite3
    db = sqlite3.connect(":memory:")
    db.create_function("root", 1, lambda x: math.sqrt(abs(x)))
    db.execute("create table t(a integer primary key, b real)")

    def work(n):
        for i in range(n):
            db.execute("insert or replace into t values(?, ?)", (i % 500, math.sin(i)))
            if i % 8 == 0:
                db.execute("select sum(root(b)) from t where a < 20").fetchone()
            if i % 100 == 99:
                db.commit()
    return work


def hashlib_():
    import hashlib

    def work(n):
        for _ in range(n):
            level = [hashlib.sha256(b"%d" % i).digest() for i in range(32)]
            while len(level) > 1:                         # a tree of hashes
                level = [hashlib.sha256(level[i] + level[i + 1]).digest() for i in range(0, len(level), 2)]
    return work


def struct_():
    import struct

    def work(n):
        for i in range(n):
            buffer = bytearray(320)
            for k in range(20):
                struct.pack_into("<IHHd", buffer, 16 * k, k, i & 255, len(buffer), k * 0.5)
            total = 0
            for at in range(0, 320, 16):
                number, kind, size, value = struct.unpack_from("<IHHd", buffer, at)
                total += number + value
    return work


def csv_():
    import csv
    import io
    import math
    text = "".join("%d,name %d,%.3f,\"a, b\"\n" % (i, i, i / 7) for i in range(40))

    def work(n):
        for _ in range(n):
            rows = list(csv.reader(io.StringIO(text)))
            sums = [math.fsum((float(r[0]), float(r[2]))) for r in rows]
            out = csv.writer(io.StringIO())
            for r, s in zip(rows, sums):
                out.writerow((r[1], s, max(len(f) for f in r)))
    return work


def callback():
    """C that calls Python that calls C: sort keys, a heap, reduce, qsort through ctypes."""
    import ctypes
    import functools
    import heapq
    import math
    libc = ctypes.CDLL(None)
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))(lambda a, b: a[0] - b[0])
    rng = random.Random(1)
    numbers = [rng.randrange(1000) for _ in range(60)]

    def work(n):
        for _ in range(n):
            sorted(numbers, key=lambda x: math.cos(x))
            heap = []
            for x in numbers:
                heapq.heappush(heap, (x % 7, x))
            while heap:
                heapq.heappop(heap)
            functools.reduce(lambda a, b: math.gcd(a * b, 720720), numbers, 1)
            array = (ctypes.c_int * 12)(*numbers[:12])
            libc.qsort(array, 12, 4, compare)
    return work


PROGRAMS = {                                              # name: (function, units, pattern of a few of its calls)
    "cartpole": (cartpole, 6500, "*.matmul"), "kmeans": (kmeans, 600, "*.square"), "json": (json_, 2600, "builtins.len"),
    "re": (re_, 1800, "builtins.ord"), "zlib": (zlib_, 1500, "zlib.[cd]*"), "sqlite": (sqlite, 32000, "math.*"),
    "hashlib": (hashlib_, 2000, "_hashlib.*"), "struct": (struct_, 12000, "_struct.pack_into"), "csv": (csv_, 1200, "math.*"),
    "callback": (callback, 2200, "_heapq.*")}


def under(way):
    if way == "cprofile":
        import cProfile
        cProfile.Profile().enable()
    elif way == "setprofile":
        events, clock = [], time.perf_counter_ns
        sys.setprofile(lambda frame, event, arg: events.append((event, clock())))
    elif way == "yappi":
        import yappi
        yappi.start(builtins=True)


def probe():
    """Time of a fixed piece of work, the least of five: a neighbour on the same core makes it longer, whatever is measured."""
    least = 1 << 60
    for _ in range(5):
        start, x = time.process_time_ns(), 0
        for i in range(25000):
            x += i & 7
        least = min(least, time.process_time_ns() - start)
    return least


def main():
    if sys.argv[1] == "--list":
        for name, (_, units, few) in PROGRAMS.items():
            print("%s,%d,%s" % (name, units, few))
        return
    name, units = sys.argv[1], int(sys.argv[2])
    work = PROGRAMS[name][0]()
    probe()
    recorded = "MILLRACE_PROF_DIR" in os.environ
    if recorded:
        import millrace_prof as prof
        prof.enable()
        prof.phase("warm")
    elif len(sys.argv) > 3:
        under(sys.argv[3])
    work(units // 10 + 1)
    if recorded:
        prof.disable()
    before = probe()
    if recorded:
        prof.enable()
        prof.phase("measured")
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    work(units)
    cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
    if recorded:
        prof.phase("after")
        prof.disable()
    sys.setprofile(None)
    print("%d,%d,%d" % (cpu, wall, max(before, probe())))


main()
