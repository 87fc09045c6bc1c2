#!/bin/bash
# fits do not depend on the unit of a column nor on where its numbers lie, and nothing but a model is in a model
. "$(dirname "$0")/tap.sh"
need_python random
cat > make.py <<'E2'
import random
random.seed(5)
rows = [[random.randint(-400, 400) for _ in range(4)] for _ in range(60)]
y = [r[0] + 2 * r[1] - r[3] + random.gauss(0, 30) for r in rows]
def write(name, f):
    with open(name, 'w') as out:
        print('a,b,c,d,y', file=out)
        for r, v in zip(rows, y): print(*[f(x) for x in r], repr(v), sep=',', file=out)
write('plain', repr)
write('tiny', lambda x: repr(x * 2.0 ** -660))
write('huge', lambda x: repr(x * 2.0 ** 660))
write('far', lambda x: repr(x + 10 ** 15))
write('farther', lambda x: repr(x * 256 + 1700000000000000000))
write('small', lambda x: repr(x * 2.0 ** -40))
E2
"$python" make.py
for kind in ridge lasso; do
    fit-$kind --quiet -y y plain > m && fit-predict -m m plain | csv-cut -c predicted > want
    for t in tiny huge far farther small; do
        fit-$kind --quiet -y y $t > m && fit-predict -m m $t | csv-cut -c predicted > got
        ok "fit-$kind of columns that are $t" csv-diff --tolerance=1e-9 --abs=1e-7 want got
    done
done
for way in '' --raw; do
    fit-pca -n 4 $way --ignore=y plain | csv-cut -c ratio > want
    for t in tiny huge far farther small; do
        ok "fit-pca $way of columns that are $t" eval "fit-pca -n 4 $way --ignore=y $t | csv-cut -c ratio | csv-diff --tolerance=1e-9 want -"
    done
    fit-pca -n 2 $way --ignore=y --table=scores plain > want
    fit-pca -n 2 $way --ignore=y --table=scores far > got
    ok "the scores $way too" csv-diff --tolerance=1e-8 --abs=1e-9 want got
done
is 'no feature varies: a model of the mean alone' $'(model ridge\n  (target y)\n  (features)\n  (scale (mean) (deviation))\n  (weights\n    (y 3)))' \
    eval 'printf "x,y\n1,2\n1,3\n1,4\n" | fit-ridge --quiet -y y'
is 'one row' $'(model ridge\n  (target y)\n  (features)\n  (scale (mean) (deviation))\n  (weights\n    (y 2)))' \
    eval 'printf "x,y\n1,2\n" | fit-ridge --quiet -y y'
is 'the same, left out one by one' 'model,group,n,mse,mean_mse,r_squared' \
    eval 'printf "x,y,g\n1,2,a\n1,3,b\n" | fit-cv --number -y y -g g --models=ridge | head -n 1'
fails 'nan is refused' 1 "column 'x': 'nan' is not a finite number" eval 'printf "x,y\n1,2\nnan,3\n" | fit-ridge -y y'
fails 'so is inf' 1 "column 'x': 'inf' is not a finite number" eval 'printf "x,y\n1,2\ninf,3\n" | fit-pca'
fails 'weights beyond doubles' 1 'the weights are not finite' eval 'printf "x,y\n1,2\n1e200,3\n" | fit-ridge --raw -y y'
fails 'a range beyond doubles' 1 'too far apart' eval 'printf "x,y\n1e308,2\n-1e308,3\n" | fit-ridge -y y'
done_testing
