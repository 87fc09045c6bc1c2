#!/bin/bash
# planted.sh COMPARISONS OUT.csv WORK: find slow-downs of 1, 2 and 5 % planted in a 15 ms program, under two busy neighbours,
# with 50, 100 and 200 rounds.  Rows: slow-down, rounds, comparisons, share found (verdict slower), mean ratio.
# COMPARISONS more are appended to OUT-verdicts.csv, so it may be run in pieces.  `make bench-planted`.
set -euo pipefail
n=$1 out=$2 work=$3 rounds=${4:-200}
raw=${out%.csv}-verdicts.csv
. "${0%/*}/busy.sh"
[ -e "$raw" ] || echo planted,rounds,ratio,lower_ratio,upper_ratio,p_value,verdict > "$raw"
seed=$(wc -l < "$raw")
for ((i = 0; i < n; i++)); do
    bench-run --quiet --rounds="$rounds" --seed=$((seed + 3 * i)) --label=a "$work 1000" --label=1 "$work 1010" --label=2 "$work 1020" --label=5 "$work 1050" > "$t/runs.csv"
    for r in 50 100 200; do
        [ $r -le "$rounds" ] || continue
        awk -F, -v r=$r 'NR == 1 || $2 < r' "$t/runs.csv" | { bench-compare --quiet --base=a --adjust=none --metric=cpu - || true; } |
            awk -F, -v OFS=, 'NR > 1 { print $1, $4, $5, $6, $7, $8, $9 }' >> "$raw"
    done
done
{ echo planted_percent,rounds,comparisons,found_ratio,mean_ratio
  awk -F, -v OFS=, 'NR > 1 { k = $1 OFS $2; n[k]++; f[k] += $7 == "slower"; m[k] += $3 } END { for (k in n) print k, n[k], f[k] / n[k], m[k] / n[k] }' "$raw" | sort -t, -k1n -k2n; } > "$t/table"
cp "$t/table" "$out.new"
"${0%/*}/../../pipelines/keep" "$out.new" "$out"
