#!/bin/bash
# kill-learn.sh [TIMES] - kill -9 trainings (and with them their actors) at random moments, go on from the checkpoint,
# compare policy and curve with those of one that was not killed (with the model as evaluator); prints a row for each algorithm
. "${0%/*}/scratch.sh"
times=${1:-10}
loop-gen --kind=mm --m=64,112,208 --n=80,160 --k=96,256 --test=0 > p.csv
echo 'algo,steps,seconds,kills,resumed,same'
while read -r algo steps; do
    options=(--quiet --algo="$algo" --eval=model --steps="$steps" --seed=5)
    start=$(date +%s%N)
    loop-train "${options[@]}" -o whole p.csv > whole.csv
    took=$(( ($(date +%s%N) - start) / 1000000 )) kills=0 resumed=0
    rm -f part checkpoint
    for ((i = 0; i < times; i++)); do
        [ ! -e checkpoint ] || resumed=$((resumed + 1))
        loop-train "${options[@]}" --checkpoint=checkpoint --every=0.1 -o part p.csv > part.csv & pid=$!
        sleep "$(awk -v r=$RANDOM -v t=$took -v n="$times" 'BEGIN { print 0.15 + r / 32768 * t / 1000 * 1.5 / n }')"
        if kill -9 $pid 2> /dev/null; then kills=$((kills + 1)); fi
        wait $pid 2> /dev/null || true
    done
    loop-train "${options[@]}" --checkpoint=checkpoint -o part p.csv > part.csv
    echo "$algo,$steps,$((took / 1000)).$(printf %03d $((took % 1000))),$kills,$resumed,$(cmp -s whole part && cmp -s <(cut -d, -f1-7 whole.csv) <(cut -d, -f1-7 part.csv) && echo yes || echo no)"
done << 'END'
dqn 8000
apex 8000
ppo 40000
END
