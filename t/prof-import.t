#!/bin/bash
# foreign profiles
. "${0%/*}/tap.sh"
head=proc,tid,kind,cat,start_ns,end_ns,name,link,flag
cat > a.json <<'D'
{"displayTimeUnit":"ns","traceEvents":[
{"ph":"X","name":"f","cat":"Python","pid":1,"tid":71,"ts":12.345,"dur":7.000,"args":{}},
{"ph":"B","name":"g \"q\"","cat":"C","pid":1,"tid":"t","ts":20},
{"ph":"B","name":"h","pid":1,"tid":"t","ts":21,"args":{"deep":[{"x":"}"}]}},
{"ph":"E","pid":1,"tid":"t","ts":25.5}, {"ph":"E","pid":1,"tid":"t","ts":1e2}, {"ph":"E","pid":1,"tid":"t","ts":26},
{"ph":"i","name":"instant","ts":5,"pid":1,"tid":1,"s":"t"},
{"ph":"X","name":"bad","ts":"x"}, {"ph":"X","name":"neg","pid":1,"tid":1,"ts":5,"dur":-1},
{"ph":"M","name":"process_name","pid":1,"args":{"name":"prog"}}
],"other":[1,2]}
D
want="$head
1,71,cat,Python,12345,19345,f,,
1,t,cat,,21000,25500,h,,
1,t,cat,C,20000,100000,\"g \"\"q\"\"\",,"
is 'Chrome: X and nested B/E, fractions of us, odd ids' "$want" prof-import --quiet --from=chrome a.json
fails 'and what was left out is counted' 0 '1 ends without' prof-import --from=chrome a.json
gzip -k a.json
is 'gzip' "$want" prof-import --quiet --from=chrome a.json.gz
echo '[{"ph":"X","name":"f","pid":1,"tid":1,"ts":1,"dur":1}' > open.json
printf '[{"ph":"B","name":"main","pid":1,"tid":1,"ts":0},\n{"ph":"X","name":"work","pid":1,"tid":1,"ts":10,"dur":90}' > cut.json
is 'nor does an open begin end before what it holds' main,0,100000,open eval \
    'prof-import --quiet --from=chrome cut.json 2> /dev/null | csv-cut -c name,start_ns,end_ns,flag | grep main'
printf '[{"ph":"X","name":"c\\u0000d","pid":1,"tid":1,"ts":0,"dur":2},{"ph":"s","cat":"f","name":"go","id2":{"local":"1"},"pid":%d,"tid":1,"ts":1},{"ph":"f","cat":"f","name":"go","id2":{"global":"1"},"pid":2,"tid":2,"ts":2}]' 1 > ids.json
is 'an id of its process alone, one of all; a NUL is none' 'c?d,,go,f 1 1,go,f 1' eval \
    'prof-import --quiet --from=chrome ids.json | csv-cut -c name,link | sed 1d | paste -sd,'
