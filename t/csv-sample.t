#!/bin/bash
. "$(dirname "$0")/tap.sh"
seq 1000 | awk 'BEGIN{print "x"}{print}' > t
is "the first" $'x\n1\n2' csv-sample --first=2 t
is "the last" $'x\n999\n1000' csv-sample --last=2 t
is "more than there are" "$(cat t)" csv-sample --last=5000 t
is "every third" $'x\n1\n4\n7' eval 'csv-sample --first=8 t | csv-sample --every=3'
is "evenly spread" "x 1 251 501 751" eval 'csv-sample --even=4 t | xargs'
is "spread over fewer" "$(cat t)" csv-sample --even=4000 t
evenly() { for k in 3 7 41 999; do for ((i = 0; i < k; i++)); do echo $((i * 1000 / k + 1)); done | diff - <(csv-sample --even=$k t | tail -n +2) || return 1; done; }
ok "as floor(i n / k) says" evenly
is "none" x csv-sample --first=0 t
is "none drawn" x csv-sample -n 0 t
is "all drawn" "$(cat t)" csv-sample -n 1000 t
is "the same seed draws the same" "$(csv-sample -n 20 -s 7 t)" csv-sample -n 20 --seed=7 t
ok "another seed draws others" eval '! cmp -s <(csv-sample -n 20 -s 1 t) <(csv-sample -n 20 -s 2 t)'
is "as many as asked, in order, none twice" "20 yes" eval 'csv-sample -n 20 t | tail -n +2 > s; echo "$(wc -l < s) $(sort -nuc s && echo yes)"'
ok "input is read to its end: no broken pipe" eval 'seq 100000 | csv-sample --first=1 > /dev/null'
# every row equally often: 200 draws of 15 out of 30; mean 100 a row, sigma 7.1
head -31 t > u
for ((s = 1; s <= 200; s++)); do csv-sample -n 15 -s $s u; done | grep -v x | sort -n | uniq -c > counts
is "each row is equally likely (6 sigma)" "30 0" awk '{n++; if ($1 < 58 || $1 > 142) bad++} END {print n, bad+0}' counts
is "a rate keeps its share (6 sigma)" 1 eval 'csv-sample --rate=0.3 t | awk "END{print (NR-1 > 213 && NR-1 < 387)}"'
is "quoted rows survive" $'x,y\n"a,""b",\nc,"1\n2"' eval 'printf "x,y\n\"a,\"\"b\",\nc,\"1\n2\"\n" | csv-sample -n 9'
fails "two ways at once" 2 'give one of' csv-sample --first=1 --last=1 t
fails "no way" 2 'give one of' csv-sample t
fails "a rate above one" 2 'not in 0 .. 1' csv-sample --rate=1.5 t
fails "a negative count" 2 'not in 0' csv-sample -n -1 t
done_testing
