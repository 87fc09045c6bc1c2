#!/bin/bash
# integers beyond 2^53 stay integers: expressions, sums, orders, ranges and comparisons beside Python's own integers
. "$(dirname "$0")/tap.sh"
need_python random
is 'a difference of times of day in ns' $'a,b,d\n1700000000000000123,1700000000000001000,877' eval \
    'printf "a,b\n1700000000000000123,1700000000000001000\n" | csv-calc --set="d=b-a"'
printf "k,v\na,9007199254740993\n" > a
printf "k,v\na,9007199254740992\n" > b
ok 'two integers that are one double are two' eval '! csv-diff -k k a b'
is 'they are equal within a tolerance' 'key,column,left,right,error,what' csv-diff -k k --tolerance=1e-15 a b
is 'a range that begins between them' $'x\n9007199254740993' eval \
    'printf "x\n9007199254740992\n9007199254740993\n" | csv-where -c x --min=9007199254740993'
is 'sums of more than 64 bits' $'n_rows,sum_x,mean_x\n2,18446744073709551614,9223372036854775807' eval \
    'printf "x\n9223372036854775807\n9223372036854775807\n" | csv-group -c x --stat=sum,mean'
is 'a fraction makes it a double' $'n_rows,sum_x\n2,9007199254740992' eval \
    'printf "x\n9007199254740993\n0.5\n" | csv-group -c x --stat=sum'
is 'the spread of numbers far from 0' $'n_rows,sd_x\n4,1.2909944487358056' eval \
    'printf "x\n1700000000000000000\n1700000000000000001\n1700000000000000002\n1700000000000000003\n" | csv-group -c x --stat=sd'
cat > oracle.py <<'E2'
import random
random.seed(11)
def number():
    k = random.choice([3, 30, 53, 54, 62, 63, 90])
    return random.choice([-1, 1]) * random.randrange(1 << k)
rows = [(number(), number()) for _ in range(3000)]
small = lambda v: abs(v) < 1 << 53
def show(v):                                   # what is beyond 127 bits is a double
    return str(v) if abs(v) < 1 << 126 else None
with open('in.csv', 'w') as f:
    print('a,b', file=f)
    for a, b in rows: print(f'{a},{b}', file=f)
with open('want', 'w') as f:
    for a, b in rows:
        print(a + b, a - b, show(a * b), int(a < b), int(a == b), int(a >= b), max(a, b), min(a, b), abs(a), -a, sep='\t', file=f)
with open('sorted', 'w') as f: print('a', *sorted(a for a, b in rows), sep='\n', file=f)
with open('group', 'w') as f: print(sum(a for a, b in rows), min(a for a, b in rows), max(a for a, b in rows), rows[0][0], sep=',', file=f)
E2
"$python" oracle.py
csv-calc --print=a+b --print=a-b --print='a*b' --print='a<b' --print='a==b' --print='a>=b' --print='max(a,b)' --print='min(a,b)' \
    --print='abs(a)' --print=-a in.csv > got
compared() { "$python" -c '
import sys
bad = n = 0
for w, g in zip(open("want"), open("got")):
    for x, y in zip(w.rstrip("\n").split("\t"), g.rstrip("\n").split("\t")):
        n += 1
        if x != "None" and not (x == y or (x == "0" and y == "-0")): bad += 1; print(x, y)
print(bad, n)
sys.exit(bad > 0 or n != 30000)'; }
ok '30 000 results of expressions, as Python has them' compared
is 'order' "$(< sorted)" eval 'csv-cut -c a in.csv | csv-sort -k a:n'
is 'sum, least, most, first' "$(< group)" eval "csv-group -c a --stat=sum,min,max,first in.csv | csv-cut -c 'sum_a,min_a,max_a,first_a' | tail -n 1"
is 'a division that comes out even' 3002399751580331 eval 'printf "a\n9007199254740993\n" | csv-calc --print=a/3'
is 'one that does not' 1801439850948198.5 eval 'printf "a\n9007199254740993\n" | csv-calc --print=a/5'
is 'a running sum' $'9007199254740993\n18014398509481987' eval 'printf "a\n9007199254740993\n9007199254740994\n" | csv-calc --print="run_sum(a)"'
is 'powers, as long as they are integers' $'12157665459056928801\t-36472996377170786403\t100000000000000001\t0.5\t1.7014118346046923e+38' eval \
    'printf "a\n3\n" | csv-calc --print="a^40" --print="(-a)^41" --print="10^17+1" --print="2^-1" --print="2^127"'
is 'with decimals' $'9007199254740993\t9007199254740993.000\t-9007199254740993.0' eval \
    'printf "a\n9007199254740993\n" | csv-calc --print="fixed(a, 0)" --print="fixed(a, 3)" --print="fixed(-a, 1)"'
is 'a quotient is rounded once, as by Python' 3871151652394783.5 eval 'printf "a\n3871151652394783391\n" | csv-calc --print=a/1000'
done_testing
