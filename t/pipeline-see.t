#!/bin/bash
# where the time of Python programs goes, beside what the programs themselves measured
. "${0%/*}/tap.sh"
[ -e "$(recorder)" ] && [ "$(uname -m)" = x86_64 ] || { echo "1..0 # skip the recorder was not built"; exit 0; }
ldd "$(recorder)" | grep -q libasan && { echo "1..0 # skip built with a sanitizer"; exit 0; }
# Seconds of each category, name and process by prof-log must lie between two clocks of the program itself: the processor's time of its
# thread below, the wall's above (a busy machine takes the processor between any two of them); 2 % or 5 ms beside them are let pass
cat > judge.py <<'D'
import csv, sys
got, bad = {}, 0
for r in csv.DictReader(open("ev.csv")):
    if r["kind"] == "cat":
        for k in (r["cat"], r["cat"] + "." + r["name"], r["cat"] + "@" + r["proc"]):
            got[k] = got.get(k, 0) + (int(r["end_ns"]) - int(r["start_ns"])) / 1e9
for name, low, high in (line.split() for line in open("truth")):
    low, high, have = float(low), float(high), got.get(name, 0)
    if not low - max(0.02 * low, 0.005) <= have <= high + max(0.02 * high, 0.005):
        print(name, "got", round(have, 4), "want", round(low, 4), "to", round(high, 4))
        bad = 1
sys.exit(bad)
D
cat > clocks.py <<'D'
import time
class Clocks:
    def __init__(self): self.low = self.high = 0
    def __enter__(self): self.wall, self.cpu = time.perf_counter(), time.thread_time()
    def __exit__(self, *error): self.low += time.thread_time() - self.cpu; self.high += time.perf_counter() - self.wall
    def __str__(self): return "%f %f" % (self.low, self.high)
D
right() { # NAME PROGRAM
    if prof-record --quiet --force -o log "$2" > truth 2> err && prof-log --quiet log > ev.csv &&
        /usr/bin/python3 judge.py > "$T/why" 2>&1; then
        pass "$1"
    else
        cat err >> "$T/why"
        fail "$1"
    fi
}
cat > parts.py <<'D'
import clocks, json, time, zlib
parts = {}
def timed(name, work):
    with parts.setdefault(name, clocks.Clocks()):
        work()
data, numbers = bytes(range(256)) * 4000, list(range(30000))
z = zlib.compressobj()
for i in range(4):
    timed("C.zlib.compress", lambda: zlib.compress(data))
    timed("C.zlib.Compress.compress", lambda: z.compress(data))
    timed("C._json.Encoder.call", lambda: json.dumps(numbers))
    timed("Waiting.time.sleep", lambda: time.sleep(0.02))
parts["Waiting.time.sleep"].low = 0.08
for k in parts:
    print(k, parts[k])
D
right 'functions, methods, slots and waiting' parts.py
cat > child.py <<'D'
import clocks, os, time
def busy(s):
    t = time.perf_counter()
    while time.perf_counter() - t < s: pass
r, w = os.pipe()
life = clocks.Clocks()                                   # of the child as its parent sees it: it can wait for a processor at both ends, too
with life:
    pid = os.fork()
    if not pid:
        c = clocks.Clocks()
        with c: busy(0.2)
        os.write(w, b"%f" % c.low)
        os._exit(0)
    os.waitpid(pid, 0)
print("Python@%d" % pid, os.read(r, 99).decode(), life.high)
D
right 'the Python of a child of fork' child.py
cat > callback.py <<'D'
import clocks, time, zlib
def slow(x):
    t = time.perf_counter()
    while time.perf_counter() - t < 0.01: pass
    return -x
sorted(range(10), key=slow); list(map(slow, range(10)))
data = bytes(3000000)
c = clocks.Clocks()
with c: zlib.crc32(data); zlib.compress(data, 1)
print("C", c)
D
right 'Python that C calls is Python' callback.py
cat > thread.py <<'D'
import _thread, clocks, time, zlib
done, data, c = [], bytes(10000000), clocks.Clocks()
def work():
    for i in range(5):                                   # few: what Python takes around each is inside the clocks, too
        with c: zlib.compress(data, 1)
    done.append(1)
