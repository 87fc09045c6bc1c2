#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > t <<'END'
path,base,s,name
/a/b.c,2,1,x
/a/c.c,3,,y
q,6,nan,
z,10,4,"a,b"
END
is "a new column" $'path,base,s,name,r\n/a/b.c,2,1,x,2\n/a/c.c,3,,y,\nq,6,nan,,nan\nz,10,4,"a,b",2.5' csv-calc --set=r=base/s t
is "in place of one, seen by the next" $'path,base,s,name,t\n/a/b.c,3,1,x,6\nz,11,4,"a,b",22' \
    csv-calc --set='base=base+1' --set='t=base*2' --where='s >= 1' t
is "set twice" $'x\n4' csv-calc --set=x=x+1 --set=x=x*2 <(printf 'x\n1\n')
is "single values, bare" $'x\t2\na,b\t2.5' csv-calc --print=name --print=base/s --where='base / s > 1' t
is "of several conditions all must hold" $'q\nz' csv-calc --where='base > 2' --where="name != 'y'" --print=path t
is "a later one sees the rows that those before it let through" q csv-calc --where='base > 2' --where='run_count() == 2' --print=path t
is "a text from outside is never read as an expression" 'x" + 1' csv-calc --let='n=x" + 1' --where='row() == 1' --print=n t
is "and is a number if it looks like one" 5 csv-calc --let=n=2.5 --where='row() == 1' --print='n * base' t
is "a copied field keeps its bytes" $'x,y\n1.50,1.50' csv-calc --set=y=x <(printf 'x\n1.50\n')
is "any name in brackets" 7 csv-calc --print='[a b]+[c-d]' <(printf 'a b,c-d\n3,4\n')
is "several files are one table" $'1\n2' csv-calc --print='row()' <(printf 'x\na\n') <(printf 'x\nb\n')

# every value on the first row: base 2, s 1, name x, path /a/b.c
while IFS=$'\t' read -r expr want; do
    [ -z "$expr" ] || is "$expr" "$want" csv-calc --where='row() == 1' --print="$expr" t
done <<'END'
1 + 2 * 3 ^ 2	19
-2 ^ 2	-4
2 ^ -1	0.5
2 ^ 3 ^ 2	512
7 % 4 - 1	2
10 - 4 - 3	3
16 / 4 / 2	2
(1 + 2) * 3	9
.5e1	5
--1	1
1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3 && 1 != 2	1
!(1 == 1)	0
!1 == 0	1
1 || 0 && 0	1
0 ? 1 : 0 ? 2 : 3	3
base > 1 ? 'big' : 'small'	big
"it's" == 'it''s'	1
name ~ '^[a-x]$'	1
name !~ 'x'	0
name == 'x'	1
base == '2.0'	0
base == 2.0	1
'10' < '9'	1
10 < 9	0
missing + 1	
missing == 1	
missing == ''	1
0 && missing	0
missing && 0	0
1 && missing	
missing || 1	1
0 || missing	
!missing	
missing ? 1 : 2	
nan == nan	0
nan != nan	1
nan ? 1 : 2	2
1 / 0	inf
0 / 0	nan
abs(-3) + sqrt(16) + floor(2.7) + ceil(2.1) + trunc(-2.7)	10
log2(8) + log10(100) + log(exp(1))	6
sign(-5)	-1
min(3, 1, 2)	1
max(3, nan)	nan
max(base, missing)	
round(2.345, 2)	2.35
round(2.5)	2
digits(123456, 3)	123000
fixed(2, 3)	2.000
isnan(nan) + isnan(1)	1
concat(name, '-', base, missing)	x-2
length('größe')	5
upper('aZ1') == 'AZ1' && lower('aZ') == 'az'	1
trim('  a b ')	a b
contains(path, 'b.') && starts(path, '/a') && ends(path, '.c')	1
starts('a', 'ab')	0
contains(path, missing)	
starts(path, missing)	
ends(path, missing)	
replace(path, 'b', missing)	
part(path, missing, 1)	
contains(path, '')	1
slice('größe', 3, 2)	öß
slice('abc', 9)	
part(path, '/', -1)	b.c
part(path, '/', 1)	
part(path, '/', 3)	b.c
part(path, '/', 4)	
part('a::b', '::', 2)	b
replace(path, '[ab]', '<&>')	/<&>/<&>.c
replace('abc', 'x*', '-')	-a-b-c-
extract(path, '/([a-z])[.]')	b
extract(path, '[.].*')	.c
known(extract(path, 'Q'))	0
known(extract(path, 'a(Q)?'))	0
number('1e3') + 1	1001
known(number('a'))	0
text(1) == '1'	1
or(missing, number('a'), 7)	7
known(base) + known(missing)	1
END
is "empty fields and nan on the way" $',,2\nnan,nan,6\n2.5,3.5,10' csv-calc --where='row() > 1' --print='concat(base / s, ",", or(s, "") == "" ? "" : (base + s) / 4, ",", or(number(s), base) > 100 ? 1 : base)' \
    <(printf 'base,s\n0,0\n2,\n6,nan\n10,4\n')
