#!/bin/bash
# guard.sh RESULTS OUT.csv: replay the never-worse rule on published timings of inlining policies: 3 workers x 6 runs per
# program and policy, plugin 'nothing' is the default.  Even runs decide, odd runs judge.  RESULTS is the folder with
# PROGRAM/plugins-valid/plugin_POLICY.csv.  The table compares what goes out with and without the rule.  `make bench-guard-replay`.
set -euo pipefail
results=$1 out=$2
t=$(mktemp -d)
trap 'rm -rf "$t"' EXIT
for f in "$results"/*/plugins-valid/plugin_*.csv; do
    program=${f#"$results"/} policy=${f##*/plugin_}
    awk -F, -v OFS=, -v b="${program%%/*}" -v l="${policy%.csv}" '
        { for (i = 4; i <= NF; i++) { sub(/s$/, "", $i); print b, l, (NR - 1) * 6 + i - 4, $i } }' "$f"
done | sed '1i benchmark,label,round,wall_seconds' > "$t/runs.csv"
bench-guard --base=nothing --metric=wall --incomplete=skip "$t/runs.csv" > "$t/guard.csv"
awk -F, -v OFS=, 'NR > 1 {
        n++; out = $5 == $2; r = $10; lo = $11
        worse = lo > 1 && r > 1.02
        if (worse) bad++
        if (worse && out) left++
        if (r > worst) worst = r
        if (out) { kept++; if (r > worst_kept) worst_kept = r }
        g += log(r); if (out) gg += log(r)
        if (r < 1) { gain -= log(r); if (out) got -= log(r) }          # the winners, judged by runs the rule has not seen
        if ($12 < 1) { sure -= log(r); if (out) sure_got -= log(r) }
    }
    END {
        print "rule,cells,decisions_out,regressions_beyond_2_percent,worst_ratio,geometric_mean_ratio,gain_kept_ratio,sure_gain_kept_ratio"
        print "none", n, n, bad + 0, worst, exp(g / n), 1, 1
        print "guard", n, kept, left + 0, worst_kept, exp(gg / n), got / gain, sure_got / sure
    }' "$t/guard.csv" > "$out"
