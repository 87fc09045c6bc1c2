# The naive reading of a Kineto trace, to compare ours with: totals of each set of categories in ns, overlap and idle.
# Prints proc,cats,total_ns, and with --summary rows,cpu_ns,gpu_ns,overlap_ns,idle_ns over the whole file.
import collections, decimal, gzip, json, sys
path = sys.argv[-1]
with (gzip.open(path) if path.endswith("gz") else open(path)) as f:
    trace = json.load(f, parse_float=decimal.Decimal)
base = trace.get("baseTimeNanoseconds", 0) if isinstance(trace, dict) else 0
CATEGORY = {"cpu_op": "Backend", "python_function": "Python", "cuda_runtime": "CUDA", "cuda_driver": "CUDA", "mtia_runtime": "CUDA",
            "kernel": "GPU", "gpu_memcpy": "GPU", "gpu_memset": "GPU", "mtia_ccp_events": "GPU", "Kernel": "GPU", "Runtime": "CUDA", "Operator": "Backend"}
rows, other, launch, gpu, cpu = 0, 0, {}, [], collections.defaultdict(list)
for e in trace["traceEvents"] if isinstance(trace, dict) else trace:
    if e.get("ph") != "X" or e.get("dur", 0) < 0:
        continue
    if e.get("cat") in ("user_annotation", "overhead"):
        other += 1
    cat = CATEGORY.get(e.get("cat"))
    if not cat:
        continue
    rows += 1
    start = int(e["ts"] * 1000) + base
    end = start + int(e.get("dur", 0) * 1000)
    link, pid = e.get("args", {}).get("correlation"), str(e["pid"])
    if cat == "GPU":
        gpu.append((start, end, "Communication" if "nccl" in e["name"].lower() else "GPU", link, pid))
    else:
        cpu[pid, e["tid"]].append((start, -end, rows, cat))
        if link is not None:
            launch.setdefault(link, []).append((start, pid))
host = {pid for pid, _ in cpu}
points = collections.defaultdict(list)                   # per process: time, +1 or -1, category
def add(pid, start, end, cat):
    if end > start:
        points[pid].extend([(start, 1, cat), (end, -1, cat)])
for start, end, cat, link, pid in gpu:
    calls = sorted(launch.get(link, []))
    before = [c for c in calls if c[0] <= start] or calls[:1]
    add(before[-1][1] if before else min(host) if len(host) == 1 else pid, start, end, cat)
for (pid, tid), events in cpu.items():
    open_rows, last = [], None                           # end, category; outermost first
    def advance(to):                                     # the innermost run of C calls, or the innermost Python function
        global last
        while open_rows and last < to:
            stop = min(to, min(end for end, _ in open_rows))
            active = [open_rows[-1][1]]
            for _, cat in reversed(open_rows[:-1]):
                if "Python" in (cat, active[0]): break
                active.append(cat)
            for cat in set(active): add(pid, last, stop, cat)
            last = stop
            open_rows[:] = [r for r in open_rows if r[0] > stop]
        last = to
    for start, minus_end, _, cat in sorted(events):
        if start == -minus_end: continue
        last = start if last is None else last
        advance(start)
        open_rows.append((min([-minus_end] + [end for end, _ in open_rows]), cat))
    advance(float("inf"))
total, lo, hi = collections.Counter(), min(p[0][0] for p in points.values()), 0
for pid, p in points.items():
    count, before = collections.Counter(), None
    for time, d, cat in sorted(p):
        cats = "+".join(sorted(c for c in count if count[c]))
        if cats: total[pid, cats] += time - before
        count[cat] += d
        before, lo, hi = time, min(lo, time), max(hi, time)
def whole(test): return sum(v for (_, cats), v in total.items() if test(set(cats.split("+")) & {"GPU", "Communication"}, set(cats.split("+")) & {"Python", "Backend", "CUDA"}))
if "--summary" in sys.argv:
    print("%d,%d,%d,%d,%d" % (rows + other, whole(lambda g, c: c), whole(lambda g, c: g), whole(lambda g, c: g and c), (hi - lo) * len(points) - sum(total.values())))
else:
    for (pid, cats), v in sorted(total.items()):
        if v: print("%s,%s,%d" % (pid, cats, v))
