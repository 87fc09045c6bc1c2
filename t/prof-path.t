#!/bin/bash
# the critical path; lib-dag has it against enumeration
. "${0%/*}/tap.sh"
head=proc,tid,kind,cat,start_ns,end_ns,name,link,flag
# a worker that a queue feeds, a kernel that the main thread waits for, a thread that sleeps beside
cat > e.csv <<D
$head
1,1,op,,0,1000,step,,
1,1,cat,Python,0,300,main,,
1,1,cat,Python,290,300,put,q1,
1,2,cat,Waiting,10,320,get,q1,
1,2,cat,C,320,620,work,,
1,2,cat,Python,620,640,put,q2,
1,1,cat,Waiting,300,650,get,q2,
1,1,cat,CUDA,650,660,cudaLaunchKernel,7,
1,d0.s0,gpu,GPU,670,900,gemm,7,
1,1,cat,Python,660,700,prepare,,
1,1,cat,CUDA,700,910,cudaDeviceSynchronize,,
1,1,cat,Python,910,1000,finish,,
1,3,cat,Waiting,0,500,sleep,,
1,3,cat,Python,500,900,aside,,
D
is 'the path crosses threads, the queue and the GPU' "start_ns,end_ns,proc,tid,cat,op,name,why
0,290,1,1,Python,step,main,begin
290,300,1,1,Python,step,put,run
300,320,1,2,wake,,get,link
320,620,1,2,C,,work,run
620,640,1,2,Python,,put,run
640,650,1,1,wake,step,get,link
650,670,1,d0.s0,launch,step,gemm,launch
670,900,1,d0.s0,GPU,step,gemm,launch
900,910,1,1,wake,step,cudaDeviceSynchronize,sync
910,1000,1,1,Python,step,finish,run" prof-path --pieces e.csv
is 'sums: what is on it and off it, and the slack of the rest' "op,cat,path_ns,path_share,total_ns,least_slack_ns,unexplained_share
step,Python,390,0.3900,430,0,0.0000
,C,300,0.3000,300,0,0.0000
step,GPU,230,0.2300,230,0,0.0000
,Python,20,0.0200,420,0,0.0000
,wake,20,0.0200,20,0,0.0000
step,wake,20,0.0200,20,0,0.0000
step,launch,20,0.0200,20,0,0.0000
,Waiting,0,0.0000,500,100,0.0000
step,CUDA,0,0.0000,10,210,0.0000" prof-path --quiet e.csv
slack() { prof-path --all e.csv | csv-where -c name --is="$1" | csv-cut -c slack_ns | sed 1d | sort -u; }
is 'slack of what runs beside' 100 slack aside
is 'slack of what the GPU hides' 210 slack prepare
is 'the last of the run is on the path' 1 eval 'prof-path --all e.csv | csv-where -c name --is=finish | csv-cut -c on_path | sed 1d'
joined() { # of a table: pieces that touch on one thread, by python
    prof-path --quiet --pieces "$1" | python3 -c '
import csv, sys, itertools
rows = list(csv.DictReader(sys.stdin))
print("start_ns,end_ns,proc,tid")
for (p, t), v in itertools.groupby(rows, lambda r: (r["proc"], r["tid"])):
    v = list(v); print(v[0]["start_ns"], v[-1]["end_ns"], p, t, sep=",")'; }
is 'the path thread by thread' "$(joined e.csv)" prof-path --quiet --joined e.csv
ok 'both at once' eval 'prof-path --quiet e.csv > alone; prof-path --quiet --sums=beside --pieces e.csv > /dev/null; cmp alone beside'
guess() { sed -e 's/,q[12],/,,/' e.csv | prof-path --quiet --pieces | csv-where -c cat --is=wake | csv-cut -c tid,name,why; }
is 'without links the last to end is who woke it' "tid,name,why
2,get,guess
1,get,guess
1,cudaDeviceSynchronize,sync" guess
fails 'and that is said' 0 'explained by a guess' bash -c "sed -e 's/,q[12],/,,/' e.csv | prof-path"
# a stream that waits for another's event: what is launched on it afterwards comes after what that one had when it was
# recorded (k1), not after what it got later (k2)
cat > event.csv <<D
$head
1,1,cat,Python,-10,0,main,,
1,1,cat,CUDA,0,10,cudaLaunchKernel,1,
1,1,cat,CUDA,10,20,cudaEventRecord,2,
1,1,cat,CUDA,20,30,cudaLaunchKernel,3,
1,1,cat,CUDA,30,40,cudaStreamWaitEvent,4,
1,1,cat,CUDA,40,50,cudaLaunchKernel,5,
1,1,cat,CUDA,50,700,cudaDeviceSynchronize,,
1,d0.s7,gpu,GPU,20,500,k1,1,
1,d0.s7,gpu,GPU,500,520,k2,3,
1,d0.s20,gpu,GPU,505,690,k3,5,
1,d0.s20,after,d0.s7,10,40,Stream Wait Event,2,
D
path() { prof-path --quiet --pieces event.csv | csv-cut -c start_ns,end_ns,cat,name,why | sed 1d; }
is 'a stream waits for the event of another' '-10,0,Python,main,begin
0,20,launch,k1,launch
20,500,GPU,k1,launch
500,505,stream,k3,event
505,690,GPU,k3,event
690,700,wake,cudaDeviceSynchronize,sync' path
is 'wherever the wait stands in the table' "$(path)" bash -c "{ head -1 event.csv; tail -1 event.csv; sed '1d;\$d' event.csv; } |
    prof-path --quiet --pieces | csv-cut -c start_ns,end_ns,cat,name,why | sed 1d"
is 'so k1 twice as fast: 240 less' 470 bash -c 'prof-whatif --quiet --speed=name=k1:2 event.csv | csv-cut -c after_ns | sed 1d'
is 'and is no work of anybody' 'CUDA CUDA+GPU Python' bash -c 'prof-sweep event.csv | csv-cut -c cats | sed 1d | sort -u | paste -sd" "'
copied() { sed "s/cudaDeviceSynchronize/$1/" e.csv | prof-path --quiet --pieces | csv-where -c name --is="$1" | csv-cut -c cat,why | sed 1d; }
for call in cudaMemcpy hipMemcpy cuMemcpyDtoH; do is "$call waits for the GPU" wake,sync copied $call; done
is 'what only begins a copy does not' CUDA,run copied cudaMemcpyAsync
# links: a pipe's bytes by the sums of what was written and read, anything else by the last post
cat > link.csv <<D
$head
1,1,cat,Python,0,1000000,main,,
1,1,link,take,1000000,4000100,pipe,p,5
1,1,cat,Python,4000100,9500000,used,,
2,1,cat,C,0,2000000,first,,
2,1,link,post,2000000,2000000,pipe,p,5
2,1,cat,C,2000000,3900000,second,,
2,1,link,post,3900000,3900000,pipe,p,5
2,1,cat,C,3900000,9000000,third,,
D
woken() { prof-path --quiet --pieces | csv-where -c cat --is=wake | csv-cut -c start_ns,end_ns,why | sed 1d; }
is 'five bytes are those that were written first' 2000000,4000100,link eval 'woken < link.csv'
is 'without amounts the last that was posted' 3900000,4000100,link eval 'sed "s/,5$/,/" link.csv | woken'
cat > closed.csv <<D
$head
1,1,cat,Python,0,1000000,main,,
1,1,link,take,1000000,4000100,closed,p,
1,1,cat,Python,4000100,9500000,used,,
2,1,cat,C,0,3000000,first,,
2,1,link,post,3000000,3000000,exit,x,
3,1,cat,C,0,4000000,other,,
D
is 'what a process had open is closed when it ends' 3000000,4000100,link eval 'woken < closed.csv'
cat > arrow.csv <<D
$head
1,1,cat,Python,0,1000000,main,,
1,1,link,take,4000000,4000000,flow,f,
1,1,cat,Python,4000000,9500000,used,,
2,1,cat,C,0,4000000,first,,
2,1,link,post,3900000,3900000,flow,f,
D
is 'an arrow of a foreign trace, which has no length, ends the gap before it' '0,3900000,first 3900000,4000000,flow 4000000,9500000,used' \
    eval 'prof-path --quiet --pieces arrow.csv | csv-cut -c start_ns,end_ns,name | sed 1d | paste -sd" "'
# who gives the lock away is told later: its row is cut where the other has it, the first time of a run too
cat > gil.csv <<D
$head
1,1,cat,Python,0,900000,mine,,
1,1,cat,Waiting,900000,1500000,GIL,,
1,1,cat,Python,1500000,4000000,more,,
1,2,cat,Python,0,1550000,yours,,
1,2,cat,C,1550000,3000000,yours2,,
D
is 'who had the lock of the interpreter' '0,1500000,yours
1500000,4000000,more' eval 'prof-path --quiet --pieces gil.csv | csv-cut -c start_ns,end_ns,name | sed 1d'
# times since 1970 and beyond: the same answers, to the last digit
later() { local p t k c s e rest; while IFS=, read -r p t k c s e rest; do [ $p = proc ] || { s=$((s + (1 << 60))) e=$((e + (1 << 60))); }; echo $p,$t,$k,$c,$s,$e,$rest; done < $1; }
printf '%s\n' "$head" 1,1,cat,Waiting,0,100,x,, > unknown.csv
sed 's/,q[12],/,,/' e.csv > guessed.csv
for f in unknown guessed e event arrow; do
    is "$f.csv 2^60 ns later" "$(prof-path --unexplained=1 $f.csv 2>&1; prof-whatif --unexplained=1 --speed='*:3' $f.csv 2>&1)" \
        eval "later $f.csv > later.csv; prof-path --unexplained=1 later.csv 2>&1; prof-whatif --unexplained=1 --speed='*:3' later.csv 2>&1"
done
# operations and calls cross, as set_operation has it: each is cut by its own kind only
printf '%s\n' "$head" 1,1,cat,Python,0,10,set_operation,, 1,1,op,,4,104,step,, 1,1,cat,Python,10,100,work,, 1,1,cat,C,100,150,after,, > set.csv
is 'an operation that outlives the call it began in' '0,4,,set_operation 4,10,step,set_operation 10,100,step,work 100,104,step,after 104,150,,after' \
    eval 'prof-path --quiet --pieces set.csv | csv-cut -c start_ns,end_ns,op,name | sed 1d | xargs'
is 'twice as fast: half of its 100 ns' 100 eval 'prof-whatif --quiet --speed=op=step:2 set.csv | csv-cut -c after_ns | sed 1d'
is 'and a call that outlives its operation is no gap' '0,5,step,f 5,10,step,g 10,20,,g' \
    eval 'printf "%s\n" $head 1,1,op,,0,10,step,, 1,1,cat,C,0,5,f,, 1,1,cat,C,5,20,g,, | prof-path --quiet --pieces | csv-cut -c start_ns,end_ns,op,name | sed 1d | xargs'
printf '%s\n' "$head" 1,1,cat,C,0,100,work,, 1,d0.s2,gpu,GPU,500,500,nothing,, > zero.csv
is 'a row of the GPU that took no time is none' 0,100,work eval 'prof-path --quiet --pieces zero.csv | csv-cut -c start_ns,end_ns,name | sed 1d'
fails 'two forms at once' 2 'not two of them' prof-path --all --pieces e.csv
# whatever the trace, the path is as long as the run and has no holes
if [ -e "$(recorder)" ]; then
    cat > queued.py <<'D'
import queue, threading
q, r = queue.Queue(), queue.Queue()
def work():
    while q.get(): r.put(sum(range(20000)))
t = threading.Thread(target=work)
t.start()
for i in range(9): q.put(1), r.get()
q.put(0), t.join()
D
    prof-record --quiet --force -o queued queued.py
    prof-log --quiet --nested queued > queued.csv
    ok 'threads that hand over work' grep -q link,post queued.csv
    ok 'a folder, its table and what prof-op makes of it have one path' eval 'prof-path --quiet --unexplained=1 queued > a; prof-path --quiet --unexplained=1 queued.csv |
        csv-group -g cat -c path_ns --stat=sum > b; prof-op queued.csv | prof-path --quiet --unexplained=1 | tee d | csv-group -g cat -c path_ns --stat=sum | cmp - b && cmp a d'
fi
if command -v python3 > /dev/null; then
    whole() { local i; for i in {1..20}; do
        python3 "$root/t/data/prof-kineto.py" $i | prof-import --quiet --from=kineto --nested > r.csv
        prof-path --quiet --pieces r.csv | sed 1d | sort -t, -n -k1,1 | cut -d, -f1,2 > pieces
        prof-path --quiet --all r.csv | sed 1d | cut -d, -f6,7 > all
        [ -s all ] || continue
        [ "$(head -1 pieces | cut -d, -f1) $(tail -1 pieces | cut -d, -f2)" = "$(cut -d, -f1 all | sort -n | head -1) $(cut -d, -f2 all | sort -n | tail -1)" ] || { echo "$i: not the whole run"; return 1; }
        diff <(cut -d, -f1 pieces | sed 1d) <(cut -d, -f2 pieces | sed '$d') || { echo "$i: holes"; return 1; }
    done; }
    ok 'twenty random traces: the path is the whole run without a hole' whole
fi
{ echo proc,tid,kind,cat,start_ns,end_ns,name,link
  seq 0 10 2500000 | sed 's/.*/1,1,cat,C,&0,&9,f,\n1,1,link,post,&1,&1,x,k\n1,1,link,take,&9,&9,x,k/'; } > one.csv
ok 'arrows of a thread to itself, in no time that grows with their square' eval '(ulimit -t 10; prof-path --quiet --unexplained=1 one.csv) > /dev/null'
{ echo "$head"; seq 0 30 2700000 | awk '{ printf "1,1,cat,Python,%d,%d,put,q1,\n1,2,cat,Waiting,%d,%d,get,q1,\n1,2,cat,C,%d,%d,use,,\n", $1, $1 + 10, $1, $1 + 15, $1 + 15, $1 + 30 }'; } > queue.csv
is 'waits for one link, in no time that grows with their square: each for the last put' '90001 90001' \
    eval '(ulimit -t 10; prof-path --quiet --pieces --unexplained=1 queue.csv) > pieces; echo $(grep -c ,wake,,get,link pieces) $(grep -c ,put, pieces)'
done_testing
