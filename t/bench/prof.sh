#!/bin/bash
# prof.sh - speed and memory of the profile filters: t/bench/prof.sh DIR [GIGABYTES].  Columns: what,items_per_second,
# bytes_per_second,seconds,peak_kib; CPU seconds, best of three.  Python's json reads a tenth of the same file.
set -euo pipefail
dir=$1 gigabytes=${2:-2}
mkdir -p "$dir"
rows=$((gigabytes * 1000000000 / 139))
make_events() {
    awk -v n="$1" -v shuffle="$2" 'BEGIN { srand(1); t = 1e12; split("Python Backend CUDA GPU Simulator", cat, " ")
        print "proc,tid,kind,cat,start_ns,end_ns,name,link,flag"
        for (i = 0; i < n; i++) { t += int(rand() * 2000); s = shuffle ? 1e12 + int(rand() * n * 1000) : t; k = 1 + int(rand() * 5)
            printf "p1,%d,%s,%s,%.0f,%.0f,fn%d,,\n", k == 4 ? 7 : 71 + int(rand() * 4), k == 4 ? "gpu" : "cat", cat[k], s, s + int(rand() * 5000), rand() * 50 } }'
}
best() { # WHAT ITEMS BYTES CMD...
    local what=$1 items=$2 bytes=$3 i
    shift 3
    for i in 1 2 3; do /usr/bin/time -f '%U %S %M' -o "$dir/time" "$@" > /dev/null 2> "$dir/err"; cat "$dir/time"; done |
        awk -v w="$what" -v n="$items" -v b="$bytes" '{ t = $1 + $2; if (!best || t < best) best = t; if ($3 > m) m = $3 }
            END { printf "%s,%.4g,%.4g,%.2f,%d\n", w, n / best, b / best, best, m }'
}
size() { stat -c %s "$1"; }
[ -s "$dir/sorted.csv" ] || make_events 3000000 0 > "$dir/sorted.csv"
[ -s "$dir/random.csv" ] || make_events 3000000 1 > "$dir/random.csv"
if [ ! -s "$dir/trace.json" ]; then
    prof-emit --to=chrome -o "$dir/small.json" "$dir/sorted.csv"
    { head -n 1 "$dir/small.json"
      for ((done = 0; done < rows; done += 3000000)); do tail -n +2 "$dir/small.json" | head -n -1 | sed '$s/$/,/'; done | head -n "$rows" | sed '$s/,$//'
      echo ']}'; } > "$dir/trace.json"
    { head -n $((rows / 10)) "$dir/trace.json" | sed '$s/,$//'; echo ']}'; } > "$dir/tenth.json"
fi
echo what,items_per_second,bytes_per_second,seconds,peak_kib
best 'prof-sweep, rows in order' 3000000 "$(size "$dir/sorted.csv")" prof-sweep "$dir/sorted.csv"
best 'prof-sweep, rows in random order' 3000000 "$(size "$dir/random.csv")" prof-sweep "$dir/random.csv"
best "prof-import --from=chrome, $gigabytes GB" "$rows" "$(size "$dir/trace.json")" prof-import --from=chrome "$dir/trace.json"
best "Python's json.load, a tenth" $((rows / 10)) "$(size "$dir/tenth.json")" /usr/bin/python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$dir/tenth.json"
