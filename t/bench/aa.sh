#!/bin/bash
# aa.sh COMPARISONS OUT.csv WORK [both|ours|peer]: compare a program with itself, under two busy neighbours, by bench-run and
# by hyperfine, and count how often each calls it different.  Rows: tool, metric, comparisons, rounds, flagged_ratio (p < 0.05),
# wrong_verdicts at margin 1 %, median and 95th percentile of the error of the ratio.  Run it by `make bench-aa`.
set -euo pipefail
n=$1 out=$2 work=$3 which=${4:-both} rounds=20
. "${0%/*}/busy.sh"

ours() {
    for ((i = 1; i <= n; i++)); do
        bench-run --quiet --warmup=0 --rounds=$rounds --seed="$i" --label=a "$work 1000" --label=b "$work 1000" > "$t/runs.csv"
        for metric in cpu wall; do
            bench-compare --quiet --base=a --metric=$metric "$t/runs.csv" | tail -n 1 >> "$t/ours" || true
        done
    done
    for metric in cpu wall; do
        awk -F, -v m=$metric '$3 == m { print ($8 < 0.05), ($9 == "faster" || $9 == "slower"), ($5 > 1 ? $5 : 1 / $5) - 1 }' "$t/ours" | row "bench-run,$metric"
    done
}

# hyperfine times blocks; its own words are means, so its samples are given to Welch's test and to Mann and Whitney's
peer() {
    for ((i = 1; i <= n; i++)); do
        hyperfine -N --runs $rounds --warmup 1 --export-json "$t/h.json" "$work 1000" "$work 1000" > "$t/h.log" 2>&1
        tr -d ' \n' < "$t/h.json" | grep -o '"times":\[[^]]*\]' | tr -dc '0-9.,\n' | awk -F, '
            { for (j = 1; j <= NF; j++) { x[NR, j] = $j; m[NR] += $j / NF } k[NR] = NF }
            END { for (g = 1; g <= 2; g++) for (j = 1; j <= k[g]; j++) v[g] += (x[g, j] - m[g]) ^ 2 / (k[g] - 1)
                  a = v[1] / k[1]; b = v[2] / k[2]; df = (a + b) ^ 2 / (a * a / (k[1] - 1) + b * b / (k[2] - 1))
                  t = (m[2] - m[1]) / sqrt(a + b); if (t < 0) t = -t
                  for (i = 1; i <= k[1]; i++) for (j = 1; j <= k[2]; j++) u += x[1, i] < x[2, j] ? 1 : x[1, i] == x[2, j] ? 0.5 : 0
                  z = (u - k[1] * k[2] / 2) / sqrt(k[1] * k[2] * (k[1] + k[2] + 1) / 12); if (z < 0) z = -z
                  r = m[1] > m[2] ? m[1] / m[2] : m[2] / m[1]
                  # the 97.5 % point of Student t by its expansion in 1/df
                  print (t > 1.96 + 2.37 / df + 2.8 / df / df), (t > 1.96 + 2.37 / df + 2.8 / df / df && r > 1.01), r - 1, (z > 1.96) }' >> "$t/peer"
    done
    row "hyperfine means (Welch),wall" < "$t/peer"
    awk '{ print $4, ($4 && $3 > 0.01), $3 }' "$t/peer" | row "hyperfine samples (Mann-Whitney),wall"
}

row() {
    sort -n -k 3 | awk -v OFS=, -v name="$1" -v r=$rounds '{ f += $1; w += $2; e[NR] = $3 }
        END { print name, NR, r, f / NR, w / NR, e[int((NR + 1) / 2)], e[int(NR * 0.95)] }' >> "$t/table"
}

: > "$t/table"
[ "$which" = peer ] || ours
[ "$which" = ours ] || ! command -v hyperfine > /dev/null || peer
{ echo tool,metric,comparisons,rounds,flagged_ratio,wrong_verdict_ratio,median_error_ratio,p95_error_ratio; cat "$t/table"; } > "$out"
