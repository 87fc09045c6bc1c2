"""End-to-end test: Python, C and the GPU's stand-in for a known time each, N iterations, T threads, P forked processes.

    prof-record --wait -o DIR .../millrace_e2e.py --seconds=0.5     writes what passed to --truth, a table
        proc,tid,iteration,part,seconds,outer_seconds

Seconds are of the thread's CPU clock, of the GPU those that passed.  The second is taken around the operation; the first of
the GPU is what was asked of it.
"""
import argparse
import ctypes
import os
import threading
import time

from iml_profiler.profiler import Profiler

arguments = argparse.ArgumentParser()
arguments.add_argument("--seconds", type=float, default=0.5)
arguments.add_argument("--iterations", type=int, default=3)
arguments.add_argument("--threads", type=int, default=1)
arguments.add_argument("--forks", type=int, default=0)
arguments.add_argument("--truth", default="truth.csv")
a = arguments.parse_args()
lib = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libmillrace-e2e.so"))
for f in (lib.run_c, lib.run_gpu):
    f.restype, f.argtypes = ctypes.c_double, [ctypes.c_double]
profiler = Profiler()
truth = []


def python_part(seconds):
    start = end = time.thread_time()
    while end - start < seconds:
        end = time.thread_time()
    return end - start


def iteration(i):
    for part, run in (("python", python_part), ("c", lib.run_c), ("gpu", lib.run_gpu)):
        clock = time.perf_counter if part == "gpu" else time.thread_time   # on the CPU, as the rows that are judged
        start = clock()
        with profiler.operation(part):
            inner = run(a.seconds)
        outer = clock() - start
        # the device's own clock is in the row that is judged: what was asked of it is the least, what passed here the most
        least = a.seconds if part == "gpu" else inner
        truth.append((os.getpid(), threading.get_native_id(), i, part, least, outer))


def all_threads(i):
    others = [threading.Thread(target=iteration, args=(i,)) for _ in range(1, a.threads)]
    for t in others:
        t.start()
    iteration(i)
    for t in others:
        t.join()


children = []
for k in range(a.forks):
    pid = os.fork()
    if not pid:
        children = []
        a.truth += ".%d" % k
        break
    children.append(pid)
for i in range(a.iterations):
    profiler.enable_profiling()
    all_threads(i)
    profiler.disable_profiling()
with open(a.truth, "w") as f:
    f.write("proc,tid,iteration,part,seconds,outer_seconds\n")
    for row in truth:
        f.write("%d,%d,%d,%s,%.9f,%.9f\n" % row)
for pid in children:
    os.waitpid(pid, 0)