fails 'an array that is not closed gives what it holds' 0 'open.json:2:1: the input ends here.*; the 1 rows' prof-import --from=chrome open.json
cut() { local n; for n in 1 2 60 150 300 500; do head -c $n a.json > cut.json; prof-import --quiet --from=chrome cut.json > out 2> err || { cat err; return 1; }; done; }
ok 'a trace cut anywhere is no error' cut
printf 'no trace\n of perf' > none.txt
fails 'but what is none, cut or not, is' 1 'no events in it; 2 malformed' prof-import --from=perf none.txt
# a time is the decimal number that is written, to the ns, in whatever form: beside Python's own decimals
cat > forms.json <<'D'
[{"ph":"X","name":"1","pid":1,"tid":1,"ts":1.700000000000001234e15,"dur":2},{"ph":"X","name":"2","pid":1,"tid":1,"ts":1700000000000001234e-3,"dur":1e-3},
{"ph":"X","name":"3","pid":1,"tid":1,"ts":17e14,"dur":0.0015},{"ph":"X","name":"4","pid":1,"tid":1,"ts":0.0014999999999999999999999999999999999,"dur":1E+3},
{"ph":"X","name":"5","pid":1,"tid":1,"ts":-1.5,"dur":12.0004999},{"ph":"X","name":"6","pid":1,"tid":1,"ts":9007199254740.993,"dur":0.001}]
D
is 'times in exponent form lose no digit' '1700000000000001234,1700000000000003234,1
1700000000000001234,1700000000000001235,2
1700000000000000000,1700000000000000002,3
1,1000001,4
-1500,10500,5
9007199254740993,9007199254740994,6' bash -c 'prof-import --quiet --from=chrome forms.json | csv-cut -c start_ns,end_ns,name | sed 1d | sort -t, -k3'
echo '[{"ph":"X","name":"train_loop","pid":1,"tid":1,"ts":1551209039576428,"dur":1180757},{"ph":"X","name":"q","pid":1,"tid":1,"ts":1551209039576444.125,"dur":1.5e3}]' > epoch.json
is 'microseconds since 1970, to the ns' "$head
1,1,cat,,1551209039576428000,1551209040757185000,train_loop,,
1,1,cat,,1551209039576444125,1551209039577944125,q,," prof-import --from=chrome epoch.json
printf '\xef\xbb\xbf{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1}\n{"ph":"X","name":"b","ts":4,"dur":2,"pid":1,"tid":1}\n' > lines.json
is 'an object a line, behind a byte order mark' "$head
1,1,cat,,1000,3000,a,,
1,1,cat,,4000,6000,b,," prof-import --quiet --from=chrome lines.json
printf '%s\n' '{"ph":"X","name":"a","ts":0,"dur":5,"pid":1,"tid":1}' '{"comment":"x"}' '{"ph":"X","name":"b","ts":10,"dur":5,"pid":1,"tid":1}' > some.json
is 'an object that is no event ends nothing' 'a b' eval 'prof-import --quiet --from=chrome some.json | csv-cut -c name | sed 1d | xargs'
fails 'and is counted' 0 ' 1 records of other kinds left out' prof-import --from=chrome some.json
kernel() { echo "{${2-}\"traceEvents\":[{\"ph\":\"X\",\"name\":\"k$1\",\"cat\":\"kernel\",\"ts\":$1,\"dur\":5,\"pid\":0,\"tid\":7,\"args\":{\"device\":0,\"stream\":7,\"correlation\":$1}}]}"; }
is 'two traces one after the other' 'k1 k2' eval '{ kernel 1; kernel 2; } | prof-import --quiet --from=kineto | csv-cut -c name | sed 1d | xargs'
fails 'but not of two base times, which nothing could tell' 1 'several base times' eval "{ kernel 1 '\"baseTimeNanoseconds\":1000,'; kernel 2; } | prof-import --from=kineto"
is 'and two arrays' 'a b q' eval '{ sed s/^/[/ lines.json | sed "s/$/]/" | sed "s/\xef\xbb\xbf//"; echo "[{\"ph\":\"X\",\"name\":\"q\",\"ts\":9,\"pid\":1,\"tid\":1}]"; } | prof-import --quiet --from=chrome | csv-cut -c name | sed 1d | xargs'
fails 'what is neither, behind a trace' 1 'neither an object nor an array' eval '{ cat lines.json; echo 7; } | prof-import --from=chrome'
echo '[{"name":"matmul","cat":"ops","ph":"X","ts":0,"dur":5,"pid":1,"tid":1,"args":{"kind":"op","device":"cpu"}},{"name":"href","cat":"ops","ph":"X","ts":6,"dur":5,"pid":1,"tid":1,"args":{"kind":"link","cat":"x","name":"y"}}]' > kind.json
is 'an argument of a foreign trace that is called kind is not ours' "$head
1,1,cat,ops,0,5000,matmul,,
1,1,cat,ops,6000,11000,href,," prof-import --quiet --from=chrome kind.json
be() { local e; echo '[{}'; for e; do IFS=/ read -r ph ts name <<< "$e"; echo ",{\"ph\":\"$ph\",\"ts\":$ts,\"pid\":1,\"tid\":1${name:+,\"name\":\"$name\"}}"; done; echo ']'; }
for crossed in 'B/0/outer B/10/inner E/100/outer E/20/inner' 'B/0/outer B/10/inner E/100 E/20' 'B/0/outer E/100 B/200/a B/10/inner E/210/a E/20/inner'; do
    be $crossed > be.json
    fails "begins and ends in order of time, but not in the file: $crossed" 0 ' [123] begins and ends that do not nest' prof-import --from=chrome be.json
done
be B/50/a E/60/a B/0/b B/1/c E/1 E/9/b > be.json
is 'stretches that stand in any order, each nested, are no trouble' "$head
1,1,cat,,50000,60000,a,,
1,1,cat,,1000,1000,c,,
1,1,cat,,0,9000,b,," eval 'sed s/{}/{\"ph\":\"M\"}/ be.json | prof-import --from=chrome'
cat > spans.json <<'D'
[{"ph":"b","cat":"net","id":"0x1","name":"request","ts":10,"pid":1,"tid":1}, {"ph":"b","cat":"net","id2":{"local":"0x1"},"name":"inner","ts":11,"pid":1,"tid":2},
 {"ph":"n","cat":"net","id":"0x1","name":"mark","ts":12,"pid":1,"tid":1}, {"ph":"e","cat":"net","id":"0x1","name":"inner","ts":15,"pid":1,"tid":3},
 {"ph":"S","cat":"disk","id":7,"name":"read","ts":12,"pid":1,"tid":1}, {"ph":"e","cat":"net","id":"0x1","name":"request","ts":20,"pid":1,"tid":1},
 {"ph":"F","cat":"disk","id":7,"name":"read","ts":30,"pid":1,"tid":1}, {"ph":"b","cat":"net","id":"0x2","name":"never","ts":40,"pid":1,"tid":1}]
D
is 'asynchronous spans: operations on a track of each category and id' "$head
1,net 0x1,op,net,11000,15000,inner,,
1,net 0x1,op,net,10000,20000,request,,
1,disk 7,op,disk,12000,30000,read,,
1,net 0x2,op,net,40000,40000,never,,open" prof-import --quiet --from=chrome spans.json
cat > flow.json <<'D'
[{"ph":"X","name":"make","ts":1000,"dur":5000,"pid":1,"tid":1}, {"ph":"X","name":"rest","ts":6000,"dur":1000,"pid":1,"tid":1},
 {"ph":"X","name":"begin","ts":0,"dur":500,"pid":1,"tid":2}, {"ph":"X","name":"use","ts":6050,"dur":3000,"pid":1,"tid":2},
 {"ph":"s","id":7,"name":"hand","cat":"q","ts":6000,"pid":1,"tid":1}, {"ph":"f","bp":"e","id":7,"name":"hand","cat":"q","ts":6100,"pid":1,"tid":2}]
