#!/bin/bash
. "$(dirname "$0")/tap.sh"
awk 'BEGIN { print "g,y,a,b,c,d"; for (i = 0; i < 60; i++) { a = (i * 7) % 11; b = (i * 5) % 13; c = (i * 3) % 7; print i % 6 "," 2 * a - b + ((i * 17) % 10) / 10 "," a "," b "," c "," 1 } }' > t.csv
ok 'it fits' fit-lasso -y y --ignore=g --lambda=0.05 t.csv -o m.sexp
is 'the constant column is left out' '(features a b c)' grep -o '(features.*)' m.sexp
ok 'the optimality residual is below 1e-8' bash -c "fit-lasso -y y --ignore=g --lambda=0.05 t.csv 2>&1 >/dev/null | awk '{ exit !(\$NF < 1e-8) }'"
is 'a large lambda leaves the mean' 'y 0 0 0' bash -c "fit-lasso -y y --ignore=g --lambda=1e6 t.csv 2>/dev/null | grep -o '(y [^)]*)' | tr -d '()' | awk '{ print \$1, \$3, \$4, \$5 }'"
ok 'cross-validation by group chooses and writes its path' fit-lasso -y y -g g --select=cv --path=p.csv t.csv -o m2.sexp
is 'exactly one lambda is chosen of 60' '60 1' awk -F, 'NR > 1 { n++; c += $3 } END { print n, c }' p.csv
ok 'the hold-out of the study has 20 halvings' bash -c "fit-lasso -y y --ignore=g --select=holdout --path=h.csv t.csv > m3.sexp && [ \"\$(sed -n '2p;21p' h.csv | cut -d, -f1 | tr '\n' ' ')\" = '0.5 9.5367431640625e-07 ' ]"
# orthogonal columns, no intercept: soft thresholding
printf 'run,y\na,3\nb,-2\n' > targets.csv
printf 'run,node,f\na,n1,2\nb,n2,2\n' > entries.csv
is 'orthogonal columns are soft-thresholded' '(y 0 1.25 -0.75)' bash -c "fit-lasso -y y --entries=entries.csv --row=run --column=node --value=f --lambda=0.5 targets.csv 2>/dev/null | grep -o '(y [^)]*)'"
fails 'classes cannot be selected for' 2 'classes' fit-lasso -y y --classes --select=cv t.csv
fails 'a path of nothing' 2 'what --select tries' fit-lasso -y y --path=p.csv t.csv
fails 'groups of a sparse problem' 2 'entries has none' fit-lasso -y y -g g --entries=entries.csv targets.csv
fails 'a feature that is no column' 1 "no column 'bb'; there are g, y, a" fit-lasso -y y -x a,bb t.csv
fails 'nor is what is ignored' 1 "no column 'gg'" fit-lasso -y y --ignore=gg t.csv
fails 'a pattern that nothing matches' 1 "no column 'z\*'" fit-lasso -y y -x 'a,z*' t.csv
chosen() { csv-calc --set="y=y*$1" t.csv | fit-lasso -y y -g g --select=cv -o c.sexp 2>&1 | sed 's/.*lambda \([^,]*\),.*/\1/' |
    awk "{ printf \"%.6g\n\", \$1 / $1 }"; }
is 'small numbers have the lambda of large ones, as small' "$(chosen 1)" chosen 1e-9
fails 'one group cannot be left out' 1 '1 groups are too few' bash -c "printf 'g,x,y\na,1,2\na,2,3\na,3,5\n' | fit-lasso -y y -g g --select=cv"
done_testing
