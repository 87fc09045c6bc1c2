#!/bin/bash
# rows charged to operations
. "${0%/*}/tap.sh"
cat > ev.csv <<'D'
proc,tid,kind,cat,start_ns,end_ns,name,link,flag
p,1,op,,0,10,a,,
p,1,op,,2,4,b,,
p,1,op,,20,30,c,,
p,1,cat,Python,0,25,,,
p,1,cat,CUDA,3,5,launch,7,
p,d0,gpu,GPU,8,28,gemm,7,
p,d0,gpu,GPU,1,2,lost,9,
D
is 'rows are cut where the operation changes; a kernel belongs to its launch' 'proc,tid,kind,cat,start_ns,end_ns,name,link,flag,op
p,1,op,,0,10,a,,,
p,1,cat,Python,0,2,,,,a
p,d0,gpu,GPU,1,2,lost,9,,
p,1,op,,2,4,b,,,
p,1,cat,Python,2,4,,,,b
p,1,cat,CUDA,3,4,launch,7,,b
p,1,cat,Python,4,10,,,,a
p,1,cat,CUDA,4,5,launch,7,,a
p,d0,gpu,GPU,8,28,gemm,7,,b
p,1,cat,Python,10,20,,,,
p,1,op,,20,30,c,,,
p,1,cat,Python,20,25,,,,c' prof-op --quiet ev.csv
gpu() { prof-op --quiet --at=time ev.csv | grep gpu; }
is 'or to what is open when it runs' 'p,d0,gpu,GPU,1,2,lost,9,,a
p,d0,gpu,GPU,8,10,gemm,7,,a
p,d0,gpu,GPU,10,20,gemm,7,,
p,d0,gpu,GPU,20,28,gemm,7,,c' gpu
fails 'a kernel without a launch is counted' 0 '1 GPU rows without' prof-op ev.csv
# more rows than are looked at first: in constant memory, part of them through a file, the same bytes and the same counts
if command -v python3 > /dev/null; then
    python3 "$root/t/data/prof-events.py" 1 > many.csv
    ok '150000 random rows as they come' eval 'prof-op many.csv > streamed 2> said'
    ok 'and held' eval 'prof-op --hold many.csv > held 2> said-held'
    ok 'are the same' cmp streamed held
    ok 'and so is what was repaired' cmp said said-held
    ok 'and the cells of them, in constant memory and held' cmp <(cat streamed | prof-sweep --quiet) <(cat streamed | prof-sweep --quiet --hold)
    { cat many.csv; sed -n 2p many.csv; } > late.csv
    fails 'a row that comes too late' 1 "late.csv:[0-9]*: column 'start_ns': '.*' is not in order, .*--hold" prof-op late.csv
    { cat streamed; sed -n 3p streamed; } > late.csv
    fails 'also in a pipe to prof-sweep' 1 'not in order, .*--hold' bash -c 'cat late.csv | prof-sweep --quiet'
    ok 'which --hold takes' bash -c 'cat late.csv | prof-sweep --quiet --hold'
fi
# a device's clock that is behind: rows of the GPU begin before their call, of few rows, of many and held
{ head -1 ev.csv; seq 1000 1000 50000000 | sed 's/.*/p,1,op,,&,&.9,a&,,\np,d0,gpu,GPU,&.1,&.5,k,&,\np,1,cat,CUDA,&.3,&.4,launch,&,/; s/000\.\([0-9]\)/\100/g'; } > behind.csv
ok 'many kernels before their calls, as they come and held' eval 'prof-op behind.csv > a 2> said && prof-op --hold behind.csv | cmp a - && [ ! -s said ]'
is 'each has the operation of its call' 50000 eval "awk -F, '\$3 == \"gpu\" && \$10 == \"a\" \$8' a | wc -l"
far() { { head -1 ev.csv; printf '%s\n' p,1,op,,0,9000000,o,, p,d0,gpu,GPU,1000000,3000000,k,7, p,1,cat,C,$1,$1,f,, p,1,cat,CUDA,$2,$2,launch,7, | sed 's/,\([0-9]*\),\1,/,\1,\19,/'
    seq 3000000 3140000 | sed 's/.*/p,1,cat,C,&,&5,f,,/'; } | prof-op --quiet "${@:3}" | grep gpu; }
is 'a call a millisecond after its kernel is found' p,d0,gpu,GPU,1000000,3000000,k,7,,o far 1500000 1999999
is 'a later one is not, as rows come' p,d0,gpu,GPU,1000000,3000000,k,7,, far 2000000 2000001
is 'but held' p,d0,gpu,GPU,1000000,3000000,k,7,,o far 2000000 2000001 --hold
# a post of a link is an instant: rows that are not cut come out as they went in, of few rows, of many and held
{ head -1 ev.csv; printf '%s\n' p,1,cat,C,0,5,put,, p,2,link,take,2,7,queue,q,1 p,1,link,post,5,5,queue,q,1 p,2,op,,7,9,b,, p,1,link,post,9,9,timer,t,; } > posts.csv
{ cat posts.csv; seq 10 140000 | sed 's/.*/p,1,cat,C,&0,&5,f,,/'; } > padded.csv
uncut() { cmp <(grep -v ,cat, $1 | sed 's/$/,/' | sort) <(prof-op "${@:2}" $1 | grep -v ,cat, | sort); }
for posts in posts.csv padded.csv 'posts.csv --hold' 'padded.csv --hold' 'posts.csv --at=time'; do ok "rows that are not cut: $posts" uncut $posts; done
cat > wide.csv <<'D'
proc,tid,kind,cat,start_ns,end_ns,name,link,flag,a,b,c,d,e,f,g,h,i
p,1,cat,C,1,5,"a,""b",,,1,2,3,4,5,6,7,8,9
p,1,cat,C,6,8,"a,""b",,,1,2,3,4,5,6,7,8,"0,"
p,1,cat,C,9,9999,"a,""b",,,1,2,3,4,5,6,7,8,9
D
is 'texts that are quoted, and more columns than are put together' "$(sed '1s/flag,/flag,op,/; 2,$s/"a,""b",,,/"a,""b",,,,/' wide.csv)" prof-op wide.csv
{ echo proc,tid,kind,cat,start_ns,end_ns,name; seq 140000 | sed 's/.*/1,request &,op,,&0,&9,GET/'; } > spans.csv
is 'spans that each have a track, in no time that grows with their square' 140001 eval '(ulimit -t 10; prof-op spans.csv) | wc -l'
done_testing