is "lag, running values" $'2,,2,2,2,1\n3,2,5,2,3,2\n6,3,11,2,6,3\n10,6,21,2,10,4' csv-calc \
    --print="concat(base, ',', lag(base), ',', run_sum(base), ',', run_min(base), ',', run_max(base), ',', run_count())" t
printf 'g,x\na,1\nb,10\na,2\nb,\na,4\n' > g
is "in each group" $'g,x,l,s,f,n\na,1,,1,1,1\nb,10,,10,10,1\na,2,1,3,1,2\nb,,10,10,10,2\na,4,2,7,1,3' \
    csv-calc -g g --set='l=lag(x)' --set='s=run_sum(x)' --set='f=first(x)' --set='n=run_count()' g
is "lag of two" $',,1,10,2' eval 'csv-calc --print="lag(x, 2)" g | paste -sd,'
is "lag of text" $'\na\nb\na\nb' csv-calc --print="lag(concat(g))" g

f() { fails "$1" "$2" "$3" csv-calc --where="$4" t; }
f "two operators" 2 "character 8 of 'base > > 1': a value is missing before this" 'base > > 1'
f "at the end" 2 'a value is missing at the end' 'base +'
fails 'another separator' 2 "no column 'a'; fields look separated by ';', see --delimiter" bash -c 'echo "a;b" | csv-calc --set=x=a+1'
f "no such column" 2 "character 6 of 'base/q': no column 'q'; there are path, base, s, name" base/q
f "no such function" 2 "no function 'foo'" 'foo(1)'
f "a bad pattern" 2 "character 8 .*Unmatched" "name ~ '('"
f "a pattern from a column" 2 'pattern has to be a text in quotes' 'path ~ name'
f "and in a function" 2 'pattern has to be a text in quotes' "replace(path, name, '')"
f "= for ==" 2 "'=' alone compares nothing" 'base = 2'
f "a unit" 2 'letter right after a number' '3s'
f "too few arguments" 2 'round\(\) takes 1 to 2' 'round()'
f "comparisons in a chain" 2 'comparisons do not chain' '1 < 2 < 3'
f "by == as well" 2 'comparisons do not chain' '1 < 2 == 1'
f "a number beyond doubles" 2 'this is not a finite number' '1e400'
f "an open bracket" 2 "'\)' is missing" '(base'
f "an open quote" 2 'never closed' "'x"
f "two values" 2 'operator is missing' 'base s'
f "half a choice" 2 "':' is missing" 'base ? 1'
f "a text as a number" 1 "t:2: column 'path': '/a/b.c' is not a number" 'path * 2'
f "made text as a number" 1 "t:2: .*'xq' is not a number" "concat(name, 'q') + 1"
f "not a whole number" 1 '1.5 is not a whole number' "part(path, '/', 1.5)"
fails "nested too deeply" 2 'nested too deeply' csv-calc --where="$(printf '(%.0s' {1..9999})" t
fails "a long row of values" 2 'too many values' csv-calc --where="$(printf 'base^%.0s' {1..99})1" t
fails "nothing to do" 2 'nothing to do' csv-calc t
fails "no name" 2 'not of the form' csv-calc --set=3 t
fails "the name of a column" 2 "there is a column 'base'" csv-calc --let=base=1 --set=a=1 t
fails "a tab in a printed value" 1 'tab or a line end' csv-calc --print=x <(printf 'x\n"a\nb"\n')

