#!/bin/bash
. "$(dirname "$0")/tap.sh"
# rounds of a (1 s) and b (factor $2), with noise of a fixed pattern, in seconds
table() {
    awk -v n="$1" -v f="$2" -v w="${3:-0.001}" 'BEGIN { print "label,round,wall_seconds,cpu_seconds"
        for (i = 0; i < n; i++) { e = ((i * 7919) % 101 - 50) / 50 * w; d = ((i * 104729) % 97 - 48) / 48 * w
            printf "a,%d,%.9g,%.9g\nb,%d,%.9g,%.9g\n", i, 2 * (1 + e), 1 + e, i, 2 * f * (1 + d), f * (1 + d) } }'
}
verdict() { bench-compare --quiet --base=a "$@" | tail -n 1 | cut -d, -f9; }
status() { local rc=0; bench-compare --quiet --base=a "$@" > out.csv 2> err.txt || rc=$?; echo "$rc"; }
table 40 1 > same.csv
table 40 1.05 > slower.csv
table 40 0.9 > faster.csv
table 40 1 0.2 > unclear.csv
table 40 1.004 > little.csv
is 'the columns others rely on' 'label,base,metric,rounds,ratio,lower_ratio,upper_ratio,p_value,verdict,kind' sh -c 'bench-compare --quiet --base=a same.csv | head -n 1'
is 'same' same verdict same.csv
is 'slower' slower verdict slower.csv
is 'faster' faster verdict faster.csv
is 'unclear' unclear verdict unclear.csv
is 'surely slower, by less than the margin' slower verdict little.csv
is 'exit 0 for the same' 0 status same.csv
is 'exit 0 for faster' 0 status faster.csv
is 'exit 0 for slower within the margin' 0 status little.csv
is 'exit 1 for slower' 1 status slower.csv
is 'exit 1 for the little, when nothing is tolerated' 1 status --margin=0 little.csv
is 'exit 2 for unclear' 2 status unclear.csv
is 'the metric can be named' wall sh -c 'bench-compare --quiet --metric=wall --base=a same.csv | tail -n 1 | cut -d, -f3'
is 'any column can be the metric' 40 sh -c 'bench-compare --quiet --metric=cpu_seconds --base=a same.csv | tail -n 1 | cut -d, -f4'
bench-compare --quiet --base=a unclear.csv > one.csv
bench-compare --quiet --base=a unclear.csv > two.csv
ok 'same rows and seed, same bytes' cmp one.csv two.csv
sed 's/$/\r/' same.csv > crlf.csv
is 'CRLF input gives the same' "$(bench-compare --quiet --base=a same.csv)" bench-compare --quiet --base=a crlf.csv


