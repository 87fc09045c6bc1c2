#!/bin/bash
. "$(dirname "$0")/tap.sh"
printf 'g,h,x\nb,1,4\na,1,1\nb,1,1\nb,2,7\n' > t
is "groups in order of first appearance" $'g,n_rows,n_x,mean_x\nb,3,3,4\na,1,1,1' csv-group -g g -c x t
is "two group columns" $'g,h,n_rows,sum_x\nb,1,2,5\na,1,1,1\nb,2,1,7' csv-group -g g,h -c x --stat=sum t
is "no groups: one row" $'n_rows,min_x,max_x,first_x,last_x\n4,1,7,4,7' csv-group -c x --stat=min,max,first,last t
is "counting only" $'h,n_rows\n1,3\n2,1' csv-group -g h t
is "sd, geometric mean, median, percentiles" $'n_rows,sd_x,gmean_x,median_x,p0_x,p25_x,p100_x\n4,2.8722813232690143,2.300326633791206,2.5,1,1,7' \
    csv-group -c x --stat=sd,gmean,median,p0,p25,p100 t
printf "x\n-1\n2\n" > neg
is "of a negative number there is no geometric mean" $'n_rows,gmean_x\n2,' csv-group -c x --stat=gmean neg
is "what is not defined is empty" $'g,n_rows,sd_x\nb,3,3\na,1,' csv-group -g g -c x --stat=sd t
printf 'x,y\n1,\n,\nnan,2\n' > m
is "empty fields skipped; nan stays nan" $'n_rows,n_x,mean_x,p50_x,n_y,mean_y,p50_y\n3,2,nan,nan,1,2,2' csv-group -c x,y --stat=n,mean,p50 --missing=skip m
is "all fields empty" $'n_rows,n_y,sum_y,mean_y\n1,0,0,' eval 'printf "y\n\"\"\n" | csv-group -c y --stat=n,sum,mean --missing=skip'
fails "an empty field is an error otherwise" 1 "m:3: column 'x': '' is not a number" csv-group -c x m
fails "a wrong word" 2 "'p101' is none of" csv-group -c x --stat=mean,p101 t
fails "nothing to do" 2 'nothing to do' csv-group t
printf 'x\n1e16\n1\n-1e16\n1\n' > k
is "sums are compensated" $'n_rows,sum_x\n4,2' csv-group -c x --stat=sum k
is "header only" 'g,n_rows' eval 'printf "g\n" | csv-group -g g'
seq 999 | awk 'BEGIN{srand(1);print "x"}{print int($1*7919%1000)/7}' > n
python3 -c '
import statistics as s, math
v = [float(l) for l in open("n").read().split()[1:]]
q = sorted(v)
def p(a):
    t = (len(q) - 1) * a / 100; i = int(t)
    return q[i] + (t - i) * (q[min(i + 1, len(q) - 1)] - q[i])
print("n_rows,mean_x,sd_x,gmean_x,median_x,p5_x,p95_x")
print(",".join(map(repr, [len(v), s.fmean(v), s.stdev(v), math.exp(math.fsum(map(math.log, v)) / len(v)), s.median(v), p(5), p(95)])))' > want
ok "the same as Python's statistics" eval 'sed -i 1!s/^/x,/ want; sed -i 1s/^/k,/ want; csv-group -c x --stat=mean,sd,gmean,median,p5,p95 n | sed "1s/^/k,/;1!s/^/x,/" | csv-diff -k k --tolerance=1e-12 want -'
printf 'k,x\na,3\na,nan\na,5\nb,nan\nb,1\nc,2\nc,nan\n' > nans
is "a nan makes everything nan but the count" \
    $'k,n_rows,n_x,sum_x,mean_x,min_x,max_x,sd_x,gmean_x,median_x,first_x,last_x,p10_x\na,3,3,nan,nan,nan,nan,nan,nan,nan,nan,nan,nan\nb,2,2,nan,nan,nan,nan,nan,nan,nan,nan,nan,nan\nc,2,2,nan,nan,nan,nan,nan,nan,nan,nan,nan,nan' \
    csv-group -g k -c x --stat=n,sum,mean,min,max,sd,gmean,median,first,last,p10 nans
is "the same integer many times, however large" $'n_rows,median_x,min_x,max_x,sd_x,mean_x\n3,9007199254740993,9007199254740993,9007199254740993,0,9007199254740993' \
    eval 'printf "x\n9007199254740993\n9007199254740993\n9007199254740993\n" | csv-group -c x --stat=median,min,max,sd,mean'
is "least and most far from 0, in any order" $'n_rows,min_x,max_x,first_x,last_x,median_x,p25_x\n4,-9007199254740995,9007199254740997,9007199254740995,-9007199254740995,4503599627370498,-2251799813685248' \
    eval 'printf "x\n9007199254740995\n9007199254740997\n1\n-9007199254740995\n" | csv-group -c x --stat=min,max,first,last,median,p25'