# random arithmetic beside Python's
python3 - > exprs <<'END'
import random
random.seed(5)
def e(d):
    if d == 0: return random.choice(['a', 'b', 'c', str(random.randint(0, 9)), '%.2f' % random.random()])
    k = random.choice('+-*/<>u?&|m')
    x, y = e(d - 1), e(random.randint(0, d - 1))
    if k in '+-*/<>': return f'({x} {k} {y})'
    if k == 'u': return f'-({x})'
    if k == 'm': return f'max({x}, {y})'
    if k == '?': return f'({e(0)} < {e(0)} ? {x} : {y})'
    return f'(({x} > 1) {k * 2} ({y} < 2))'
for i in range(300): print(e(random.randint(1, 5)))
END
printf 'a,b,c\n1.5,-2,7\n0.25,3,0.125\n-4,11,2\n' > abc
while IFS= read -r expr; do csv-calc --print="$expr" abc; done < exprs > got
python3 - > want 2> err <<'END'
import re
class N(float):
    pass
def div(x, y):
    if y == 0: return float('nan') if x == 0 or x != x else float('inf') * (1 if (x > 0) == (str(y)[0] != '-') else -1)
    return x / y
def parse(s):                                            # a second reader of the same grammar, into Python
    t = re.findall(r'[0-9.]+|[a-z]+|&&|\|\||.', s.replace(' ', ''))
    def expr():
        x = orx()
        if t and t[0] == '?':
            t.pop(0); a = expr(); assert t.pop(0) == ':'; b = expr()
            return lambda r, x=x, a=a, b=b: a(r) if x(r) and x(r) == x(r) else b(r)
        return x
    def level(ops, sub):
        def f():
            x = sub()
            while t and t[0] in ops:
                o, y = t.pop(0), sub()
                x = (lambda r, x=x, y=y, o=o: ops[o](x(r), y(r)))
            return x
        return f
    def atom():
        k = t.pop(0)
        if k == '-': x = atom(); return lambda r: -x(r)
        if k == '(': x = expr(); assert t.pop(0) == ')'; return x
        if k == 'max':
            t.pop(0); x = expr(); t.pop(0); y = expr(); t.pop(0)
            return lambda r: float('nan') if x(r) != x(r) or y(r) != y(r) else max(x(r), y(r))
        if k in 'abc': return lambda r: r['abc'.index(k)]
        return lambda r: float(k)
    mul = level({'*': lambda x, y: x * y, '/': div}, atom)
    add = level({'+': lambda x, y: x + y, '-': lambda x, y: x - y}, mul)
    cmp = level({'<': lambda x, y: float(x < y), '>': lambda x, y: float(x > y)}, add)
    andx = level({'&&': lambda x, y: float(bool(x) and bool(y))}, cmp)
    orx = level({'||': lambda x, y: float(bool(x) or bool(y))}, andx)
    return expr()
rows = [(1.5, -2, 7), (0.25, 3, 0.125), (-4, 11, 2)]
for line in open('exprs'):
    f = parse(line.strip())
    for r in rows: print(repr(float(f(r))))
