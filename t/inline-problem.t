#!/bin/bash
. "$(dirname "$0")/tap.sh"
for i in 1 2; do
    echo "(decisions (time_seconds $i $((4 * i))) (site (path a) (callee f) (inline $([ $i = 1 ] && echo true || echo false))) (site (path a b) (callee g) (inline false)) (site (path {m} c) (inline true)))"
done > runs.sexp
want='run,node,kind,factor,callee
runs.sexp,/,root,1,
runs.sexp,{m},decl,0.5,
runs.sexp,{m} c,inlined,0.25,
runs.sexp,a,inlined,0.5,f
runs.sexp,a b,apply,0.25,g
runs.sexp#1,/,root,1,
runs.sexp#1,{m},decl,0.5,
runs.sexp#1,{m} c,inlined,0.25,
runs.sexp#1,a,apply,0.5,f'
is 'paths, kinds and decay; a call below one that is not inlined is not there' "$want" inline-problem --gamma=0.5 --times=t.csv runs.sexp
is 'times: geometric means' 'run,group,initial,time_seconds,n_timings
runs.sexp,,0,2,2
runs.sexp#1,,0,4,2' cat t.csv
sed -n 1p runs.sexp > a.sexp; sed -n 2p runs.sexp > b.sexp
printf 'run,decisions,time_seconds,group,initial\nA,a.sexp,1,g,1\nB,b.sexp,3,g,0\nA,a.sexp,4,g,1\n' > runs.csv
is 'a table of runs gives the same problem' "$(sed 's/^runs.sexp#1/B/; s/^runs.sexp/A/' <<< "$want")" inline-problem --gamma=0.5 --runs=runs.csv --times=t2.csv
is 'with its own times' 'run,group,initial,time_seconds,n_timings
A,g,1,2,2
B,g,0,3,1' cat t2.csv
is 'divided by the number of siblings' '0.25 0.125 0.25 0.125' bash -c "inline-problem --gamma=0.5 --divide --times=t3.csv runs.sexp | awk -F, 'NR > 2 && NR < 7 { printf \"%s%s\", s, \$4; s = \" \" } END { print \"\" }'"
d='((decisions ((((At_call_site TOP_LEVEL 0 ((A camlA) f STAMP))) ((A camlA) f STAMP) true))) (benchmark ((raw_execution_time (1s)))))'
for i in 1 2; do echo "${d//STAMP/$i}" > s$i.sexp; done
is 'stamps keep functions apart' '<camlA__f__1@0> <camlA__f__2@0>' bash -c "inline-problem --times=t4.csv s1.sexp s2.sexp | awk -F, '/@/ { printf \"%s%s\", s, \$2; s = \" \" } END { print \"\" }'"
is 'names do not' '<camlA__f__@0> <camlA__f__@0>' bash -c "inline-problem --identity=name --times=t4.csv s1.sexp s2.sexp | awk -F, '/@/ { printf \"%s%s\", s, \$2; s = \" \" } END { print \"\" }'"
fails 'a run needs timings' 1 'x.sexp:1: .*a run without timings' bash -c "echo '(decisions)' > x.sexp; inline-problem --times=t5.csv x.sexp"
ok 'nothing half-written is left' test ! -e t5.csv
fails 'a bad time in the table' 1 "bad.csv:2: column 'time_seconds': '-1'" bash -c "printf 'run,decisions,time_seconds\nA,a.sexp,-1\n' > bad.csv; inline-problem --runs=bad.csv --times=t6.csv"
fails 'files or a table' 2 'together' inline-problem --runs=runs.csv --times=t7.csv a.sexp
python3 - > deep.sexp <<'P'
n = 100000
print('(decisions (time_seconds 1) (site (path ' + 'a ' * n + ') (inline true)))')
P
fails 'a path 100 000 deep is refused' 1 'a node whose path has more than' inline-problem --times=t8.csv deep.sexp
if [ -n "${MILLRACE_DATA:-}" ] || [ -d "$root/../shared/data" ]; then
    need_data inline/decisions-v0
    is 'nodes and columns of the published decisions' '71 85' bash -c "inline-problem --times=t9.csv '$DATA'/inline/decisions-v0/*/*.sexp |
        awk -F, 'NR > 1 { n[\$2]; c[\$2 (\$3 == \"apply\")] } END { print length(n), length(c) }'"
fi
done_testing
