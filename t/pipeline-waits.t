#!/bin/bash
# on the CPU or off it: ways of waiting, and threads that share the interpreter, against the threads' own CPU clocks
. "${0%/*}/tap.sh"
[ -e "$(recorder)" ] && ! ldd "$(recorder)" | grep -q libasan || { echo '1..0 # skip the recorder was not built, or with a sanitizer'; exit 0; }
cat > waits.py <<'D'
import fcntl, io, multiprocessing as mp, os, queue, select, signal, socket, sqlite3, subprocess, sys, threading, time
import millrace_prof as p
S = .15
def after(f): threading.Timer(S, f).start()
def pipe_read(): subprocess.Popen(["sleep", str(S)], stdout=subprocess.PIPE).stdout.read()
def simple_queue():
    q = queue.SimpleQueue(); after(lambda: q.put(1)); q.get()
def a_queue():
    q = queue.Queue(); after(lambda: q.put(1)); q.get()
def selects(): select.select([], [], [], S)
def accepts():
    s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); a = s.getsockname(); after(lambda: socket.create_connection(a)); s.accept()
def socket_file():
    a, b = socket.socketpair(); after(lambda: b.send(b"x\n")); a.makefile("rb").readline()
def raw_pipe():
    r, w = os.pipe(); after(lambda: os.write(w, b"x\n")); open(r, "rb", buffering=0).read(1)
def text_pipe():
    r, w = os.pipe(); after(lambda: os.write(w, b"x\n")); open(r).readline()
def flock():
    f = open("l", "w"); g = open("l", "w"); fcntl.flock(f, fcntl.LOCK_EX); after(lambda: fcntl.flock(f, fcntl.LOCK_UN)); fcntl.flock(g, fcntl.LOCK_EX)
def full_pipe():
    r, w = os.pipe(); after(lambda: os.read(r, 1 << 20)); f = open(w, "wb", buffering=0); f.write(b"x" * 65536); f.write(b"x" * 100)
def mp_queue():
    q = mp.Queue(); after(lambda: q.put(1)); q.get()
def mp_lock():
    l = mp.Lock(); l.acquire(); after(l.release)
    with l: pass
def event():
    e = threading.Event(); after(e.set); e.wait()
def waitid(): c = subprocess.Popen(["sleep", str(S)]); os.waitid(os.P_PID, c.pid, os.WEXITED)
def system(): os.system("sleep %g" % S)
def condition():
    c = threading.Condition()
    with c: c.wait(S)
def popen(): os.popen("sleep %g" % S).read()
def sigtimedwait(): signal.sigtimedwait([signal.SIGUSR1], S)
def rlock():
    l = threading.RLock(); e = threading.Event()
    def hold():
        with l: e.set(); time.sleep(S)
    threading.Thread(target=hold).start(); e.wait(); l.acquire(); l.release()
def join():
    t = threading.Thread(target=time.sleep, args=(S,)); t.start(); t.join()
def standard_input(): after(lambda: os.write(write_end, b"x\n")); input()
read_end, write_end = os.pipe()
os.dup2(read_end, 0)
for f in (pipe_read, simple_queue, a_queue, selects, accepts, socket_file, raw_pipe, text_pipe, flock, full_pipe, mp_queue, mp_lock, event,
          waitid, system, condition, popen, sigtimedwait, rlock, join, standard_input):
    a, c = time.perf_counter(), time.thread_time()
    with p.operation(f.__name__): f()
    print("%s,%.6f,%.6f" % (f.__name__, time.perf_counter() - a, time.thread_time() - c))
D
prof-record --quiet -o log waits.py > clocks
{ echo op,wall,cpu; cat clocks; } > clocks.csv
prof-log log > events.csv
prof-op --quiet events.csv | csv-calc --where="kind == 'cat' && op != ''" --set='ns=end_ns - start_ns' \
    --set="busy=cat == 'Python' || cat == 'C' || cat == 'Backend' ? ns : 0" | csv-group -g op -c ns,busy --stat=sum > ops.csv
# what the recorder calls work is the thread's CPU time, to 3 ms and what the operation's own marks cost
wrong() { csv-join -k op clocks.csv ops.csv | csv-calc --set='off=sum_busy/1e9 - cpu' --where='abs(off) > 0.005 + cpu/4 || sum_busy > 0.25*sum_ns' |
    csv-cut -c op,wall,cpu,sum_busy | sed 1d; }
none() { local found; found=$("$@") && [ -z "$found" ] || { echo "$found"; return 1; }; }
ok 'twenty-one ways of waiting are not work' none wrong
is 'all of them ran' 21 eval 'sed 1d ops.csv | wc -l'
ok 'the table is sound' prof-check --log=log events.csv
cat > mix.py <<'D'
import threading, time
def work():
    a = time.thread_time(); s = 0
    for k in range(5000000): s += k
    rows.append("%d,%.6f" % (threading.get_native_id(), time.thread_time() - a))
rows = []
t = [threading.Thread(target=work) for _ in range(4)]; [x.start() for x in t]; [x.join() for x in t]
print("\n".join(rows))
D
{ echo tid,cpu; prof-record --quiet -o mix mix.py; } > cpu.csv
prof-log mix | csv-calc --where="cat == 'Python'" --set='ns=end_ns - start_ns' | csv-group -g tid -c ns --stat=sum > python.csv
far() { csv-join -k tid cpu.csv python.csv | csv-calc --where='abs(sum_ns/1e9/cpu - 1) > 0.05 && abs(sum_ns/1e9 - cpu) > 0.007' | sed 1d; }
ok 'four threads of Python: of each as much as its CPU clock says, to 5 %' none far
ok 'what they wait for each other is said' eval "prof-top mix | csv-where -c name --is=GIL | grep -q Waiting"
cat > unseen.c <<'D'
#include <pthread.h>
#include <time.h>
static void *work(void *a) { struct timespec t; do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); while (t.tv_nsec < 60000000); for (;;) nanosleep(&(struct timespec){ 9, 0 }, 0); return a; }
int begin(void) { pthread_t t; return pthread_create(&t, 0, work, 0); }
D
if ${CC:-cc} -shared -fPIC -O1 -w -o unseen.so unseen.c -lpthread 2> /dev/null; then
    echo 'import ctypes, time; ctypes.CDLL("./unseen.so").begin(); time.sleep(.3)' > unseen.py
    prof-record --quiet -o unseen unseen.py
    is "a pool's thread that nobody records has a row of its CPU time" 1 eval \
        "prof-top unseen | csv-where -c cat --is=Unseen | csv-calc --print='self_ns > 3e6 && self_ns < 70e6'"
fi
# beside another program on one CPU: preempted within an uncontended lock's call is no wait for the lock
if command -v taskset > /dev/null; then
    cat > beside.py <<'D'
import threading, time
l = threading.Lock()
end = time.thread_time() + .3
while time.thread_time() < end:
    for i in range(300):
        with l: pass
        k = 0
        while k < 400: k += 1
D
    cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
    taskset -c "$cpu" sh -c 'while :; do :; done' &
    other=$!
    taskset -c "$cpu" prof-record --quiet -o beside beside.py
    kill $other
    is 'a thread that is preempted waits for nothing' yes eval "prof-log --quiet beside | csv-where -c kind --is=cat |
        csv-calc --set='ns=end_ns - start_ns' | csv-group -g cat -c ns --stat=sum > of && csv-calc --print='sum_ns < 100e6 ? \"yes\" : sum_ns' \
        <(csv-where -c cat --is=Waiting of)"
fi
done_testing
