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
done_testing
