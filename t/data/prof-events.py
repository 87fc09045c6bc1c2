"""prof-events.py SEED [ROWS] - random events in order of start_ns: nested calls and operations of five threads in two
processes, a row as long as the run, operations that outlive the one they begin in, calls with links and what they
launched, rows without length; column hook."""
import random
import sys

r = random.Random(int(sys.argv[1]))
n = int(sys.argv[2]) if len(sys.argv) > 2 else 140000
out = []


def row(start, end, thread, kind, cat, name, link=""):
    out.append((start, end, thread, kind, cat, name, link))


def nest(thread, a, b, depth, kind):
    t = a
    while t < b:
        start = t + r.randrange(6)
        end = min(b, start + r.randrange(1, 60 if depth < 3 else 8))
        if end <= start:
            break
        k = r.random()
        if kind == "op":
            row(start, end, thread, "op", "", "o%d" % r.randrange(6))
        else:
            row(start, end, thread, "ovh" if k < .05 else "cat", r.choice(("Python", "C", "CUDA")),
                "f%d" % r.randrange(50), str(r.randrange(1 << 30)) if k > .8 else "")
        if r.random() < .4 and depth < 6:
            nest(thread, start, end, depth + 1, kind)
        t = end + (0 if r.random() < .3 else r.randrange(20))


for thread in range(1, 5):
    for kind in ("op", "cat"):
        until, t = len(out) + n // 8, 0
        while len(out) < until:
            end = t + r.randrange(5, 300)
            nest(thread, t, end, 0, kind)
            t = end
last = max(o[1] for o in out)
row(0, last, 9, "cat", "Waiting", "join")
row(5, last // 2, 9, "op", "", "whole")
for _ in range(50):
    start = r.randrange(last)
    row(start, start + r.randrange(1, 500), r.randrange(1, 5), "op", "", "mis")
for o in list(out):
    if o[6] and r.random() < .7:
        start = o[0] + r.randrange(300)
        row(start, start + r.randrange(1, 40), "d0", "gpu", "GPU", "k", o[6] if r.random() < .99 else "x")
for _ in range(5):
    row(r.randrange(4, last), 3, 1, "cat", "C", "empty")
out.sort(key=lambda o: o[0])
print("proc,tid,kind,cat,start_ns,end_ns,name,link,flag,hook")
for i, (start, end, thread, kind, cat, name, link) in enumerate(out):
    print("%d,%s,%s,%s,%d,%d,%s,%s,,h%d" % (1 if thread != 4 else 2, thread, kind, cat, start, end, name, link, i % 7))
