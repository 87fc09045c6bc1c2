#!/bin/bash
# identical.sh TIMES OUT.csv WORK [CONFIGURATIONS]: choose the best of 100 identical configurations from 7 rounds, then confirm the
# winner on 200 fresh rounds; under two busy neighbours.  Rows: what the plain best-of-N claims, what its paired ratio claims,
# what the fresh runs say, what is reported.  `make bench-identical`.
set -euo pipefail
n=$1 out=$2 work=$3 k=${4:-100}
. "${0%/*}/busy.sh"
configs=()
for ((i = 0; i < k; i++)); do configs+=("--label=c$i" "$work 1000"); done
for ((i = 1; i <= n; i++)); do
    rm -f "$t/fresh.csv"
    bench-run --quiet --warmup=2 --rounds=7 --seed="$i" "${configs[@]}" > "$t/selection.csv"
    bench-confirm --quiet --selection="$t/selection.csv" --base=c0 --rounds=200 --seed="$((i + 1000))" -o "$t/fresh.csv" "${configs[@]}" > "$t/one.csv"
    [ "$i" = 1 ] && head -n 1 "$t/one.csv" > "$out"
    tail -n 1 "$t/one.csv" >> "$out"
done
