#!/bin/bash
# where the time went
. "${0%/*}/tap.sh"
head=proc,tid,kind,cat,start_ns,end_ns,name,link,flag
cat > e.csv <<D
$head
1,1,op,,0,60,train,,
1,1,cat,Python,0,100,main,,
1,1,cat,Python,10,50,f,,
1,1,cat,Python,20,40,f,,
1,1,cat,C,25,35,dot,,
1,1,cat,C,60,90,dot,,
1,2,cat,C,60,70,dot,,est
1,2,cat,C,70,75,,,
1,d0.s0,gpu,GPU,30,80,gemm,,
1,2,cat,C,75,80,dot,,part
D
is 'self and total time, a recursion once, pieces are no calls' 'name,cat,calls,self_ns,total_ns,share,unverified_ns
dot,C,3,55,55,0.5500,10
gemm,GPU,1,50,50,0.5000,0
main,Python,1,30,100,0.3000,0
f,Python,2,30,40,0.3000,0
(C),C,1,5,5,0.0500,0' prof-top e.csv
python3 - > cut.csv <<'P'
import csv
lo, hi = 30, 65
for i, line in enumerate(open("e.csv")):
    f = line.rstrip("\n").split(",")
    if i:
        a, b = max(int(f[4]), lo), min(int(f[5]), hi)
        if b <= a: continue
        f[4], f[5] = str(a), str(b)
    print(",".join(f))
P
is 'a part of the run is what a table cut there has' "$(prof-top cut.csv)" prof-top --from=30e-9 --to=65e-9 e.csv
is 'and so it is by operation' "$(prof-top --by=operation cut.csv)" prof-top --by=operation --from=30e-9 --to=65e-9 e.csv
is 'categories of the first line, largest first' '0.000 s, 1 process, 1 thread, C 60.0 %, Python 40.0 %' eval \
    'printf "%s\n" proc,tid,kind,cat,start_ns,end_ns,name 1,1,cat,Python,0,40,f 1,1,cat,C,40,70,g 1,1,cat,C,70,100,h | prof-top --table - | head -1'
is 'and what is less than 0.05 % is not among them' '0.000 s, 1 process, 1 thread, C 99.9 %, Waiting 0.1 %' eval \
    'printf "%s\n" proc,tid,kind,cat,start_ns,end_ns,name 1,1,cat,Python,0,4,f 1,1,cat,C,4,9995,g 1,1,cat,Waiting,9995,10000,h | prof-top --table - | head -1'
