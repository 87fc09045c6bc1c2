#!/bin/bash
# programs under the recorder: unchanged, faithful, end to end, on a full disk
. "${0%/*}/tap.sh"
[ -e "$(recorder)" ] || { echo "1..0 # skip the recorder was not built (python3-dev)"; exit 0; }
# built with AddressSanitizer, whose runtime must come first in a python that is built without
asan=$(ldd "$(recorder)" | awk "/libasan/ { print \$3 }")
[ -z "$asan" ] || export LD_PRELOAD=$asan ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
cat > plain.py <<'D'
import math, sys, inspect, pickle
from math import sqrt
print(sqrt(4), max(map(sqrt, [1, 9])), math.hypot(3, 4), sorted([3, 1], key=math.fabs), sqrt(*[16]))
print(inspect.isbuiltin(sqrt), pickle.loads(pickle.dumps(sqrt)) is sqrt, sqrt.__doc__[:10], repr(sqrt), math.sqrt is sqrt)
try: sqrt(-1)
except ValueError as e: print(e)
try: sqrt(1, 2)
except TypeError as e: print(e)
print(math.isclose(1, 1.1, rel_tol=0.2), math.prod([1, 2], start=3), math.perm(5, 2))
print(sys.argv[1:])
sys.exit(3)
D
plain() { /usr/bin/python3 plain.py a b; echo "status $?"; }
recorded() { prof-record --force --wrap='math.*' -o rec plain.py a b; echo "status $?"; }
is 'a recorded program says and returns the same' "$(plain)" recorded
is 'and its calls are there' 6 eval "prof-log --quiet rec | grep -c ',math.sqrt,,,'"
is 'what a program was started with is its owner'"'"'s to read' 600 eval '(umask 0; prof-record --force -o open plain.py a b) > /dev/null 2>&1; stat -c %a open/* | sort -u'
fails 'logs of an earlier run are not mixed in' 1 'earlier run; --force' prof-record -o rec plain.py
cat > wrapped.py <<'D'
import millrace_prof as prof, types, functools
class Box:
    def method(self, x): return x + 1
def scale(x, *, by=2): return x * by
m = types.SimpleNamespace(__name__="m", scale=scale)
print(prof.wrap(m, "scale"), m.scale(3, by=5), m.scale.__name__, m.scale == scale, isinstance(m.scale, types.FunctionType))
Box.method = prof.wrapped(Box.method, "method")
print(Box().method(1), functools.partial(m.scale, by=3)(2))
cb = prof.wrapped(lambda x: -x, "callback", "Python")
print(sorted([1, 2], key=cb))
prof.unwrap(m)
print(m.scale is scale, prof.dropped())
D
ok 'wrapper objects' prof-record --bare -o wr wrapped.py
is 'pass attributes, bind as methods, compare as their target' '1 15 scale True True
2 6
[2, 1]
True 0' prof-record --force --bare -o wr wrapped.py
# a function of Python that is named in full; what stands for it is as it was
cat > named.py <<'D'
import copy, inspect, json, math, pickle, statistics
from json import dumps
def sign(x): return -x
print(statistics.mean([1, 2, 3]), dumps([1]), json.dumps(sign(2)), math.sqrt(4))
print(inspect.signature(json.dumps), pickle.loads(pickle.dumps(dumps)) is dumps, copy.copy(dumps) is dumps,
      inspect.isfunction(dumps), json.loads("[3]"), repr(dumps)[:15], json.JSONEncoder().encode(5))
D
named() { prof-record --force -o named --wrap=statistics.mean --wrap=json.dumps --wrap='json.*s' "$@" named.py; }
is 'functions of Python by their names' "$(/usr/bin/python3 named.py)" named --wrap='math.*'
is 'are recorded' 'json.dumps,Backend,2
statistics.mean,Backend,1' eval "prof-top named | cut -d, -f1-3 | grep -E '^(json.dumps|json.loads|statistics)' | sort"
fails 'what matches nothing is said' 0 '^millrace recorder: no function was found for --wrap=nosuch.f, --wrap=math.sqr$' \
    named --wrap=nosuch.f --wrap=math.sqr
