#!/bin/bash
. "$(dirname "$0")/tap.sh"
export TMPDIR=$T                                         # a lock of our own: nothing here is a measurement
# 20 identical labels, 7 rounds: the winner is luck; FACTOR makes c3 really faster
selection() {
    awk -v f="$1" 'BEGIN { x = 12; print "label,round,wall_seconds,cpu_seconds"
        for (r = 0; r < 7; r++) for (l = 0; l < 20; l++) { x = x * 16807 % 2147483647; t = (l == 3 ? f : 1) * (1 + x / 2147483647 / 20)
            printf "c%d,%d,%.9g,%.9g\n", l, r, t, t } }'
}
fresh() {
    awk -v f="$1" -v w="$2" 'BEGIN { print "label,round,wall_seconds,cpu_seconds"
        for (r = 0; r < 60; r++) { a = 1 + ((r * 7919) % 101) / 5000; b = f * (1 + ((r * 104729) % 97) / 4800)
            printf "c0,%d,%.9g,%.9g\n%s,%d,%.9g,%.9g\n", r, a, a, w, r, b, b } }'
}
selection 1 > s.csv
winner=$(bench-confirm --selection=s.csv --base=c0 s.csv | tail -n 1 | cut -d, -f1)
fresh 1 "$winner" > f.csv
col() { bench-confirm --selection="$1" --base=c0 "$2" | tail -n 1 | cut -d, -f"$3"; }
is 'the lucky winner of identical ones looks faster' 1 sh -c "bench-confirm --selection=s.csv --base=c0 f.csv | tail -n 1 | awk -F, '{ print (\$5 < 0.995 && \$7 < 0.995) }'"
is 'fresh runs say that it is the same, and nothing is reported' 'same,1' col s.csv f.csv 15-16
selection 0.9 > s2.csv
fresh 0.9 c3 > f2.csv
is 'a real winner is confirmed' 'c3,faster' sh -c 'bench-confirm --selection=s2.csv --base=c0 f2.csv | tail -n 1 | cut -d, -f1,15'
is 'its fresh runs can be made' 'c3,6' sh -c "bench-confirm --quiet --selection=s2.csv --base=c0 --rounds=6 -o fresh.csv --label=c0 true --label=c1 'true 1' --label=c3 'true 3' | tail -n 1 | cut -d, -f1,10"
is 'only of the winner and the base' 'c0 c3' sh -c "awk -F, '\$4 == \"measure\" { print \$1 }' fresh.csv | sort -u | paste -sd' '"
fails 'a selection is needed' 2 'see --selection' bench-confirm f.csv
fails 'and a place for fresh runs' 2 'see --out' bench-confirm --selection=s.csv --label=c0 true
(echo label,round,wall_seconds,cpu_seconds,status,base; for i in {1..20}; do echo "a,$i,1,1.0$((i % 7)),ok,a"; echo "b,$i,1,.9$((i % 5)),ok,a"
 echo "broken,$i,1,.01,$([ "$i" = 3 ] && echo ok || echo exit),a"; done) > broken.csv
is 'what fails is not the best of them' 1 eval 'bench-confirm --selection=broken.csv broken.csv | csv-calc --print="best_of_n_ratio > 0.8"'
done_testing