D
is 'flows: who handed over, who took' "1,1,link,post,6000000,6000000,hand,q 7,
1,2,link,take,6100000,6100000,hand,q 7," eval 'prof-import --quiet --from=chrome flow.json | csv-where -c kind --is=link | sed 1d'
path() { prof-import --quiet --from=chrome flow.json | prof-path --quiet --pieces | csv-cut -c name,why | sed 1d | paste -sd' '; }
is 'and the critical path goes along them; rows without a category are no gaps' 'begin,begin make,guess make,guess hand,link use,run' path
# use of 3000 us follows from make of 5000: half of it gives 2500 us
is 'a question to what is handed over' 2500000 eval 'prof-import --quiet --from=chrome flow.json | prof-whatif --quiet --speed=name=make:2 | csv-calc --set="won=before_ns - after_ns" | csv-cut -c won | sed 1d'
for empty in '{}' '[]' '{"traceEvents":[]}'; do
    echo "$empty" > empty.json
    fails "no table of nothing: $empty" 1 'empty.json: no events in it' prof-import --from=chrome empty.json
done
echo '[{"ph":"X","name":"a","ts":9007199254740993.5,"dur":2,"pid":1,"tid":1}]' > late.json
fails 'a time that no clock of ours has, and where it stands' 1 'late.json: no events in it; 1 malformed, the first ends at byte 70' \
    prof-import --from=chrome late.json
printf '[ x' > bad.json
fails 'a malformed one is an error, with its place' 1 'bad.json:1:3: not a JSON value' prof-import --from=chrome bad.json

