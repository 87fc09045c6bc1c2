#!/bin/bash
# where the time of Python programs goes, beside what the programs themselves measured
. "${0%/*}/tap.sh"
[ -e "$B/prof/_millrace.so" ] && [ "$(uname -m)" = x86_64 ] || { echo "1..0 # skip the recorder was not built"; exit 0; }
ldd "$B/prof/_millrace.so" | grep -q libasan && { echo "1..0 # skip built with a sanitizer"; exit 0; }
# seconds of each category, name and process by prof-log, and the truth as the program printed it
cat > judge.py <<'D'
import csv, sys
truth = dict((k, float(v)) for k, v in (line.split() for line in open("truth")))
got, bad = {}, 0
for r in csv.DictReader(open("ev.csv")):
    if r["kind"] == "cat":
        for k in (r["cat"], r["cat"] + "." + r["name"], r["cat"] + "@" + r["proc"]):
            got[k] = got.get(k, 0) + (int(r["end_ns"]) - int(r["start_ns"])) / 1e9
for k, want in truth.items():
    if abs(got.get(k, 0) - want) > max(0.02 * want, 0.005):
        print(k, "got", round(got.get(k, 0), 4), "want", round(want, 4))
        bad = 1
sys.exit(bad)
D
right() { # NAME PROGRAM: parts within 2 % or 5 ms, three tries: a neighbour may take the processor between two clocks
    local try
    for try in 1 2 3; do
        prof-record --quiet --force -o log "$2" > truth 2> err && prof-log --quiet log > ev.csv &&
            /usr/bin/python3 judge.py > "$T/why" 2>&1 && { pass "$1"; return; }
        cat err >> "$T/why"
    done
    fail "$1"
}
cat > parts.py <<'D'
import hashlib, json, time, zlib
clock, T = time.perf_counter, {}
def timed(k, f):
    t = clock()
    r = f()
    T[k] = T.get(k, 0) + clock() - t
    return r
data, numbers = bytes(range(256)) * 4000, list(range(30000))
z = zlib.compressobj()
for i in range(4):
    timed("C.zlib.compress", lambda: zlib.compress(data))
    timed("C.zlib.Compress.compress", lambda: z.compress(data))
    timed("C._json.Encoder.call", lambda: json.dumps(numbers))
    timed("Waiting.time.sleep", lambda: time.sleep(0.02))
for k in T:
    print(k, T[k])
D
right 'functions, methods, slots and waiting' parts.py
cat > child.py <<'D'
import os, time
def busy(s):
    t = time.perf_counter()
    while time.perf_counter() - t < s: pass
r, w = os.pipe()
pid = os.fork()
if not pid:
    t = time.perf_counter()
    busy(0.2)
    os.write(w, b"%f" % (time.perf_counter() - t))
    os._exit(0)
os.waitpid(pid, 0)
print("Python@%d" % pid, os.read(r, 99).decode())
D
right 'the Python of a child of fork' child.py
cat > callback.py <<'D'
import time, zlib
def slow(x):
    t = time.perf_counter()
    while time.perf_counter() - t < 0.01: pass
    return -x
sorted(range(10), key=slow); list(map(slow, range(10)))
data = bytes(3000000)
c = time.perf_counter()
zlib.crc32(data); zlib.compress(data, 1)
print("C", time.perf_counter() - c)
D
right 'Python that C calls is Python' callback.py
cat > thread.py <<'D'
import _thread, time, zlib
done, data = [], bytes(1000000)
def work():
    t = time.perf_counter()
    for i in range(20): zlib.compress(data, 1)
    done.append(time.perf_counter() - t)
_thread.start_new_thread(work, ())
while not done: time.sleep(0.01)
print("C.zlib.compress", done[0])
D
right 'a thread of _thread' thread.py

# with the peers: the same output, and samples find nothing in an extension that was not seen
peer() { # NAME MODULE PROGRAM
    /usr/bin/python3 -c "import $2" 2> /dev/null || { skip "$1" "no $2"; return; }
    printf '%s\n' "$3" > peer.py
    OMP_NUM_THREADS=1 /usr/bin/python3 peer.py > plain 2> err
    OMP_NUM_THREADS=1 prof-record --quiet --force --judge=250 -o log peer.py > recorded 2> why
    { cmp plain recorded; cat why; awk -F, 'NR > 1 && $2 == "extension" { n += $4; if ($3) seen += $4 }
        END { if (n > 20 && seen < 0.9 * n) print seen, "of", n, "samples in extensions seen" }' log/judge.*.csv; } > "$T/differs" 2>&1
    mv "$T/differs" "$T/why"
    if [ -s "$T/why" ]; then fail "$1"; else pass "$1"; fi
}
peer NumPy numpy 'import numpy as np
a = np.arange(40000.).reshape(200, 200); b = a.copy()
for i in range(20): c = a @ b; c += a; d = a.dot(b) - c / 2; e = np.sort(d.ravel()); f = a[a > 5].sum() + np.exp(-b).mean()
print(f, e[7], np.linalg.norm(c))
class A(np.ndarray):
    def __add__(self, o): return "A"
print(np.ones(2).view(A) + 1, sorted([3, 1, 2], key=lambda x: -x))
try: np.ones(2) @ np.ones(3)
except ValueError as x: print("refused")'
peer pandas pandas 'import numpy as np, pandas as pd
d = pd.DataFrame({"k": np.arange(50000) % 97, "v": np.arange(50000.)})
for i in range(9): s = d.groupby("k").v.agg(["mean", "max"]).sum()
print(s, d.sort_values("v", ascending=False).head(2), d.v.rolling(5).mean().sum())'
peer PyTorch torch 'import torch
torch.manual_seed(1); torch.set_num_threads(1)
n = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2)); o = torch.optim.Adam(n.parameters())
for i in range(200):
    l = n(torch.ones(8, 4)).pow(2).mean(); o.zero_grad(); l.backward(); o.step()
print(float(l))
try: torch.ones(2).matmul(torch.ones(3))
except RuntimeError: print("refused")'
done_testing
