import hashlib, json, sys, threading, time, zlib
clock = time.perf_counter
T = {}
def timed(k, f):
    t = clock()
    r = f()
    T[k] = T.get(k, 0) + clock() - t
    return r
data = bytes(range(256)) * 4000
z = zlib.compressobj()
for i in range(4):
    timed("C.zlib.compress", lambda: zlib.compress(data))
    timed("C.zlib.Compress.compress", lambda: z.compress(data))
    timed("C._hashlib.HASH.update", lambda: hashlib.sha256().update(data))
    timed("C._json.Encoder.__call__" if False else "C._json.Encoder.call", lambda: json.dumps(list(range(30000))))
    timed("Waiting.time.sleep", lambda: time.sleep(0.02))
lock = threading.Lock()
lock.acquire()
threading.Timer(0.05, lock.release).start()
timed("Waiting._thread.lock.acquire", lock.acquire)
del T["Waiting._thread.lock.acquire"]                     # the timer waits as well
for k in T:
    print(k, T[k])