cat > k.json <<'D'
{ "schemaVersion": 1, "baseTimeNanoseconds": 1000000,
  "traceEvents": [
  { "ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 1.000, "dur": 5.000, "args": { "External id": 3 } },
  { "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": 2, "dur": 1, "args": { "correlation": 9 } },
  { "ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 4, "dur": 10,
    "args": { "device": 0, "stream": 7, "correlation": 9, "grid": [1, 2, 3] } },
  { "ph": "X", "cat": "user_annotation", "name": "train", "pid": 7, "tid": 7, "ts": 0, "dur": 20 },
  { "ph": "X", "cat": "python_function", "name": "f.py(3): g", "pid": 7, "tid": 7, "ts": 0, "dur": 1 },
  { "ph": "X", "cat": "Trace", "name": "whole", "pid": "Spans", "tid": "x", "ts": 0, "dur": 99 } ] }
D
want="$head
7,7,op,,1000000,1020000,train,,
7,7,cat,Python,1000000,1001000,f.py(3): g,,
7,7,cat,Backend,1001000,1006000,aten::mm,,
7,7,cat,CUDA,1002000,1003000,cudaLaunchKernel,9,
7,d0.s7,gpu,GPU,1004000,1014000,gemm,9,"
is 'Kineto: its categories, absolute times, device and link; the GPU works for who launched it' "$want" prof-import --quiet --from=kineto k.json
sed -e 's/"baseTimeNanoseconds": 1000000,//' -e 's/ } \] }$/ } ], "baseTimeNanoseconds": 1000000 }/' k.json > end.json
is 'the base time at the end of the file' "$want" prof-import --quiet --from=kineto end.json
cat > nested.json <<'D'
[ { "ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum", "pid": 0, "tid": 7, "ts": 4, "dur": 10, "args": { "device": 0, "stream": 20, "correlation": 5 } },
  { "ph": "X", "cat": "python_function", "name": "main", "pid": 7, "tid": 7, "ts": 0, "dur": 10 },
  { "ph": "X", "cat": "python_function", "name": "step", "pid": 7, "tid": 7, "ts": 1, "dur": 8 },
  { "ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 7, "tid": 7, "ts": 2, "dur": 6 },
  { "ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 3, "dur": 4 },
  { "ph": "X", "cat": "python_function", "name": "hook", "pid": 7, "tid": 7, "ts": 4, "dur": 1 },
  { "ph": "X", "cat": "gpu_memcpy", "name": "Memcpy", "pid": 2, "tid": 0, "ts": 1, "dur": 1, "args": { "device": 2, "stream": 0, "correlation": 4, "kind": "HtoD" } } ]
D
is 'Python and C of a thread exclude each other, C within C stays; NCCL; the kind of a copy is not ours' "$head
7,7,cat,Python,0,1000,main,,
7,7,cat,Python,1000,2000,step,,
7,d2.s0,gpu,GPU,1000,2000,Memcpy,4,
7,7,cat,Backend,2000,4000,aten::linear,,
7,7,cat,Backend,3000,4000,aten::mm,,
7,d0.s20,gpu,Communication,4000,14000,ncclDevKernel_AllReduce_Sum,5,
7,7,cat,Python,4000,5000,hook,,
7,7,cat,Backend,5000,8000,aten::linear,,part
7,7,cat,Backend,5000,7000,aten::mm,,part
7,7,cat,Python,8000,9000,step,,part
7,7,cat,Python,9000,10000,main,,part" prof-import --quiet --from=kineto nested.json
cat > events.json <<'D'
[ { "ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0, "tid": 20, "ts": 6, "dur": 3, "args": { "wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 8, "stream": 20, "correlation": 9, "device": 0 } },
  { "ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0, "tid": 20, "ts": 16, "dur": 3, "args": { "wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": -1, "stream": 20, "correlation": 10, "device": 0 } },
  { "ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0, "tid": 20, "ts": 16, "dur": 3, "args": { "wait_on_stream": -1, "stream": 20, "correlation": 10, "device": 0 } },
  { "ph": "X", "cat": "cuda_sync", "name": "Context Sync", "pid": 0, "tid": -1, "ts": 18, "dur": 3, "args": { "stream": -1, "correlation": 11, "device": 0 } },
  { "ph": "X", "cat": "cuda_runtime", "name": "cudaEventRecord", "pid": 7, "tid": 7, "ts": 1, "dur": 1, "args": { "correlation": 8 } },
  { "ph": "X", "cat": "cuda_runtime", "name": "cudaStreamWaitEvent", "pid": 7, "tid": 7, "ts": 15, "dur": 4, "args": { "correlation": 10 } } ]
D
is 'a stream waits for the event of another: from the record, or from the wait where that is not told' "$head
7,d0.s20,after,d0.s7,1000,9000,Stream Wait Event,8,
7,7,cat,CUDA,1000,2000,cudaEventRecord,8,
7,d0.s20,after,d0.s7,15000,19000,Stream Wait Event,10,
7,7,cat,CUDA,15000,19000,cudaStreamWaitEvent,10," prof-import --quiet --from=kineto events.json
is 'two ranks, told apart' 'r1.7' bash -c "prof-import --quiet --from=kineto --prefix=r1. --nested nested.json | sed 1d | cut -d, -f1 | sort -u"

# against a naive reading of the same file: time of every set of categories, random traces and real ones
if command -v python3 > /dev/null; then
    sets() { prof-import --quiet --from=kineto "$1" | prof-sweep --quiet | csv-where -c cats --known | csv-group -g proc,cats -c total_ns --stat=sum | csv-cut -c proc,cats,sum_total_ns | sed 1d | sort; }
    same_as_naive() { local f; for f; do cmp <(sets "$f") <(python3 "$root/t/data/prof-naive.py" "$f" | sort) || { echo "$f"; return 1; }; done; }
    for i in {1..30}; do python3 "$root/t/data/prof-kineto.py" $i > random.$i.json; done
    ok 'thirty random traces, as a naive reader sees them' same_as_naive random.*.json
    if ls "${MILLRACE_DATA:-$root/../shared/data}"/prof/hta-*.json.gz > /dev/null 2>&1; then
        ok 'real traces, as a naive reader sees them' same_as_naive "${MILLRACE_DATA:-$root/../shared/data}"/prof/hta-*.json.gz
    fi
fi

seq 0 10 2000000 | sed 's/.*/{"ph":"X","cat":"cuda_runtime","name":"f","pid":1,"tid":1,"ts":&,"dur":5,"args":{"correlation":0}}\n{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":&,"dur":1,"args":{"correlation":0,"device":0,"stream":7}}/' > zero.json
is 'launches that all have one number are found, in no time that grows with their square' 200001 eval \
    '(ulimit -t 10; prof-import --quiet --from=kineto --nested zero.json) | grep -c ^1,d0.s7,gpu'
if command -v sqlite3 > /dev/null; then
sqlite3 nsys.db <<'D'
CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1,'gemm'),(2,'cudaLaunchKernel'),(3,'step');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT, shortName INT);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50,90,0,1,7,17,(1<<56)|(4711<<24),1);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT, correlationId INT, nameId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (40,45,(1<<56)|(4711<<24)|4712,17,2);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, streamId INT, correlationId INT, globalPid INT, copyKind INT);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (10,20,0,7,16,(4711<<24),1);
CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, globalTid INT, text TEXT, textId INT);
INSERT INTO NVTX_EVENTS VALUES (0,100,59,(4711<<24)|4712,NULL,3),(5,NULL,34,(4711<<24)|4712,'mark',NULL);
D
is 'Nsight Systems' "$head
4711,4712,op,,0,100,step,,
4711,d0.s7,gpu,GPU,10,20,memcpy HtoD,16,
4711,4712,cat,CUDA,40,45,cudaLaunchKernel,17,
4711,d0.s7,gpu,GPU,50,90,gemm,17," prof-import --quiet --from=nsys nsys.db
# each process numbers its launches from 1: whose a kernel is says its globalPid, that of a launch that is not there too
sqlite3 two.db <<'D'
CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1,'cudaLaunchKernel'),(2,'kernel');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT, correlationId INT, nameId INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT, shortName INT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50), p(k) AS (VALUES (1), (2), (3))
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i * 100 + k * 7, i * 100 + k * 7 + 5, (k * 100 << 24) | k * 100, i, 1 FROM n, p WHERE i < 50 OR k < 3;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50), p(k) AS (VALUES (1), (2), (3))
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 100 + 90 - k * 20, i * 100 + 140 + i * k % 11, k, 1, 7, i, k * 100 << 24, 2 FROM n, p;
D
is 'kernels of three processes that count their launches alike' "$(sqlite3 -csv two.db 'SELECT (globalPid >> 24) & 0xffffff, sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY 1')" \
    eval "prof-import --quiet --from=nsys two.db | csv-where -c kind --is=gpu | csv-calc --set='ns=end_ns - start_ns' | csv-group -g proc -c ns --stat=sum | csv-cut -c proc,sum_ns | sed 1d | sort"
