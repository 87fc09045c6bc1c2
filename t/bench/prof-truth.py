#!/usr/bin/env python3
"""prof-truth.py MODE DIR - a program that knows where its time went: in each thread and process that MODE makes it spends a
tenth of a second each in one call of C, in Python and waiting, and writes to DIR what two clocks of its own, read right
before and after, say of that: the thread's CPU time (of waiting: the time for which what it waits for surely was not there)
and the wall clock.  MODE DIR --compare prints the recorded times beside (from a table of prof-log | prof-op on stdin), which
are to lie between the two, to 2 % or 5 ms; near: they are the wall clock's to 2 % or 5 ms, which on a busy machine a thread
that is stopped between clock and call is not.  See prof-truth.sh."""
import _thread
import asyncio
import csv
import functools
import hashlib
import multiprocessing
import os
import pickle
import re
import subprocess
import sys
import threading
import time

PARTS = {"c": "C", "python": "Python", "wait": "Waiting"}


class Clocks:
    """around a part: adds to what is known of this process"""
    known = []

    def __init__(self, part):
        self.part, self.least = part, 0

    def __enter__(self):
        self.cpu, self.wall = time.thread_time_ns(), time.perf_counter_ns()
        return self

    def __exit__(self, *_):
        cpu, wall = time.thread_time_ns() - self.cpu, time.perf_counter_ns() - self.wall
        Clocks.known.append((os.getpid(), self.part, max(cpu, self.least), wall))

    def until(self, moment):
        """what is waited for came no earlier than this moment of perf_counter_ns"""
        self.least = moment - self.wall

    @staticmethod
    def write(directory):
        """outside all operations; of a thread that is not the last to write, what the others have is written too"""
        with open(os.path.join(directory, "%d.%d" % (os.getpid(), time.monotonic_ns())), "w") as f:
            while Clocks.known:
                f.write("%d,%s,%d,%d\n" % Clocks.known.pop())


