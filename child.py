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