# bad input, each with file and line, exit 3
grep -v '^b,7,' same.csv > missing.csv
fails 'a label missing in a round' 3 "missing.csv:16: round 7 has no run of label 'b'" bench-compare --base=a missing.csv
is 'which may be left out' 39 sh -c 'bench-compare --quiet --incomplete=skip --base=a missing.csv | tail -n 1 | cut -d, -f4'
sed '5s/,[0-9.]*$/,12x/' same.csv > text.csv
fails 'a time that is no number' 3 "text.csv:5: column 'cpu_seconds': '12x'" bench-compare --base=a text.csv
sed '5s/,[0-9.]*$/,0/' same.csv > zero.csv
fails 'a time of zero' 3 "zero.csv:5: column 'cpu_seconds': '0' is not a positive number" bench-compare --base=a zero.csv
awk -F, -v OFS=, 'NR == 5 { $4 = "inf" } 1' same.csv > endless.csv
fails 'one without an end' 3 "endless.csv:5: column 'cpu_seconds': 'inf' is not a positive number" bench-compare --base=a endless.csv
sed '5s/,[0-9.]*$/,nan/' same.csv > nan.csv
fails 'a time that is not a number by name' 3 "nan.csv:5: " bench-compare --base=a nan.csv
awk -F, -v OFS=, 'NR == 1 { print $0, "exit", "signal"; next } { print $0, NR == 11 ? "" : 0, NR == 11 ? 9 : 0 }' same.csv > killed.csv
fails 'a killed run' 3 "killed.csv:11: a run of 'b' or of the base went wrong .signal." bench-compare --base=a killed.csv
is 'is a verdict of its own, never a time' 'b,a,cpu,0,,,,,invalid,' sh -c 'bench-compare --quiet --base=a killed.csv 2> /dev/null | tail -n 1'
awk -F, -v OFS=, 'NR == 1 { print $0, "machine"; next } { print $0, NR < 12 ? "m1" : "m2" }' same.csv > machines.csv
bench-compare --base=a machines.csv > /dev/null 2> err
ok 'another machine is said, with file and line' grep -q "machines.csv:12: another machine, 'm2' after 'm1'" err
awk -F, -v OFS=, 'NR == 1 { print $0, "machine"; next } { print $0, NR < 13 ? "m1" : "m2" }' same.csv > torn.csv
fails 'a round on two machines' 3 'torn.csv:13: round 5 was measured on two machines' bench-compare --base=a torn.csv
sed '6p' same.csv > twice.csv
fails 'a label twice in a round' 3 "twice.csv:7: label 'a' is twice in round 2, first at line 6" bench-compare --base=a twice.csv
fails 'a base that is not there' 3 "no label 'x'" bench-compare --base=x same.csv
fails 'empty input' 3 'empty' bench-compare --base=a /dev/null
fails 'wrong usage is 3 too, since 1 and 2 are answers' 3 'no option --no-such-option' bench-compare --no-such-option

# timeouts: at least so much slower
awk -F, -v OFS=, 'NR == 1 { print $0, "status"; next } $1 == "b" { $4 = 3; print $0, "timeout"; next } { print $0, "ok" }' same.csv > timeout.csv
is 'timeouts are lower bounds: slower, and no upper bound' 'inf,slower' sh -c "bench-compare --quiet --base=a timeout.csv | tail -n 1 | awk -F, -v OFS=, '{ print \$7, \$9 }'"

# many programs
for i in 1 2 3 4 5; do table 20 1.0$i | awk -F, -v OFS=, -v p="p$i" 'NR == 1 { if (p == "p1") print "benchmark", $0; next } { print p, $0 }'; done > many.csv
bench-compare --base=a many.csv > many.out 2> notes
is 'one row per program and the geometric mean' 'p1,p2,p3,p4,p5,(geometric mean)' sh -c "tail -n +2 many.out | cut -d, -f1 | paste -sd,"
ok 'the number of comparisons is said' grep -q 'adjusted for 5 comparisons' notes
ok 'and the range with one program left out' grep -q 'leaving one out it lies in 1.02[0-9]* .. 1.03' notes
is 'its ratio is the mean of the logarithms' '1.0299' sh -c "tail -n 1 many.out | cut -d, -f6 | cut -c1-6"
is 'five programs are enough for a verdict on the mean' slower sh -c "tail -n 1 many.out | cut -d, -f10"
grep -v ^p5 many.csv > four.csv
is 'four are not, whatever each of them says' 'slower slower slower ' sh -c "bench-compare --quiet --margin=0.001 --base=a four.csv | tail -n 4 | cut -d, -f10 | paste -sd' '"

# the base is the label given first, whatever label the random order put first
for seed in 1 2 3 4 5 6; do
    bench-run --rounds=6 --seed=$seed --output-rule=any --label=new 'sleep 0.001' --label=old 'sleep 0.002' > order.$seed.csv 2> /dev/null
    bench-compare --quiet --metric=wall order.$seed.csv 2> /dev/null | csv-cut -c label,base | tail -n 1
done | sort -u > bases
is 'whatever the seed' 'old,new' cat bases
is 'though the orders differ' 2 sh -c 'for s in 1 2 3 4 5 6; do csv-where -c phase --is=measure order.$s.csv | csv-cut -c label | sed -n 2p; done | sort -u | wc -l'
bench-compare same.csv > /dev/null 2> err
ok 'a table that does not say has its first label taken, and that is said' grep -q "base: 'a', the first in the table" err
awk -F, -v OFS=, 'NR == 1 { print $0, "base"; next } { print $0, NR < 20 ? "a" : "b" }' same.csv > two-bases.csv
fails 'a table with two' 3 "several bases, 'a' and 'b'" bench-compare two-bases.csv

