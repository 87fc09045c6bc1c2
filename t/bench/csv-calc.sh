#!/bin/bash
# csv-calc.sh [ROUNDS] - csv-calc beside mawk and Miller on a table of a million rows and 16 columns, in turn
# Columns out: program, task, cpu_seconds (of the best round), wall_seconds, kind; a program that is missing is left out.
set -euo pipefail
PATH=${BIN:-$(cd "$(dirname "$0")/../.." && pwd)/bin}:$PATH
rounds=${1:-5} t=$(mktemp -d)
trap 'rm -rf "$t"' EXIT
python3 - > "$t/in.csv" << 'END'
import random
random.seed(1)
print('bench,fun,site,' + ','.join(f'n{i}' for i in range(10)) + ',base_seconds,seconds,gflops')
r = random.random
rows = [f'bench{int(20 * r())},camlUnit__fun_{int(9999 * r())},site{int(999 * r())},' +
        ','.join(str(int(r() * (5000 if i % 2 else 90))) for i in range(10)) + f',{r()!r},{100 * r()!r},{50 * r():.6f}'
        for i in range(20000)]
for i in range(50): print('\n'.join(rows))
END
calc_ratio() { csv-calc --set='speedup=base_seconds/seconds' "$t/in.csv"; }
mawk_ratio() { mawk -F, -v OFS=, 'NR == 1 { print $0, "speedup"; next } { print $0, $14 / $15 }' "$t/in.csv"; }
mlr_ratio() { mlr --icsv --ocsv put '$speedup = $base_seconds / $seconds' "$t/in.csv"; }
calc_rows() { csv-calc --where='gflops > 25 && n1 < 2000' "$t/in.csv"; }
mawk_rows() { mawk -F, 'NR == 1 || ($16 > 25 && $5 < 2000)' "$t/in.csv"; }
mlr_rows() { mlr --icsv --ocsv filter '$gflops > 25 && $n1 < 2000' "$t/in.csv"; }
TIMEFORMAT='%U %S %R'
for ((i = 0; i < rounds; i++)); do
    for program in csv-calc mawk mlr; do
        command -v $program > /dev/null || continue
        for task in ratio rows; do
            { time ${program#csv-}_$task > /dev/null; } 2> "$t/time"
            read -r user system wall < "$t/time"
            echo "$program,$task,$user,$system,$wall"
        done
    done
done | { echo program,task,user,system,wall_seconds; cat; } | csv-calc --set='cpu_seconds=user+system' |
    csv-group -g program,task -c cpu_seconds,wall_seconds --stat=min | csv-cut --drop=n_rows \
    --rename=min_cpu_seconds=cpu_seconds --rename=min_wall_seconds=wall_seconds | csv-calc --set='kind="real"'
