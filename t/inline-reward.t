#!/bin/bash
. "$(dirname "$0")/tap.sh"
# two sites; run i: x inlined in 1 2, y inlined in 1 3; ridge by hand below
printf 'run,node,kind,factor,callee\n' > p.csv
for r in 1:inlined:inlined 2:inlined:apply 3:apply:inlined 4:apply:apply; do
    IFS=: read -r i x y <<< "$r"
    printf '%s,/,root,1,\n%s,x,%s,0.5,f\n%s,y,%s,0.5,g\n' "$i" "$i" "$x" "$i" "$y"
done >> p.csv
printf 'run,time_seconds\n1,0.8\n2,0.9\n3,1.1\n4,1.2\n' > t.csv
inline-reward --times=t.csv --lambda=0.5 -n 20 --report=rep.csv p.csv > r.csv
# target 0.2 0.1 -0.1 -0.2; by symmetry root 0, x +-a, y +-b with a = 0.15 * 0.5 * 4 / (2 * (0.25 * 2 + 0.5)) and so on
is 'ridge weights are those of the normal equations' '/ 0 -
x 0.15 -0.15
y 0.05 -0.05' awk -F, 'function z(v) { return v == "" ? "-" : sprintf("%.10g", v < 1e-15 && v > -1e-15 ? 0 : v) } NR > 1 { print $1, z($2), z($3) }' r.csv
is 'the report' '4 4 4 3 5 3 0' awk -F, 'NR > 1 && NR < 9 { printf "%s%s", s, $2; s = " " } END { print "" }' rep.csv
is 'columns out' 'site,immediate,no_inline,n_inlined,n_apply,immediate_lower,immediate_upper,immediate_known,immediate_twins,no_inline_lower,no_inline_upper,no_inline_known,no_inline_twins,callee' head -1 r.csv
is 'same seed, same bytes' "$(cat r.csv)" inline-reward --times=t.csv --lambda=0.5 -n 20 p.csv
is 'intervals hold the value' 5 bash -c "awk -F, 'NR > 1 { n += \$6 <= \$2 && \$2 <= \$7; if (\$3 != \"\") n += \$10 <= \$3 && \$3 <= \$11 } END { print n }' r.csv"
inline-reward --method=lasso -a 1e-6 --times=t.csv -n 0 p.csv > l.csv
is 'a lasso with a small penalty explains the times' '0.2 0.1 -0.1 -0.2' awk -F, 'NR == 2 { r = $2 } NR == 3 { x = $2; X = $3 } NR == 4 { y = $2; Y = $3 }
    END { printf "%.4g %.4g %.4g %.4g\n", r + (x + y) / 2, r + (x + Y) / 2, r + (X + y) / 2, r + (X + Y) / 2 }' l.csv
is 'a large one nothing' '0' bash -c "inline-reward --method=lasso -a 1 --times=t.csv -n 0 p.csv | awk -F, 'NR > 1 { n += (\$2 != 0) + (\$3 != 0 && \$3 != \"\") } END { print n }'"
awk -F, '{ print } $2 == "x" { sub(",x,", ",z,"); print }' p.csv > q.csv
inline-reward --times=t.csv -n 0 q.csv > twins.csv
is 'a decision that went along with another is its twin' 'x 2 3 z 2 3 y 6 7' awk -F, 'NR > 2 { printf "%s%s %s %s", s, $1, $9, $13; s = " " } END { print "" }' twins.csv
fails 'a run without a time' 1 "t2.csv:1: no time for run '4'" bash -c 'head -4 t.csv > t2.csv; inline-reward --times=t2.csv p.csv'
fails 'no baseline' 1 'no run is marked initial' inline-reward --times=t.csv --target=log_over_baseline p.csv
fails 'rows of a run apart' 1 "p2.csv:.*the rows of run '1' are not together" bash -c '(cat p.csv; echo 1,z,apply,1,) > p2.csv; inline-reward --times=t.csv p2.csv'
for n in -1e308 nan -1; do
    csv-calc --set="n_timings='$n'" t.csv > t3.csv
    fails "$n timings" 1 "t3.csv:2: column 'n_timings': '$n'" inline-reward --times=t3.csv p.csv
done
fails 'a kind that does not exist' 1 "p3.csv:2: column 'kind': 'maybe'" bash -c 'sed 2s/root/maybe/ p.csv > p3.csv; inline-reward --times=t.csv p3.csv'
fails 'a node twice in a run' 1 'p4.csv:3: a run has this node twice' bash -c 'sed 2p p.csv > p4.csv; inline-reward --times=t.csv p4.csv'
if [ -n "${MILLRACE_DATA:-}" ] || [ -d "$root/../shared/data" ]; then
    need_data inline/decisions-v0
    inline-problem --times=tt.csv "$DATA"/inline/decisions-v0/*/*.sexp > pp.csv
    inline-reward --times=tt.csv -n 0 --report=rr.csv pp.csv > /dev/null
    is 'rank 12 for 85 used columns of 12 distinct variants, as published' '12 85 12' bash -c "awk -F, '{ v[\$1] = \$2 } END { print v[\"rank\"], v[\"n_columns\"], v[\"n_distinct\"] }' rr.csv"
fi
done_testing
