"""Semantic mutations of a table of events: prof-mutate.py EVENTS.csv N SEED DIR: N tables in DIR, each with one change that keeps
every row well-formed; names them N.KIND.csv.  Which of them prof-check refuses says what it can know."""
import csv
import os
import random
import sys

events, n, seed, out = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
rows = list(csv.reader(open(events)))
head, rows = rows[0], rows[1:]
PROC, TID, KIND, CAT, START, END, NAME, LINK, FLAG, HOOK = range(10)
draw = random.Random(seed)
procs = sorted({r[PROC] for r in rows})
names = {}
for r in rows:
    if r[KIND] == "cat" and r[NAME]:
        names.setdefault(r[CAT], set()).add(r[NAME])


def some(test):
    return draw.choice([i for i, r in enumerate(rows) if r[KIND] == "cat" and test(r)])


def python(r):
    return r[CAT] == "Python" and int(r[END]) - int(r[START]) > 10


def c(r):
    return r[CAT] != "Python" and int(r[END]) - int(r[START]) > 10


def change(i, **fields):
    r = list(rows[i])
    for k, v in fields.items():
        r[head.index(k)] = str(v)
    return rows[:i] + [r] + rows[i + 1:]


def mutate(kind):
    i = some(python if kind.endswith("python") else c)
    r, start, end = rows[i], int(rows[i][START]), int(rows[i][END])
    if kind.startswith("delete"):
        return rows[:i] + rows[i + 1:]
    if kind.startswith("double"):
        return rows[:i] + [r] + rows[i:]
    if kind.startswith("reverse"):
        return change(i, start_ns=end, end_ns=start)
    if kind.startswith("process"):
        return change(i, proc=draw.choice([p for p in procs if p != r[PROC]] or ["1"]))
    if kind.startswith("thread"):
        return change(i, tid=draw.choice([t for t in {x[TID] for x in rows} if t != r[TID]] or ["1"]))
    if kind.startswith("shorter"):
        return change(i, end_ns=(start + end) // 2)
    if kind.startswith("longer"):
        return change(i, end_ns=end + 1000)
    if kind.startswith("shift"):
        return change(i, start_ns=start + 7, end_ns=end + 7)
    if kind.startswith("category"):
        return change(i, cat=draw.choice([x for x in ("Python", "Backend", "C", "Waiting", "Simulator") if x != r[CAT]]))
    if kind.startswith("far"):
        return change(i, start_ns=start + 10 ** 12, end_ns=end + 10 ** 12)
    if kind == "name":
        return change(i, name=draw.choice(sorted(names[r[CAT]] - {r[NAME]}) or ["other"]))
    if kind == "merge":                                   # two calls after each other become one
        return change(i, flag="est")
    raise ValueError(kind)


kinds = [k + "-" + w for k in ("delete", "double", "reverse", "process", "thread", "shorter", "longer", "shift", "category", "far")
         for w in ("python", "c")] + ["name", "merge"]
os.makedirs(out, exist_ok=True)
for k in range(n):
    kind = kinds[k % len(kinds)]
    with open("%s/%d.%s.csv" % (out, k, kind), "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(head)
        w.writerows(mutate(kind))