def spend(part, ns):
    if part == "wait":
        time.sleep(ns / 1e9)
        return
    if part == "c":
        hashlib.pbkdf2_hmac("sha256", b"word", b"salt", ns // 500)
        return
    end = time.thread_time_ns() + ns
    while time.thread_time_ns() < end:
        for i in range(20000):
            i ^ 3


def work(directory, ns=100000000):
    import millrace_prof as prof
    for part in PARTS:
        with Clocks(part) as clocks, prof.operation(part):
            spend(part, ns)
            clocks.least = ns if part == "wait" else 0
    Clocks.write(directory)


def pieces(directory):
    """the same, given back after every tenth of a part, in the operation"""
    import millrace_prof as prof
    for part in PARTS:
        with prof.operation(part):
            for _ in range(10):
                with Clocks(part) as clocks:
                    spend(part, 10000000)
                    clocks.least = 10000000 if part == "wait" else 0
                yield
    Clocks.write(directory)


async def task(directory):
    for _ in range(5):
        work(directory, 20000000)
        await asyncio.sleep(0)


async def tasks(directory):
    await asyncio.gather(*(task(directory) for _ in range(3)))


def processes(how, directory):
    context = multiprocessing.get_context(how)
    all_of = [context.Process(target=work, args=(directory,)) for _ in range(2)]
    for p in all_of:
        p.start()
    for p in all_of:
        p.join()


def worker(pipe, directory):
    """one environment of a SubprocVecEnv: steps are asked for and answered through a pipe"""
    while pipe.recv():
        work(directory, 20000000)
        pipe.send(time.perf_counter_ns())


def environments(directory):
    import millrace_prof as prof
    pipes, all_of = [], []
    for _ in range(2):
        ours, theirs = multiprocessing.Pipe()
        all_of.append(multiprocessing.Process(target=worker, args=(theirs, directory)))
        pipes.append(ours)
        all_of[-1].start()
    for _ in range(4):
        for p in pipes:
            p.send(True)
        work(directory, 10000000)                         # of its own meanwhile
        with Clocks("wait") as clocks, prof.operation("wait"):
            clocks.until([p.recv() for p in pipes][-1])
    for p, w in zip(pipes, all_of):
        p.send(False)
        w.join()
    Clocks.write(directory)


class Environment:
    """of known times; as gym's: reset() and step(action)"""
    def __init__(self, directory):
        self.directory = directory

    def reset(self):
        return time.perf_counter_ns()

    def step(self, action):
        work(self.directory, 20000000)
        return time.perf_counter_ns(), 1.0, action == 3, {}


class Pickled:
    """a function that makes an environment, on its way to a process"""
    def __init__(self, make):
        self.make = make

    def __getstate__(self):
        return pickle.dumps(self.make)

    def __setstate__(self, state):
        self.make = pickle.loads(state)


def vector_worker(remote, parents, pickled):
    parents.close()
    environment = pickled.make()
    while True:
        command, data = remote.recv()
        if command == "step":
            observation, reward, done, info = environment.step(data)
            if done:
                info["terminal_observation"] = observation
                observation = environment.reset()
            remote.send((observation, reward, done, info))
        elif command == "reset":
            remote.send(environment.reset())
        else:
            remote.close()
            return


def vector(directory):
    """what SubprocVecEnv of Stable Baselines 3 does: daemons of a fork server, each with its end of a pipe and the
    closed one of its parent's, commands step, reset, close, environments reset where they are done"""
    import millrace_prof as prof
    context = multiprocessing.get_context("forkserver")
    remotes, theirs = zip(*(context.Pipe() for _ in range(3)))
    all_of = [context.Process(target=vector_worker, daemon=True,
                              args=(b, a, Pickled(functools.partial(Environment, directory))))
              for a, b in zip(remotes, theirs)]
    for process, end in zip(all_of, theirs):
        process.start()
        end.close()
    for r in remotes:
        r.send(("reset", None))
    [r.recv() for r in remotes]
    for i in range(4):
        for r in remotes:                                 # step_async
            r.send(("step", i))
        work(directory, 10000000)
        with Clocks("wait") as clocks, prof.operation("wait"):
            clocks.until([r.recv() for r in remotes][-1][0])   # step_wait
    for r in remotes:
        r.send(("close", None))
    for process in all_of:
        process.join()
    Clocks.write(directory)


def child_process(directory):
    import millrace_prof as prof
    work(directory)
    ends = os.path.join(directory, "ends")
    child = subprocess.Popen([sys.executable, "-c", "import sys, time; time.sleep(0.1)\n"
                              "open(sys.argv[1], 'w').write(str(time.perf_counter_ns()))", ends])
    with Clocks("wait") as clocks, prof.operation("wait"):
        child.wait()
        clocks.until(int(open(ends).read()))
    os.remove(ends)
    Clocks.write(directory)


def raw_threads(directory):
    locks = []
    def run(lock):
        work(directory)
        lock.release()
    for _ in range(2):
        locks.append(_thread.allocate_lock())
        locks[-1].acquire()
        _thread.start_new_thread(run, (locks[-1],))
    for lock in locks:
        lock.acquire()


def main(mode, directory):
    if mode in ("fork", "spawn", "forkserver"):
        work(directory)
        processes(mode, directory)
    elif mode == "os.fork":
        child = os.fork()
        work(directory)
        if child:
            os.waitpid(child, 0)
    elif mode == "exec":
        work(directory)
        os.execv(sys.executable, [sys.executable, os.path.abspath(__file__), "plain", directory])
    elif mode == "threads":
        all_of = [threading.Thread(target=work, args=(directory,)) for _ in range(3)]
        for t in all_of:
            t.start()
        for t in all_of:
            t.join()
    elif mode in OTHERS:
        OTHERS[mode](directory)
    elif mode == "asyncio":
        asyncio.run(tasks(directory))
    elif mode == "generator":
        for _ in pieces(directory):
            pass
    elif mode == "generators":                            # two in turn: operations that do not nest
        for _ in zip(pieces(directory), pieces(directory)):
            pass
    else:
        work(directory)


OTHERS = {"_thread": raw_threads, "pipes": environments, "vector": vector, "subprocess": child_process}


def compare(mode, directory):
    truth, got = {}, {}
    for name in os.listdir(directory):
        for pid, part, cpu, wall in csv.reader(open(os.path.join(directory, name))):
            t = truth.setdefault((int(pid), part), [0, 0])
            t[0] += int(cpu)
            t[1] += int(wall)
    for r in csv.DictReader(sys.stdin):
        if r["kind"] == "cat" and PARTS.get(r["op"]) == r["cat"]:
            key = (int(re.match(r"\d+", r["proc"]).group()), r["op"])
            got[key] = got.get(key, 0) + int(r["end_ns"]) - int(r["start_ns"])
    for process, pid in enumerate(sorted({p for p, _ in truth})):
        for part in PARTS:
            (cpu, wall), ns = truth[pid, part], got.get((pid, part), 0)
            good = cpu - max(0.02 * cpu, 5e6) <= ns <= wall + max(0.02 * wall, 5e6)
            print("%s,%d,%s,%.4f,%.4f,%.4f,%d,%d" % (mode, process, part, cpu / 1e9, ns / 1e9, wall / 1e9,
                                                     abs(ns - wall) <= max(0.02 * wall, 5e6), good))


if __name__ == "__main__":
    compare(sys.argv[1], sys.argv[2]) if "--compare" in sys.argv else main(sys.argv[1], sys.argv[2])
