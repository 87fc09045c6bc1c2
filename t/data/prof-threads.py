import threading, zlib, os, json, math, millrace_prof as p
def work(n):
    for i in range(n):
        with p.operation("pack"):
            zlib.compress(b"x" * 2000); json.dumps([1, 2]); sorted([3, 1], key=lambda x: zlib.crc32(b"a"))
ts = [threading.Thread(target=work, args=(9,)) for _ in range(2)]
[t.start() for t in ts]; [t.join() for t in ts]
if os.fork() == 0:
    work(9); os._exit(0)
os.wait()
