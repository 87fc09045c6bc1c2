"""thirty programs of fifteen kinds and more in which one part can be made K times faster: prof-whatif.py PROGRAM K;
--list: program, kind, the part.  See prof-whatif.sh."""
import time
BEGAN = time.perf_counter_ns()
import hashlib
import math
import os
import sys
import millrace_prof as M

NAME = sys.argv[1]
K = float(sys.argv[2]) if len(sys.argv) > 2 else 1
op = M.operation
rest = time.sleep
PROGRAMS = {}


def program(kind, part):
    def add(f):
        PROGRAMS[f.__name__] = (kind, part, f)
        return f
    return add


def py(n):                                                 # work of Python
    s = 0
    for i in range(int(n)):
        s += i * i
    return s


def threads(*functions):
    import threading
    t = [threading.Thread(target=f[0], args=f[1:]) for f in functions]
    for x in t:
        x.start()
    for x in t:
        x.join()


def processes(*functions):
    import multiprocessing as mp
    p = [mp.Process(target=f[0], args=f[1:]) for f in functions]
    for x in p:
        x.start()
    for x in p:
        x.join()


def part(name, seconds):
    with op(name):
        rest(seconds)


# ---- one thread

@program("one thread", "a")
def cpu():
    for r in range(20):
        with op("iter"):
            with op("a"):
                py(200000 / K)
            with op("b"):
                hashlib.sha256(b"x" * 3000000).digest()


@program("one thread", "sum")
def c_part():
    for r in range(12):
        with op("iter"):
            with op("sum"):
                hashlib.sha512(b"x" * int(6000000 / K)).digest()
            py(100000)
            part("save", .01)


@program("one thread", "sort")
def sort_part():
    data = [math.sin(i * 7.3) for i in range(150000)]
    for r in range(12):
        with op("iter"):
            with op("sort"):
                sorted(data[:int(len(data) / K)])
            with op("format"):
                "".join(map(str, data[:20000]))


# ---- locks

@program("lock", "crit")
def lock():
    import threading
    mutex = threading.Lock()

    def work():
        for k in range(12):
            part("par", .010)
            with mutex:
                part("crit", .008 / K)
    threads((work,), (work,), (work,))


@program("lock", "write")
def rlock():
    import threading
    mutex = threading.RLock()

    def reader():
        for k in range(15):
            with mutex:
                part("read", .006)
            part("think", .004)

    def writer():
        for k in range(10):
            with mutex, mutex:
                part("write", .015 / K)
            part("plan", .005)
    threads((reader,), (writer,))


@program("semaphore", "fetch")
def semaphore():
    import threading
    room = threading.Semaphore(2)

    def work(i):
        for k in range(8):
            with room:
                part("fetch", (.012 + .002 * i) / K)
            part("use", .006)
    threads(*[(work, i) for i in range(4)])


@program("condition", "fill")
def condition():
    import threading
    c, box = threading.Condition(), []

    def fill():
        for k in range(25):
            part("fill", .02 / K)
            with c:
                box.append(k)
                c.notify()

    def drain():
        for k in range(25):
            with c:
                while not box:
                    c.wait()
                box.pop()
            part("drain", .009)
    threads((fill,), (drain,))


@program("barrier", "slow")
def barrier():
    import threading
    meet = threading.Barrier(3)

    def work(i):
        for k in range(15):
            part("slow" if i == 0 else "quick", .03 / K if i == 0 else .012 + .003 * i)
            meet.wait()
    threads(*[(work, i) for i in range(3)])


@program("event", "prepare")
def event():
    import threading
    ready = [threading.Event() for k in range(20)]
    done = [threading.Event() for k in range(20)]

    def prepare():
        for k in range(20):
            part("prepare", .018 / K)
            ready[k].set()
            done[k].wait()

    def use():
        for k in range(20):
            ready[k].wait()
            part("use", .012)
            done[k].set()
    threads((prepare,), (use,))


# ---- queues of threads

def pipeline(read, work, write):
    import queue
    import threading
    a, b = queue.Queue(2), queue.Queue(2)

    def first():
        for i in range(40):
            part("read", read)
            a.put(i)
        a.put(None)

    def second():
        while a.get() is not None:
            part("work", work)
            b.put(1)
        b.put(None)
    t = [threading.Thread(target=first), threading.Thread(target=second)]
    for x in t:
        x.start()
    while b.get() is not None:
        part("write", write)
    for x in t:
        x.join()