printf '%s\n' proc,tid,kind,cat,start_ns,end_ns,name 1,1,cat,C,0,10,f 1,1,cat,C,4,4,g 1,1,cat,C,5,5,g 1,1,cat,C,6,7,g 1,1,cat,C,8,15,h > odd.csv
is 'calls in no time are calls' 'f,1 g,3 h,1' eval 'prof-top --quiet odd.csv | csv-cut -c name,calls | sed 1d | sort | xargs'
fails 'what outlives its caller is cut, which is said' 0 '1 misnested' prof-top odd.csv
{ echo "$head"; for i in 1 2 3 4 5 6 7 8; do echo "1,$i,cat,K$i,0,100,f$i,,"; done; for i in 9 10 11; do echo "1,$i,cat,Z,0,90,g$i,,est"; done; } > cats.csv
is 'of many categories the largest eight are told, and what is not known of all' '0.000 s, 1 process, 11 threads, Z 270.0 %, K1 100.0 %, K2 100.0 %, K3 100.0 %, K4 100.0 %, K5 100.0 %, K6 100.0 %, K7 100.0 %
unverified 270.0 %; shares are of the run'"'"'s length, all threads and streams added up' eval 'prof-top --table cats.csv | head -2'
fails 'a part that ends before it begins' 2 'not after' prof-top --from=2 --to=1 e.csv
is 'by operation' 'name,cat,calls,self_ns,total_ns,share,unverified_ns
,GPU,1,50,50,0.5000,0
,C,0,50,0,0.5000,10
train,Python,0,50,0,0.5000,0
,Python,0,10,0,0.1000,0
train,C,0,10,0,0.1000,0
train,,1,0,60,0.0000,0' prof-top --by=operation e.csv
is 'the first rows' 'dot gemm' bash -c "prof-top -n 2 e.csv | csv-cut -c name | sed 1d | xargs"
ok 'for people: one line that sums up, and a table' bash -c "prof-top --table e.csv > o && grep -q '^0.000 s, 1 process, 2 threads, 1 stream, C 60.0 %, Python 60.0 %, GPU 50.0 %$' o && grep -q '^ 55.0 %.* C  *dot$' o"
printf '%s\n' "$head" $'1,1,cat,"C\033[31m",0,9,"\033[31mred\n",,' > ctl.csv
ok 'what a name holds does not reach the terminal' bash -c "! prof-top --table ctl.csv | grep -q \$'\\033'"
is 'no rows' 'name,cat,calls,self_ns,total_ns,share,unverified_ns' prof-top <(echo "$head")
# more rows than are looked at first: the same in constant memory, from any order, and by operation
{ echo "$head"; awk 'BEGIN { for (i = 0; i < 70000; i++) printf "1,%d,op,,%d,%d,op%d,,\n1,%d,cat,C,%d,%d,f%d,,\n", i % 3, 10 * i, 10 * i + 9, i % 5, i % 3, 10 * i + 1, 10 * i + 6, i % 999 }'; } > many.csv
for by in function operation; do
    ok "140000 rows by $by, in order and held" cmp <(prof-top --by=$by many.csv) <(prof-top --hold --by=$by many.csv)
    ok 'and from any order' cmp <(prof-top --by=$by many.csv) <({ echo "$head"; sed 1d many.csv | tac; } | prof-top --by=$by)
done
sed '139999s/.*/1,1,cat,C,5,9,late,,/' many.csv > late.csv
fails 'a row that comes too late' 1 "late.csv:139999: column 'start_ns': '5' is not in order, .*--hold" prof-top late.csv
ok 'which --hold takes' prof-top --hold late.csv
# set_operation opens an operation that outlives the call: operations and calls cut only their own kind
printf '%s\n' $head 1,1,cat,Python,0,10,set_operation,, 1,1,op,,5,105,step,, 1,1,cat,Python,10,100,work,, > set.csv
is 'an operation that began in a call is not cut at its end' ',Python,0,5,0 step,,1,0,100 step,Python,0,95,0' \
    eval 'prof-top --by=operation set.csv | csv-cut -c name,cat,calls,self_ns,total_ns | sed 1d | sort | xargs'
# calls that follow each other, and operations that cross them and each other
crossing() { awk -v s=$1 -v head=$head 'function r(n) { s = s * 16807 % 2147483647; return s % n } BEGIN { print head
    for (i = 0; i < 40; i++) { t += r(3); e = t + 1 + r(9); printf "1,1,cat,%s,%d,%d,f%d,,\n", r(2) ? "C" : "Python", t, e, r(4); t = e }
    for (i = 0; i < 12; i++) { t = r(200); printf "1,1,op,,%d,%d,o%d,,\n", t, t + 1 + r(60), r(3) } }'; }
apart() { local i; for i in {1..20}; do
    crossing $i > x.csv
    cmp <(prof-top --quiet x.csv | csv-cut -c name,cat,calls,self_ns,total_ns) <(grep -v ,op, x.csv | prof-top --quiet | csv-cut -c name,cat,calls,self_ns,total_ns) &&
    cmp <(prof-top --quiet --by=operation x.csv | csv-where -c cat --known | csv-cut -c name,cat,self_ns | sed 1d | sort) \
        <(prof-op --quiet x.csv | prof-sweep --quiet | csv-where -c cats --known | csv-cut -c op,cats,total_ns | sed 1d | sort) || { echo $i; return 1; }
done; }
ok 'twenty random ones: functions as without operations, operations as prof-op and prof-sweep have them' apart
if command -v python3 > /dev/null; then
    # the same totals as nested Python lists give
    cat > naive.py <<'D'
