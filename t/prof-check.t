#!/bin/bash
# sound and unsound profiles
. "${0%/*}/tap.sh"
cat > ev.csv <<'D'
proc,tid,kind,cat,start_ns,end_ns,name,link,flag
p,1,proc,,0,10000000,p,,
p,1,op,,0,9000000,a,,
p,1,op,,1000,2000,b,,
p,1,cat,Python,0,5000000,,,
p,1,cat,CUDA,5000000,10000000,,,
p,d0,gpu,GPU,5000000,9500000,,,
D
is 'a sound one' 'proc,check,status,value,limit
p,union,pass,10000000,10000000
p,wall,pass,10000000,10000000
p,gpu,pass,4500000,10000000
p,async,pass,5000000,4500000
p,dropped,pass,0,0
p,operation,pass,3,3' prof-check ev.csv
status() { local rc=0; prof-check "$1" > out || rc=$?; grep -v ,pass, out; echo $rc; }
{ cat ev.csv; echo p,1,ovh,dropped,7,7,100,,; echo p,1,cat,Python,9,8,,,; } > lost.csv
is 'lost records fail, repairs are told' 'proc,check,status,value,limit
p,dropped,fail,1,0
,repaired,warn,2,0
1' status lost.csv
grep -v CUDA ev.csv | grep -v GPU | grep -v ,op, > gap.csv
is 'time that nothing accounts for' 'proc,check,status,value,limit
p,wall,fail,5000000,10000000
1' status gap.csv
is 'a missing file is trouble' '2' eval 'prof-check none.csv 2> /dev/null; echo $?'
done_testing