printf 'import subprocess, sys\nsubprocess.run([sys.executable, "named.py"], stdout=subprocess.DEVNULL)\n' > runs.py
ok 'what matches in a child is no mistake' eval \
    'prof-record --force -o named --wrap=statistics.mean --wrap="math.s*" runs.py 2> said && [ ! -s said ]'
is 'a module that runs another interpreter' 2 eval "prof-record --force -o sub /usr/bin/python3 -c 'import subprocess, sys; subprocess.run([sys.executable, \"-c\", \"pass\"])'; ls sub/names.* | wc -l"
cat > cython.py <<'D'
import numpy
print(numpy.random.default_rng(1).uniform(-1, 1, (2, 3)).shape)
D
if /usr/bin/python3 -c 'import numpy' 2> /dev/null; then
is 'a builtin that Cython calls with one argument' '(2, 3)' prof-record -o cython cython.py
fi

e2e() { # NAME ARGUMENT...: every part within 1 % or 5 ms of its true time, thread by thread
    rm -f truth.csv*
    prof-record --force --wait -o e2e "$B/prof/millrace_e2e.py" --seconds=0.03 --iterations=3 "${@:2}" > why 2>&1
    prof-log e2e 2>> why | prof-op 2>> why > ev.csv
    awk -F, 'FNR == 1 { next } FILENAME ~ /truth/ { want[$1, $4] += $5; most[$1, $4] += $6; next }
        $3 == "cat" && $4 == "Python" && $10 == "python" || $3 == "cat" && $4 == "Backend" && $10 == "c" || $3 == "gpu" {
            part = $3 == "gpu" ? "gpu" : $10; got[$1, part] += ($6 - $5) / 1e9 }
        END { for (k in want) { n++; d = got[k] > most[k] ? got[k] - most[k] : want[k] - got[k]
                if (d > 0.005 && d > want[k] / 100) { print k, "got", got[k], "want", want[k]; bad = 1 } }
            if (n < 3) { print "only", n, "parts"; bad = 1 } exit bad }' truth.csv* ev.csv >> why 2>&1 && [ ! -s why ] && pass "$1" || fail "$1"
}
e2e 'Python, C and GPU, three iterations'
e2e 'under four threads' --threads=4
e2e 'in two forked processes' --forks=2