_thread.start_new_thread(work, ())
while not done: time.sleep(0.01)
print("C.zlib.compress", c)
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
peer 'NumPy reuses temporary arrays as if nobody stood between' numpy 'import numpy as np, tracemalloc
a = np.ones((200, 200)); b = a + 1
tracemalloc.start()
c = a * b - b / 2
print(tracemalloc.get_traced_memory()[1] * 2 // a.nbytes / 2, c[1, 1])'
# C that is called by ways of their own: what cffi makes when it is asked for, getters of pybind11, generators of Cython
ways() { prof-log --quiet --nested log | csv-where -c cat --is=Backend | csv-cut -c name | grep -xE "$1" | sort | uniq -c | paste -sd' ' | tr -s ' '; }
if /usr/bin/python3 -c 'import cffi' 2> /dev/null; then
    cat > build.py <<'D'
import cffi
f = cffi.FFI()
f.cdef("double work(double); int counter;")
f.set_source("_made", "double work(double x) { for (int i = 0; i < 1000; i++) x += i; return x; } int counter = 7;")
f.compile()
D
    /usr/bin/python3 build.py > made.out 2>&1
    printf '%s\n' 'from _made import ffi, lib' 'print([lib.work(i) for i in range(5)], lib.counter)' \
        'print(ffi.typeof(lib.work), ffi.addressof(lib, "work")(2.0), dir(lib))' 'lib.counter += 1' 'print(lib.counter)' > made.py
    is 'cffi: the same output' "$(/usr/bin/python3 made.py)" prof-record --quiet --force -o log made.py
    is 'and its functions are seen' ' 5 _made.work' ways '_made.*'
else skip 'cffi' 'no python3-cffi'; fi
if /usr/bin/python3 -m pybind11 --includes > with 2> /dev/null; then
    cat > bound.cpp <<'D'
#include <pybind11/pybind11.h>
struct A { int get() const { return 7; } void set(int) {} };
PYBIND11_MODULE(bound, m) { pybind11::class_<A>(m, "A").def(pybind11::init<>()).def_property("p", &A::get, &A::set); }
D
    g++ -O1 -shared -fPIC $(< with) bound.cpp -o bound.so
    printf '%s\n' 'import bound' 'a = bound.A()' 'print([a.p for _ in range(5)])' 'a.p = 3' > bound.py
    is 'pybind11: the same output' "$(/usr/bin/python3 bound.py)" prof-record --quiet --force -o log bound.py
    is 'and its getters and setters are seen, as what they are' ' 6 A.p' ways 'A\.p'
else skip 'pybind11' 'no pybind11'; fi
if command -v cython3 > /dev/null; then
    printf '%s\n' 'def gen(n):' '    for i in range(n): yield i' > cyg.pyx
    cython3 -3 cyg.pyx 2> /dev/null && gcc -O1 -shared -fPIC $(/usr/bin/python3-config --includes) cyg.c -o cyg.so 2> /dev/null
    printf '%s\n' 'import cyg' 'print(sum(cyg.gen(9)), list(zip(cyg.gen(2), "ab")))' 'for i in cyg.gen(3): print(i)' > cyg.py.txt
    mv cyg.py.txt usecyg.py
    is 'Cython: the same output' "$(/usr/bin/python3 usecyg.py)" prof-record --quiet --force -o log usecyg.py
    is 'and its generators are no C of the standard library' ' 3 cyg.gen 17 generator.iternext' ways '.*gen.*'
else skip 'Cython' 'no cython3'; fi
cat > address.py <<'D'
import ctypes, json
f = ctypes.pythonapi.PyCFunction_GetFunction
f.restype, f.argtypes = ctypes.c_void_p, [ctypes.py_object]
for encode in json.encoder.c_encode_basestring, json.encoder.c_encode_basestring_ascii:
    at = f(encode)
    for line in open("/proc/self/maps"):
        low, high = (int(x, 16) for x in line.split()[0].split("-"))
        if low <= at < high: print(encode.__name__, line.split()[-1], encode("a"))
D
is 'json finds the code by whose address it knows its own encoders' "$(/usr/bin/python3 address.py)" \
    prof-record --quiet --force -o log address.py
is 'and calls of them are recorded' 2 eval "prof-log --quiet log | grep -c ',_json.encode_basestring.*,c_patch$'"
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
