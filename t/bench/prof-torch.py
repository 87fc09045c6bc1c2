"""One run of the deep Q-learning of prof-seen.py under prof-record and torch.profiler at once.

run SCALE DIR: under prof-record --wait; leaves DIR/torch.json and DIR/times (begin, end, clocks' distance, ns).
compare DIR EVENTS: what,share,calls,ns_a_call of the loop's time: what was recorded as C, the part of it within an
operator of torch.profiler's (those that no other called; annotations such as Optimizer.step, which hold Python, are no
operators), and the rest by the function that was called."""
import bisect
import collections
import csv
import importlib.util
import json
import os
import sys
import time


def run(scale, to):
    place = os.path.join(os.path.dirname(os.path.abspath(__file__)), "prof-seen.py")
    spec = importlib.util.spec_from_file_location("prof_seen", place)
    seen = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(seen)
    import torch
    work, ours = seen.torch_dqn(), sys.modules["millrace_prof"]
    work(scale / 20)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as p:
        work(scale / 20)
        ours.enable()
        begin = time.monotonic_ns()
        work(scale)
        end = time.monotonic_ns()
        ours.disable()
    apart = time.time_ns() - time.monotonic_ns()
    p.export_chrome_trace(os.path.join(to, "torch.json"))
    with open(os.path.join(to, "times"), "w") as f:
        print(begin, end, p.profiler.kineto_results.trace_start_us() * 1000 - apart, file=f)


def outermost(spans):
    top = []
    for s, e in sorted(spans):
        if not top or s >= top[-1][1]:
            top.append([s, e])
        else:
            top[-1][1] = max(e, top[-1][1])
    return top


def within(s, e, spans, starts):
    t, k = 0, max(0, bisect.bisect_right(starts, s) - 1)
    while k < len(spans) and spans[k][0] < e:
        t += max(0, min(e, spans[k][1]) - max(s, spans[k][0]))
        k += 1
    return t


def compare(to, events):
    begin, end, zero = map(int, open(os.path.join(to, "times")).read().split())
    calls, python, own = [], 0, 0
    for r in csv.DictReader(open(events)):
        s, e = int(r["start_ns"]), int(r["end_ns"])
        if r["kind"] != "cat" or s < begin or e > end:
            continue
        python += (e - s) * (r["cat"] == "Python")
        own += (e - s) * (r["cat"] == "Profiler")
        if r["cat"] not in ("Python", "Waiting", "Profiler"):
            calls.append((s, e, r["name"]))
    trace = json.load(open(os.path.join(to, "torch.json")))
    trace = trace["traceEvents"] if isinstance(trace, dict) else trace
    spans = [(zero + 1000 * e["ts"], zero + 1000 * (e["ts"] + e["dur"])) for e in trace
             if e.get("ph") == "X" and "#" not in e["name"]]
    top = outermost(x for x in spans if begin <= x[0] and x[1] <= end)
    recorded = outermost((s, e) for s, e, _ in calls)
    starts = [s for s, _ in recorded]
    loop, operators = end - begin - own, sum(e - s for s, e in top)
    seen = sum(within(s, e, recorded, starts) for s, e in top)
    # the two clocks are read apart, and torch.profiler's times are whole us: where do its operators fit best?
    moved = {d: sum(within(s + d, e + d, recorded, starts) for s, e in top) for d in range(-8000, 8001, 1000)}
    best = max(moved, key=moved.get)
    starts = [s for s, _ in top]
    rest, number, inside = collections.Counter(), collections.Counter(), 0
    for s, e, name in calls:
        t = within(s, e, top, starts)
        inside += t
        rest[name] += e - s - t
        number[name] += 1
    c = sum(e - s for s, e in recorded)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(("what", "share", "calls", "ns_a_call"))
    out.writerow(("torch.profiler: operators", "%.4f" % (operators / loop), len(top), operators // len(top)))
    out.writerow(("of them within recorded C", "%.4f" % (seen / loop), "", ""))
    out.writerow(("and with its clock moved by %d ns" % best, "%.4f" % (moved[best] / loop), "", ""))
    out.writerow(("recorded: C", "%.4f" % (c / loop), len(calls), c // len(calls)))
    out.writerow(("recorded: C within operators", "%.4f" % (inside / loop), "", ""))
    for name, ns in rest.most_common(8):
        out.writerow(("outside: " + name, "%.4f" % (ns / loop), number[name], ns // number[name]))
        del rest[name]
    out.writerow(("outside: %d other functions" % len(rest), "%.4f" % (sum(rest.values()) / loop), "", ""))
    out.writerow(("recorded: Python", "%.4f" % (python / loop), "", ""))


if sys.argv[1] == "run":
    run(float(sys.argv[2]), sys.argv[3])
else:
    compare(*sys.argv[2:4])