# how the rows were obtained
kinds() { awk -F, -v OFS=, -v a="$1" -v b="$2" 'NR == 1 { print $0, "kind"; next } { print $0, NR % 2 ? a : b }' same.csv > kinds.csv
    bench-compare --quiet --base=a kinds.csv | csv-cut -c kind | tail -n 1; }
is 'real' real kinds real real
is 'simulated never becomes real' simulated kinds simulated simulated
is 'a mixture is named' real+emulated kinds emulated real
is 'not known stays so' '""' kinds real ''
kinds guessed real > /dev/null 2>&1
fails 'another word' 3 "kinds.csv:3: column 'kind': 'guessed' is not real" bench-compare --base=a kinds.csv

# too few rounds is no finding
table 5 0.5 > few.csv
bench-compare --quiet --base=a few.csv > /dev/null 2> err
ok 'too few rounds for an interval: said, and how many it takes' grep -q "'b': 5 rounds are too few for an interval of confidence 0.95: 6 at least$" err
# of several as many rounds short the first is named, and that there are others
awk -F, -v OFS=, '{ print } NR > 1 && $1 == "b" { $1 = "c"; print }' few.csv > two-few.csv
bench-compare --quiet --base=a two-few.csv > /dev/null 2> both
ok 'the first of several, and that it is not alone' grep -q "'b': 5 rounds .* 6 at least; so it is with others" both
table 6 0.5 > six.csv
is 'six are enough' faster verdict six.csv

# the noise floor
{ echo label,round,phase,position,wall_seconds,cpu_seconds
  tail -n +2 unclear.csv | awk -F, -v OFS=, '{ print "a", $2, "aa", NR % 2, $3, $4 }'
  table 40 0.97 | tail -n +2 | awk -F, -v OFS=, '{ print $1, $2, "measure", NR % 2, $3, $4 }'; } > floor.csv
is 'a gain below the noise floor is not called one' unclear sh -c 'bench-compare --quiet --base=a floor.csv 2> /dev/null | tail -n 1 | cut -d, -f9'
is 'unless forced' faster verdict --force floor.csv


# an upper end that is the margin is within it
{ echo label,round,cpu_seconds; for i in {1..20}; do echo a,$i,1; echo b,$i,1.25; done; } > quarter.csv
is 'slower by just the margin is tolerated' 0 status --margin=0.25 quarter.csv
is 'by more it is not' 1 status --margin=0.24 quarter.csv

# the other clock is told, and where it says something else
bench-compare --base=a same.csv > /dev/null 2> notes
ok 'what the other clock says' eval "grep \"'b': by wall the ratio is\" notes | grep -vq disagree"
awk -F, -v OFS=, 'NR > 1 && $1 == "b" { $3 *= 1.5 } { print }' same.csv > longer.csv
bench-compare --base=a longer.csv > /dev/null 2> notes
ok 'and where they disagree' grep -q 'by wall the ratio is 1[.][45].* they disagree' notes
awk -F, -v OFS=, 'NR > 1 && $1 == "b" { $3 /= 1.5 } { print }' same.csv > apart.csv
bench-compare --base=a apart.csv > /dev/null 2> notes
ok 'either way' grep -q 'by wall the ratio is 0.6.* they disagree' notes

# an empty command that takes 2 % of a run, known to 10 %: subtracted, and its uncertainty added
{ echo label,round,phase,wall_seconds,cpu_seconds
  for e in 0.018 0.019 0.02 0.021 0.022; do echo "(empty),0,calibrate,$e,$e"; done
  table 40 1.05 | tail -n +2 | awk -F, -v OFS=, '{ print $1, $2, "measure", $3, $4 }'; } > empty.csv
