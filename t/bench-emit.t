#!/bin/bash
. "$(dirname "$0")/tap.sh"
D=$root/t/data/bench
there_and_back() {
    bench-import --from="$1" "$2" > first.csv && bench-emit --to="$1" first.csv > middle && bench-import --from="$1" middle > second.csv && cmp first.csv second.csv
}
ok "imported, exported and imported it is the same table" there_and_back hyperfine "$D/hyperfine.json"
# random tables: 40 cases
cat > gen.awk <<'A'
function rnd() { seed = seed * 16807 % 2147483647; return seed / 2147483647 }
BEGIN { print "label,round,wall_seconds,exit,order,kind"
    n = 1 + int(rnd() * 3); m = 1 + int(rnd() * 4)
    for (l = 0; l < n; l++) for (r = 0; r < m; r++) printf "c%d,%d,%.17g,0,blocks,real\n", l, r, exp(20 * rnd() - 18) }
A
differ=0
for ((i = 1; i <= 40; i++)); do
    awk -v seed=$((i * 7919)) -f gen.awk > t.csv
    for f in hyperfine; do
        bench-emit --to=$f t.csv > e 2> /dev/null && bench-import --from=$f e > i.csv && bench-emit --to=$f i.csv > e2 && bench-import --from=$f e2 | cmp -s i.csv - &&
            [ "$(tail -n +2 t.csv | wc -l)" = "$(tail -n +2 i.csv | wc -l)" ] &&
            paste -d, <(tail -n +2 t.csv | cut -d, -f3) <(csv-cut -c wall_seconds i.csv | tail -n +2) | awk -F, '$1 != $2 { bad = 1 } END { exit bad }' || differ=$((differ + 1))
    done
done
is 'random tables go there and back' 0 echo $differ
if command -v python3 > /dev/null; then
    bench-import --from=hyperfine "$D/hyperfine.json" | bench-emit --to=hyperfine > h.json
    is 'the statistics are those of hyperfine itself' 'True' python3 -c "
import json
a, b = json.load(open('$D/hyperfine.json'))['results'], json.load(open('h.json'))['results']
print(all(abs(x[k] - y[k]) < 1e-12 for x, y in zip(a, b) for k in ('mean', 'stddev', 'median', 'min', 'max', 'user', 'system')))"
else
    skip 'the statistics of hyperfine' 'no python3'
fi
printf 'label,round,phase,wall_seconds,cpu_seconds,user_seconds,sys_seconds,exit\na,0,warmup,9,9,9,0,0\na,0,measure,2,1,0.75,0.25,0\na,1,measure,4,3,2.75,0.25,0\n' > runs.csv
is 'a table of ours becomes one of hyperfine, without warm-ups' '"mean":3 "user":1.75' sh -c "bench-emit --to=hyperfine runs.csv | grep -oE '\"(mean|user)\":[0-9.]*' | paste -sd' '"
fails 'a column that is needed' 1 "no column 'wall_seconds'" sh -c 'printf "label,round\na,1\n" | bench-emit --to=hyperfine'
fails 'other formats are gone' 2 "'google' is not one of hyperfine" bench-emit --to=google runs.csv
fails 'a format is needed' 2 'see --to' bench-emit runs.csv
echo '{"results":[{"command":"a","times":[1,1,2],"user":0.1,"system":0.7}]}' | bench-import --from=hyperfine > mean.csv
is 'what was a mean stays as it is' "$(< mean.csv)" eval 'bench-emit --to=hyperfine mean.csv | bench-import --from=hyperfine'
done_testing