@program("queue", "read")
def qq():
    pipeline(.012 / K, .009, .004)


@program("queue", "write")
def qq_end():
    pipeline(.005, .008, .015 / K)


@program("queue", "job")
def simple_queue():
    import queue
    q, back = queue.SimpleQueue(), queue.SimpleQueue()

    def work():
        while q.get() is not None:
            part("job", .015 / K)
            back.put(1)

    def boss():
        for r in range(8):
            for k in range(6):
                q.put(k)
            for k in range(6):
                back.get()
            part("merge", .02)
        q.put(None)
        q.put(None)
    threads((boss,), (work,), (work,))


# ---- executors

@program("executor", "fetch")
def fut():
    import concurrent.futures as cf

    def f(i):
        part("fetch", (.02 + .01 * (i % 3)) / K)
    with cf.ThreadPoolExecutor(2) as ex:
        for r in range(5):
            with op("iter"):
                for x in cf.as_completed([ex.submit(f, i) for i in range(6)]):
                    part("use", .008)
                    x.result()


def job(i):
    part("job", .03 / K)
    return i


@program("executor", "job")
def process_executor():
    import concurrent.futures as cf
    with cf.ProcessPoolExecutor(2) as ex:
        for r in range(8):
            list(ex.map(job, range(4)))
            part("learn", .02)


# ---- multiprocessing

def step(n):
    part("simulate", .03 / K)
    part("encode", .01)
    return n


@program("Pool", "simulate")
def pool():
    import multiprocessing as mp
    with mp.Pool(3) as p:
        for it in range(6):
            with op("iter"):
                p.map(step, range(6), chunksize=1)
                part("learn", .05)


def crunch(n):
    with op("crunch"):
        py(400000 / K)
    return n


@program("Pool", "crunch")
def pool_cpu():
    import multiprocessing as mp
    with mp.Pool(2) as p:
        for it in range(8):
            for x in p.imap_unordered(crunch, range(4)):
                with op("merge"):
                    py(40000)


def simulator(i, meet, q):
    for k in range(10):
        part("sim%d" % i, .01 if i else .03 / K)
        q.put(k)
        meet.wait()


@program("processes that meet", "sim0")
def fwriter():
    import multiprocessing as mp
    meet, q = mp.Barrier(3), mp.Queue()
    p = [mp.Process(target=simulator, args=(i, meet, q)) for i in range(2)]
    for x in p:
        x.start()
    for k in range(10):
        with op("iter"):
            q.get()
            q.get()
            part("learn", .006)
            meet.wait()
    for x in p:
        x.join()


def shared(mutex, i):
    for k in range(15):
        with mutex:
            part("commit", .012 / K)
        part("compute", .010)


@program("lock of processes", "commit")
def mp_lock():
    import multiprocessing as mp
    mutex = mp.Lock()
    processes(*[(shared, mutex, i) for i in range(3)])


def environment(c):
    while c.recv() is not None:
        part("env", .02 / K)
        c.send(1)


@program("Pipe()", "env")
def mp_pipe():
    import multiprocessing as mp
    ends = [mp.Pipe() for i in range(3)]
    p = [mp.Process(target=environment, args=(b,)) for a, b in ends]
    for x in p:
        x.start()
    for k in range(20):
        for a, b in ends:
            a.send(k)
        for a, b in ends:
            a.recv()
        part("policy", .012)
    for a, b in ends:
        a.send(None)
    for x in p:
        x.join()


# ---- pipes, children

def lines(server, client):
    import subprocess
    if len(sys.argv) > 3:
        for line in sys.stdin:
            part("server", server)
            print(line.strip(), flush=True)
        return
    p = subprocess.Popen([sys.executable, __file__, NAME, str(K), "server"], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True)
    for i in range(30):
        with op("iter"):
            p.stdin.write("x\n")
            p.stdin.flush()
            part("client", client)
            p.stdout.readline()
    p.stdin.close()
    p.wait()


@program("pipes to a child", "server")
def pipe():
    lines(.015 / K, .005)


