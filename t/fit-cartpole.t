#!/bin/bash
. "$(dirname "$0")/tap.sh"

fit-cartpole --quiet --seed=5 --steps=1300 -o a.sexp > a.csv
fit-cartpole --quiet --seed=5 --steps=1300 -o b.sexp > b.csv
fit-cartpole --quiet --seed=6 --steps=1300 > c.csv
ok 'the same seed, the same curve' cmp a.csv b.csv
ok 'and the same network' cmp a.sexp b.sexp
is 'another seed, another curve' 1 bash -c 'cmp -s a.csv c.csv; echo $?'
is 'columns' 'episode,steps,updates,phase,return,explore,loss' head -1 a.csv
steps_add_up() {
    awk -F, 'NR > 1 && $4 == "train" { sum += $5; n++; if ($2 != sum || $1 != n || $5 < 1 || $5 > 500) exit 1 } END { exit n < 20 }' a.csv
}
ok 'a reward of 1 for every step, an episode a row' steps_add_up
ok 'it learns after the warm-up, a step an update' awk -F, 'END { exit !($3 == $2 - 999) }' <(grep train a.csv)
ok 'the network has 4 inputs, a value and 2 advantages' grep -q '(dueling true) (widths 4 128 128 3)' a.sexp
ok 'plain Q-learning runs too' bash -c 'fit-cartpole --quiet --plain --steps=1100 -o p.sexp > p.csv && grep -q "(dueling false) (widths 4 128 128 2)" p.sexp'
# every learner lasts longer at the end than at the beginning
lasts() {
    awk -F, '$4 == "train" && $5 != "" && $5 != "nan" { r[++n] = $5 }
        END { k = int(n / 5); for (i = 1; i <= k; i++) { a += r[i]; b += r[n + 1 - i] } exit !(b > 2 * a) }' "$1"
}
while read -r algo steps; do
    fit-cartpole --quiet --algo="$algo" --steps="$steps" > l.csv
    ok "$algo learns" lasts l.csv
done << 'END'
apex 6000
ppo 20000
END
fails 'operands' 2 'operands' fit-cartpole x.csv
fails 'no steps' 2 'steps' fit-cartpole --steps=0
done_testing
