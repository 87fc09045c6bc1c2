#!/bin/bash
# limit-loop.sh [SECONDS] - how well searches and trainings keep their limit of time: a row for each algorithm with the
# wall time of the whole program, start and end included, less that of the same with no time at all
. "${0%/*}/scratch.sh"
limit=${1:-5}
loop-gen --kind=mm --m=64:256:64 --n=64:256:64 --k=64:256:64 --test=0 > many.csv
printf 'problem\n(mm 192 192 192)\n' > one.csv
wall() { local t; t=$(date +%s%N); "$@" > out 2> err; echo $(( ($(date +%s%N) - t) / 1000000 )); }
row() { # NAME COMMAND...
    local name=$1 none full
    shift
    none=$(wall "$@" --seconds=0.001)
    full=$(wall "$@" --seconds="$limit")
    awk -v a="$name" -v n="$none" -v f="$full" -v l="$limit" \
        'BEGIN { s = (f - n) / 1000; v = "within 5 %"; if (s > 1.05 * l) v = "late"; if (s < 0.95 * l) v = "ended earlier"
                 printf "%s,%g,%.3f,%.3f,%s\n", a, l, s, s / l - 1, v }'
}
echo 'algo,limit,seconds,over,verdict'
for a in random beam4dfs anneal beam4bfs; do row "$a" loop-search --quiet --algo=$a one.csv; done
for a in dqn apex ppo; do
    row "$a" loop-train --quiet --algo=$a --eval=model --steps=1000000000 -o policy many.csv
done