cat > full.py <<'D'
import math
for i in range(300000): math.sqrt(i)
print("done")
D
limited() { (ulimit -f 1200; trap '' XFSZ; prof-record --force --bare --wrap=math.sqrt -o full full.py 2> lost); }
is 'when nothing more can be written the program goes on' done limited
ok 'and is told how much was lost' grep -Eq 'millrace recorder: [0-9]+ records lost' lost
all() { prof-log --stat full | awk -F, 'NR == 2 { print ($4 + $8 >= 600000) ? "all" : $4 " + " $8 }'; }
is 'what is there and what is counted as lost make all records' all all
fails 'the reader tells it too' 0 'records were lost' prof-log --quiet full
cat > order.py <<'D'
import glob, struct
pairs = late = 0
for path in glob.glob("full/ev.*.log"):
    data = open(path, "rb").read()[4096:]
    r = list(struct.iter_unpack("<QIHH", data[:len(data) // 16 * 16]))
    for lost, after in zip(r, r[1:]):
        if lost[2] == 8 and after[0]:
            pairs += 1
            late += lost[0] > after[0]
print(pairs > 0, late)
D
is 'a loss is no later than the record after it' 'True 0' /usr/bin/python3 order.py

# a disk of 1 MiB, where the machine lets one mount it
cat > disk.sh <<'D'
mkdir -p disk && mount -t tmpfs -o size=1m none disk || exit 9
[ "$1" = 0 ] || head -c "$1" /dev/zero > disk/other
prof-record --force --bare --wrap=math.sqrt -o disk/rec full.py 2> lost
echo "status $?"
prof-log --stat disk/rec 2> /dev/null | awk -F, 'NR == 2 { print ($4 + $8 >= 600000 && $8 > 0) ? "all" : $4 " + " $8 }'
D
if unshare -rm true 2> /dev/null; then
is 'a full disk: the program goes on, what is there and what is lost make all records' 'done
status 0
all' unshare -rm bash disk.sh 0
ok 'the loss is said' grep -Eq 'millrace recorder: [0-9]+ records lost' lost
# (two records for each of 300 000 calls, and one or two for each gap of 20 us: thousands on a busy machine)
nothing() { unshare -rm bash disk.sh 1048576 2>&1 | head -2; sed 's/: 6[0-9]\{5\} records/: all records/; s/ to .*//' lost; }
is 'no room at all from the beginning' 'done
status 0
millrace recorder: all records lost, could not be written' nothing
# nearly full: of 40 MiB nine tenths are another's, of what the program could record there is no room for half
cat > low.sh <<'D'
mkdir -p disk && mount -t tmpfs -o size=40m none disk && head -c 36M /dev/zero > disk/other
prof-record --force --each --python=/usr/bin/python3 -o disk/rec full.py 2>&1 | sed 's/.*not what came then: less than 5 % of the disk is free/said/'
df --output=avail -B1 disk | sed 1d | awk '{ print ($1 > 262144) ? "room" : $1 }'
prof-log --quiet disk/rec 2> /dev/null | grep -c math.sqrt | awk '{ print ($1 > 10000) ? "its beginning" : $1 }'
D
is 'recording ends before a disk is full' 'done
said
room
its beginning' unshare -rm bash low.sh
else
skip 'a full disk' 'no namespaces'
fi

if [ -e "$B/prof/libmillrace-calls.so" ]; then
cat > calls.c <<'D'
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static jmp_buf back;
static int cmp(const void *a, const void *b) { return cbrt(*(const double *)a) < cbrt(*(const double *)b) ? -1 : 1; }
static int jump(const void *a, const void *b) { (void)a; (void)b; longjmp(back, 1); }
int main(void)
{
    double s = 0, v[4] = { 4, 2, 3, 1 };
    for (int i = 0; i < 10000; i++) s += cbrt(i) + pow(i, 0.5);
    if (!setjmp(back)) qsort(v, 4, sizeof *v, jump);
    qsort(v, 4, sizeof *v, cmp);
    printf("%.6f %g %g\n", s, v[0], v[3]);
    return 5;
}
D
${CC:-cc} -O1 -fno-builtin -o calls calls.c -lm
bare() { ./calls; echo "status $?"; }
preloaded() { prof-record --force --calls='cbrt,qsort=Simulator' -o calls.out ./calls; echo "status $?"; }
is 'a C program whose library calls are recorded' "$(bare)" preloaded
counts() { prof-log --quiet calls.out | awk -F, '$3 == "cat" && $9 != "part" && $4 != "Off CPU" { n[$4 " " $7]++ } END { for (k in n) print n[k], k }' | grep -v pow | sort; }
calls=$(counts | awk '/cbrt/ { print ($1 >= 10006) ? "enough" : $1 }')
is 'every call from outside the library, also in and after callbacks and longjmp' 'enough 2' eval 'echo $calls $(counts | sed -n "s/ Simulator.*qsort//p")'
prof-record --force --calls='nosuchfn,cbrt' -o calls.out ./calls > said
fails 'a pattern by which nothing was found is said' 0 '^prof-top: calls.out: no call .* matched nosuchfn$' prof-top calls.out
ok 'and no other' eval '! grep -v nosuchfn err'
ok 'the others are recorded' grep -q '^libm.*cbrt,Backend,' got
cat > both.py <<'D'
import ctypes, math
m = ctypes.CDLL("libm.so.6"); m.cbrt.restype = ctypes.c_double
for i in range(10): m.cbrt(ctypes.c_double(8)), math.sqrt(i)
D
prof-record --force --bare --wrap='math.*' --calls='malloc_trim' -o both both.py
is 'the extension and the preload library write one set of logs' 10 eval "prof-log --quiet both | grep -v ',part,\|Off CPU' | grep -c math.sqrt"
fi
# bounds
printf 'import math\nfor i in range(50000): math.sqrt(i)\nmath.hypot(3, 4)\n' > loop.py
prof-record --force --each --max-events=5000 -o bound loop.py
is 'no more than so many records' 5000 eval 'prof-log --stat bound | csv-cut -c records | sed 1d'
prof-record --force --each --limit=80000 -o bound loop.py 2> said
is 'no more than so many bytes; what is missing is counted and said' '5001 true --limit' eval \
    'prof-log --stat bound | csv-calc --print="concat(records, dropped > 90000 ? \" true\" : \"\")" | tr "\n" " "; grep -o -- --limit said'
is 'bytes with a unit, as everywhere' 65 eval \
    'prof-record --force --each --quiet --limit=1Ki -o bound loop.py && prof-log --stat bound 2>&- | csv-cut -c records | sed 1d'
prof-record --force --each --ring=2000 -o bound loop.py
is 'only the last ones, in halves of a ring' 'few 1' eval \
    'n=$(prof-log --quiet --stat bound | csv-cut -c records | sed 1d); [ $n -ge 2000 ] && [ $n -le 24576 ] && echo few $(prof-log --quiet bound | grep -c ",math.hypot,.*c_patch$")'
fails 'nothing before the delay is over' 0 'nothing was recorded: the program ended before --delay' prof-record --force --delay=1000 -o bound loop.py
fails 'which the reader says, too' 1 'nothing was recorded: .*--delay' prof-log bound
printf 'import sys\nprint(2)\nif sys.argv[1:]:\n    import math, millrace_prof as prof\n    prof.enable_profiling()\n    math.hypot(3, 4)\n    prof.disable_profiling()\n' > waits.py
fails 'nothing by --wait alone' 0 '^millrace recorder: nothing was recorded: --wait' prof-record --force --wait -o bound waits.py
ok 'and the program is as it was' grep -qx 2 got
fails 'which the reader says, too' 1 'nothing was recorded: .*--wait' prof-top bound
is 'what lies between enable_profiling and disable_profiling' $'2\n1 1' eval \
    'prof-record --force --wait -o bound waits.py on; echo $(prof-log bound > ev; grep -c "math.hypot.*c_patch$" ev; grep -c ,proc,on, ev)'
printf 'import os, sys\nif not os.fork():\n    import millrace_prof as prof\n    prof.enable_profiling()\n    sys.exit()\nos.wait()\n' > child.py
ok 'by a child alone is not nothing' eval 'prof-record --force --wait -o bound child.py > said 2>&1 && [ ! -s said ]'
# what goes on when the delay is over is recorded from there, not from the next record: a loop of Python, a call of C
printf 'import time\nend = time.monotonic() + .8\nwhile time.monotonic() < end: pass\n' > late.py
echo 'import time; time.sleep(.8)' > asleep.py
late() { # NAME SCRIPT: 0.4 s of it, and what of the start the delay did not cover
    prof-record --force --delay=.4 -o bound "$2"
    ns=$(prof-top bound | csv-where -c name --is="$1" | csv-cut -c total_ns | sed 1d)
    echo $((ns > 200000000 && ns < 1600000000))
}
is 'a loop since the delay was over' 1 late '(Python)' late.py
is 'a call since then' 1 late time.sleep asleep.py
ok 'and the profile is sound' eval 'prof-log bound > ev && prof-check --log=bound ev'
cat > hot.py <<'D'
import math
for i in range(5000): math.sqrt(i)
for i in range(7): math.hypot(i, 1)
sorted([3.0, 1.0, 2.0], key=math.sqrt)
D
prof-record --force --skip-after=100 -o bound hot.py
is 'beyond so many calls only their number is kept' '100 4903' eval \
    'echo $(prof-log --quiet bound | grep -c ",cat,C,.*,math.sqrt,.*c_patch$") $(prof-log --quiet bound | grep ",proc,skipped,.*,math.sqrt," | cut -d, -f8)'
is 'and all are counted by function' '5003 7' eval \
    'echo $(for f in sqrt hypot; do prof-top bound | csv-where -c name --is=math.$f | csv-cut -c calls | sed 1d; done)'
cat > often.py <<'D'
import math, millrace_prof as p
def back(x): return math.fabs(x)
for i in range(60000):
    if i % 10000 == 0: p.end_pass()
    with p.operation("even" if i & 1 else "odd"): math.sqrt(i)
    math.sin(math.cos(i))
sorted(range(20000), key=back)
D
prof-record --force -o often often.py
is 'short calls: each is counted' '60000 60000 60000 20000' eval \
    'echo $(for f in sqrt sin cos fabs; do prof-top often | csv-where -c name --is=math.$f | csv-cut -c calls | sed 1d; done)'
is 'few are recorded, the others said to be estimated' '1 1' eval \
    'prof-log --quiet often > ev; echo $(($(grep -c "c_patch$" ev) < 100000)) $(($(grep -c ",estimated,$" ev) > 100))'
ok 'and the profile is sound' prof-check --log=often ev
prof-record --force --each -o often often.py
is 'each has a row with --each' 200000 eval 'prof-log --quiet often | grep -c ",math.*c_patch$"'
# now and then one takes longer, lets other threads run or calls Python: those have rows, however busy the machine is
cat > mixed.py <<'D'
import math, zlib
class Four:
    def __index__(self): return 4
large, four = bytes(1 << 20), Four()
for i in range(300000): zlib.crc32(large if i % 1000 == 500 else b"x")
for i in range(300000): math.factorial(300 if i % 100 == 50 else 3)
for i in range(300000): math.factorial(four if i % 1000 == 500 else 3)
D
few() { # calls are long in a slow second of the machine, and have rows: once in three times they are few; counts always hold
    for again in 1 2 3; do
        prof-record --force -o often mixed.py
        prof-log --quiet often > ev
        found=$(for f in zlib.crc32 math.factorial; do
            n=$(grep -c "$f.*c_patch$" ev)
            echo "$(prof-top often | csv-where -c name --is=$f | csv-cut -c calls | sed 1d) $((n >= 300 && n < 30000))"
        done)
        [[ $found =~ ^300000\ [01].600000\ [01]$ && $found = *' 0'* ]] || break
    done
    echo "$found"
}
is 'short calls of which some are not: each is counted, few have rows' $'300000 1\n600000 1' few
for i in 1 2 3; do while :; do :; done & busy+=($!); done
is 'and on a busy machine' $'300000 1\n600000 1' few
kill "${busy[@]}"
cat > mean.py <<'D'
import math, millrace_prof as p
for i in range(60000):
    with p.operation("long"): math.factorial(200)
    with p.operation("short"): math.factorial(3)
    with p.operation("none"): pass
D
prof-record --force -o often mean.py
is 'what is counted lies in the operations that call it, though of these some take less than the mean' 'long short' eval \
    'prof-top --by=operation often | grep -E "^[a-z]+,C," | cut -d, -f1 | sort | paste -sd" "'
# what they take, against the CPU clock of the same loop without a recorder, with and without what the call has to do
cat > share.py <<'D'
import math, sys, time
def loop(sum, args, n):
    begin = time.thread_time()
    for _ in range(n): sum(args)
    return time.thread_time() - begin
if len(sys.argv) > 1:
    long, short = (min(loop(math.fsum, a, 100000) for _ in range(9)) for a in ((.1,) * 15, ()))
    print((long - short) / long)
else: loop(math.fsum, (.1,) * 15, 4000000)
D
prof-record --force -o share share.py
/usr/bin/python3 share.py bare > said
prof-top share | grep -E '^(name|math.fsum|.Python.),' | csv-cut -c cat,self_ns >> said
is 'their share is what the CPU clock says' 1 awk -F, 'NR == 1 { want = $1 } { ns[$1] += $2 }
    END { got = ns["C"] / (ns["C"] + ns["Python"]); print (got > want - .15 && got < want + .25 ? 1 : got " " want) }' said
printf 'import millrace_prof as p, math\nfor i in range(6): math.sqrt(i); p.end_pass()\np.enable(); math.hypot(1, 2)\n' > passes.py
prof-record --force --max-passes=3 -o bound passes.py
is 'so many passes, and nothing after them' '3 3 0' eval \
    'prof-log --quiet bound > ev; echo $(grep -c ,pass, ev) $(prof-top bound | csv-where -c name --is=math.sqrt |
        csv-cut -c calls | sed 1d) $(grep -c math.hypot ev)'
printf 'import asyncio, millrace_prof as p\nasync def one():\n    with p.operation("net"): await asyncio.sleep(.002); await asyncio.sleep(.002)\nasync def main():\n    for i in range(4): await one()\nasyncio.run(main())\n' > await.py
prof-record --force -o await await.py
is 'an operation that is suspended counts once' net,4 eval 'prof-top --by=operation await | csv-where -c name --is=net | csv-where -c calls --min=1 | csv-cut -c name,calls | sed 1d'
# operations follow coroutines and generators, through await, yield, yield from, send, throw, close and cancellation
prof-record --force -o tasks "$root/t/data/prof-tasks.py"
is 'what a coroutine or generator calls is charged to its own operations, and nothing else is' 'math.ceil,,4
math.cos,cos,8
math.degrees,,1
math.exp,inner,24
math.fabs,,2
math.floor,,1
math.hypot,outside,10
math.log,cancelled,1
math.log1p,,1
math.sin,sin,8
math.sqrt,made,11
math.tan,tan,8' eval "prof-log tasks | prof-op | csv-calc --where='name ~ \"^math\" && flag != \"part\"' | csv-group -g name,op -c start_ns --stat=n | csv-cut -c name,op,n_rows | sed 1d | sort"
# the first operation of all in a coroutine that runs already, and each one closed after it was suspended
cat > each.py <<'P'
import asyncio, math, millrace_prof as prof
async def each():
    for i in range(3):
        with prof.operation("each"):
            math.gamma(2)
            await asyncio.sleep(0)
async def beside():
    for i in range(5):
        await asyncio.sleep(0)
        math.erf(i)
async def both(): await asyncio.gather(each(), beside())
asyncio.run(both())
P
prof-record --force -o each each.py
is 'a task beside it has none' 'math.erf,,5
math.gamma,each,3' eval "prof-log each | prof-op | csv-calc --where='name ~ \"^math\" && flag != \"part\"' | csv-group -g name,op -c start_ns --stat=n | csv-cut -c name,op,n_rows | sed 1d | sort"
# C and C++: their own operations and events, by themselves and under prof-record
if [ -e "$B/prof/libmillrace-prof.so" ]; then
    own() { local cc; read -ra cc <<< "$1"; "${cc[@]}" -Wall -Wextra -Werror -I"$B/prof" -o own."$2" "$root/t/data/prof-api.$2" -L"$B/prof" -lmillrace-prof -Wl,-rpath,"$(cd "$B/prof" && pwd)" -lpthread; }
    rows() { prof-log --nested "$1" | prof-op | csv-calc --where='kind != "proc" && cat != "Off CPU" && flag != "part"' | csv-group -g kind,cat,name,op -c start_ns --stat=n | csv-cut -c kind,cat,name,op,n_rows | sed 1d; }
    want='op,,outer,,1
op,,inner,,1
cat,Simulator,work,inner,1
cat,Backend,"event, ""quoted""",outer,1
op,,thread,,1
cat,Simulator,work,thread,1000'
    ok 'a C program links' own "${CC:-cc}" c
    is 'not recorded it does its work' same ./own.c
    is 'recorded by itself too' same ./own.c alone
    is 'operations, events, threads, nothing while disabled' "$want" rows alone
    is 'recorded by prof-record' same prof-record -o under ./own.c
    is 'the same' "$want" rows under
    if command -v c++ > /dev/null; then
        ok 'a C++ program links' own c++ cc
        is 'it does its work' same prof-record -o cxx ./own.cc
        is 'operations end with their block, also by an exception' 'op,,outer,,3
op,,works,,2
cat,Backend,work,works,2
op,,fails,,1
cat,Backend,work,fails,1
cat,Backend,work,outer,1' rows cxx
    fi
fi
for o in -I -E -S -Bs '-Wmodule -sE'; do prof-record -o isolated /usr/bin/python3 $o -c pass 2>> said; echo $?; done > isolated.rc
is 'a Python that does not look for the recorder is refused, before anything is made' '1 1 1 0 1 1' eval \
    'echo $(cat isolated.rc) $(ls isolated/names.* | wc -l)'
is 'with the option' 4 grep -c 'python3 -[IES]: does not look for the recorder' said
ok 'what follows -c is its own' prof-record --force -o isolated /usr/bin/python3 -W ignore -c 'import sys; sys.argv' -E
prof-page -o page.html each
is 'a folder alone is a whole page' '1 1 1 1 1' /usr/bin/python3 -c '
import json, re
d = json.loads(re.search(r"id=\"data\">(.*?)</script>", open("page.html").read(), re.S).group(1))
print(*[int(len(d[k]) > 0) for k in ("top", "cells", "path", "pieces", "whatif")])'
# threads, one after the other: each has its rows, and goes on in a log of those before it
cat > many.py <<'D'
import math, threading
for i in range(60):
    x = threading.Thread(target=math.sqrt, args=(i,)); x.start(); x.join()
D
prof-record --force --quiet -o many many.py
is 'sixty threads, few logs' '60 1' eval \
    'echo $(prof-log --quiet many | grep ",math.sqrt,.*,c_" | cut -d, -f2 | sort -u | wc -l) $(($(ls many/ev.* | wc -l) < 20))'
ok 'and the profile is sound' eval 'prof-log --quiet many > ev && prof-check --quiet --log=many ev'
# forks: pages that a child touches more than one that is not recorded; its ring becomes its log, no file is removed
cat > forks.py <<'D'
import os, resource, sys
faults = lambda: resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
def fork(tell):
    before = faults()
    pid = os.fork()
    if not pid:
        if tell: os.write(1, b"%d\n" % os.stat("forks/ev.%d.0.1.tail" % os.getpid()).st_ino)
        os._exit(0)
    os.waitpid(pid, 0)
    return faults() - before
if sys.argv[1:]: fork(True)
else: print(min(fork(False) for i in range(5)))
D
if [ -z "$asan" ]; then
is 'a child of fork touches few pages of the recorder' 1 eval \
    'echo $(($(prof-record --force --python=/usr/bin/python3 -o forks forks.py) - $(/usr/bin/python3 forks.py) < 64))'
fi
ok 'its ring becomes its log' eval 'ino=$(prof-record --force --python=/usr/bin/python3 -o forks forks.py tell); stat -c %i forks/ev.*.log | grep -qx "$ino"'
# each time in all but time; that a busy machine takes the process between its last row and its end is not the recorder's
sound() { local i; for i in 1 2 3; do
    prof-log --quiet forks > ev && [ "$(ls forks/*.tail | wc -l)" = 0 ] || return 1
    prof-check --quiet --log=forks ev > checks && return
    cat checks
    ! grep ',fail,' checks | grep -v ',wall,' || return 1
    prof-record --force --python=/usr/bin/python3 -o forks forks.py tell > /dev/null || return 1
done; return 1; }
ok 'and the profile is sound' sound
cat > killed.py <<'D'
import os, signal, zlib
r, w = os.pipe()
pid = os.fork()
if not pid:
    for i in range(40): zlib.crc32(b"")
    os.write(w, b"x")
    signal.pause()
os.read(r, 1)
os.kill(pid, signal.SIGKILL)
os.waitpid(pid, 0)
D
is 'a child of fork that is killed leaves what it did' zlib.crc32,C,40 eval \
    'prof-record --each -o killed killed.py && prof-top killed | grep ^zlib | cut -d, -f1-3'
# a processor that is taken away while the recorder asks for the CPU clock: whose call has not begun has not waited
cat > slow.c <<'D'
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t c, struct timespec *t)
{
    if (c == CLOCK_THREAD_CPUTIME_ID) usleep(1000);
    return (int)syscall(SYS_clock_gettime, c, t);
}
D
cat > begin.py <<'D'
import threading
lock = threading.Lock()
for i in range(60):
    for k in range(3000): pass
    with lock: pass
D
if [ -z "$asan" ] && ${CC:-cc} -shared -fPIC -o slow.so slow.c; then
LD_PRELOAD=$PWD/slow.so prof-record --force --quiet --judge=0 --python=/usr/bin/python3 -o slow begin.py
is 'what begins, begins after the clock was asked' '0 60' eval \
    'prof-log slow > ev; echo $(csv-calc --where="name == \"in _thread.lock.__enter__\" && end_ns - start_ns > 900000" ev | sed 1d | wc -l) $(grep "Off CPU.*in Python" ev | head -60 | wc -l)'
fi
# what recording costs one's own program: in one command, and taken out by who reads the log
printf 'import math\nfor i in range(3000): math.sqrt(i); math.hypot(i, 1)\nprint("done")\n' > cheap.py
is 'the program speaks once, though it runs ten times' done eval 'prof-record --calibrate -o cal cheap.py 2> /dev/null'
is 'five pairs of runs with all its calls' 5 eval "csv-calc --where='calls >= 6000 && calls < 7000' cal/pairs.csv | grep -c any"
ok 'and a calibration' sexp-check cal/calibration.sexp
echo '(calibration (cost (hook any) (mean_ns 3) (inside_ns 1) (n 5)))' > cal/calibration.sexp
top() { prof-top "$@" cal | csv-calc --where="cat != 'Profiler' && cat != 'Off CPU' && name != 'GIL'" | csv-cut -c name,calls,self_ns | sed 1d | sort; }
self() { join -t, <(top) <(top --raw | cut -d, -f1,3); }
is 'prof-top takes out what each call cost, in it' '3000 3000' eval "self | awk -F, '/math/ { print \$4 - \$3 }' | paste -sd' '"
is 'and in what it interrupts' 1 eval "self | awk -F, '/Python/ { d = \$4 - \$3 } !/Python/ { n += \$2 } END { print d == 2 * n }'"
fails 'what is no Python program is not calibrated' 1 'no log in' prof-record --calibrate -o none /bin/true
if [ -e "$B/prof/libmillrace-gpu.so" ] && ! [ -e /dev/nvidia0 ]; then
is 'the GPU recorder without a driver does no harm' '1' prof-record --force -o gpu /usr/bin/python3 -c "
import ctypes, os, sys
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
print(ctypes.CDLL('$B/prof/libmillrace-gpu.so').InitializeInjection())"
fi
# the Python that the user would run
mkdir -p one/bin two/bin three
for p in one/bin two/bin three; do printf '#!/bin/sh\necho %s >&2\nexec /usr/bin/python3 "$@"\n' $p > $p/python3; chmod +x $p/python3; done
cp three/python3 three/python-own
echo 'print(1)' > plain.py
printf '#!%s -u\nprint(1)\n' "$PWD/three/python-own" > own.py
python_of() { env -u VIRTUAL_ENV -u CONDA_PREFIX "$@" 2>&1 > /dev/null | sed "s|$PWD/||" | paste -sd' '; }
is 'the first of PATH, and that is said' 'prof-record: the Python of this run is three/python3 three' \
    python_of PATH="$PWD/three:$PATH" prof-record --force -o which plain.py
is 'of a virtual environment' 'prof-record: the Python of this run is one/bin/python3 one/bin' \
    python_of PATH="$PWD/three:$PATH" VIRTUAL_ENV="$PWD/one" CONDA_PREFIX="$PWD/two" prof-record --force -o which plain.py
is 'of conda' 'prof-record: the Python of this run is two/bin/python3 two/bin' \
    python_of PATH="$PWD/three:$PATH" CONDA_PREFIX="$PWD/two" prof-record --force -o which plain.py
is "the script's own" 'prof-record: the Python of this run is three/python-own three' \
    python_of VIRTUAL_ENV="$PWD/one" prof-record --force -o which own.py
is 'what is given is taken, without a word' one/bin python_of VIRTUAL_ENV="$PWD/two" prof-record --force --python=one/bin/python3 -o which own.py
is "the system's, without a word" '' python_of prof-record --force -o which plain.py
fails 'a program that runs is not ours, and whose it is' 2 'py-spy record --pid=7 ' prof-record --pid=7
done_testing
