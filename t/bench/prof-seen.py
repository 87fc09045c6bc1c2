#!/usr/bin/python3
"""Ten programs people run, for prof-seen.sh: is their C seen, and what does recording cost them?

    prof-seen.py list                       prints the names of those whose modules are there
    prof-seen.py run NAME [SCALE]           does the work once; prints  cpu_ns,wall_ns,import_cpu_ns .. of it; under
                                            prof-record --wait only the work is recorded
    prof-seen.py torch SCALE                deep Q-learning under torch.profiler: prints its share of C
    prof-seen.py judge NAME EVENTS JUDGE    a row: samples in C, those in a recorded call, shares by samples and by time
    prof-seen.py costs RUNS                 rows: recorded over not recorded, medians of pairs, from  name,way,cpu,whole
"""
import csv
import math
import random
import resource
import statistics
import sys
import time


def torch_matmul():
    import torch
    torch.set_num_threads(1)
    a = torch.rand(192, 192)

    def work(n):
        b = a
        for _ in range(int(4300 * n)):
            b = torch.tanh(b.matmul(a) * 0.01)
    return work


def torch_conv():
    import torch
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Conv2d(16, 32, 3),
                              torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(32 * 13 * 13, 10))
    opt, x, y = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9), torch.rand(16, 3, 32, 32), torch.arange(16) % 10

    def work(n):
        for _ in range(int(210 * n)):
            opt.zero_grad()
            torch.nn.functional.cross_entropy(net(x), y).backward()
            opt.step()
    return work


def torch_dqn():
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(1)
    rng = random.Random(1)
    net = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.ReLU(),
                              torch.nn.Linear(64, 2))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)

    def work(n):
        memory, s = [], [0.0, 0.1, 0.0, 0.1]
        for _ in range(int(1000 * n)):
            with torch.no_grad():
                a = int(net(torch.tensor(s)).argmax())
            after = [v * 0.9 + rng.uniform(-.1, .1) + a * .01 for v in s]
            memory.append((s, a, 1.0, after))
            s = after
            if len(memory) < 32:
                continue
            batch = rng.sample(memory, 32)
            S, A = torch.tensor([m[0] for m in batch]), torch.tensor([m[1] for m in batch])
            R, T = torch.tensor([m[2] for m in batch]), torch.tensor([m[3] for m in batch])
            with torch.no_grad():
                target = R + 0.99 * net(T).max(1).values
            loss = ((net(S).gather(1, A[:, None])[:, 0] - target) ** 2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    return work


def forest():
    import numpy as np
    from sklearn.ensemble import RandomForestClassifier
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1500, 12))
    y = (x[:, 0] * x[:, 1] > 0).astype(int)
    return lambda n: RandomForestClassifier(int(240 * n) + 1, random_state=0).fit(x, y)


def pandas_groups():
    import numpy as np
    import pandas as pd
    rng = np.random.default_rng(0)
    d = pd.DataFrame({"k": rng.integers(0, 100, 100000), "v": rng.normal(size=100000), "s": rng.integers(0, 5, 100000)})

    def work(n):
        for _ in range(int(25 * n) + 1):
            g = d.groupby("k").v.mean()
            d.groupby(["k", "s"]).agg({"v": ["sum", "max"]})
            d.merge(g.rename("m").reset_index(), on="k")
            d.v.rolling(50).mean()
            d.sort_values("v")
    return work


def sparse():
    import numpy as np
    import scipy.sparse
    import scipy.sparse.linalg
    a = scipy.sparse.diags([-1, 4.0, -1, -1], [-1, 0, 1, 60], shape=(3600, 3600), format="csc")
    b = np.ones(3600)

    def work(n):
        for _ in range(int(85 * n) + 1):
            scipy.sparse.linalg.spsolve(a, b)
            scipy.sparse.linalg.cg(a @ a.T, b, maxiter=60)
    return work


def numpy_mixture():
    import numpy as np
    rng = np.random.default_rng(0)
    a, b, v = rng.random((200, 200)), rng.random((200, 200)), rng.random(100000)

    def work(n):
        for _ in range(int(210 * n)):
            c = a @ b
            c += a
            a.dot(b), a * b - c / 2, v.sum() + v.std(), np.sort(v[:20000]), v[v > 0.5], v.astype(np.float32)
            np.exp(v), v.reshape(100, 1000).T.copy(), np.array([1.0, 2.0] * 500), (v < 0.3).any()
            for i in range(200):
                v[i] = v[i + 1] * 0.5
    return work


def sqlite():
    import sqlite3
    db = sqlite3.connect(":memory:")
    db.create_function("root", 1, lambda x: math.sqrt(abs(x)))
    db.execute("create table t(a integer primary key, b real)")

    def work(n):
        for i in range(int(420000 * n)):
            db.execute("insert or replace into t values(?, ?)", (i % 500, math.sin(i)))
            if i % 8 == 0:
                db.execute("select sum(root(b)) from t where a < 20").fetchone()
    return work


