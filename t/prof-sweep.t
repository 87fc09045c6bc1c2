#!/bin/bash
# cells and transitions; what the oracle does not cover: processes, operations, phases, order, memory
. "${0%/*}/tap.sh"
cat > ev.csv <<'D'
proc,tid,kind,cat,start_ns,end_ns,name,link,flag
p1,71,op,,1000,90000,train,,
p1,71,cat,Python,1000,20000,,,
p1,71,cat,Backend,20000,80000,TF_SessionRun,,
p1,71,cat,CUDA,30000,40000,cudaLaunchKernel,17,
p1,d0.s7,gpu,GPU,35000,70000,gemm,17,
D
want='proc,phase,op,cats,total_ns,lo_ns,hi_ns,runs
p1,,train,,10000,80000,90000,1
p1,,train,Backend,20000,20000,80000,2
p1,,train,Backend+CUDA,5000,30000,35000,1
p1,,train,Backend+CUDA+GPU,5000,35000,40000,1
p1,,train,Backend+GPU,30000,40000,70000,1
p1,,train,Python,19000,1000,20000,1'
is 'the example of the specification' "$want" prof-sweep ev.csv
{ head -1 ev.csv; tail -n +2 ev.csv | sort -r; } > shuffled.csv
is 'rows in any order, a file' "$want" prof-sweep shuffled.csv
from_pipe() { cat "$1" | prof-sweep "${@:2}"; }
is 'rows in any order, a pipe' "$want" from_pipe shuffled.csv
redirected() { prof-sweep < "$1"; }
is 'rows in any order, standard input that is a file' "$want" redirected shuffled.csv
is 'in order on a pipe' "$want" from_pipe ev.csv --sorted
fails 'a broken promise of order is told' 1 'start_ns.*--sorted' from_pipe shuffled.csv --sorted
prof-sweep --transitions=tr.csv ev.csv > /dev/null
is 'transitions tell a change of operation among the categories' 'proc,op,from,to,count
p1,,,Python+op:train,1
p1,,op:train,,1
p1,train,Backend,,1
p1,train,Backend,Backend+CUDA,1
p1,train,Backend+CUDA,Backend+CUDA+GPU,1
p1,train,Backend+CUDA+GPU,Backend+GPU,1
p1,train,Backend+GPU,Backend,1
p1,train,Python,Backend,1' cat tr.csv
cat > two.csv <<'D'
proc,tid,kind,cat,start_ns,end_ns,name,op
a,1,phase,,0,10,warm,
a,1,cat,Python,0,8,,x
a,1,cat,Python,8,9,,
b,1,cat,C++,2,6,,
b,1,proc,,0,100,b,
b,1,ovh,intercept,3,4,,
D
is 'processes apart, phases, a column op, overhead, a plus in a name' 'proc,phase,op,cats,total_ns,lo_ns,hi_ns,runs
a,warm,,Python,1,8,9,1
a,warm,x,Python,8,0,8,1
b,,,C\+\+,3,2,6,2
b,,,C\+\++ovh:intercept,1,3,4,1' prof-sweep two.csv
cat > on.csv <<'D'
proc,tid,kind,cat,start_ns,end_ns,name
a,1,phase,,0,10,warm
a,1,cat,Python,0,12,
a,,proc,on,2,4,1
a,1,cat,C,3,9,
a,,proc,on,8,12,2
D
is 'stretches in which profiling was on, as prof-split has them' "$(prof-split --by=on on.csv | prof-sweep)" \
    eval 'prof-sweep --on on.csv'
is 'processes together' 'proc,phase,op,cats,total_ns,lo_ns,hi_ns,runs
,warm,,Python,1,8,9,1
,warm,x,C\+\++Python,3,2,6,2
,warm,x,C\+\++Python+ovh:intercept,1,3,4,1
,warm,x,Python,4,0,8,2' prof-sweep --across two.csv
echo proc,tid,kind,cat,start_ns,end_ns,name,hook > h.csv
for i in {0..9}; do echo "p,1,cat,Python,$((i * 10)),$((i * 10 + 6)),,"; echo "p,1,cat,C,$((i * 10 + 6)),$((i * 10 + 10)),f,c_wrap"; done >> h.csv
prof-sweep --hooks=hooks.csv h.csv > /dev/null
is 'hooks are counted in the cell they leave and the one they enter' 'proc,phase,op,cats,hook,before,begun
p,,,C,c_wrap,0,10
p,,,Python,c_wrap,10,0' cat hooks.csv
# sorting: starts from near to far apart, long intervals, equal starts of nested operations in the order of the input
wide() { awk -v bits="$1" 'BEGIN { srand(bits); most = 2 ^ bits
    for (i = 0; i < 3000; i++) { s = int((rand() - .5) * most); op = rand() < .3
        printf "p%d,%d,%s,%s,%.0f,%.0f,%s\n", rand() * 3, rand() * 2, op ? "op" : "cat", op ? "" : "k" int(rand() * 9), s, s + int(rand() * most / (rand() < .9 ? 1000 : 4)), op ? "o" int(rand() * 5) : "" } }'; }
for bits in 6 11 12 33 40 61; do
    wide $bits > rows.csv
    { echo proc,tid,kind,cat,start_ns,end_ns,name; cat rows.csv; } > random.csv
    { echo proc,tid,kind,cat,start_ns,end_ns,name; sort -s -t, -k5,5n rows.csv; } > sorted.csv
    prof-sweep --quiet --sorted --transitions=sorted-tr.csv sorted.csv > sorted-cells.csv
    prof-sweep --quiet --transitions=tr.csv random.csv > cells.csv
    ok "3000 rows over 2^$bits ns: sorting them changes nothing" cmp <(sort sorted-cells.csv sorted-tr.csv) <(sort cells.csv tr.csv)
done
head -1 ev.csv > empty.csv
is 'no rows, no cells' 'proc,phase,op,cats,total_ns,lo_ns,hi_ns,runs' prof-sweep empty.csv
echo p,1,cat,A,5,3,,, >> empty.csv
fails 'reversed rows are counted' 0 '0 empty and 1 reversed' prof-sweep empty.csv
fails 'a bad kind is named' 1 ':2: column .kind.: .dog. is not' prof-sweep <(echo kind,cat,start_ns,end_ns; echo dog,A,1,2)
fails 'a time out of range is named' 1 "end_ns" prof-sweep <(echo kind,cat,start_ns,end_ns; echo cat,A,1,9223372036854775807)
big() { awk -v n="$1" 'BEGIN { print "kind,cat,start_ns,end_ns"; for (i = 0; i < n; i++) printf "cat,k%d,%d,%d\n", i % 7, i * 3, i * 3 + i % 50 + 1 }'; }
big 20000 > small.csv
big 200000 > large.csv
rss() { /usr/bin/time -f %M prof-sweep "$1" 2>&1 > /dev/null | tail -1; }
if [ -x /usr/bin/time ]; then
    a=$(rss small.csv) b=$(rss large.csv)
    ok "memory does not grow with rows in order ($a, $b KB)" [ $((b - a)) -lt 1000 ]
fi
done_testing
