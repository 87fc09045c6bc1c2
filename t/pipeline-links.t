#!/bin/bash
# who woke whom, as the recorder saw it: locks, queues, pipes, sockets, children, timers; and what a faster part brings
. "${0%/*}/tap.sh"
[ -e "$(recorder)" ] && ! ldd "$(recorder)" | grep -q libasan || { echo '1..0 # skip the recorder was not built, or with a sanitizer'; exit 0; }
export PYTHONPATH=$B/prof
record() { prof-record --quiet -o "$1" "$1.py"; }
# every wait of 5 ms or more has its post: rows of kind link, by key
links() { prof-log --quiet "$1" | awk -F, -v what="$2" '$3=="link" && $7 ~ what {if ($4=="post") p[$8]=1; else if ($6-$5>=5000000) w[++n]=$8} END {for (i in w) m += w[i] in p; print (n>=4 && m==n) ? "all" : m "/" n}'; }
# what the run would save if an operation took half: so much of all its time, which on a busy machine is more than it
# sleeps, or so many ms, within a quarter; asked three times
saved() {
    local said try all
    for try in 1 2 3; do
        all=$(prof-log --quiet --nested "$1" | awk -F, -v op="${2%:2}" '$3 == "op" && "op=" $7 == op { s += $6 - $5 } END { print s }')
        said=$(prof-whatif --quiet --speed="$2" "$1" 2> err | awk -F, -v ns="$all" -v part="$3" 'NR==2 {d=($3-$4)/part/(part < 1 ? ns : 1e6); print (d>.75 && d<1.25 && $13<.05) ? "as it is" : d ", unexplained " $13}')
        [ "$said" != 'as it is' ] || break
        [ $try = 3 ] || { rm -r "$1"; record "$1" > out 2>> err; }
    done
    [ "$said" = 'as it is' ] || cat err >&2
    echo "$said"
}
cat > lock.py <<'P'
import threading, time
import millrace_prof as M
l = threading.Lock()
def w():
    for k in range(6):
        with l:
            with M.operation("crit"): time.sleep(.02)
t = [threading.Thread(target=w) for i in range(3)]; [x.start() for x in t]; [x.join() for x in t]
P
cat > jobs.py <<'P'
import threading, queue, time
import millrace_prof as M
q = queue.Queue(1)
def prod():
    for i in range(12):
        with M.operation("read"): time.sleep(.03)
        q.put(i)
    q.put(None)
t = threading.Thread(target=prod); t.start()
while q.get() is not None:
    with M.operation("work"): time.sleep(.01)
t.join()
P
cat > pool.py <<'P'
import multiprocessing as mp, time
import millrace_prof as M
def step(n):
    with M.operation("simulate"): time.sleep(.06)
with mp.Pool(2) as p:
    for it in range(6): p.map(step, range(4), chunksize=1)
P
cat > pipe.py <<'P'
import subprocess, sys, time
import millrace_prof as M
if len(sys.argv) > 1:
    for line in sys.stdin:
        with M.operation("server"): time.sleep(.04)
        print(line.strip(), flush=True)
    sys.exit()
p = subprocess.Popen([sys.executable, __file__, "s"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for i in range(10):
    p.stdin.write("x\n"); p.stdin.flush(); p.stdout.readline()
p.stdin.close(); p.wait()
P
cat > tcp.py <<'P'
import socket, threading, time
import millrace_prof as M
s = socket.create_server(("127.0.0.1", 0))
def serve():
    c, _ = s.accept()
    while c.recv(9):
        with M.operation("server"): time.sleep(.04)
        c.sendall(b"done")
t = threading.Thread(target=serve); t.start()
c = socket.create_connection(s.getsockname())
for i in range(10): c.sendall(b"x"); c.recv(9)
c.close(); t.join()
P
cat > aio.py <<'P'
import asyncio, time
import millrace_prof as M
async def one(sem):
    async with sem:
        with M.operation("net"): await asyncio.sleep(.05)
async def main():
    sem = asyncio.Semaphore(2)
    for r in range(4): await asyncio.gather(*[one(sem) for i in range(4)])
asyncio.run(main())
P
for p in lock jobs pool pipe tcp aio; do ok "$p is recorded" record $p; done
is 'a lock: who had it' all links lock lock
is 'a pipe to a child and back' all links pipe pipe
is 'a socket' all links tcp socket
is 'a lock that all want' 'as it is' saved lock op=crit:2 .5
is 'a queue: its producer' 'as it is' saved jobs op=read:2 .5
is 'a pool: its workers' 'as it is' saved pool op=simulate:2 .25
is 'a server behind pipes' 'as it is' saved pipe op=server:2 .5
is 'a server behind a socket' 'as it is' saved tcp op=server:2 .5
is 'asyncio: what tasks wait for' 'as it is' saved aio op=net:2 200
for p in lock jobs pipe tcp aio; do                        # a pool's threads outlast the recording
    prof-log --quiet $p > $p.csv
    ok "$p: the profile is sound" prof-check --quiet --log=$p $p.csv
done
done_testing
