#!/bin/bash
# iterations; the split of calls by number is in prof-oracle.t
. "${0%/*}/tap.sh"
cat > ev.csv <<'D'
proc,tid,kind,cat,start_ns,end_ns,name,link,flag
p,1,proc,pass,0,10,1,,
p,1,proc,pass,10,25,2,,
p,1,phase,,0,25,old,,
p,1,cat,Python,0,8,,,
p,1,cat,Backend,8,20,,,
p,1,op,,0,9,step,,
p,1,op,,9,20,step,,
D
cells() { prof-split "$@" ev.csv | prof-sweep | cut -d, -f1-5; }
is 'by pass' 'proc,phase,op,cats,total_ns
p,1,step,Backend,2
p,1,step,Python,8
p,2,step,Backend,10' cells --by=pass
is 'by operation' 'proc,phase,op,cats,total_ns
p,1,step,Backend,1
p,1,step,Python,8
p,2,step,Backend,11' cells --by=op --op=step
fails 'no such iterations' 1 'no iterations' prof-split --by=on ev.csv
fails 'an operation must be named' 2 'goes with' prof-split --by=op ev.csv
printf '%s\n' proc,tid,kind,cat,start_ns,end_ns,name 1,1,cat,Python,0,100,start 1,,proc,on,200,300,1 1,1,cat,Python,200,300,a 1,1,cat,C,320,330,between 1,,proc,on,400,500,2 1,1,cat,Python,400,500,b > on.csv
is 'what lies in no stretch in which profiling was on goes' '1 2' eval "prof-split --by=on on.csv | prof-sweep | csv-cut -c phase | sed 1d | paste -sd' '"
printf '%s\n' proc,cat,kind,name,start_ns,end_ns,flag 1,C,cat,sort,0,10, 1,C,cat,sort,12,20,part 1,C,cat,sort,25,30,part 1,C,cat,sort,50,59, > parts.csv
is 'a call in parts is one call' '23 9' eval 'prof-split --iterations=2 parts.csv | csv-cut -c total_ns | sed 1d | xargs'
printf '%s\n' proc,tid,kind,cat,start_ns,end_ns,name,link,flag 1,1,cat,C,0,10,f,, 1,2,cat,C,5,8,f,, 1,1,cat,Python,10,20,g,, 1,1,cat,C,20,30,f,,part > threads.csv
is 'a part belongs to the call of its own thread' '20 3' eval 'prof-split --iterations=2 threads.csv | csv-where -c name --is=f | csv-cut -c total_ns | sed 1d | xargs'
if command -v python3 > /dev/null; then
    cat > naive.py <<'D'
import random, sys
draw, rows, calls, last = random.Random(int(sys.argv[1])), [], [], {}
for thread in "123":
    time = draw.randrange(9)
    for i in range(20): rows.append((time, time + draw.randrange(1, 9), thread, i and draw.random() < .5)); time = rows[-1][1] + draw.randrange(3)
rows.sort(key=lambda r: r[0])
rows += [(999, 1000, "1", False)] * (-sum(not r[3] for r in rows) % 3)
with open("calls.csv", "w") as f:
    print("proc,tid,kind,cat,start_ns,end_ns,name,link,flag", file=f)
    for start, end, thread, part in rows: print("1,%s,cat,C,%d,%d,f,,%s" % (thread, start, end, "part" * part), file=f)
for start, end, thread, part in rows:
    if not part: last[thread] = len(calls); calls.append(0)
    calls[last[thread]] += end - start
for k in range(3): print(sum(calls[k * len(calls) // 3:(k + 1) * len(calls) // 3]))
D
    numbered() { local i; for i in {1..20}; do python3 naive.py $i > want; cmp want <(prof-split --iterations=3 calls.csv | csv-cut -c total_ns | sed 1d) || { echo $i; return 1; }; done; }
    ok 'calls and parts of three threads, as a naive reader numbers them' numbered
fi
printf '%s\n' proc,tid,kind,cat,start_ns,end_ns,name a,1,proc,on,0,10,1 b,1,proc,on,20,30,1 a,1,cat,C,22,24,out b,1,cat,C,22,24,in b,1,cat,C,5,9,out > two.csv
is 'and the stretches are those of its process' b,1,C eval 'prof-split --by=on two.csv | prof-sweep | cut -d, -f1,2,4 | sed 1d'
printf '%s\n' proc,tid,kind,cat,start_ns,end_ns,name a,{1,2},cat,C,-4611686018427387903,4611686018427387903,f > long.csv
fails 'more ns than there are numbers' 1 'number too large' prof-split --iterations=1 long.csv
done_testing
