#!/bin/bash
. "$(dirname "$0")/tap.sh"
# two programs: policy good gains 10 % on p and loses 10 % on q; policy noise is the default again
awk 'BEGIN { print "benchmark,label,round,wall_seconds"
    for (i = 0; i < 24; i++) { e = ((i * 7919) % 101 - 50) / 5000; d = ((i * 104729) % 97 - 48) / 4800; f = ((i * 1299709) % 89 - 44) / 4400
        for (k = 1; k <= 2; k++) { p = k == 1 ? "p" : "q"
            printf "%s,default,%d,%.9g\n%s,good,%d,%.9g\n%s,noise,%d,%.9g\n", p, i, 1 + e, p, i, (k == 1 ? 0.9 : 1.1) * (1 + d), p, i, 1 + f } } }' > runs.csv
decisions() { bench-guard --quiet --base=default --metric=wall "$@" runs.csv | tail -n +2 | awk -F, '{ print $1 ":" $2 "->" $5 }' | paste -sd' '; }
is 'a sure gain goes out, a loss and noise do not' 'p:good->good p:noise->default q:good->default q:noise->default' decisions
is 'one decision per program' 'p:good->good q:noise->default' decisions --best
is 'no gain is sure enough' 'p:good->default p:noise->default q:good->default q:noise->default' decisions --least-gain=0.2
is 'half of the rounds decide, half judge' '12 12' sh -c "bench-guard --quiet --base=default --metric=wall runs.csv | awk -F, 'NR == 2 { print \$6, \$9 }'"
is 'what the default replaces costs 1' '1' sh -c "bench-guard --quiet --base=default --metric=wall runs.csv | awk -F, 'NR == 4 { print \$13 }'"
awk -F, -v OFS=, 'NR == 1 { print $0, "status"; next } { print $0, $2 == "good" && $3 == 3 ? "output" : "ok" }' runs.csv > wrong.csv
is 'a candidate that once printed something else is never kept' 'default' sh -c "bench-guard --quiet --base=default --metric=wall wrong.csv | awk -F, 'NR == 2 { print \$5 }'"
fails 'a default is needed' 2 'see --base' bench-guard runs.csv
fails 'and must be there' 1 "no label 'x'" bench-guard --base=x --metric=wall runs.csv
need_data_or_skip() { [ -d "${MILLRACE_DATA:-$root/../shared/data}/inline/results" ]; }
if need_data_or_skip; then
    bash "$root/t/bench/guard.sh" "${MILLRACE_DATA:-$root/../shared/data}/inline/results" replay.csv 2> /dev/null
    is 'published policies: no significant regression beyond 2 % goes out' 0 sh -c "awk -F, '\$1 == \"guard\" { print \$4 }' replay.csv"
    is 'and at least 95 % of the gain is kept' 1 sh -c "awk -F, '\$1 == \"guard\" { print (\$7 >= 0.95) }' replay.csv"
else
    skip 'published policies' 'the original data is not here'
fi
# too few rounds is no finding
rounds() { { echo label,round,wall_seconds,cpu_seconds,kind; for i in $(seq $1); do echo "a,$i,2,2,real"; echo "b,$i,1,1,$2"; done; } > few.csv; }
rounds 3 real
bench-guard --quiet --base=a few.csv > out.csv 2> err
ok 'three rounds can keep nothing: said, and how many it takes' grep -q '1 of 1 candidates have at most 3 rounds: nothing can be kept with fewer than 9' err
is 'and none is kept' a sh -c 'csv-cut -c decision out.csv | tail -n 1'
rounds 9 simulated
is 'nine can' b sh -c 'bench-guard --quiet --base=a few.csv | csv-cut -c decision | tail -n 1'
is 'simulated runs make no real decision' real+simulated sh -c 'bench-guard --quiet --base=a few.csv | csv-cut -c kind | tail -n 1'

