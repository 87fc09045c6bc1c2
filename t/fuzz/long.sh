#!/bin/bash
# long.sh TABLE [TARGET]... - make fuzz FUZZ_QUICK=1, one target after another, the one with the fewest inputs next, until
# each has had WANT (10000000) or it is stopped; may be stopped at any time, and begun again
#   EACH=  seconds of one run (60)
# TABLE has a row for each run, target,inputs,seconds, and is appended to; t/fuzz/total.csv is the one that is kept, with
# what was run before it began (seconds empty).  A target that fails is said and left out; exit 1 then.
set -uo pipefail
export LC_ALL=C
root=$(cd "${0%/*}/../.." && pwd)
PATH=${BIN:-$root/bin}:$PATH
[ $# -gt 0 ] || { echo 'usage: t/fuzz/long.sh TABLE [TARGET]...' >&2; exit 2; }
table=$1 want=${WANT:-10000000} each=${EACH:-60} status=0
shift
if [ $# = 0 ]; then
    for f in "$root"/t/fuzz/*.c; do f=${f##*/}; set -- "$@" "${f%.c}"; done
fi
left=()
for t; do [[ $t = fuzz || $t = mutate || $t = place-pack ]] || left+=("$t"); done
[ -s "$table" ] || echo target,inputs,seconds > "$table"
cd "$root" || exit 2
total() { echo $((0 + $(csv-where --quiet -c target --is="$1" "$table" | csv-cut -c inputs | sed 1d | paste -sd+ | sed 's/^$/0/'))); }
while [ ${#left[@]} -gt 0 ]; do
    fewest= rest=()
    for t in "${left[@]}"; do
        n=$(total "$t")
        [ "$n" -lt "$want" ] || continue
        rest+=("$t")
        [[ -n $fewest && $n -ge $least ]] || fewest=$t least=$n
    done
    left=("${rest[@]}")
    [ -n "$fewest" ] || break
    begin=$(date +%s)
    if out=$(make -s fuzz FUZZ_QUICK=1 FUZZ="$fewest" FUZZ_SECONDS="$each" 2>&1); then
        n=$(grep -ao 'executed_units: *[0-9]*' <<< "$out" | grep -o '[0-9]*')
        echo "$fewest,${n:-0},$(($(date +%s) - begin))" >> "$table"
    else
        echo "$out" | tail -n 5 >&2
        status=1 rest=()
        for t in "${left[@]}"; do [ "$t" = "$fewest" ] || rest+=("$t"); done
        left=("${rest[@]}")
    fi
done
exit $status
