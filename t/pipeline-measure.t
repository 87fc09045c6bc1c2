#!/bin/bash
# pipelines/measure: what is timed is a copy, each round other copies; runs are those of the program, RUNS= some of them
. "$(dirname "$0")/tap.sh"
. "$root/t/inline-live.sh"
measure=$root/pipelines/measure
for label in a b; do
    printf '#!/bin/sh\necho %s "$0" "$*" >> "%s/said"\necho same\n' $label "$T" > $label.sh
done
chmod +x a.sh b.sh
time_two() { TMPDIR=$T ROUNDS=$1 SEED=3 "$measure" time w a=./a.sh b=./b.sh > runs.csv; }
ok 'five rounds' time_two 5
is 'each of all runs and labels, none of the round that warms up' 'demo.1,0 1 2 3 4,a b,10
demo.2,0 1 2 3 4,a b,10' bash -c 'for run in demo.1 demo.2; do
    csv-where -c benchmark --is=$run runs.csv > one
    echo "$run,$(csv-calc --print=round one | sort -un | xargs),$(csv-calc --print=label one | sort -u | xargs),$(
        csv-where -c phase --is=measure one | tail -n +2 | wc -l)"; done'
# ./a.sh warms up, a copy lies below copies/
is 'five copies of each, made before any ran, for both runs, and the original only to warm up' 'a 5 2
b 5 2' bash -c 'for l in a b; do
    echo $l $(grep "^$l .*/copies/" said | cut -d" " -f2 | sort | uniq -c | sed "s/ *2 .*/two/" | grep -c two) \
        $(grep "^$l " said | grep -vc /copies/); done'
is 'three rounds of each copy' '0 0
1 0
2 0
3 1
4 1
5 1' bash -c "TMPDIR='$T' ROUNDS=2 EACH=3 SEED=3 RUNS=demo.1 '$measure' time w a=./a.sh b=./b.sh |
    csv-where -c label --is=a | csv-calc --print=\"concat(round, ' ', copy)\" | sort"
is 'orders differ from round to round' 2 bash -c 'csv-where -c benchmark --is=demo.1 runs.csv | csv-where -c position --is=0 |
    csv-calc --print=label | sort -u | wc -l'
is 'no round begins after MOST_SECONDS' yes bash -c "MOST_SECONDS=1 TMPDIR='$T' ROUNDS=200 SEED=3 '$measure' time w a=./a.sh b=./b.sh |
    csv-calc --print=round | sort -un | tail -1 | { read last; [ \$last -lt 199 ] && echo yes; }"
is 'copies are removed' 0 bash -c "find '$T' -maxdepth 1 -name '.millrace-[0-9]*' | wc -l"
is 'counts of one run' 'demo.2 a b' bash -c "RUNS=demo.2 METRICS=size '$measure' count w a=/bin/true b=/bin/true > counts.csv
    echo \$(csv-calc --print=run counts.csv | sort -u) \$(csv-calc --print=label counts.csv | sort -u)"
# the same program under names of three lengths is the same count, from folders of two; and the count was compared
inline-build --out=O2 w > /dev/null
mkdir -p "$T/a" "$T/long-long-long"
cp O2 six666 && cp O2 a-name-of-thirty-characters-and
if command -v qemu-x86_64 > /dev/null; then
    for dir in "$T/a" "$T/long-long-long"; do
        TMPDIR=$dir METRICS=instructions "$measure" count w a=O2 b=six666 c=a-name-of-thirty-characters-and
    done | csv-calc --where="metric == 'instructions'" --print="concat(run, ' ', value, ' ', exact, ' ', runs)" 2> /dev/null |
        sort -u > same
    is 'what a program is called does not count' '2 yes 2' bash -c \
        "echo \$(wc -l < same) \$(grep -o 'yes 2' same | sort -u)"
else skip 'counts' 'qemu-x86_64 is not here'; fi
fails 'another word' 2 'measure: '\''weigh'\'' is neither count nor time' "$measure" weigh w a=/bin/true
done_testing