# written ahead, as Nsight leaves it: nothing comes to lie beside it, and rows that are in the -wal alone are read
mkdir 'w?l #%41' && cp nsys.db 'w?l #%41/a%20b.db' && sqlite3 'w?l #%41/a%20b.db' 'PRAGMA journal_mode = WAL' > /dev/null
is 'written ahead' "$(prof-import --quiet --from=nsys nsys.db)" prof-import --quiet --from=nsys 'w?l #%41/a%20b.db'
is 'nothing lies beside it' 'a%20b.db' ls 'w?l #%41'
mkfifo hold
(exec 3<> hold; sqlite3 'w?l #%41/a%20b.db' <&3 > /dev/null & echo "INSERT INTO NVTX_EVENTS VALUES (7,9,59,(4711<<24)|4712,'late',NULL);" >&3
    until [ -s 'w?l #%41/a%20b.db-wal' ]; do sleep 0.05; done; mkdir killed; cp 'w?l #%41'/*b.db{,-wal} killed; kill -9 $!; wait $!) 2> /dev/null
is 'a row that was never checkpointed' 1 eval 'prof-import --quiet --from=nsys killed/a%20b.db | grep -c ,late,'
is 'nor beside that one' 'a%20b.db a%20b.db-wal' eval 'ls killed | paste -sd" "'
nsys=${MILLRACE_DATA:-$root/../shared/data}/prof/nsys-saxpy.sqlite
nsys_sums() { # the GPU's time, three ways: sqlite3 itself, the rows, the cells
    local asked rows cells
    asked=$(sqlite3 "$nsys" 'SELECT (SELECT sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL) + (SELECT sum(end - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY)')
    prof-import --quiet --from=nsys "$nsys" | prof-op --quiet > saxpy.csv
    rows=$(csv-where -c kind --is=gpu saxpy.csv | csv-calc --set='ns=end_ns - start_ns' | csv-group -c ns --stat=sum | csv-cut -c sum_ns | sed 1d)
    cells=$(prof-sweep saxpy.csv | csv-calc --where="cats == 'GPU' || cats == 'CUDA+GPU'" | csv-group -c total_ns --stat=sum | csv-cut -c sum_total_ns | sed 1d)
    [ "$asked,$rows,$cells" = "$asked,$asked,$asked" ] || { echo "sqlite3 $asked, rows $rows, cells $cells"; return 1; }
}
[ ! -r "$nsys" ] || ok "a real export: the GPU's time is what sqlite3 adds up, to the ns" nsys_sums
cp nsys.db view.db
sqlite3 view.db 'DROP TABLE StringIds; CREATE VIEW StringIds AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, 0 AS value FROM n'
ok 'a view that never ends is not run' timeout 5 prof-import --quiet --from=nsys view.db
fails 'and that is said' 0 'malformed' prof-import --from=nsys view.db
sqlite3 nvprof.db <<'D'
CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringTable VALUES (1,'gemm');
CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(_id_ INTEGER PRIMARY KEY, start INT, end INT, deviceId INT, streamId INT, correlationId INT, name INT);
INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (1,50,90,0,7,17,1);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(_id_ INTEGER PRIMARY KEY, cbid INT, start INT, end INT, processId INT, threadId INT, correlationId INT, returnValue INT);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1,13,40,45,4711,-2,17,0);
D
is 'nvprof, a negative thread is an unsigned one' "$head
4711,4294967294,cat,CUDA,40,45,runtime cbid13,17,
4711,d0.s7,gpu,GPU,50,90,gemm,17," prof-import --from=nvprof nvprof.db
fails 'a file that is no database' 1 'not a database' prof-import --from=nsys a.json
fi
cat > nv.csv <<'D'
==123== NVPROF is profiling
"Start","Duration","Device","Stream","Name","Correlation_ID"
ms,us,,,,
1.5,2.25,"Tesla T4 (0)","7","gemm<a, b>(int)",17
2,-1,"Tesla T4 (0)","7","odd",18
D
is 'nvprof CSV: units are read' "$head
0,d0.s7,gpu,GPU,1500000,1502250,\"gemm<a, b>(int)\",17,
0,d0.s7,gpu,GPU,2000000,2000000,odd,18," prof-import --quiet --from=nvprof nv.csv
cat > nv2.csv <<'D'
==124== NVPROF is profiling
==124== Profiling result:
"Start","Duration","Device","Name","Stream","Correlation_ID"
s,ms,,,,
0.002,5.5,"Tesla T4 (0)","Duration","8",17
D
sed '/^==/d' nv2.csv > nv3.csv
rows() { prof-import --quiet --from=nvprof "$@" | sed 1d; }
for second in nv2 nv3; do
    is "a table behind another has units and columns of its own: $second" "$(rows nv.csv; rows $second.csv; rows nv.csv)" eval "cat nv.csv $second.csv nv.csv | rows -"
done
long=$(printf 'x%.0s' {1..900})
printf "Start,Duration,Device,Stream,Name\ns,us,,,\n1,1,d,7,${long}a\n2,1,$long,$long,${long}b\n" > nv.csv
is 'its names are of any length' "d$long.s$long 2" eval \
    'prof-import --from=nvprof nv.csv > nv.out; echo $(csv-cut -c tid nv.out | sed 1,2d) $(csv-cut -c name nv.out | sed 1d | sort -u | wc -l)'

printf '%s\n' 'a;b;c 3' 'a;b 2' 'a;d 1.5' 'x y;z 1' 'nonsense' > s.folded
printf '%s\n' 'my prog 7/8 [001] 1.5: 250000 cpu-clock:u: ' $'\t  40 leaf+0x1 (/lib/x)' $'\t  41 a;b (inlined)' $'\t  42 main+0x7 (/p)' '' \
    'my prog 7/8 [000] 1.6: 500 cpu-clock:u: ' $'\t  42 main+0x7 (/p)' '' 'other 9 1.7: 99 cycles: ' $'\t 43 f (x)' '' 'nonsense' > s.perf
is 'perf script: a clock in ns, other events as counts' "$head
perf,1,cat,C,0,250000,a:b,,est
perf,1,cat,C,0,250000,leaf,,est
perf,1,cat,C,0,250500,my prog,,est
perf,1,cat,C,0,250500,main,,est
perf,1,cat,C,250500,251500,other,,est
perf,1,cat,C,250500,251500,f,,est" prof-import --quiet --from=perf s.perf
printf '%s\n' 'tmux: server    8 1.5: 250 cpu-clock: ' $'\t  40 [unknown] (/memfd:jit (deleted))' '' > t.perf
is 'a command with a colon, a file that is gone' "$head
perf,1,cat,C,0,250,tmux: server,,est
perf,1,cat,C,0,250,[unknown],,est" prof-import --from=perf t.perf
printf '%s\n' 'p 8 1.5: cpu-clock:u: ' $'\t  40 f+0x1 (/x)' '' > t.perf
is 'a clock without its period counts one' perf,1,cat,C,0,7,f,,est eval 'prof-import --from=perf --unit=7 t.perf | tail -n 1'
printf 'a;b 1' > t.folded
fails 'a last line without its end is taken, and that is said' 0 't.folded:1: .*byte 5.*, which is taken as it is; the 2 rows up to there' prof-import --from=folded t.folded
is 'a function of two billion calls, in a listing of pstats' 'f(x),2000000000,5' eval \
    'printf "ncalls tottime percall cumtime percall filename:lineno(function)\n2000000000/5 100.5 0.0 200.0 0.0 f(x)\n" | prof-import --from=pstats - |
    csv-cut -c name,calls,primitive_calls | sed 1d'
is 'folded stacks' "$head
folded,1,cat,Python,0,3000,c,,est
folded,1,cat,Python,0,5000,b,,est
folded,1,cat,Python,5000,6500,d,,est
folded,1,cat,Python,0,6500,a,,est
folded,1,cat,Python,6500,7500,x y,,est
folded,1,cat,Python,6500,7500,z,,est" prof-import --quiet --from=folded s.folded

{ echo 'x 1/2 1.5: 25 cpu-clock: '; for i in {1..20}; do seq -f $'\t4 f%.0f+0x1 (y)' 10000; done; } > deep.perf
is 'a sample of 200 000 frames: those of 100 000, in no time that grows with their square' 100000 eval \
    '(ulimit -t 10; prof-import --quiet --from=perf deep.perf) | grep -c ,est'

# pprof, written by an encoder of the test's own: what each function takes is what the samples say
cat > pprof.py <<'D'
import collections, gzip, random, sys
draw, text = random.Random(5), ["", "cpu", "nanoseconds", "samples", "count"]
def number(n):
    out = b""
    n &= (1 << 64) - 1
    while n > 127: out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])
def field(k, v): return number(k << 3) + number(v) if isinstance(v, int) else number(k << 3 | 2) + number(len(v)) + v
def name(s):
    text.append(s)
    return len(text) - 1
functions = {draw.getrandbits(60) + 1: "f%d;<%d>" % (i, i) for i in range(20)}
places = {draw.getrandbits(60) + 1: draw.choices(list(functions), k=i % 4) for i in range(40)}   # inner ones of a line first
body, sum = b"", collections.Counter()
for i in range(300):
    stack, ns = draw.choices(list(places), k=draw.randrange(1, 9)), draw.randrange(1, 1 << 40)
    for p in stack:
        for f in places[p]: sum[functions[f]] += ns
        if not places[p]: sum["0x%x" % (p >> 3)] += ns
    packed = i % 2
    ids = field(1, b"".join(map(number, stack))) if packed else b"".join(field(1, p) for p in stack)
    body += field(2, ids + (field(2, number(1) + number(ns)) if packed else field(2, 1) + field(2, ns)))
for p, lines in places.items(): body += field(4, field(1, p) + field(3, p >> 3) + b"".join(field(4, field(1, f)) for f in lines))
for f, s in functions.items(): body += field(5, field(1, f) + field(2, name(s)))
types = field(1, field(1, 3) + field(2, 4)) + field(1, field(1, 1) + field(2, 2))
texts = b"".join(field(6, s.encode()) for s in text)
open("s.pprof", "wb").write(gzip.compress(types + body + texts, 9, mtime=0))
open("first.pprof", "wb").write(body + field(14, 3) + texts + types)
open("heap.pprof", "wb").write(field(1, field(2, 1)) + field(6, b"") + field(6, b"bytes"))
open("long.pprof", "wb").write(field(2, b"")[:1] + number((1 << 64) - 1) + b"x")
open("textless.pprof", "wb").write(types + body)
for s in sorted(sum): print(s, sum[s])
D
if /usr/bin/python3 pprof.py > want 2> /dev/null; then
    spent() { prof-import --quiet --from=pprof "$@" | csv-calc --set='ns=end_ns - start_ns' | csv-group -g name -c ns --stat=sum | csv-cut -c name,sum_ns | sed 1d | tr , ' '; }
    is 'pprof: what each function takes, lines that were inlined and addresses too' "$(LC_ALL=C sort want)" eval 'spent s.pprof | LC_ALL=C sort'
    is 'the values that the file says, in any order of its fields' 300000 eval \
        "prof-import --quiet --from=pprof --unit=1000 first.pprof | csv-group -c end_ns --stat=max | csv-cut -c max_end_ns | sed 1d"
    fails 'values that are no times' 1 "heap.pprof: its values are no times but 'bytes'" prof-import --from=pprof heap.pprof
    fails 'a length past the end' 1 'long.pprof: byte 12: the input ends here' prof-import --from=pprof long.pprof
    fails 'texts that are not there' 1 'textless.pprof: byte [0-9]*: a text is missing' prof-import --from=pprof textless.pprof
    fails 'what is none' 1 's.folded: byte [0-9]*: not a protobuf' prof-import --from=pprof s.folded
    cuts() { local n; gzip -dc < s.pprof > u.pprof; for n in 1 7 100 1000 $(($(stat -c %s u.pprof) - 1)); do
        head -c $n u.pprof > cut.pprof; prof-import --from=pprof cut.pprof > out 2> err; [ $? = 1 ] && grep -q 'byte [0-9]*: ' err || return 1; done; }
    ok 'a cut file is an error with its byte' cuts
fi

cat > w.py <<'D'
import cProfile, math, pstats, sys
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def main():
    fib(10)
    for i in range(50): math.sqrt(i)
p = cProfile.Profile()
p.runcall(main)
p.dump_stats("w.prof")
s = pstats.Stats("w.prof", stream=open("w.txt", "w"))
s.sort_stats("tottime", "filename", "line", "name").print_stats()
for (f, l, n), (cc, nc, tt, ct, _) in pstats.Stats("w.prof").stats.items():
    print("%s:%d(%s),%d,%d,%d,%d" % (f, l, n, round(tt * 1e9), nc, cc, round(ct * 1e9)))
D
if /usr/bin/python3 w.py > want.csv 2> /dev/null; then
    rows() { prof-import --from=prof w.prof | awk -F, -v OFS=, 'NR > 1 { print $7, $6 - $5, $10, $11, $12 }' | sort; }
    is "cProfile's file: what pstats reads in it" "$(sort want.csv)" rows
    calls() { prof-import --quiet --from=$1 $2 | awk -F, 'NR > 1 { n = $7; sub(/.*\//, "", n); print n, $10, $11 }' | sort; }
    sed 's/{built-in method math.sqrt}/~:0(<built-in method math.sqrt>)/' w.txt |
        sed "s/{method 'disable' of '_lsprof.Profiler' objects}/~:0(<method 'disable' of '_lsprof.Profiler' objects>)/" > w2.txt
    is "pstats' listing: the same calls" "$(calls prof w.prof)" calls pstats w2.txt
    # a real run, some hundred functions: totals of pstats to the microsecond, there and back
    cat > real.py <<'D'
import cProfile, pstats, subprocess, sys
import ast, csv, dis, inspect, io, json, re, tokenize
def work():
    source = inspect.getsource(ast)
    tree = ast.parse(source)
    json.loads(json.dumps([ast.dump(n) for n in ast.walk(tree)][:500], indent=1))
    re.compile("(a|b)*c{2,3}[x-z]").findall(source)
    list(tokenize.generate_tokens(io.StringIO(source[:20000]).readline))
    dis.dis(work, file=io.StringIO())
p = cProfile.Profile()
p.runcall(work)
p.dump_stats("real.prof")
rows = list(csv.DictReader(io.StringIO(subprocess.run(["prof-import", "--from=prof", "real.prof"], capture_output=True, text=True, check=True).stdout)))
s = pstats.Stats("real.prof")
own = sum(int(r["end_ns"]) - int(r["start_ns"]) for r in rows)
assert len(rows) == len(s.stats) > 150, len(rows)
assert sum(int(r["calls"]) for r in rows) == s.total_calls and sum(int(r["primitive_calls"]) for r in rows) == s.prim_calls
assert abs(own / 1e9 - s.total_tt) < 1e-6, (own, s.total_tt)
csv_rows = subprocess.run(["prof-import", "--from=prof", "real.prof"], capture_output=True, check=True).stdout
subprocess.run(["prof-emit", "--to=prof", "-o", "back.prof"], input=csv_rows, check=True)
b = pstats.Stats("back.prof")
assert set(b.stats) == set(s.stats)
for k, v in s.stats.items():
    w = b.stats[k]
    assert v[:2] == w[:2] and abs(v[2] - w[2]) < 1e-6 and abs(v[3] - w[3]) < 1e-6, (k, v, w)
print("equal")
D
    is 'a real run of cProfile: totals of pstats, there and back' equal /usr/bin/python3 real.py
    head -c 200 w.prof > cut.prof
    fails 'a cut one gives what it holds' 0 'byte 200: the input ends here; the [0-9]* rows' prof-import --from=prof cut.prof
fi
# RL-Scope: map<string, EventList> of one Python and one operation event, process p
proto() { printf '\x0a\x1c\x0a\x06Python\x12\x12\x0a\x10\x08\x07\x10\xe8\x07\x18\x05\x22\x07forward'
    printf '\x0a\x1a\x0a\x09Operation\x12\x0d\x0a\x0b\x08\x07\x10\xe7\x07\x18\x0a\x22\x02op\x12\x01p\x1a\x02ph'; }
proto > category_events.trace_0.proto
is 'RL-Scope' "$head
p,7,cat,Python,1000000,1005000,forward,,
p,7,op,,999000,1009000,op,," prof-import --from=rlscope .

# a file cut short gives what it holds and says at which byte it ends
truncated() { # FORMAT FILE: cut at 3/4 and shortly before its end; the rows are the first of the whole file's
    local n size rc last=2
    case $2 in *.gz) last=20 ;; esac                     # a checksum that is cut hides nothing
    size=$(stat -c %s "$2")
    prof-import --quiet --from=$1 "$2" > whole.csv 2> /dev/null
    for n in $((size * 3 / 4)) $((size - last)); do
        head -c $n "$2" > "cut.${2#*.}"
        rc=0
        prof-import --quiet --from=$1 "cut.${2#*.}" > part.csv 2> err || rc=$?
        [ $rc = 0 ] && grep -Eq "(byte [0-9]+.*ends|ends.*byte [0-9]+).*; the $(($(wc -l < part.csv) - 1)) rows up to there are written" err ||
            { echo "$1 cut at $n: exit $rc"; cat err; return 1; }
        [ $(($(wc -l < part.csv) * 2)) -gt "$(wc -l < whole.csv)" ] || { echo "$1 cut at $n: $(wc -l < part.csv) rows of $(wc -l < whole.csv)"; return 1; }
        [ -n "${3:-}" ] || [ $1 = kineto ] || cmp <(grep -v ,open part.csv | head -n -1) <(head -n $(($(grep -vc ,open part.csv) - 1)) whole.csv) || return 1
    done
}
awk 'BEGIN { print "{\"traceEvents\":["; for (i = 0; i < 5000; i++) printf "%s{\"ph\":\"X\",\"name\":\"f%d\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":1,\"ts\":%d.5,\"dur\":1}", (i ? ",\n" : ""), i, i; print "\n],\"a\":1}" }' > long.json
gzip -kn long.json
prof-import --from=chrome long.json > long.csv
prof-emit --to=folded -o long.folded long.csv
prof-emit --to=prof -o long.prof long.csv
{ echo '   ncalls  tottime  percall  cumtime  percall filename:lineno(function)'; awk 'BEGIN { for (i = 0; i < 1000; i++) printf "%9d    0.001    0.000    0.001    0.000 a.py:%d(f)\n", i + 1, i }'; } > long.txt
{ head -3 nv.csv; awk 'BEGIN { for (i = 0; i < 1000; i++) printf "%d.5,2,\"T (0)\",\"7\",\"k<a, %d>\",%d\n", i, i, i }'; } > long.csv
{ for i in {1..40}; do proto; done; } > category_events.trace_1.proto
for f in chrome:long.json chrome:long.json.gz kineto:long.json kineto:long.json.gz folded:long.folded prof:long.prof pstats:long.txt nvprof:long.csv; do
    ok "a cut file of $f" truncated ${f%:*} ${f#*:}
done
cut_proto() { local n size; size=$(stat -c %s category_events.trace_1.proto); mkdir -p cut
    for n in 2000 $((size - 2)); do
        head -c $n category_events.trace_1.proto > cut/category_events.trace_1.proto
        prof-import --from=rlscope cut > part.csv 2> err && grep -q 'byte [0-9]*: the input ends here' err && [ "$(wc -l < part.csv)" -gt 55 ] || return 1
    done; }
ok 'a cut file of rlscope' cut_proto
: > none.proto
for f in chrome kineto nsys nvprof prof pstats folded rlscope perf pprof; do
    fails "nothing at all is no profile: $f" 1 'none.proto: empty input' prof-import --from=$f none.proto
done
: > cut/cuda_device_events.trace_0.proto
fails 'an empty one beside others' 0 'byte 0: the input ends here; the 80 rows' prof-import --from=rlscope cut
if command -v sqlite3 > /dev/null; then
    for i in {1..2000}; do echo "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ($i, $i + 5, 0, 1, 7, $i, 4711 << 24, 1);"; done | { echo 'BEGIN;'; cat; echo 'COMMIT;'; } | sqlite3 nsys.db
    for i in {1..2000}; do echo "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (NULL, 13, $i, $i + 5, 1, 1, $i, 0);"; done | { echo 'BEGIN;'; cat; echo 'COMMIT;'; } | sqlite3 nvprof.db
    by_sqlite() { sqlite3 -csv nsys.db "SELECT (k.globalPid >> 24) & 0xffffff, 'd' || k.deviceId || '.s' || k.streamId, 'gpu', 'GPU', k.start, k.end, s.value, k.correlationId, ''
        FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName ORDER BY k.start, k.rowid" | sed 's/""$//'; }
    ok "sqlite3 gives the same $(by_sqlite | wc -l) rows" diff <(by_sqlite) <(prof-import --quiet --from=nsys nsys.db | grep ',gemm,')
    ok 'a cut file of nsys' truncated nsys nsys.db unordered
    ok 'a cut file of nvprof' truncated nvprof nvprof.db unordered
fi
if [ -x /usr/bin/time ]; then
    rss() { /usr/bin/time -f %M prof-import --quiet --from=$1 "$2" 2>&1 > /dev/null | tail -1; }
    grown() { # FORMAT LARGE: against the small file of the same name
        local a b
        a=$(rss "$1" "$2") b=$(rss "$1" "big.${2#*.}")
        [ $((b - a)) -lt 1000 ] || { echo "$1: $a KB, ten times as large $b KB"; return 1; }
    }
    awk 'BEGIN { print "{\"traceEvents\":["; for (i = 0; i < 50000; i++) printf "%s{\"ph\":\"X\",\"name\":\"f%d\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":1,\"ts\":%d.5,\"dur\":1}", (i ? ",\n" : ""), i % 5000, i; print "\n],\"a\":1}" }' > big.json
    gzip -kn big.json
    for f in folded txt; do for i in {1..10}; do cat long.$f; done > big.$f; done
    { cat long.csv; for i in {1..9}; do tail -n +4 long.csv; done; } > big.csv
    pairs() { awk -v n=$1 'BEGIN { for (i = 0; i < n; i++) printf "%s{\"ph\":\"B\",\"name\":\"name %d\",\"pid\":1,\"tid\":1,\"ts\":%d},\n{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":%d}", (i ? ",\n" : "["), i, i, i + 1; print "]" }'; }
    pairs 5000 > long.pairs
    pairs 50000 > big.pairs
    for f in chrome:long.json chrome:long.json.gz chrome:long.pairs folded:long.folded pstats:long.txt nvprof:long.csv; do
        ok "memory does not grow with a file of $f" grown ${f%:*} ${f#*:}
    done
fi
echo '{"traceEvents":[{"ph":"i","cat":"c","id":1,"ts":1,"name":"x"}]}' > mark.json
fails 'kinds that are left out are said' 1 'mark.json: no events in it, only records of kinds that are left out' prof-import --from=chrome mark.json
fails 'an unknown format' 2 'from' prof-import --from=dtrace x
fails 'no such file' 1 'none.json' prof-import --from=chrome none.json
done_testing
