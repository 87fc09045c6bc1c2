import time, zlib
def slow(x):
    t = time.perf_counter()
    while time.perf_counter() - t < 0.01: pass
    return -x
t = time.perf_counter()
sorted(range(10), key=slow); list(map(slow, range(10)))
data = bytes(3000000)
c = time.perf_counter()
zlib.crc32(data); zlib.compress(data, 1)
c = time.perf_counter() - c
print("C", c)
