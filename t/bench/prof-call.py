#!/usr/bin/python3
"""What recording adds to a call from Python into C, see prof-call.sh.

    prof-call.py calls TURNS        prints  name,ns  least CPU time of a call in a loop of 40 000, over so many turns
    prof-call.py compare TURNS BARE RECORDED COUNTS    the table: outputs of many such runs, calls recorded in one run
"""
import csv
import sys
import time

CALLS = 40000


def cases():
    """name, statement, the names in it"""
    import math
    import zlib
    import numpy as np
    a = np.ones(1)
    yield "math.sqrt(2.0)", "f(2.0)", {"f": math.sqrt}
    yield "zlib.crc32(b'abc')", "f(b'abc')", {"f": zlib.crc32}
    yield "numpy a.shape", "a.shape", {"a": a}
    yield "numpy a[0]", "a[0]", {"a": a}
    yield "numpy a + a", "a + a", {"a": a}
    yield "numpy a.dot(a)", "a.dot(a)", {"a": a}
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)
    x, m = torch.ones(4), torch.ones(2, 2)
    yield "torch x.shape", "x.shape", {"x": x}
    yield "torch.mul(x, x)", "f(x, x)", {"f": torch.mul, "x": x}
    yield "torch x + x", "x + x", {"x": x}
    yield "torch m.matmul(m)", "m.matmul(m)", {"m": m}
    yield "Python f()", "f()", {"f": lambda: None}


def calls(turns):
    recorded = "millrace_prof" in sys.modules
    if recorded:
        from millrace_prof import operation
    else:
        from contextlib import nullcontext as operation
    for name, statement, names in cases():
        exec("def loop(n):\n for _ in range(n): " + statement, names)
        loop, least = names["loop"], 1e30
        with operation(name):
            for _ in range(turns):
                start = time.thread_time_ns()
                loop(CALLS)
                least = min(least, time.thread_time_ns() - start)
        print("%s,%.2f" % (name.replace(",", " and"), least / CALLS))


def compare(turns, bare, recorded, counts):
    def least(path):
        best = {}
        for name, ns in csv.reader(open(path)):
            best[name] = min(float(ns), best.get(name, 1e30))
        return best
    counted = {r["op"].replace(",", " and"): int(r["n_rows"]) for r in csv.DictReader(open(counts))}
    old, new = least(bare), least(recorded)
    print("call,bare_ns,recorded_ns,recorded_calls,added_ns,added_ns_per_recorded_call")
    for name in old:
        n, added = round(counted.get(name, 0) / (turns * CALLS), 2), new[name] - old[name]
        print("%s,%.1f,%.1f,%g,%.1f,%s" % (name, old[name], new[name], n, added, "%.1f" % (added / n) if n else ""))


if sys.argv[1] == "calls":
    calls(int(sys.argv[2]))
else:
    compare(int(sys.argv[2]), *sys.argv[3:6])
