#!/bin/bash
# kill-loop.sh [TIMES [SECONDS]] - kill -9 searches at random moments, go on, compare with ones that were not killed
# (with the model as evaluator); prints a row for each algorithm
. "${0%/*}/scratch.sh"
times=${1:-10} seconds=${2:-0.3}
loop-gen --kind=mm --m=64,112,208 --n=80,160 --k=96,256 --test=0 > p.csv
echo 'algo,kills,problems,same'
for a in ${ALGOS:-greedy2 beam4dfs beam4bfs random anneal heuristic}; do
    search() { loop-search --quiet --algo=$a --eval=model --seconds="$seconds" --seed=5 "$@" p.csv; }
    start=$(date +%s%N)
    search > whole
    took=$(( ($(date +%s%N) - start) / 1000000 )) kills=0
    rm -f part
    for ((i = 0; i < times; i++)); do
        (exec loop-search --quiet --algo=$a --eval=model --seconds="$seconds" --seed=5 --out=part p.csv) & pid=$!
        sleep "$(awk -v r=$RANDOM -v t=$took -v n=$times 'BEGIN { print r / 32768 * t / 1000 * 1.5 / n }')"
        if kill -9 $pid 2> /dev/null; then kills=$((kills + 1)); fi
        wait $pid 2> /dev/null || true
    done
    search --out=part 2> /dev/null
    echo "$a,$kills,$(cut -d, -f1 whole | sort -u | sed 1d | wc -l),$({ [ -z "${KEEP:-}" ] || cp whole part "$KEEP"; cmp -s whole part; } && echo yes || echo no)"
done