def zlib_hashlib():
    import hashlib
    import zlib
    data = random.Random(1).randbytes(200) * 100 + b"abc" * 30000

    def work(n):
        for _ in range(int(2000 * n)):
            z = zlib.compress(data)
            zlib.decompress(z), hashlib.sha256(data).digest(), hashlib.blake2b(z).digest(), zlib.crc32(data)
            for at in range(0, len(z), 64):
                hashlib.md5(z[at:at + 64]).digest()
    return work


def re_json():
    import json
    import re
    rng = random.Random(1)
    records = [{"id": i, "name": "n%d" % i, "tags": ["a", "b", str(i)], "score": rng.random()} for i in range(60)]
    token = re.compile(r"(?P<number>\d+(\.\d+)?)|(?P<name>[a-z_]\w*)|(?P<sign>[-+*/()=])|(?P<blank>\s+)")
    text = "speed = (distance_1 - 12.5) / 3 + offset * scale_2\n" * 20

    def work(n):
        for _ in range(int(4200 * n)):
            json.loads(json.dumps(records))
            token.findall(text), re.sub(r"\d+", "#", text)
    return work


PROGRAMS = {"torch matmul": torch_matmul, "torch convolution": torch_conv, "torch DQN": torch_dqn, "random forest": forest,
            "pandas": pandas_groups, "scipy.sparse": sparse, "numpy mixture": numpy_mixture, "sqlite3": sqlite,
            "zlib and hashlib": zlib_hashlib, "re and json": re_json}
NEEDS = {"torch": "torch", "random": "sklearn", "pandas": "pandas", "scipy.sparse": "scipy", "numpy": "numpy"}


def there(name):
    import importlib.util
    need = NEEDS.get(name.split()[0])
    return need is None or importlib.util.find_spec(need) is not None


def run(name, scale):
    work = PROGRAMS[name]()
    work(scale / 20)                                      # what is done only once
    prof = sys.modules.get("millrace_prof")
    if prof:
        prof.enable()
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    work(scale)
    cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
    if prof:
        prof.disable()
    print("%d,%d,%d,%d" % (cpu, wall, time.process_time_ns(), faults))


def under_torch(scale):
    """Share of the loop in torch's operators by its own profiler: those that no other operator called."""
    import torch
    work = torch_dqn()
    work(scale / 20)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as p:
        wall = time.perf_counter()
        work(scale)
        wall = time.perf_counter() - wall
    spans = sorted((e.time_range.start, e.time_range.end) for e in p.events() if "#" not in e.name)
    covered, end = 0, 0
    for a, b in spans:
        if b > end:
            covered += b - max(a, end)
            end = b
    print("%.4f" % (covered / 1e6 / wall))


def judge(name, events, samples):
    """The sampler's opinion beside the recorder's: an instruction in an extension is C for certain; elsewhere, in libc and
    the interpreter, that it is within a recorded call."""
    time_of, other = {}, 0
    for r in csv.DictReader(open(events)):
        if r["kind"] == "cat":
            time_of[r["cat"]] = time_of.get(r["cat"], 0) + int(r["end_ns"]) - int(r["start_ns"])
    python, waiting = time_of.get("Python", 0), time_of.get("Waiting", 0)
    total = sum(time_of.values()) - time_of.get("Profiler", 0)
    n = certain = seen = inside = 0
    for r in csv.DictReader(open(samples)):
        k, inside_c = int(r["samples"]), r["in_c"] == "1"
        n += k
        inside += k * inside_c
        if r["kind"] == "extension":
            certain += k
            seen += k * inside_c
    c = inside + certain - seen
    recorded = (total - python - waiting) / (total - waiting)
    print("%s,%d,%d,%d,%.3f,%.3f,%.3f,%.3f,%.3f" % (name, n, certain, seen, inside / c if c else 1, c / n, 1.96 * math.sqrt(
        c / n * (1 - c / n) / n), recorded, recorded * n / c if c else 1))


def costs(path):
    runs = {}
    for name, way, *numbers in csv.reader(open(path)):
        runs.setdefault(name, {}).setdefault(way, []).append([float(x) for x in numbers])
    print("program,rounds,work_ratio,least_ratio,whole_ratio,work_seconds,page_faults,recorded_page_faults")
    for name, r in runs.items():
        pairs = list(zip(r["bare"], r["recorded"]))
        print("%s,%d,%.3f,%.3f,%.3f,%.2f,%d,%d" % (name, len(pairs), statistics.median(b[0] / a[0] for a, b in pairs),
              min(b[0] for a, b in pairs) / min(a[0] for a, b in pairs), statistics.median(b[1] / a[1] for a, b in pairs),
              min(a[0] for a, b in pairs) / 1e9, *(statistics.median(r[way][i][2] for i in range(len(r[way])))
                                                   for way in ("bare", "recorded"))))


if __name__ == "__main__":
    what = sys.argv[1]
    if what == "list":
        print("\n".join(filter(there, PROGRAMS)))
    elif what == "run":
        run(sys.argv[2], float(sys.argv[3]))
    elif what == "torch":
        under_torch(float(sys.argv[2]))
    elif what == "judge":
        judge(*sys.argv[2:5])
    else:
        costs(sys.argv[2])
