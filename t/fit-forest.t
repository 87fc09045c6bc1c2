#!/bin/bash
# fit-forest: beside a second implementation of what its trees say, scikit-like properties, weights, seeds
. "$(dirname "$0")/tap.sh"
need_python json
cat > make.py <<'E2'
import math, random
random.seed(3)
with open('train.csv', 'w') as f, open('test.csv', 'w') as g, open('class.csv', 'w') as h:
    for o in (f, g): print('a,b,c,flat,y', file=o)
    print('a,b,c,label', file=h)
    for i in range(1500):
        a, b, c = (random.random() for _ in range(3))
        y = 3 * (a > .5) + math.sin(6 * b) + .1 * random.gauss(0, 1)
        print(a, b, c, 7, y, sep=',', file=f if i < 1000 else g)
        print(a, b, c, 'hi' if a > .5 else 'mid' if b > .5 else 'lo', sep=',', file=h)
E2
"$python" make.py
ok 'a forest for a number' eval 'fit-forest --quiet -y y --number train.csv > m.sexp'
ok 'predicts what it has not seen' eval 'fit-predict -m m.sexp test.csv > p.csv && [ "$(csv-calc --set="e=(predicted - y)^2" p.csv | csv-group -c e --stat=mean | csv-calc --print="mean_e < 0.135")" = 1 ]'
# the model is read and applied by other code: the sum of all trees on scaled features
cat > apply.py <<'E2'
import csv, sys
def parse(s):
    out, stack, at = [], [], 0
    for tok in s.replace('(', ' ( ').replace(')', ' ) ').split():
        if tok == '(': stack.append([])
        elif tok == ')':
            x = stack.pop()
            (stack[-1] if stack else out).append(x)
        else: stack[-1].append(tok)
    return out[0]
m = {x[0]: x[1:] for x in parse(open('m.sexp').read())[2:] if isinstance(x, list)}
scale = {x[0]: [float(v) for v in x[1:]] for x in m['scale']}
names, trees = m['features'], [t[2] for t in m['weights'] if t[0] == 'tree']
def value(t, x):
    while isinstance(t, list): t = t[2] if x[t[0]] <= float(t[1]) else t[3]
    return float(t)
worst = 0
for row in csv.DictReader(open('p.csv')):
    x = {n: (float(row[n]) - mu) / d for n, mu, d in zip(names, scale['mean'], scale['deviation'])}
    worst = max(worst, abs(sum(value(t, x) for t in trees) - float(row['predicted'])))
def leaves(t, rows):
    if not isinstance(t, list): return [len(rows)]
    left = [r for r in rows if r[t[0]] <= float(t[1])]
    return leaves(t[2], left) + leaves(t[3], [r for r in rows if not r[t[0]] <= float(t[1])])
rows = [{n: (float(r[n]) - mu) / d for n, mu, d in zip(names, scale['mean'], scale['deviation'])} for r in csv.DictReader(open('train.csv'))]
least = min(min(leaves(t, rows)) for t in trees[:20])
print(len(trees), 'flat' in names, worst < 1e-9, least >= 4)
E2
is '200 trees without the feature that does not vary; the same predictions by other code; no leaf below 4 rows' \
    '200 False True True' "$python" apply.py
ok 'the same bytes again' eval 'fit-forest --quiet -y y --number train.csv | cmp - m.sexp'
ok 'another seed, another forest' eval '! fit-forest --quiet -y y --number --seed=2 train.csv | cmp -s - m.sexp'
ok 'more trees leave those there as they are' eval 'fit-forest --quiet -y y --number --trees=2 train.csv > two; fit-forest --quiet -y y --number --trees=4 train.csv > four;
    [ "$(grep -o "^ *(tree[^0-9]*([abc] [-0-9.e]*" two)" = "$(grep -o "^ *(tree[^0-9]*([abc] [-0-9.e]*" four | head -2)" ]'
# one leaf: the weighted mean
csv-calc --set='w=row() <= 500 ? 3 : 1' train.csv > weighted.csv
want=$(csv-calc --set='s=w*y' weighted.csv | csv-group -c s,w --stat=sum | csv-calc --print='round(sum_s / sum_w, 9)')
is 'without a cut a tree is the weighted mean' "$want" eval \
    'fit-forest --quiet -y y --number --weight=w --leaf=1000 --trees=3 weighted.csv > w.sexp; head -2 weighted.csv | fit-predict -m w.sexp | csv-calc --print="round(predicted, 9)"'
# a weight of 2 is a row twice, where all features are looked at and nothing else is drawn: the same leaf values
printf 'a,y,w\n0,1,1\n0,3,2\n1,5,1\n1,9,1\n' > few.csv
is 'a weight counts a row so often' $'2.333333333\n2.333333333\n7\n7' eval \
    'fit-forest --quiet -y y --number --weight=w --leaf=2 --trees=5 few.csv > f.sexp; fit-predict -m f.sexp few.csv | csv-calc --print="round(predicted, 9)"'
fails 'a weight below 0' 1 "few.csv:3: column 'w': '-2' is not a weight" eval 'sed -i s/0,3,2/0,3,-2/ few.csv; fit-forest --quiet -y y --number --weight=w few.csv'
ok 'classes' eval 'fit-forest --quiet -y label class.csv > c.sexp && [ "$(fit-predict -m c.sexp class.csv | csv-calc --set="right=predicted == label ? 1 : 0" | csv-group -c right --stat=mean | csv-calc --print="mean_right > 0.97")" = 1 ]'
is 'their shares add up to one' 1 eval 'fit-predict --probabilities -m c.sexp class.csv | csv-calc --set="s=abs(p_hi + p_mid + p_lo - 1)" | csv-group -c s --stat=max | csv-calc --print="max_s < 1e-9"'
ok 'a model is read back to the byte' eval 'fit-predict -m m.sexp test.csv > a; sexp-show m.sexp > shown; fit-predict -m shown test.csv > b; cmp a b'
ok 'fit-cv knows it' eval 'csv-calc --set="g=row() % 3" class.csv | fit-cv -y label -g g --models=forest,constant - | grep -q "^forest,(all)"'
ok 'one row, one value' eval 'printf "a,y\n1,2\n" | fit-forest --quiet -y y --number > one.sexp && printf "a\n5\n" | fit-predict -m one.sexp | grep -q 2'
# a target far from 0, such as a date in seconds
csv-calc --set='y=y*20 + 1.7e9' train.csv > far.csv
is 'numbers far from 0 are learned as near ones' 1 eval 'fit-forest --quiet -y y --number far.csv | fit-predict -m - --score far.csv |
    csv-calc --print="r_squared > 0.95"'
# a weight of 0 is a row that is not there
csv-calc --set='w=a < 0.5 ? 1 : 0' train.csv > half.csv
csv-where -c w --is=1 half.csv > there.csv
is 'rows of weight 0 are as if they were not there' "$(fit-forest --quiet -y y --number --weight=w there.csv | fit-predict -m - test.csv | cksum)" \
    eval 'csv-cat there.csv <(csv-calc --set="a=a > 0.3 ? .1 : a" --set="w=0" there.csv) | fit-forest --quiet -y y --number --weight=w | fit-predict -m - test.csv | cksum'
fails 'all rows of weight 0' 1 'no row has a weight above 0' eval "csv-calc --set='w=0' train.csv | fit-forest --quiet -y y --number --weight=w"
done_testing
