#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > m.sexp <<'X'
(model boost (target y) (features size hot)
  (scale (mean 10 0) (deviation 2 1))
  (weights (base 1) (tree y (size 0.5 (hot 0.5 -1 2) 4))))
X
printf 'site,hot,size\na,true,10\nb,false,11\nc,0,12\n' > t.csv
is 'columns are found by name, flags are numbers, trees work in scaled units' $'site,hot,size,predicted\na,true,10,3\nb,false,11,0\nc,0,12,5' fit-predict -m m.sexp t.csv
cat > l.sexp <<'X'
(model mlp (target c) (classes p q) (features x) (scale (mean 0) (deviation 1))
  (weights (layer (0 1) (0 -1)) (layer (0 2 0) (0 0 2))))
X
printf 'x\n3\n-3\n' > x.csv
is 'a network runs' $'x,predicted,p_p,p_q\n3,p,0.9975,0.0025\n-3,q,0.0025,0.9975' bash -c "fit-predict --probabilities -m l.sexp x.csv | awk -F, 'NR > 1 { \$0 = sprintf(\"%s,%s,%.4f,%.4f\", \$1, \$2, \$3, \$4) } { print }'"
fails 'a missing feature is named' 1 "hot" bash -c "printf 'size\n1\n' | fit-predict -m m.sexp"
bad() { # NAME REGEX TEXT
    echo "$3" > bad.sexp
    fails "$1" 1 "bad.sexp:[12].*$2" fit-predict -m bad.sexp x.csv
}
bad 'a truncated model is refused at its line' 'unclosed' '(model ridge (target y'
bad 'an unknown kind is refused' "no kind" '(model oracle (target y) (features x) (scale (mean 0) (deviation 1)) (weights (y 0 1)))'
bad 'too few weights are refused' '2 numbers wanted, 1 found' '(model ridge (target y) (features x) (scale (mean 0) (deviation 1)) (weights (y 0)))'
bad 'a zero deviation is refused' 'not positive' '(model ridge (target y) (features x) (scale (mean 0) (deviation 0)) (weights (y 0 1)))'
bad 'a network of another width is refused' 'the last layer has 1 units for 2' '(model mlp (target c) (classes p q) (features x) (scale (mean 0) (deviation 1)) (weights (layer (0 1))))'
bad 'a test on no feature is refused' 'no feature' '(model boost (target y) (features x) (scale (mean 0) (deviation 1)) (weights (base 0) (tree y (z 1 2 3))))'
fails 'no model is wrong usage' 2 'see --model' fit-predict x.csv
# a model of many units without weights takes no memory for them
{ printf '(model mlp (features x y) (scale (mean 0 0) (deviation 1 1)) (target z) (weights (layer'; for i in {1..30000}; do printf ' (1)'; done; printf ') (layer'; for i in {1..30000}; do printf ' (1)'; done; echo ') (layer (1))))'; } > wide.sexp
printf 'x,y\n1,2\n' > wide.csv
sanitized || fails 'units that lack their weights' 1 'wide.sexp:1' sh -c 'ulimit -v 2000000; fit-predict -m wide.sexp wide.csv'
# --score, beside a second implementation
printf 'y,x\n1,0\n3,1\n5,2\n8,3\n' > line.csv
printf 'x,y\n0,1\n1,3\n2,7\n3,7\n' > held.csv
fit-ridge --quiet -y y --lambda=1e-3 line.csv -o line.sexp
score() { fit-predict -m line.sexp held.csv | python3 -c '
import csv, sys
rows = [(float(r["y"]), float(r["predicted"])) for r in csv.DictReader(sys.stdin)]
n = len(rows); mean = sum(y for y, _ in rows) / n
e = sum((y - p) ** 2 for y, p in rows)
print(n, "%.9f %.9f %.9f" % ((e / n) ** .5, sum(abs(y - p) for y, p in rows) / n, 1 - e / sum((y - mean) ** 2 for y, _ in rows)))'; }
if command -v python3 > /dev/null; then
    is 'a score of numbers' "$(score)" bash -c "fit-predict -m line.sexp --score held.csv | tail -1 | tr , ' ' | xargs printf '%d %.9f %.9f %.9f\n'"
else
    skip 'a score of numbers' 'python3 is not here'
fi
printf 'c,x\np,0\np,0\nq,1\nq,1\nq,1\np,1\n' > classes.csv
fit-logistic --quiet -y c --lambda=0 classes.csv -o classes.sexp
is 'of classes: 3 of 4 are right; the most frequent is half; the loss by hand' '4 0.75 0.5 0.4904' \
    bash -c "printf 'x,c\n0,p\n1,q\n1,q\n1,p\n' | fit-predict -m classes.sexp --score | tail -1 | tr , ' ' | xargs printf '%d %.2f %.1f %.4f\n'"
is 'a class it does not know has no probability' '1,0,1,inf' bash -c "printf 'x,c\n0,new\n' | fit-predict -m classes.sexp --score | tail -1"
fails 'the answer is needed' 1 "no column 'c'" bash -c "printf 'x\n0\n' | fit-predict -m classes.sexp --score"
fails 'nothing to score' 1 'no rows to score' bash -c "printf 'x,c\n' | fit-predict -m classes.sexp --score"
is 'an answer that is a flag is one to score too, as it was to learn' '2,0,0,1' bash -c "printf 'y,x\ntrue,1\nfalse,0\n' > flag.csv
    fit-ridge --quiet --lambda=1e-300 -y y flag.csv | fit-predict -m - --score flag.csv | tail -1 | tr , ' ' | xargs printf '%d,%.0f,%.0f,%.0f\n'"
fails 'an answer that is not known' 1 "'nan' is not a finite number" bash -c "printf 'y,x\nnan,1\n' | fit-predict -m line.sexp --score"
fails 'a column of that name' 1 "two columns would be called 'predicted'" bash -c 'fit-predict -m line.sexp held.csv | fit-predict -m line.sexp'
fails 'a name and no column' 2 'adds no columns' fit-predict -m m --score --name=x t.csv
done_testing
