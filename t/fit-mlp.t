#!/bin/bash
. "$(dirname "$0")/tap.sh"
printf 'c,a,b\nsame,0,0\nother,0,1\nother,1,0\nsame,1,1\n' > xor.csv
ok 'it fits' fit-mlp -y c --hidden=8 --seed=3 xor.csv -o m.sexp
is 'exclusive or is learned' 'same other other same ' bash -c "fit-predict -m m.sexp xor.csv | awk -F, 'NR > 1 { printf \"%s \", \$4 } END { print \"\" }'"
is 'the same seed gives the same bytes' "$(cksum < m.sexp)" bash -c 'fit-mlp -y c --hidden=8 --seed=3 xor.csv 2>/dev/null | cksum'
ok 'another seed another model' bash -c '! fit-mlp -y c --hidden=8 --seed=4 xor.csv 2>/dev/null | cmp -s - m.sexp'
awk 'BEGIN { print "y,x"; for (i = -20; i <= 20; i++) print i * i / 100 "," i / 10 }' > square.csv
ok 'a parabola is approached' bash -c "fit-mlp --number -y y --hidden=16,8 -n 500 square.csv -o q.sexp && fit-predict -m q.sexp square.csv | awk -F, 'NR > 1 { e += (\$1 - \$3)^2 } END { exit !(e / 41 < 0.01) }'"
fails 'bad widths are refused' 1 "hidden layers '3,x'" fit-mlp -y c --hidden=3,x xor.csv
fails 'a fit that diverged says so' 1 'the fit diverged' bash -c "printf 'y,x\n1e300,1\n-1e300,2\n3,3\n' | fit-mlp --number -y y"
fails 'and one that has not converged' 0 'has not converged.*more --iterations' fit-mlp --number -y y -n 2 square.csv
score() { csv-calc --set="y=y*$1" square.csv | fit-mlp --quiet --number -y y --hidden=16,8 -n 500 -o s.sexp
    csv-calc --set="y=y*$1" square.csv | fit-predict -m s.sexp --score | csv-calc --print='round(r_squared, 3)'; }
is 'seconds are learned as well as nanoseconds' "$(score 1)" score 1e-9
is 'and as what is larger' "$(score 1)" score 1e12
csv-calc --set='y=y+1e12' square.csv > far.csv
is 'targets far from 0 are learned as those near it' 1 eval "fit-mlp --quiet --number -y y --hidden=16,8 -n 500 -o f.sexp far.csv; fit-predict -m f.sexp --score far.csv | csv-calc --print='r_squared > 0.99'"
printf 'x,y\n1,1e39\n2,2e39\n3,5e39\n4,1e40\n5,3e40\n' > huge.csv
ok 'beyond floats, too' eval "fit-mlp --quiet --number -y y huge.csv | fit-predict -m - huge.csv > /dev/null"
done_testing
