#!/bin/bash
. "$(dirname "$0")/tap.sh"
# pilot: log-ratios of standard deviation about 2 %, nearly normal: n for 80 % power at an effect d is about 7.85 (s/d)^2 / 0.955
awk 'BEGIN { x = 1; print "label,round,wall_seconds,cpu_seconds"
    for (r = 0; r < 400; r++) { s = 0; for (i = 0; i < 12; i++) { x = x * 16807 % 2147483647; s += x / 2147483647 }
        printf "a,%d,1,1\nb,%d,1,%.9g\n", r, r, exp(0.02 * (s - 6)) } }' > pilot.csv
rounds() { bench-power --base=a --power=0.8 "$@" pilot.csv | tail -n 1 | cut -d, -f7; }
k=$(rounds --effect=0.01)
ok 'rounds for 1 % at a noise of 2 %: about 33' test "$k" -ge 27 -a "$k" -le 39
k=$(rounds --effect=0.005)
ok 'for half the effect four times as many' test "$k" -ge 110 -a "$k" -le 156
is 'a hopeless effect has none' '' rounds --effect=0.0001 --most=200
is 'same seed, same bytes' "$(bench-power --base=a pilot.csv)" bench-power --base=a pilot.csv
is 'the columns' 'label,base,metric,pilot_rounds,effect_ratio,power,rounds,rounds_until_decided,seconds,kind' sh -c 'bench-power --base=a pilot.csv | head -n 1'
head -n 9 pilot.csv > short.csv
fails 'too short a pilot' 1 '4 good rounds are too few' bench-power short.csv
fails 'an effect of nothing' 2 "'0' is not a positive number" bench-power --effect=0 pilot.csv
# the base is the label given first, whatever order the rounds ran in
awk -F, -v OFS=, 'NR == 1 { print $0, "base", "kind"; next } { print $0, "b", "emulated" }' pilot.csv > given.csv
is 'the base is what the table says' 'a,b emulated' sh -c "bench-power given.csv | tail -n 1 | awk -F, '{ print \$1 \",\" \$2, \$NF }'"
bench-power pilot.csv > /dev/null 2> err
ok 'one that does not say has its first label taken, and that is said' grep -q "base: 'a', the first in the table" err
awk -F, 'FNR == 1 && NR > 1 { next } { print } /^b/ { sub(/^b/, "c"); print }' pilot.csv > three.csv
fails 'with three labels the other one has to be named' 2 'choose by --label' bench-power --base=a three.csv
is 'whose runs do not count: the seconds are those of the two compared' "$(bench-power --base=a pilot.csv)" \
    bench-power --base=a --label=b three.csv
fails 'several benchmarks' 1 'several benchmarks' bash -c "csv-calc --set='benchmark=round % 2' pilot.csv | bench-power --base=a"
done_testing