import collections, csv, sys
rows = [(r["proc"], r["tid"], int(r["start_ns"]), -int(r["end_ns"]), i, r["cat"], r["name"]) for i, r in enumerate(csv.DictReader(open(sys.argv[1]))) if r["kind"] == "cat" and int(r["end_ns"]) > int(r["start_ns"])]
own, stack, key = collections.Counter(), [], None
for p, t, s, e, _, c, n in sorted(rows):
    if (p, t) != key: stack, key = [], (p, t)
    while stack and stack[-1][0] <= s: stack.pop()
    e = min([-e] + [x[0] for x in stack[-1:]])
    own[n, c] += e - s
    if stack: own[stack[-1][1]] -= e - s
    stack.append((e, (n, c)))
for (n, c), v in sorted(own.items()): print("%s,%s,%d" % (n, c, v))
D
    same() { local i; for i in {1..15}; do
        python3 "$root/t/data/prof-kineto.py" $i | prof-import --quiet --from=kineto --nested > r.csv
        cmp <(prof-top r.csv | csv-where -c cat --is=Python --is=Backend --is=CUDA | csv-cut -c name,cat,self_ns | sed 1d | sort) <(python3 naive.py r.csv | sort) || { echo $i; return 1; }
    done; }
    ok 'fifteen random traces, against a naive sum' same
fi
# of 40 samples in no recorded call 6 were in an extension, 4 in libc: Wilson's upper end of 10 of 40 is .4019
if [ -e "$(recorder)" ] && ! sanitized; then
echo 'pass' > little.py
prof-record --quiet --force -o judged little.py
printf 'object,kind,in_c,samples\na.so,extension,1,50\na.so,extension,0,6\nlibc.so.6,libc,0,4\n_millrace.so,libc,0,10\npython,interpreter,0,20\n' > judged/judge.1.csv
is 'of Python is unverified what samples do not exclude to be C' '0.4019' eval \
    "prof-top judged | csv-calc --where=\"name == '(Python)'\" --print='fixed(unverified_ns/self_ns, 4)'"
ok 'and the table says the samples' eval "prof-top --table judged | grep -q 'C seen: 50 of 56 samples in extensions; in no recorded call 40 of 90 samples, of them 4 in libc'"
printf 'import json, math, time\nfor i in range(200000): math.sqrt(i)\nfor i in range(50): time.sleep(.001); json.dumps({"a": i})\n' > one.py
# to the nanosecond from the thread's first row to its last, three times of three; to .1 % of the run two times: its start is
# before the first row, and may have to wait on a busy machine
adds() { local i; for i in 1 2 3; do
    prof-record --quiet --force -o one one.py
    { prof-log --quiet one && prof-top one | csv-cut -c self_ns; } | awk -F, '
        $3 == "proc" && $4 == "" { run = $6 - $5 }
        $3 == "cat" && (!from || $5 < from) { from = $5 }
        $3 == "cat" && $6 > to { to = $6 }
        NF == 1 && $1 != "self_ns" { sum += $1 }
        END { print (sum == to - from), (sum > .999 * run && sum <= run) }'
done | awk '{ exact += $1; whole += $2 } END { print exact, (whole >= 2) }'; }
is 'what one thread did adds up to the run' '3 1' adds
fi
printf '%s\n' $head 1,1,cat,Python,0,100,,, 1,1,cat,C,10,50,dot,, > whole.csv
is 'Python in one row: the table says how to see its functions, and not where they are' '1 0' \
    eval 'echo $(prof-top --table whole.csv | grep -c "prof-record --tree") $(prof-top --table e.csv | grep -c "prof-record --tree")'
done_testing
