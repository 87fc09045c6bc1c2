#!/usr/bin/env python3
"""prof-ways.py PROGRAM SIZE WAY - one run of a function-heavy program; prints the CPU nanoseconds of its work.

WAY: bare, record, tree (these three say nothing to the program: record and tree are prof-record's), cprofile, yappi, monitoring
(3.12 and later: a callback that does nothing for each event that a call tree needs).  --programs prints their names."""
import sys
import time


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def recursion(size):
    for _ in range(size):
        fib(16)


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def plus(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def length(self):
        return (self.x * self.x + self.y * self.y) ** 0.5

    @property
    def flat(self):
        return self.y == 0


def methods(size):
    step = Vector(1, 0.5)
    for _ in range(size):
        v = Vector(0, 0)
        for _ in range(300):
            v = v.plus(step)
            if v.flat or v.length() < 0:
                break


def builtins(size):
    def tokens(text):
        for word in text.split():
            yield word.strip(".,").lower()
    text = "The quick brown fox, which jumps over the lazy dog, jumps again. " * 4
    for _ in range(size):
        count = {}
        for t in tokens(text):
            if isinstance(t, str) and len(t) > 2:
                count[t] = count.get(t, 0) + 1
        sorted(count.items(), key=lambda p: (-p[1], p[0]))


PROGRAMS = {"recursion": recursion, "methods": methods, "builtins": builtins}


def under(way):
    if way == "cprofile":
        import cProfile
        cProfile.Profile().enable()
    elif way == "yappi":
        import yappi
        yappi.set_clock_type("cpu")
        yappi.start(builtins=True)
    elif way == "monitoring":
        m = sys.monitoring
        m.use_tool_id(m.PROFILER_ID, "bare")
        e = m.events
        wanted = 0
        for event in (e.PY_START, e.PY_RESUME, e.PY_RETURN, e.PY_YIELD, e.CALL, e.C_RETURN, e.C_RAISE):
            m.register_callback(m.PROFILER_ID, event, lambda *_: None)
            wanted |= event
        m.set_events(m.PROFILER_ID, wanted & ~(e.C_RETURN | e.C_RAISE))


def main():
    if sys.argv[1] == "--programs":
        print(" ".join(PROGRAMS))
        return
    work, size = PROGRAMS[sys.argv[1]], int(sys.argv[2])
    under(sys.argv[3])
    work(size // 10 + 1)
    start = time.process_time_ns()
    work(size)
    print(time.process_time_ns() - start)


main()
