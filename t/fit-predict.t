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
fails 'units that lack their weights' 1 'wide.sexp:1' sh -c 'ulimit -v 2000000; fit-predict -m wide.sexp wide.csv'
done_testing
