#!/bin/bash
# every version of Python for which the recorder was built and that is here: the same program, the same calls
. "${0%/*}/tap.sh"
[ "$(uname -m)" = x86_64 ] || { echo "1..0 # skip calls into C are seen on x86_64 only"; exit 0; }
[ -e "$(recorder)" ] || { echo "1..0 # skip the recorder was not built (python3-dev)"; exit 0; }
ldd "$(recorder)" | grep -q libasan && { echo "1..0 # skip built with a sanitizer"; exit 0; }
cat > program.py <<'D'
import asyncio, json, math, sys, threading, zlib
sys.setrecursionlimit(9000)
class A:
    def __init__(self, x): self.x = x
class B(A):
    def __new__(cls, *a): return super().__new__(cls)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def deep(n): return 0 if n == 0 else 1 + deep(n - 1)
def work():
    for i in range(5): zlib.crc32(b"abc"); json.dumps([1, 2])
def produce():
    try:
        for i in range(3): yield math.sqrt(i)
    except KeyError as e: yield repr(e)
async def wait(): await asyncio.sleep(0); return math.floor(2.5)
t = threading.Thread(target=work); t.start(); t.join(); work()
g = produce(); next(g)
print(fib(7), deep(8000 if sys.version_info >= (3, 11) else 500), sum(produce()), g.throw(KeyError(1)), B(3).x, asyncio.run(wait()))
print(sorted([3, 1, 2], key=lambda x: math.fabs(-x)), len([].__class__.__mro__), isinstance(3, int))
raise SystemExit(3)
D
counts() { prof-log --quiet "$@" log | csv-calc --where='kind == "cat" && flag != "part" && cat != "Off CPU" && name != "GIL"' | csv-group -g cat,name -c start_ns --stat=n | csv-cut -c cat,name,n_rows; }
calls() { counts | grep -E ',(zlib.crc32|math.(sqrt|fabs|floor)|_json.Encoder.call),' | sort; }
tree() { counts --nested | sed -n 's/.*program.py:[0-9]*\.//p' | sed 's/.*\.\([a-z]*\),/\1,/' | grep -E '^(fib|work|produce|wait),' | sort; }
of_tasks() { prof-log tasks | prof-op | csv-calc --where='name ~ "^math" && name !~ "isnan" && flag != "part"' | csv-group -g name,op -c start_ns --stat=n | csv-cut -c name,op,n_rows | sort; }
prof-record -o tasks "$root/t/data/prof-tasks.py"
of_tasks > want.tasks
for p in /usr/bin/python3 /usr/bin/python3.* "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
    [ -x "$p" ] && { [ ! -L "$p" ] || [ "$p" = /usr/bin/python3 ] || [ "${p#*versions/}" != "$p" ]; } || continue
    v=$("$p" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2> /dev/null) || continue
    [ "$p" = /usr/bin/python3 ] && mine=$v || [ "$v" != "$mine" ] || continue
    if ! [ -e "$(recorder "$p")" ]; then
        fails "$v: not begun, since it could not be recorded" 1 "millrace recorder: .* has nothing for Python ${v%.*}" \
            prof-record --force --python="$p" -o log program.py
        is "$v: started by another it runs" 0 eval "/usr/bin/python3 -c 'import subprocess; print(subprocess.run([\"$p\", \"-c\", \"pass\"]).returncode)' 2> /dev/null"
        continue
    fi
    want=$("$p" program.py 2>&1; echo "status $?")
    is "$v: the same output and status" "$want" eval "prof-record --force --python='$p' -o log program.py; echo status \$?"
    is "$v: calls into C" 'C,_json.Encoder.call,10
C,math.fabs,3
C,math.floor,1
C,math.sqrt,4
C,zlib.crc32,10' calls
    is "$v: the same in the call tree" "$want" eval "prof-record --tree --force --python='$p' -o log program.py; echo status \$?"
    is "$v: functions" 'fib,41
produce,6
wait,2
work,2' tree
    is "$v: builtins too" 1 eval "prof-log --quiet --nested log | grep -c ',builtins.isinstance,.*' | sed 's/.*/1/'"
    prof-record --force --python="$p" -o tasks "$root/t/data/prof-tasks.py"
    is "$v: operations follow coroutines and generators" "$(< want.tasks)" of_tasks
done
done_testing