# --all-inputs
# two inputs of a, one of b; each round base 1, and what `f LABEL INPUT ROUND` says
runs() {
    echo label,round,cpu_seconds,benchmark
    for ((k = 0; k < ${rounds-24}; k++)); do
        for b in a.1 a.2 b.1; do
            echo "O2,$k,1,$b"
            for l in good mixed slow; do
                case $l$b in
                    gooda.1 | goodb.1 | mixeda.1) v=0.900 ;;
                    gooda.2) v=0.980 ;;
                    mixeda.2) v=1.050 ;;
                    *) v=1.005 ;;
                esac
                echo "$l,$k,$v$((k % 7)),$b"
            done
        done
    done
}
guard() { runs | bench-guard --all-inputs --metric=cpu --base=O2 "$@" | csv-cut -c program,label,decision,reason,inputs,rounds,worst; }
is 'a gain over all inputs goes out, an input that surely loses keeps it back' \
'program,label,decision,reason,inputs,rounds,worst
a,good,good,gain,2,24,a.2
a,mixed,O2,slower on an input,2,24,a.2
a,slow,O2,no sure gain,2,24,a.1
b,good,good,gain,1,24,b.1
b,mixed,O2,no sure gain,1,24,b.1
b,slow,O2,no sure gain,1,24,b.1' guard
# the mean of the inputs: exp((log .9 + log .98) / 2), the last digit varies by less than .01
is 'the mean is over inputs, in logarithms' yes bash -c '
    m=$(csv-where -c program --is=a | csv-where -c label --is=good | csv-cut -c ratio | tail -n 1)
    awk "BEGIN { x = sqrt(0.9003 * 0.9803); print ($m > x - 0.002 && $m < x + 0.002) ? \"yes\" : \"no: $m\" }"' < <(runs | bench-guard --all-inputs --metric=cpu --base=O2)
runs > runs.csv
is 'what loses less than is allowed may go out where it is smaller' 'slow,slow,gain
slow,O2,not smaller' bash -c 'for t in 90 110; do
    printf "run,label,metric,value\nb.1,O2,text_bytes,100\nb.1,slow,text_bytes,$t\n" > exact.csv
    csv-where -c benchmark --is=b.1 runs.csv | bench-guard --all-inputs --metric=cpu --base=O2 --most-loss=0.02 --sizes=exact.csv |
        csv-where -c label --is=slow | csv-cut -c label,decision,reason | tail -n 1; done'
rounds=6
is 'with too few rounds nothing goes out, and that is said' 'too few rounds' bash -c "$(declare -f runs); rounds=6 runs | bench-guard --all-inputs --metric=cpu --base=O2 | csv-where -c label --is=good | csv-cut -c reason | sort -u | grep few"
printf 'run,label,metric,value\nb.1,O2,text_bytes,-1e308\n' > exact.csv
fails 'a size below nothing' 1 "exact.csv:2: column 'value': '-1e308' is not a size in bytes" \
    bench-guard --all-inputs --metric=cpu --base=O2 --most-loss=0.02 --sizes=exact.csv runs.csv
fails 'a base that is not there' 1 "no label 'x'" bash -c "$(declare -f runs); runs | bench-guard --all-inputs --metric=cpu --base=x"
(echo label,round,wall_seconds,cpu_seconds; for i in 0 1; do for l in a b c d; do echo "$l,$i,1,1"; done; done) > best.csv
fails 'candidates are counted as such with --best, too' 0 '3 of 3 candidates have at most 2 rounds' bench-guard --best --base=a best.csv
# a label that one input alone has, the first of the program or not
part() { csv-calc --set='benchmark="p.'$1'"' part.csv | csv-where -c label --like="$2"; }
(echo label,round,wall_seconds,cpu_seconds,base; for i in {1..12}; do for l in O2 x y; do echo "$l,$i,1,1,O2"; done; done) > part.csv
whole() { csv-cat <(part one "$1") <(part two "$2") | bench-guard --all-inputs --metric=cpu --base=O2 2> no | csv-cut -c label,reason | sort; }
is 'a label is told of, whichever input has it' "$(whole "*" "[Ox]*")" whole "[Ox]*" "*"
done_testing
