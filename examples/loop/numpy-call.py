# A kernel from NumPy: loop-gen --kind=mm --m=128 --n=256 --k=512 --test=0 | loop-search --algo=heuristic |
#                      loop-emit --shared=libmm.so        then: python3 numpy-call.py ./libmm.so
import ctypes
import sys
import time
import numpy as np

lib = ctypes.CDLL(sys.argv[1])
array = np.ctypeslib.ndpointer(np.float32, flags='C_CONTIGUOUS')
mm = lib.mm_128_256_512
mm.argtypes, mm.restype = [array, array, array], None
assert lib.mm_128_256_512_test() == 0
r = np.random.default_rng(1)
a, b = (r.standard_normal(s, dtype=np.float32) for s in ((128, 512), (512, 256)))
c = np.empty((128, 256), np.float32)
for name, f in (('millrace', lambda: mm(c, a, b)), ('NumPy', lambda: np.matmul(a, b, out=c))):
    t = min((lambda s: (f(), time.perf_counter() - s)[1])(time.perf_counter()) for _ in range(200))
    print(f'{name}: {2e-9 * 128 * 256 * 512 / t:.0f} GFLOPS, error {np.abs(c - a.astype(float) @ b).max():.1g}')
