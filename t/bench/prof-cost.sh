#!/bin/bash
# prof-cost.sh - slow-down by each way of recording, one run after the other in turn: t/bench/prof-cost.sh DIR [ROUNDS]
# Columns: program,way,call_ns (bare loop per call),factor and added_ns_per_call against bare; least of the rounds.
set -euo pipefail
dir=$1 rounds=${2:-5}
here=$(cd "$(dirname "$0")/../.." && pwd)
export PYTHONPATH=${B:-$here/build}/prof
modes='bare wrap tree cprofile setprofile yappi'
/usr/bin/python3 -c 'import yappi' 2> /dev/null || modes=${modes/ yappi/}
mkdir -p "$dir"
for p in ${PROGRAMS:-sqrt crc32 sorted compress}; do
    for ((r = 0; r < rounds; r++)); do
        for m in $modes; do
            rm -rf "$dir/log"
            echo "$p,$m,$(/usr/bin/python3 "$PYTHONPATH/millrace_cost.py" "$p" 1 "$m" "$dir/log" "${SIZE:-0.5}")"
        done
    done
done > "$dir/runs.csv"
rm -rf "$dir/log"
echo program,way,call_ns,factor,added_ns_per_call
awk -F, '{ k = $1 "," $2; if (!(k in best) || $3 < best[k]) best[k] = $3; n[$1] = $4; if (!seen[k]++) order[++c] = k }
    END { for (i = 1; i <= c; i++) { split(order[i], a, ","); b = best[a[1] ",bare"]; t = best[order[i]]
        printf "%s,%.1f,%.3f,%.1f\n", order[i], b / n[a[1]], t / b, (t - b) / n[a[1]] } }' "$dir/runs.csv"