is "infinities" $'n_rows,sum_x,mean_x,min_x,max_x\n2,inf,inf,1,inf' eval 'printf "x\n1\ninf\n" | csv-group -c x --stat=sum,mean,min,max'
is "sums of 128 bits, and beyond them a double" $'n_rows,sum_x\n20,1.99999999999999999999e+38' \
    eval '{ echo x; for i in {1..20}; do echo 9999999999999999999999999999999999999; done; } | csv-group -c x --stat=sum | sed s/,2e+38/,1.99999999999999999999e+38/'
is "negative zero and percentages at the ends" $'n_rows,p0_x,p100_x,p50_x\n2,-1,0,-0.5' eval 'printf "x\n0\n-1\n" | csv-group -c x --stat=p0,p100,p50'
is "sums of fractions are compensated, whichever is larger" $'n_rows,sum_x\n3,0.5' eval 'printf "x\n0.5\n1e16\n-1e16\n" | csv-group -c x --stat=sum'
fails "a percentage has a p" 2 "'x5' is none of" csv-group -c x --stat=x5 t
# ---- corr: beside exact sums of fractions
python3 - > pairs.csv <<'END'
import random
random.seed(3)
print('g,x,y,z')
for _ in range(2000):
    g, x, i = random.choice('abcd'), random.uniform(-1, 1), random.randrange(10**6)
    print(f"{g},{10**15 + i},{i * {'a': 1, 'b': -1, 'c': 0, 'd': .5}[g] + x * 4e5!r},{x!r}")
END
python3 - > want.csv <<'END'
import csv, math
from fractions import Fraction as F
rows = list(csv.DictReader(open('pairs.csv')))
def corr(rows, a, b):
    x, y = [F(r[a]) for r in rows], [F(r[b]) for r in rows]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    c, vx, vy = sum((p - mx) * (q - my) for p, q in zip(x, y)), sum((p - mx)**2 for p in x), sum((q - my)**2 for q in y)
    return float(c) / math.sqrt(float(vx)) / math.sqrt(float(vy))
print('g,n_rows,corr_x_y,corr_z_y,mean_y')
for g in dict.fromkeys(r['g'] for r in rows):
    of = [r for r in rows if r['g'] == g]
    print(f"{g},{len(of)},{corr(of, 'y', 'x')!r},{corr(of, 'y', 'z')!r},{float(sum(F(r['y']) for r in of) / len(of))!r}")
END
ok 'correlations as of exact sums, far from 0 too' eval 'csv-group -g g -c y --stat=corr:x,corr:z,mean pairs.csv > got.csv &&
    csv-diff --tolerance=1e-11 --abs=1e-11 want.csv got.csv'
is 'with itself, and with its negative' $'n_rows,corr_x_x,corr_m_x\n3,1,-1' eval \
    'printf "x,m\n1,-1\n9007199254740993,-9007199254740993\n4,-4\n" | csv-group -c x --stat=corr:x,corr:m'
is 'and with thrice itself, where the sums in doubles make 1 and an ulp' $'n_rows,corr_y_x\n3,1' eval \
    'printf "x,y\n7,21\n17,51\n17,51\n" | csv-group -c x --stat=corr:y'
is 'none of one pair, nor of what does not vary' $'g,n_rows,corr_y_x\na,1,\nb,2,' eval \
    'printf "g,x,y\na,1,2\nb,1,3\nb,1,4\n" | csv-group -g g -c x --stat=corr:y'
is 'pairs of which one is not known are left out' $'n_rows,corr_y_x\n4,1' eval \
    'printf "x,y\n1,1\n2,2\n,9\n7,\n" | csv-group -c x --stat=corr:y --missing=skip'
is 'a nan is nan' $'n_rows,corr_y_x\n3,nan' eval 'printf "x,y\n1,1\nnan,2\n7,3\n" | csv-group -c x --stat=corr:y'
fails 'with a column that is not there' 1 "no column 'yy'" csv-group -c x --stat=corr:yy <(printf 'x,y\n1,1\n')
is 'the greatest may be 0' 0 eval "printf 'a\n-1\n0\n' | csv-group -c a --stat=max | tail -1 | cut -d, -f2"
fails "two columns of one name" 1 "two columns would be called 'n_rows'" csv-group -g n_rows <(printf 'n_rows\n1\n')
spread() { printf 'x,y\n%s,1\n%s,5\n%s,3\n' 1e$1 2e$1 4e$1 | csv-group -c x --stat=sd,corr:y | csv-calc --print="fixed(sd_x * 1e$((- $1)), 9)" --print='fixed(corr_y_x, 9)'; }
for e in 0 160 -160 -200 300; do is "sd and corr of numbers near 1e$e" '1.527525232	0.327326835' spread $e; done
is 'a far number behind near ones' 5.773502692e+199 eval "printf 'x\n5\n5\n1e200\n' | csv-group -c x --stat=sd | csv-calc --print='digits(sd_x, 10)'"
is 'halfway between numbers whose difference is none' '0 -inf' eval "for a in 1e308,-1e308 -inf,1; do printf 'x\n%s\n%s\n' \${a%,*} \${a#*,} | csv-group -c x --stat=median | csv-calc --print=median_x; done | xargs"
done_testing