END
ok "300 random expressions as in Python" python3 -c "
a, b = [float(x) for x in open('got')], [float(x) for x in open('want')]
assert len(a) == len(b) == 900, (len(a), len(b))
bad = [(i, x, y) for i, (x, y) in enumerate(zip(a, b)) if not (x == y or x != x and y != y)]
assert not bad, bad[:5]"
(echo a,b; seq 3000 | awk '{print $1 % 97 "," $1 * 0.37}') > n
is "rows as in awk" "$(awk -F, 'NR == 1 || ($1 > 20 && $2 < 500) || $1 == 3' n)" csv-calc --where='a > 20 && b < 500 || a == 3' n
printf 'a,b\n1e999,-1e999\n' > n
fails 'what is too large for a double is no infinity' 1 "n:2: column 'a': '1e999' is not a finite number" csv-calc --print=a+0 n
is 'nor a number' '' csv-calc --print='number(b)' n
# Kleene's tables: what is missing decides nothing, nan is not true
truth() { printf 'x\n1\n' | csv-calc "--print=$1"; }
while IFS= read -r line; do
    expression=${line%   *} value=${line##*   }
    is "$expression" "${value/-/}" truth "$expression"
done <<'TABLE'
missing && 1   -
1 && missing   -
missing && 0   0
0 && missing   0
missing && missing   -
1 && 1   1
1 && 0   0
missing || 1   1
1 || missing   1
missing || 0   -
0 || missing   -
missing || missing   -
0 || 0   0
0 || 1   1
!missing   -
!0   1
!1   0
nan && 1   0
1 && nan   0
nan || 0   0
0 || nan   0
!nan   1
5 && 7   1
0 || 7   1
missing ? 1 : 2   -
nan ? 1 : 2   2
0.5 ? 1 : 2   1
5 + or(missing ? 1 : 2, 7)   12
missing == missing   -
1 == missing   -
nan == nan   0
nan != nan   1
nan < 1   0
nan >= 1   0
-missing   -
missing + 1   -
1 ^ missing   -
known(missing)   0
2 < 2   0
2 <= 2   1
2 > 2   0
2 >= 2   1
2 == 2   1
2 != 2   0
7 % 4   3
2 ^ 10   1024
TABLE
printf 'a,b,c\n10,x,\n9,10,9\n' > mixed
is 'two columns are compared as numbers where both are' $'1\n1' csv-calc --print='a < b' mixed
is 'what is compared with nothing is not known' $'\n1' csv-calc --print='1 < c' mixed
is 'nor the other way round' $'\n0' csv-calc --print='c < 1' mixed
is 'nor two columns' $'\n1' csv-calc --print='a == c' mixed
is 'the root of a large integer' 94906265.62425156 eval 'printf "a\n9007199254740993\n" | csv-calc --print="sqrt(a)"'
is 'what rounds leaves it as it is' 9007199254740993 eval 'printf "a\n9007199254740993\n" | csv-calc --print="floor(a)"'
is 'signs of large integers' $'9007199254740993\t-1' eval 'printf "a\n-9007199254740993\n" | csv-calc --print="abs(a)" --print="sign(a)"'
# ---- of all rows: total and share, beside Python's integers and fractions
python3 - > rows.csv <<'END'
import random
random.seed(5)
print('g,i,d,e')
for _ in range(3000):
    i = random.choice(['', str(random.randrange(-10**17, 10**17))])
    print(f"{random.choice('abc')},{i},{random.choice(['', repr(random.uniform(-1e9, 1e9))])},{random.randrange(9)}")
END
python3 - > want.csv <<'END'
import csv, functools
from fractions import Fraction
rows = list(csv.DictReader(open('rows.csv')))
@functools.cache
def total(c, g=None): return sum(Fraction(r[c]) for r in rows if r[c] and g in (None, r['g']))
print('t,ti,sd,se')
for r in rows:
    print(f"{int(total('i'))},{int(total('i', r['g']))},{float(Fraction(r['d']) / total('d')) if r['d'] else ''},"
          f"{float(int(r['e']) / total('e', r['g']))}")
END
both() { csv-calc --set='t=total(i)' --set='sd=share(d)' | csv-calc -g g --set='ti=total(i)' --set='se=share(e)' |
    csv-cut -c t,ti,sd,se; }
ok 'as Python has it' eval 'both < rows.csv > got.csv && csv-diff --tolerance=1e-12 want.csv got.csv'
is 'integers to the last digit' 0 eval 'paste -d, <(csv-cut -c t,ti want.csv) <(csv-cut -c t,ti got.csv) |
    awk -F, "\$1 != \$3 || \$2 != \$4" | wc -l'
ok 'from a pipe, a file and a file descriptor alike' eval 'cat rows.csv | both | cmp - got.csv && both < <(cat rows.csv) | cmp - got.csv &&
    cmp <(csv-calc --print="share(e)" rows.csv) <(csv-calc --print="share(e)" <(cat rows.csv))'
is 'over several tables, standard input among them' $'0.1\n0.2\n0.7' eval \
    'printf "x\n2\n" | csv-calc --print="share(x)" <(printf "x\n1\n") - <(printf "x\n7\n")'
is 'what is not known adds nothing; of nothing there is no total' $',\n3,1\n3,\n' eval \
    'printf "g,x\na,\nb,3\nb,\n" | csv-calc -g g --set="t=total(x)" --set="s=share(x)" | csv-cut -c t,s | sed 1d; echo'
is 'rows that --where leaves out count' 0.75 csv-calc --print='share(x)' --where='x > 1' <(printf 'x\n1\n3\n')
is 'of sets before it, and of none after' $'8\n8' csv-calc --set='x=x*2' --set='t=total(x)' --set='x=0' --print=t \
    <(printf 'x\n1\n3\n')
is 'lag and running sums begin anew when rows are read again' $'1\t\n4\t1' csv-calc --print='run_sum(x) + 0 * total(lag(x))' \
    --print='lag(x)' <(printf 'x\n1\n3\n')
fails 'a total of totals' 2 'a total of what needs a total itself' csv-calc --set='s=share(x)' --print='total(s)' <(printf 'x\n1\n')
fails 'or right in it' 2 'a total of what needs a total itself' csv-calc --print='total(x / total(x))' <(printf 'x\n1\n')
fails 'text is no summand' 1 "column 'x': 'b' is not a number" csv-calc --print='total(x)' <(printf 'x\n1\nb\n')
is 'a column may be called total' 5 csv-calc --print='total + share' <(printf 'total,share\n2,3\n')
is 'integers to 2^127 stay integers' '170141183460469231731687303715884105726 -170141183460469231731687303715884105728' \
    eval "printf 'a\n170141183460469231731687303715884105727\n-170141183460469231731687303715884105727\n' |
        csv-calc --print='a - 1' | paste -sd' '"
is 'of a group that came while the input was read again nothing is known' $'a,1,60000\nnew,1,' eval '
    { echo g,x; yes a,1 | head -n 60000; } > grows
    csv-calc -g g --set="s=total(x)" grows | { head -c 10 > first; echo new,1 >> grows; tail -n 2; }'
is "a part of a long text has no end but its own" 1500000 eval "(echo x; printf 'y%.0s' {1..1500001}; echo) | csv-calc --print='length(slice(x, 2))'"
is "a number of a thousand digits" 0.25 eval "(echo x; printf '0.25%0999d\n' 0) | csv-calc --print='x*1'"
is 'patterns are of characters' 'é -é-a- 1 ab' bash -c "printf 'a\né\n' | csv-calc --print=\"concat(extract(a,'.'),' ',replace('éa','','-'),' ','é'~'^.\\\$',' ',replace('éaéb','[^a-z]',''))\""
is 'classes and \W are of characters, too' $'ÀB\tÀB' bash -c "printf 'a\nÀB\n' | csv-calc --print=\"extract(a,'[[:upper:]]+')\" --print=\"replace(a,'\\W','_')\""
is 'digits of an integer that no double knows' $'9007199254740993\t9010000000000000' csv-calc --print='digits(9007199254740993,16)' --print='digits(9007199254740993,3)' <(printf 'a\n1\n')
is 'what is lag() by a missing distance is missing' '  ' eval "printf 'a,n\n1,\n2,\n3,\n' | csv-calc --print='lag(a,n)' | paste -sd ' '"
is 'what is missing is the empty text to a pattern' $'1\t1\t1' eval "printf 'a,b\nx,\n' | csv-calc --print=\"b !~ 'q'\" --print=\"missing !~ 'q'\" --print=\"missing != 'q'\""
mkfifo p.tsv
printf 'a\tb\n1\t2\n3\t6\n' > p.tsv &
is 'a pipe that is read twice has its name, by which it is told' '0.25 0.75' eval "csv-calc --print='share(b)' p.tsv | paste -sd ' '"
done_testing
