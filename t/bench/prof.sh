#!/bin/bash
# prof.sh - speed and memory of the profile filters against their floors: t/bench/prof.sh DIR [GIGABYTES [ROUNDS]].
# Columns: what,items_per_second,bytes_per_second,cpu_seconds,peak_kib,floor,python_ratio.  In each round all commands
# run once, one after the other; a row tells the median of the rounds.  python_ratio: CPU time of Python's json.load on
# the same file in the same round over ours; Python reads the large file in the first round only, and only where eight
# times its size is free.  Exit 1 below a floor.  What was generated is removed.
set -euo pipefail
dir=$1 gigabytes=${2:-2} rounds=${3:-3}
mkdir -p "$dir"
trap 'rm -f "$dir"/{sorted.csv,random.csv,trace.json,slice.json,time,runs}' EXIT
rows=3000000
make_events() { # SHUFFLED
    awk -v n=$rows -v shuffle="$1" 'BEGIN { srand(1); t = 1e12; split("Python Backend CUDA GPU Simulator", cat, " ")
        print "proc,tid,kind,cat,start_ns,end_ns,name,link,flag"
        for (i = 0; i < n; i++) { t += int(rand() * 2000); s = shuffle ? 1e12 + int(rand() * n * 1000) : t; k = 1 + int(rand() * 5)
            printf "p1,%d,%s,%s,%.0f,%.0f,fn%d,,\n", k == 4 ? 7 : 71 + int(rand() * 4), k == 4 ? "gpu" : "cat", cat[k], s, s + int(rand() * 5000), rand() * 50 } }'
}
repeat() { # FILE BYTES: its events again and again until there are so many bytes, as one trace
    local size i
    size=$(stat -c %s "$1")
    head -n 1 "$1"
    for ((i = 0; i < $2; i += size)); do tail -n +2 "$1" | head -n -1 | sed '$s/$/,/'; done | sed '$s/,$//'
    echo ']}'
}
run() { # WHAT FILE ITEMS FLOOR CMD...: appends what,items,bytes,cpu seconds,KiB,floor
    local what=$1 file=$2 items=$3 floor=$4
    shift 4
    /usr/bin/time -f '%U %S %M' -o "$dir/time" "$@" "$file" > /dev/null
    awk -v OFS=, -v w="$what" -v n="$items" -v b="$(stat -c %s "$file")" -v f="$floor" '{ print w, n, b, $1 + $2, $3, f }' "$dir/time" >> "$dir/runs"
}
python='import json, sys; json.load(open(sys.argv[1]))'
enough_memory() { awk -v need=$((gigabytes * 8000000)) '$1 == "MemAvailable:" { exit $2 < need }' /proc/meminfo; }
make_events 0 > "$dir/sorted.csv"
make_events 1 > "$dir/random.csv"
head -n 1437000 "$dir/sorted.csv" | prof-emit --to=chrome -o "$dir/slice.json"
repeat "$dir/slice.json" $((gigabytes * 1000000000)) > "$dir/trace.json"
large=$(wc -l < "$dir/trace.json") slice=$(wc -l < "$dir/slice.json")
: > "$dir/runs"
for ((round = 0; round < rounds; round++)); do
    run 'prof-sweep: rows in order' "$dir/sorted.csv" $rows '5e6 rows/s' prof-sweep --quiet
    run 'prof-sweep: rows in random order' "$dir/random.csv" $rows '5e6 rows/s' prof-sweep --quiet
    run "prof-import --from=chrome: $gigabytes GB" "$dir/trace.json" "$large" '5e8 B/s within 16384 KiB' prof-import --from=chrome
    run 'prof-import --from=chrome: 200 MB' "$dir/slice.json" "$slice" '5e8 B/s within 16384 KiB' prof-import --from=chrome
    run "Python's json.load: 200 MB" "$dir/slice.json" "$slice" '' /usr/bin/python3 -c "$python"
    [ $round = 0 ] && enough_memory || continue
    run "Python's json.load: $gigabytes GB" "$dir/trace.json" "$large" '' /usr/bin/python3 -c "$python"
done
awk -F, '
    function median(s, v, n, i, j, t) { n = split(s, v, " "); for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
        return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2 }
    { if (!($1 in n)) order[++kinds] = $1; n[$1] = $2; bytes[$1] = $3; time[$1] = time[$1] " " $4; if ($5 > peak[$1]) peak[$1] = $5; floor[$1] = $6
      size = $1; sub(/.*: /, "", size)
      if ($1 ~ /import/) ours[size] = $4
      if ($1 ~ /^Python/) ratio[size] = ratio[size] " " $4 / ours[size] }
    END { print "what,items_per_second,bytes_per_second,cpu_seconds,peak_kib,floor,python_ratio"
        for (k = 1; k <= kinds; k++) { w = order[k]; t = median(time[w]); ok = 1; size = w; sub(/.*: /, "", size)
            if (floor[w] ~ /rows/) ok = n[w] / t >= 5e6
            if (floor[w] ~ /B\/s/) ok = bytes[w] / t >= 5e8 && peak[w] <= 16384
            if (!ok) bad = 1
            printf "%s,%.4g,%.4g,%.2f,%d,%s,%s\n", w, n[w] / t, bytes[w] / t, t, peak[w], floor[w] == "" ? "" : (ok ? "kept: " : "MISSED: ") floor[w], w ~ /import/ && ratio[size] ? sprintf("%.1f", median(ratio[size])) : "" }
        exit bad }' "$dir/runs"
