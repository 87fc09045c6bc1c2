#!/bin/bash
# logs of real runs; single records are in lib-logread.t
. "${0%/*}/tap.sh"
[ -e "$(recorder)" ] || { echo "1..0 # skip the recorder was not built (python3-dev)"; exit 0; }
# built with AddressSanitizer, whose runtime must come first in a python that is built without
asan=$(ldd "$(recorder)" | awk "/libasan/ { print \$3 }")
[ -z "$asan" ] || export LD_PRELOAD=$asan ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
cat > k9.py <<'D'
import math, os, signal
import millrace_prof as prof
sqrt = math.sqrt
with prof.operation("loop"):
    for i in range(100000): sqrt(i)
    os.kill(os.getpid(), signal.SIGKILL)
D
{ prof-record --bare --wrap=math.sqrt -o k9 k9.py; } 2> err
prof-log --quiet k9 > ev.csv
is 'kill -9 after exactly 100000 calls: all are there' 100000 eval "grep -v ',part,' ev.csv | grep -c ',cat,Backend,.*,math.sqrt,'"
is 'and the operation is open' 1 eval "grep -c ',op,,.*,loop,,open,' ev.csv"
fails 'which is said' 0 'never closed' prof-log k9
if [ -e "$B/t/shim.so" ] && ! sanitized; then
    fails 'a disk that fails is not a log without names' 1 'names.*Input/output error' \
        env SHIM_WHAT=eio SHIM_AT=1 LD_PRELOAD="$B/t/shim.so" prof-log --quiet k9
fi
sorted() { cut -d, -f5 "$1" | tail -n +2 | sort -nc; }
ok 'rows are in order of start' sorted ev.csv
# wall: on a busy machine the process may wait between the start of profiling and its first row
sound() { prof-check ev.csv > checks.csv; ! grep ',fail,' checks.csv | grep -v ',wall,'; }
ok 'the profile is sound' sound
cat > threads.py <<'D'
import math, threading, os
sqrt = math.sqrt
def work(n):
    for i in range(n): sqrt(i)
    try: sqrt(-1)
    except ValueError: pass
t = [threading.Thread(target=work, args=(1000 * k,)) for k in range(1, 5)]
for x in t: x.start()
for x in t: x.join()
if os.fork() == 0:
    work(499)
    os._exit(0)
os.wait()
work(1249)
D
ok 'a program with threads and a fork runs' prof-record --bare --wrap=math.sqrt -o th threads.py
prof-log --quiet th > ev.csv
calls() { awk -F, '$4 == "Backend" && $9 != "part" { n[$2]++ } END { for (t in n) print n[t] }' ev.csv | sort -n | tr '\n' ' '; echo; }
is 'every call of every thread and both processes, once' '500 1001 1250 2001 3001 4001 ' calls
count() { prof-log --stat "$1" | cut -d, -f"$2" | tail -1; }
is 'no end without a begin' 0 count th 6
cat > tree.py <<'D'
def f(n): return f(n - 1) if n else divmod(7, 2)
f(3)
D
ok 'the call tree' prof-record --tree --bare -o tree tree.py
tree() { prof-log --quiet --nested tree | grep 'tree.py' | sed 's/.*tree.py:[0-9]*\.//; s/,.*//' | sort | uniq -c | awk '{ print $1, $2 }'; }
is 'each function as often as it was called' '1 <module>
4 f' tree
is 'builtins too' 1 eval 'prof-log --quiet --nested tree | grep -c "builtins.divmod"'
# a table of names says how many there are: 60 bytes must not become gigabytes
names=$(ls tree/names.*.csv | sed -n 1p)
for id in 1000000000 99999999999999999999; do
    ! sanitized || break
    cp -r tree wild
    echo "$id,c,Backend,m,x" >> "wild/${names#*/}"
    fails "a name with id $id" 1 "${names#*/}:[0-9]*: column 'id': '$id' is not" eval '(ulimit -v 1000000; prof-log --quiet wild)'
    rm -r wild
done
fails 'an empty directory' 1 'no logs' prof-log "$(mktemp -d -p .)"
mkdir bad; echo hello > bad/ev.1.1.1.log
fails 'a file that is no log' 0 'not a log' prof-log bad
done_testing
