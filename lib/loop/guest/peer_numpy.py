# one line "kind size..." in, "ok" or a reason out; then "run N" in, the least seconds of N runs out; "end" ends
import sys, time
import numpy as np
def rng(n):
    return (np.arange(n, dtype=np.int64) * 7 % 7 - 3).astype(np.float32)
for line in iter(sys.stdin.readline, ''):
    kind, *size = line.split()
    size = [int(x) for x in size]
    if kind not in ('mm', 'mm_nt', 'mm_tn', 'mm_tt', 'bmm'):
        print('only products are written for it', flush=True)
        continue
    b = size.pop(0) if kind == 'bmm' else 1
    m, n, k = size
    t = kind[3:] if kind != 'bmm' else 'nn'
    A = rng(b * m * k).reshape((b, k, m) if t[:1] == 't' else (b, m, k))
    B = rng(b * n * k).reshape((b, n, k) if t[1:] == 't' else (b, k, n))
    A = A.transpose(0, 2, 1) if t[:1] == 't' else A
    B = B.transpose(0, 2, 1) if t[1:] == 't' else B
    if b == 1:
        A, B = A[0], B[0]
    C = np.empty((b, m, n) if b > 1 else (m, n), dtype=np.float32)
    for _ in range(16):  # before the clock, as long as other libraries at most
        np.matmul(A, B, out=C)
    print('ok', flush=True)
    for cmd in iter(sys.stdin.readline, ''):
        word, *arg = cmd.split()
        if word == 'end':
            break
        best = 1e9
        for _ in range(int(arg[0])):
            s = time.perf_counter()
            np.matmul(A, B, out=C)
            best = min(best, time.perf_counter() - s)
        print(repr(best), flush=True)