is 'without the empty command the ratio is farther from 1' '1.050 1.051' sh -c "{ bench-compare --quiet --base=a empty.csv; bench-compare --quiet --subtract --base=a empty.csv; } | awk -F, '/^b/ { printf \"%s%.3f\", s, \$5; s = \" \" } END { print \"\" }'"
awk -F, -v OFS=, '$3 == "calibrate" { $4 = $5 = 0.5 } { print }' empty.csv > large.csv
fails 'half of a run is too much to subtract' 3 'large.csv:[0-9]*: an empty command takes [0-9.]* % of this run' bench-compare --subtract --base=a large.csv
sed '7s/,[^,]*,[^,]*$/,0.1,0.1/' empty.csv > short.csv
fails 'so is one short run, the first' 3 'short.csv:7: an empty command takes 20.0 % of this run' bench-compare --subtract --base=a short.csv
# the p-value is the largest of those with the least, the middle and the most of the empty command taken off
{ echo label,round,phase,cpu_seconds
  for e in 0.018 0.019 0.02 0.021 0.022; do echo "(empty),0,calibrate,$e"; done
  for i in {0..19}; do
      if [ $((i % 2)) = 0 ]; then awk -v i=$i 'BEGIN { printf "a,%d,measure,0.45\nb,%d,measure,%.9g\n", i, i, 0.45 * (1.01 + i / 1e5) }'
      else awk -v i=$i 'BEGIN { printf "a,%d,measure,10\nb,%d,measure,%.9g\n", i, i, 10 / (1.0104 + i / 1e4) }'; fi
  done; } > mixed.csv
p_less() { awk -F, -v OFS=, -v e="$1" '$3 == "calibrate" { next } NR > 1 { $4 = sprintf("%.17g", $4 - e) } { print }' mixed.csv |
    bench-compare --quiet --base=a --metric=cpu 2> /dev/null | csv-cut -c p_value | tail -1; }
is 'the p-value is the largest of both ends and the middle' "$(for e in 0.018 0.02 0.022; do p_less $e; done | sort -g | tail -1)" \
    bash -c 'bench-compare --quiet --subtract --base=a mixed.csv 2> /dev/null | csv-cut -c p_value | tail -1'
ok 'which is not that of the middle' eval '[ "$(p_less 0.02)" != "$(cat got)" ]'
bench-compare --base=a large.csv > out.csv 2> notes
ok 'and is said without' grep -q "starting a process takes 50.0 % of a run of 'a'" notes
terminal() { script -qec "$*" /dev/null < /dev/null | tr -d '\r'; }
(echo label,round,cpu_seconds,wall_seconds; for i in {1..20}; do k=$((i * 7 % 10)); echo "old,$i,1.0$k,1.0$k"; k=$((i * 3 % 10)); echo "new,$i,0.5$k,0.5$k"; done) > pair
is 'on a terminal a sentence' 'new is faster than old' eval 'terminal bench-compare --quiet --base=old pair | grep -o "^new is faster than old"'
is 'unless CSV is asked for' 'new,old,cpu,20' eval 'terminal bench-compare --quiet --base=old --csv pair | grep -o "^new,old,cpu,20"'
is 'whole tables are aligned there' 'benchmark  label' eval 'terminal bench-stat --quiet pair | head -1 | grep -o "^benchmark  label"'
# adjusted p-values, from the definitions: Holm's, and Benjamini's and Hochberg's
for i in 1 2 3 4 5 6; do table 14 1 | awk -F, -v OFS=, -v i=$i 'NR == 1 { if (i == 1) print "benchmark", $0; next }
    $1 == "b" { $4 *= 1 + 0.004 * i * (($2 * 7 + i) % 5 - 1.2) } { print "p" i, $0 }'; done > spread.csv
