#!/bin/bash
. "$(dirname "$0")/tap.sh"
place-net resnet50 --batch=2 --image=64 > g.sexp
place-cost --model=disk g.sexp > p.csv
few=(--profile=p.csv --steps=200 --rounds=100 '--ratios=2:1,4:1')
is 'columns, a row for each cell, in the order asked for' 'formulation,ratio
sync,2:1
sync,4:1
async,2:1
async,4:1' eval 'place-sweep "${few[@]}" --formulations=sync,async g.sexp | tee all.csv | csv-cut -c formulation,ratio'
limit=$(csv-calc --where="formulation == 'sync' && ratio == '4:1'" --print=limit_bytes all.csv)
planned() { place-plan --formulation=sync --limit="$limit" --profile=p.csv --steps=200 --rounds=100 g.sexp | sexp-get -k objective_seconds; }
is 'a cell is what place-plan says' "$(planned)" eval "csv-calc --where=\"formulation == 'sync' && ratio == '4:1'\" --print=planned_seconds all.csv"
is 'nothing is below its bound, no bound below all fast' 0 \
    eval "csv-calc --where='slowdown_ratio < least_slowdown_ratio || least_slowdown_ratio < 1' all.csv | sed 1d | wc -l"
ok 'the same whatever --jobs' cmp all.csv <(place-sweep "${few[@]}" --formulations=sync,async -j3 g.sexp)
is 'too little memory is an empty cell' '4000:1,,' eval 'place-sweep --profile=p.csv --formulations=sync --ratios=4000:1 g.sexp 2> said | csv-cut -c ratio,planned_seconds,slowdown_ratio | tail -n 1'
ok 'and a sentence' grep -q 'is too small' said
place-sweep --profile=p.csv --steps=50 --rounds=10 --ratios=4:1,3000:1,4000:1 g.sexp > missing.csv 2> said
is 'one for all of them, of the largest' "1 place-sweep: 6 of 9 plans $(place-plan -f sync --profile=p.csv --ratio=3000:1 g.sexp 2>&1 | grep -o 'limit of [0-9]* bytes')" \
    eval 'echo "$(wc -l < said) $(grep -o "^.* plans" said) $(grep -o "limit of [0-9]* bytes" said)"'
# memory refused at the N-th call, in place-sweep or in a process that plans: a message and exit 1, or the whole table
refused() {
    local n rc ended=0
    for n in 200 400 500 600 3000; do
        SHIM_WHAT=malloc SHIM_AT=$n env LD_PRELOAD="$B/t/shim.so" \
            place-sweep "${few[@]}" --formulations=sync,async g.sexp > out 2> err && rc=0 || rc=$?
        case $rc in 0) cmp all.csv out || return ;; 1) [ -s err ] && ended=1 || return ;; *) return 1 ;; esac
    done
    [ $ended = 1 ]
}
if [ -e "$B/t/shim.so" ]; then ok 'memory is refused: no cell is lost without a word' refused
else skip 'memory is refused' 'the shim is not built'; fi
place-sweep "${few[@]}" --jobs-table --formulations=sync,async g.sexp > jobs.csv
is 'jobs, one for each cell' 'job
sync/2:1
sync/4:1
async/2:1
async/4:1' csv-cut -c job jobs.csv
each() { csv-calc --print=command jobs.csv | bash | csv-dedupe | sed '2,${/^network/d}'; }
ok 'the jobs together give the table' cmp all.csv <(each)
cp p.csv "it's p.csv"
is 'names of files are words' "$(place-sweep "${few[@]}" --formulations=sync --ratios=2:1 g.sexp)" \
    eval 'place-sweep "${few[@]}" --profile="it'"'"'s p.csv" --jobs-table --formulations=sync --ratios=2:1 g.sexp | csv-calc --print=command | bash'
fails 'jobs of a graph that is not a file' 2 'jobs need the graph in a file' place-sweep "${few[@]}" --jobs-table < g.sexp
is 'the least memory for a target' async,4:1 eval 'place-sweep "${few[@]}" --formulations=async --target=5 g.sexp | csv-cut -c formulation,ratio | tail -n 1'
fails 'a formulation that does not exist' 2 "'sink' is none of" place-sweep --profile=p.csv --formulations=sink g.sexp
fails 'no choice' 2 "leaves no choice" place-sweep --profile=p.csv --ratios=0:1 g.sexp
fails 'no profile' 2 'no profile given' place-sweep g.sexp
done_testing