@program("pipes to a child", "client")
def pipe_client():
    lines(.008, .020 / K)


@program("fork and wait", "long")
def forks():
    for r in range(8):
        children = []
        for i in range(3):
            pid = os.fork()
            if not pid:
                part("long" if i == 1 else "short", .06 / K if i == 1 else .025)
                os._exit(0)
            children.append(pid)
        for pid in children:
            os.waitpid(pid, 0)
        part("collect", .015)


# ---- sockets

def serve(n, seconds):
    import socket
    s = socket.create_server(("127.0.0.1", 0))

    def server():
        c, _ = s.accept()
        while c.recv(64):
            part("server", seconds)
            c.sendall(b"done")

    def client():
        c = socket.create_connection(s.getsockname())
        for k in range(n):
            c.sendall(b"x")
            part("prepare", .006)
            c.recv(64)
        c.close()
    threads((server,), (client,))


@program("server with a client", "server")
def tcp():
    serve(25, .02 / K)


@program("server with a client", "query")
def http():
    import http.server
    import threading
    import urllib.request

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            part("query", .015 / K)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"x")

        def log_message(self, *a):
            pass
    s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    t = threading.Thread(target=s.serve_forever, args=(.02,))
    t.start()
    for i in range(25):
        urllib.request.urlopen("http://127.0.0.1:%d/" % s.server_port).read()
        part("render", .008)
    s.shutdown()
    t.join()


@program("server with a client", "answer")
def select_server():
    import selectors
    import socket
    look, ends = selectors.DefaultSelector(), [socket.socketpair() for i in range(2)]
    for a, b in ends:
        look.register(b, selectors.EVENT_READ)

    def server():
        left = 2
        while left:
            for key, _ in look.select():
                if key.fileobj.recv(9):
                    part("answer", .010 / K)
                    key.fileobj.send(b"y")
                else:
                    look.unregister(key.fileobj)
                    left -= 1

    def client(s, seconds):
        for k in range(20):
            s.send(b"x")
            s.recv(9)
            part("think", seconds)
        s.close()
    threads((server,), (client, ends[0][0], .005), (client, ends[1][0], .007))


# ---- asyncio

@program("asyncio", "net")
def aio():
    import asyncio

    async def one(room):
        async with room:
            with op("net"):
                await asyncio.sleep(.02 / K)
            part("parse", .004)

    async def main():
        room = asyncio.Semaphore(3)
        for r in range(5):
            with op("iter"):
                await asyncio.gather(*[one(room) for i in range(9)])
    asyncio.run(main())


@program("asyncio", "parse")
def aio_parse():
    import asyncio

    async def one():
        with op("net"):
            await asyncio.sleep(.015)
        part("parse", .010 / K)

    async def main():
        for r in range(6):
            await asyncio.gather(*[one() for i in range(4)])
    asyncio.run(main())


@program("asyncio", "produce")
def aio_queue():
    import asyncio

    async def producer(q):
        for k in range(25):
            with op("produce"):
                await asyncio.sleep(.02 / K)
            await q.put(k)
        await q.put(None)

    async def main():
        q = asyncio.Queue(2)
        t = asyncio.create_task(producer(q))
        while await q.get() is not None:
            with op("consume"):
                await asyncio.sleep(.009)
        await t
    asyncio.run(main())


@program("asyncio with threads", "blocking")
def aio_threads():
    import asyncio

    async def main():
        for r in range(8):
            await asyncio.gather(*[asyncio.to_thread(part, "blocking", (.02 + .01 * i) / K) for i in range(3)])
            part("together", .02)
    asyncio.run(main())


# ---- the interpreter's lock

@program("GIL", "hog")
def gil():
    def hog():
        for k in range(10):
            with op("hog"):
                py(500000 / K)

    def other():
        for k in range(10):
            with op("other"):
                py(250000)
    threads((hog,), (other,))


if __name__ == "__main__":
    if NAME == "--list":
        for name, (kind, what, f) in PROGRAMS.items():
            print("%s,%s,%s" % (name, kind, what))
        sys.exit()
    PROGRAMS[NAME][2]()
    if len(sys.argv) == 3:
        print(time.perf_counter_ns() - BEGAN)
