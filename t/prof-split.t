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
printf '%s\n' proc,tid,kind,cat,start_ns,end_ns,name a,1,proc,on,0,10,1 b,1,proc,on,20,30,1 a,1,cat,C,22,24,out b,1,cat,C,22,24,in b,1,cat,C,5,9,out > two.csv
is 'and the stretches are those of its process' b,1,C eval 'prof-split --by=on two.csv | prof-sweep | cut -d, -f1,2,4 | sed 1d'
done_testing