p_of() { bench-compare --quiet --base=a --adjust=$1 spread.csv | csv-where -c benchmark --like='p*' | csv-cut -c p_value | tail -n +2; }
for how in none holm bh; do p_of $how > p.$how; done
adjusted() {
    awk -v how="$1" '{ p[NR] = $1 } END { for (i = 1; i <= NR; i++) { h = 0; f = 1
        for (j = 1; j <= NR; j++) { less = upto = 0
            for (k = 1; k <= NR; k++) { less += p[k] < p[j]; upto += p[k] <= p[j] }
            v = (NR - less) * p[j]; if (v > 1) v = 1
            if (p[j] <= p[i] && v > h) h = v
            if (p[j] >= p[i] && NR / upto * p[j] < f) f = NR / upto * p[j] }
        printf "%.17g\n", how == "holm" ? h : f } }' p.none | sed '1ip' > want.$1
    sed 1ip p.$1 | csv-diff --tolerance=1e-12 want.$1 -
}
ok 'p-values differ' eval '[ "$(sort -u p.none | wc -l)" -ge 4 ] && ! cmp -s p.none p.holm && ! cmp -s p.holm p.bh'
ok 'Holm' adjusted holm
ok 'Benjamini and Hochberg' adjusted bh
ok 'Holm where nothing is said' eval 'bench-compare --quiet --base=a spread.csv | csv-where -c benchmark --like="p*" | csv-cut -c p_value | tail -n +2 | cmp p.holm -'
# how many rounds an interval takes: a confidence sequence more than a test, and timeouts are no lack of rounds
few() { (echo label,round,wall_seconds,cpu_seconds,status,stop; for i in $(seq $1); do echo "a,$i,1,1,$([ $i -le $2 ] && echo timeout || echo ok),$3"; echo "b,$i,2,2,ok,$3"; done) |
    bench-compare --base=a --csv 2>&1 > few.csv | grep 'too few'; }
fails 'too few for a sequence, and what it takes' 0 '14 rounds are too few .*: 15 at least' eval 'few 14 0 sequential >&2'
is 'which is enough' '' eval 'few 15 0 sequential; csv-cut -c lower_ratio few.csv | grep -x 0; echo'
is 'twenty rounds with timeouts of the base are not too few' '' eval 'few 20 4 fixed; echo'
fails 'five are, six are not' 0 '5 rounds are too few .*: 6 at least' eval 'few 5 0 fixed >&2; ! few 6 0 fixed'
# ratios that are all the same: no test of five rounds has a p-value below 2 in 32
is 'five rounds that tie' 0.0625 eval '(echo label,round,cpu_seconds,wall_seconds; for i in 1 2 3 4 5; do echo "a,$i,1,1"; echo "b,$i,2,2"; done) |
    bench-compare --quiet --base=a --csv 2> tied.err | csv-cut -c p_value | tail -n 1'
# what an empty command takes is subtracted from each time by its own kind: 2 - .04 over 1 - .04
(echo label,round,phase,cpu_seconds,wall_seconds; for i in 1 2 3; do echo "(empty),$i,calibrate,.001,.04"; done
 for i in {1..8}; do echo "a,$i,measure,1,1"; echo "b,$i,measure,2,2"; done) > empty.csv
fails 'the other time without an empty command' 1 'by wall the ratio is 2.0417' bench-compare --base=a --subtract --csv empty.csv
# rounds that depend on each other: a ratio that stays off for a while says less than the same ratios in another order
awk 'BEGIN { print "label,round,wall_seconds,cpu_seconds,stop"; x = 7; v = 0
    for (i = 1; i <= 60; i++) { x = x * 16807 % 2147483647; v = .8 * v + .03 * (x / 2147483647 - .5); print exp(v - .02) } }' > chain.txt
rounds() { awk 'NR == 1 { print; next } { print "a," NR ",1,1,sequential"; print "b," NR ",1," $1 ",sequential" }'; }
is 'a confidence sequence knows, too' 'faster unclear' bash -c "$(declare -f rounds)
    (head -1 chain.txt; sed 1d chain.txt | sort -R --random-source=chain.txt) | rounds | bench-compare --csv --base=a 2> no | csv-calc --print=verdict | xargs echo -n
    rounds < chain.txt | bench-compare --csv --base=a 2> said | csv-calc --print='concat(\" \", verdict)'"
ok 'and says for how many they count' grep -q 'depend on each other .*, 60 count as' said
done_testing
