#!/bin/bash
. "$(dirname "$0")/tap.sh"
member() { # MODEL inline apply none
    echo "(model constant (target c) (classes apply inline none) (features x) (scale (mean 0) (deviation 1)) (weights $2 $1 $3))"
}
member 0.6 0.3 0.1 > a.sexp
member 0.3 0.5 0.2 > b.sexp
member 0.5 0.1 0.4 > c.sexp
printf 'x\n1\n' > t.csv
fit-committee --otherwise=none a.sexp b.sexp c.sexp > k.sexp
is 'the mean of the members, and none without a majority' $'x,predicted,p_apply,p_inline,p_none\n1,none,0.300,0.467,0.233' bash -c "fit-predict --probabilities -m k.sexp t.csv | awk -F, 'NR > 1 { \$0 = sprintf(\"%s,%s,%.3f,%.3f,%.3f\", \$1, \$2, \$3, \$4, \$5) } { print }'"
fit-committee --otherwise=none a.sexp c.sexp > k2.sexp
is 'above the threshold it decides' inline bash -c "fit-predict -m k2.sexp t.csv | awk -F, 'NR == 2 { print \$2 }'"
fit-committee a.sexp b.sexp c.sexp > k3.sexp
is 'without a rule the largest wins' inline bash -c "fit-predict -m k3.sexp t.csv | awk -F, 'NR == 2 { print \$2 }'"
fit-committee --surest a.sexp b.sexp c.sexp > s.sexp
is 'the surest decides alone' $'x,predicted,p_apply,p_inline,p_none\n1,inline,0.300,0.600,0.100' bash -c "fit-predict --probabilities -m s.sexp t.csv | awk -F, 'NR > 1 { \$0 = sprintf(\"%s,%s,%.3f,%.3f,%.3f\", \$1, \$2, \$3, \$4, \$5) } { print }'"
fit-committee --surest b.sexp c.sexp > s2.sexp
is 'of equals the first' apply bash -c "fit-predict -m s2.sexp t.csv | awk -F, 'NR == 2 { print \$2 }'"
fails 'the surest never abstains' 2 'abstains' fit-committee --surest --otherwise=none a.sexp b.sexp
ok 'committees nest' bash -c "fit-committee k.sexp a.sexp > n.sexp && fit-predict -m n.sexp t.csv"
sed 's/none/other/' a.sexp > z.sexp
fails 'other classes are refused' 1 "class 'other'" fit-committee a.sexp z.sexp
fails 'an unknown class is refused' 1 "no class 'maybe'" fit-committee --otherwise=maybe a.sexp
fails 'no model is wrong usage' 2 'no model' fit-committee
printf 'x,secs,bytes\n1,1,10\n2,2,20\n3,3,30\n' > units.csv
for y in secs bytes; do fit-ridge --quiet -y $y -x x units.csv -o $y.sexp; done
fails 'seconds are not averaged with bytes' 1 "bytes.sexp: predicts 'bytes', and secs.sexp 'secs'" fit-committee secs.sexp bytes.sexp
done_testing
