#!/bin/bash
# two profiles
. "${0%/*}/tap.sh"
printf '%s\n' proc,phase,op,cats,total_ns p,,a,C,100 p,,a,Python,50 p,,b,C,7 > a.csv
printf '%s\n' proc,phase,op,cats,total_ns q,,a,C,80 q,,a,Python,55 r,,a,Python,1 q,,c,C,3 > b.csv
both() { local rc=0; prof-diff "$@" || rc=$?; echo $rc; }
is 'rows side by side, processes summed, largest difference first' 'phase,op,cats,a_ns,b_ns,diff_ns,ratio
,a,C,100,80,-20,0.8
,b,C,7,0,-7,0
,a,Python,50,56,6,1.12
,c,C,0,3,3,
1' both a.csv b.csv
is 'by operation, within a tolerance' 'phase,op,cats,a_ns,b_ns,diff_ns,ratio
,a,,150,136,-14,0.9066666666666666
0' both --by=op --tolerance=0.1 <(grep -v ',b,' a.csv) <(grep -v ',c,' b.csv)
is 'trouble is 2' 2 eval 'prof-diff a.csv none.csv 2> /dev/null; echo $?'
many() { echo phase,op,cats,total_ns; seq 80000 | sed 's/.*/&,train,C,&/'; }
is 'cells of 80 000 iterations, in no time that grows with their square' 80001 eval '(ulimit -t 10; prof-diff <(many) <(many)) | wc -l'
big=9223372036854775807
fails 'sums that do not fit' 2 'number too large: 9223372036854775807 \+ 9223372036854775807' \
    prof-diff --by=op <(printf '%s\n' cats,total_ns "A,$big" "B,$big") a.csv
fails 'nor do their differences' 2 "number too large: -9223372036854775807 - $big" \
    prof-diff <(printf '%s\n' cats,total_ns "A,$big") <(printf '%s\n' cats,total_ns "A,-$big")
fails 'nor sums over sets' 1 'number too large' \
    prof-view --view=venn <(printf '%s\n' cats,total_ns "A,$big" "A+B,$big")
done_testing
