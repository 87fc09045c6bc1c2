#!/bin/bash
. "$(dirname "$0")/tap.sh"

loop-gen --kind=mm --m=64,128 --n=64,128 --k=64,128 --test=0.25 > p.csv
train() { loop-train --quiet --eval=model --seed=3 "$@" p.csv; }
train --actions=published --steps=200 -o s > s.csv
is 'columns' 'algo,episode,steps,updates,return,explore,loss,states,kind' head -1 s.csv
ok 'seven actions as published' grep -q '(actions up down swap_up swap_down split_4 split_8 split_16)' s

is 'a place where no policy can be written is found before one is learned' 'loop-train: no/p: No such file or directory' \
    bash -c 'loop-train --eval=model --algo=ppo --steps=2000 -o no/p p.csv 2>&1 || :'
train --actions=moves --length=6 --steps=200 -o m > /dev/null
ok 'moves' grep -q '(actions up down .* innermost tile_2 .* block_512)' m

# each algorithm: twice the same; killed and gone on, the same; and it learns
learns() { awk -F, 'NR == 2 { first = $5 } NR > 1 { last = $5 } END { exit !(last > first + '"$1"') }' "$2"; }
while read -r algo steps gain head; do
    train --algo="$algo" --steps="$steps" -o a > a.csv
    rm -f c part
    options=(--quiet --eval=model --seed=3 --algo="$algo" --steps="$steps" --checkpoint=c --every=0.1)
    loop-train "${options[@]}" -o part p.csv > part.csv &
    pid=$!
    for ((i = 0; i < 2000; i++)); do [ ! -e c ] || break; sleep 0.005; done
    { kill -9 $pid; wait $pid; } 2> /dev/null
    ok "$algo: a policy is complete or absent" bash -c '[ ! -e part ] || cmp a part'
    rm -f part
    train --algo="$algo" --steps="$steps" --checkpoint=c -o part > part2.csv
    ok "$algo: killed, it goes on and ends with the same policy" cmp a part
    ok "$algo: so does the curve" cmp <(cut -d, -f1-7 a.csv) <(cut -d, -f1-7 part2.csv)
    train --algo="$algo" --steps="$steps" --checkpoint=c -o part > part3.csv
    ok "$algo: ended, the whole curve again" cmp part2.csv part3.csv
    ok "$algo: a policy as it should be" grep -q "($head " a
    ok "$algo: it learns" learns "$gain" a.csv
    ok "$algo: the steps asked for" awk -F, -v n="$steps" 'END { exit !($3 >= n - 2000 && $3 < n + 1500) }' a.csv
done << 'END'
dqn 5000 0.03 qnet
apex 3000 0.03 qnet
ppo 8000 0.03 actor
END
train --algo=apex --steps=1500 -o a > a.csv
train --algo=apex --steps=1500 -o b > b.csv
ok 'the same seed, the same curve' cmp a.csv b.csv
ok 'and the same policy' cmp a b
train --algo=apex --actors=3 --steps=1500 -o b > b.csv
ok 'three actors' test -s b
while read -r algo; do
    rm -f d d.curve
    train --algo="$algo" --steps=1500 --checkpoint=d -o a > a.csv
    train --algo="$algo" --steps=2500 --checkpoint=d -o b > b.csv
    ok "$algo: one that had ended goes on" awk -F, 'END { exit !($3 >= 2000) }' b.csv
    ok "$algo: behind what there was" cmp a.csv <(head -n "$(wc -l < a.csv)" b.csv)
done <<< $'dqn\nppo'
train --algo=ppo --steps=16000 -o a > a.csv
train --algo=ppo --steps=3000 --from=a -o b > b.csv
train --algo=ppo --steps=3000 -o b > fresh.csv
first() { csv-cut -c return "$1" | sed -n 2p; }
ok 'begun with a policy, it is better from the first' awk -v a="$(first b.csv)" -v b="$(first fresh.csv)" 'BEGIN { exit !(a > b + 0.02) }'
train --steps=300 -o a > a.csv
train --steps=20 --from=a -o b > b.csv
ok 'before anything is learned it is that policy' cmp a b
fails 'a policy of values for an actor' 1 'a: a policy of another kind than' train --algo=ppo --from=a -o x
fails 'one of other actions' 1 'a: a policy of other actions than' train --actions=full --from=a -o x
fails 'a checkpoint of another seed' 1 'another training' train --algo=ppo --seed=4 --steps=8000 --checkpoint=c -o x
fails 'a checkpoint of another algorithm' 1 'a checkpoint of ppo, not of dqn' train --steps=3000 --checkpoint=c -o x
head -c 300 a > cut
fails 'a file that is no checkpoint' 1 'not a checkpoint' train --checkpoint=cut -o x
head -c 5000 c > cut
fails 'a checkpoint that was cut' 1 'cut short or damaged' train --algo=ppo --steps=8000 --checkpoint=cut -o x
(cat c; echo x) > long
cp c whole
sed 's/updates/other/' c.curve > whole.curve
fails 'a curve of something else' 1 "whole.curve:1:.*'updates'" train --algo=ppo --steps=8000 --checkpoint=whole -o x
fails 'a checkpoint with more behind it' 1 'cut short or damaged' train --algo=ppo --steps=8000 --checkpoint=long -o x
fails 'no place for the policy' 2 'out' loop-train p.csv
fails 'an unknown algorithm' 2 'algo' train --algo=sarsa -o x
printf 'problem,split\n(mm 64 64 64),test\n' > none.csv
fails 'nothing to learn from' 1 'no problem' loop-train -o x none.csv
fails 'a size of 0' 1 'none.csv:2' bash -c 'printf "problem\n(mm 64 0 64)\n" > none.csv; loop-train -o x none.csv'
done_testing
