#!/bin/bash
. "$(dirname "$0")/tap.sh"

printf 'problem,split\n(mm 64 64 64),train\n(mm 64 48 96),test\n(mm 96 64 80),test\n' > p.csv
loop-train --quiet --eval=model --seed=2 --steps=4000 -o a p.csv > /dev/null
loop-roll --policy=a --eval=model --measure=10 p.csv > 10.csv
loop-roll --policy=a --eval=model --measure=10 p.csv > again.csv
ok 'the same policy, the same rows' cmp 10.csv again.csv
is 'columns' 'problem,algo,step,action,tree,gflops,seconds,kind' head -1 10.csv
is 'only test problems' '(mm 64 48 96) (mm 96 64 80)' \
    bash -c "loop-roll --policy=a --eval=model --test p.csv | tail -n +2 | cut -d, -f1 | uniq | paste -sd ' '"
awk -F, -v OFS=, 'BEGIN { print "problem,action" }
    NR > 1 && $1 != p { if (p != "") print p, list; p = $1; list = "" } NR > 1 && $4 != "" { list = list (list == "" ? "" : " ") $4 } END { print p, list }' 10.csv > list.csv
last() { awk -F, 'NR > 1 { if ($1 != p && p != "") print l; p = $1; l = $0 } END { print l }' "$1"; }
is 'the actions lead to the last tree' "$(last 10.csv | sed 's/.*\((tree.*)\),.*,.*,simulated/\1/')" \
    bash -c "loop-act list.csv | tail -n +2 | sed 's/.*\((tree.*)\),[0-9]*,.*/\1/'"
gflops() { last "$1" | awk -F, '{ print $(NF - 2) }'; }
loop-roll --policy=a --eval=model --measure=1 p.csv > 1.csv
loop-roll --policy=a --eval=model --measure=3 p.csv > 3.csv
ok 'more measurements are never worse' awk '$2 < $1 || $3 < $2 { exit 1 }' <(paste <(gflops 1.csv) <(gflops 3.csv) <(gflops 10.csv))
ok 'one measurement is the untiled nest' awk -F, 'NR > 1 && $3 != 0 { exit 1 }' 1.csv
ok 'without measurements there is no gflops' awk -F, 'NR > 1 && $(NF - 2) != "" { exit 1 }' <(loop-roll --policy=a --measure=0 --width=1 p.csv)
ok 'the model may rank' bash -c 'loop-roll --policy=a --eval=model --rank=model --measure=4 p.csv | tail -1 | grep -q simulated'
ok 'measured rows are real' bash -c "loop-roll --policy=a --measure=2 p.csv | grep -q ',real$'"
# a policy of moves: another set of actions, learned on products, for any problem; what it did are actions of loop-act
loop-train --quiet --eval=model --seed=2 --steps=4000 --algo=ppo --actions=moves --reward=ratio --starts=2 -o m p.csv > /dev/null
(cat p.csv; echo '(conv_nhwc 1 16 12 12 32 3 3 1),test') > c.csv
loop-roll --policy=m --eval=model --rank=model --measure=10 c.csv > m.csv
is 'any kind of problem' 4 bash -c "tail -n +2 m.csv | cut -d, -f1 | sort -u | wc -l"
awk -F, -v OFS=, 'BEGIN { print "problem,action" }
    NR > 1 && $1 != p { if (p != "") print p, list; p = $1; list = "" } NR > 1 && $4 != "" { list = list (list == "" ? "" : " ") $4 } END { print p, list }' m.csv > list.csv
is 'the actions of its moves lead to the last tree' "$(last m.csv | sed 's/.*\((tree.*)\),.*,.*,simulated/\1/')" \
    bash -c "loop-act list.csv | tail -n +2 | sed 's/.*\((tree.*)\),[0-9]*,.*/\1/'"
ok 'it gains' awk -F, '$3 == 0 { base = $(NF - 2) } $(NF - 2) > 1.5 * base { good = 1 } END { exit !good }' m.csv
is 'in no time nothing is measured' 4 bash -c "loop-roll --policy=m --seconds=0 c.csv | awk -F, '\$3 == 0 && \$(NF - 2) == \"\"' | wc -l"
fails 'no policy' 2 'policy' loop-roll p.csv
sed 's/split_4/split_x/' a > bad
fails 'an unknown action' 1 'bad:1' loop-roll --policy=bad p.csv
sed 's/(widths 320/(widths 321/' a > bad
fails 'a network of another shape' 1 'bad:' loop-roll --policy=bad p.csv
head -c 5000 a > bad
fails 'a policy that was cut' 1 'bad:' loop-roll --policy=bad p.csv
done_testing
