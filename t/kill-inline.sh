#!/bin/bash
# kill-inline.sh [ROUNDS [EVALUATIONS [JOBS]]]: kill -9 pipelines/explore and all it started at ROUNDS (10) random moments, let it
# finish, and compare with a search that nobody disturbed: the same sets with the same costs, no row lost, none twice.
# A minute long, so not one of the tests of `make test`.
set -uo pipefail
rounds=${1:-10} evaluations=${2:-40} jobs=${3:-2}
root=$(cd "$(dirname "$0")/.." && pwd) out=$(mktemp -d "${TMPDIR:-/var/tmp}/kill-inline.XXXXXX")
trap 'rm -rf "$out"' EXIT
PATH=${BIN:-$root/bin}:$PATH
export LC_ALL=C
RANDOM=${SEED:-1}
cp -r "$root/data/demo" "$out/demo"
inline-module --out="$out/w" "$out/demo" || exit 1
explore() { "$root/pipelines/explore" "$out/w" "$out/$1" "$evaluations" 1 "$jobs" --max-text=1.5 > "$out/$1.log" 2>&1; }
begin=$SECONDS
explore whole || { cat "$out/whole.log"; exit 1; }
took=$((SECONDS - begin))
echo "undisturbed: $took s, $(($(wc -l < "$out/whole/history.csv") - 1)) sets"
mkdir "$out/cut"
rows() { [ -s "$1" ] && if [ -n "$(tail -c 1 "$1")" ]; then sed '$d' "$1"; else cat "$1"; fi; }                   # whole rows only
for ((i = 1; i <= rounds; i++)); do
    rows "$out/cut/history.csv" > "$out/before"
    setsid "$root/pipelines/explore" "$out/w" "$out/cut" "$evaluations" 1 "$jobs" --max-text=1.5 > "$out/cut.log" 2>&1 &
    pid=$!
    sleep "$(awk -v r=$RANDOM -v t=$((took + 1)) -v n="$rounds" 'BEGIN { print 0.1 + r / 32768 * 2 * t / n }')"
    kill -9 -- -$pid 2> /dev/null
    wait $pid 2> /dev/null
    rows "$out/cut/history.csv" > "$out/after"
    echo "$i: killed with $(($(wc -l < "$out/after") - 1)) sets"
    head -c "$(wc -c < "$out/before")" "$out/after" | cmp -s - "$out/before" || { echo "$i: a finished row was lost or changed"; exit 1; }
done
explore cut || { cat "$out/cut.log"; exit 1; }
costs() { csv-cut -c decisions,level,state,instructions,text_bytes,asked,obeyed,inlined,output_hash "$out/$1/history.csv" | tail -n +2 | sort; }
costs cut | uniq -d | grep . && { echo 'sets tried twice'; exit 1; }
diff <(costs whole) <(costs cut) > "$out/differ" || { echo 'other sets or costs:'; head "$out/differ"; exit 1; }
for f in "$out"/cut/store/*.sexp; do cmp -s "$f" "$out/whole/store/${f##*/}" || { echo "the store differs: ${f##*/}"; exit 1; }; done
best() { inline-search --best --max-text=1.5 --store="$out/$1/store" --work="$out/w" "$out/$1/history.csv"; }
cmp <(best whole) <(best cut) || exit 1
# two logs, cut anywhere: the same decisions whatever their order
head -n 15 "$out/whole/history.csv" > "$out/one.csv"
{ head -n 1 "$out/whole/history.csv"; tail -n +10 "$out/whole/history.csv"; } > "$out/two.csv"
merged() { inline-search --best --max-text=1.5 --store="$out/whole/store" --work="$out/w" "$@"; }
cmp <(merged "$out/one.csv" "$out/two.csv") <(merged "$out/two.csv" "$out/one.csv") || exit 1
cmp <(merged "$out/one.csv" "$out/two.csv") <(best whole) || exit 1
echo "the same $(costs cut | wc -l) sets, costs and decisions after $rounds kills; two overlapping logs in either order too"
