#!/bin/bash
# what is taught is learned: seconds are made up from the model's by a rule, and the order must follow it
. "$(dirname "$0")/tap.sh"
printf 'problem\n(mm 64 96 80)\n(mm 96 80 64)\n(mm 128 64 96)\n(mm 72 128 100)\n' > p.csv
for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo "(mm $((64 + 8 * (i % 4))) $((64 + 16 * (i / 4))) 80)"; done >> p.csv
loop-search --quiet --algo=heuristic --measure=1 --confirm=0 --isa=avx2 --cache=real.csv p.csv > /dev/null 2>&1 ||
    { echo "1..0 # skip no avx2"; exit 0; }
version=$(csv-calc --print=encoder real.csv | head -1)
candidates() { for s in 1 2 3 4 5 6 7 8; do
    loop-search --quiet --algo=heuristic --spread --measure=1 --seed=$s --isa=avx2 --eval=model p.csv; done; }
candidates > drawn.csv
ok 'nests of all ranks are drawn, another seed draws others' test "$(sed 1d drawn.csv | cut -d, -f5 | sort -u | wc -l)" -gt 24
is 'the same seed draws the same' "$(candidates | sha256sum)" eval 'sha256sum < drawn.csv'
# a store of all of them, as if measured
candidate_table() { for s in $(seq 40); do
    loop-search --quiet --algo=heuristic --spread --measure=1 --seed=$s --isa=avx2 --eval=model p.csv; done; }
candidate_table | csv-calc --where='known(gflops) && problem != "problem"' --set='key="0000000000000001"' --set='machine="m"' \
    --set='isa="avx2"' --set="encoder=$version" --set='seconds=1' --set='median_seconds=1' --set='runs=1' --set='load=0' 2> err |
    csv-cut -c key,machine,isa,encoder,problem,tree,seconds,median_seconds,runs,load > flat.csv
ok 'a store' test "$(wc -l < flat.csv)" -gt 150
loop-residual --table flat.csv > seen.csv
is 'a row for each' "$(wc -l < flat.csv)" eval 'wc -l < seen.csv'
ok 'features are numbers' eval '! grep -qE "nan|inf" seen.csv'
teach() { csv-join -k problem,tree --unique flat.csv <(csv-cut -c problem,tree,model_seconds,rows,vectors seen.csv | csv-dedupe -k problem,tree) |
    csv-calc --set="seconds=model_seconds * ($1 ? 4 : 1)" | csv-cut -c key,machine,isa,encoder,problem,tree,seconds,median_seconds,runs,load; }
first() { loop-search --quiet --algo=heuristic --measure=1 --confirm=0 --isa=avx2 --eval=model "$@" p.csv > found.csv
    csv-calc --where='known(gflops) && step > 0' --set='key="0000000000000001"' --set='machine="m"' --set='isa="avx2"' --set="encoder=$version" found.csv |
    loop-residual --table - | csv-calc --print='vectors'; }
ok 'the model wants no narrow tiles' eval '! first | grep -qx 1'
teach 'vectors > 1' > narrow.csv
loop-residual -o narrow narrow.csv
is 'taught otherwise, narrow ones' '1' eval 'first --residual=narrow --trust | sort -u | paste -sd" "'
is 'and not the model'"'"'s where it is sure' '1' eval 'first --residual=narrow | sort -u | paste -sd" "'
teach 'row() * 7919 % 13 < 6' > noise.csv
loop-residual -o noise noise.csv
is 'of noise it is not sure' "$(first)" first --residual=noise
ok 'and its order is another' eval '[ "$(first)" != "$(first --residual=noise --trust)" ]'
loop-residual --shuffle -o mixed narrow.csv
ok 'mixed-up measurements are something else' eval '! cmp -s narrow mixed'
list() { loop-search --quiet --algo=heuristic --measure=9 --isa=avx2 --list "$@" p.csv | csv-dedupe -k problem,tree | csv-cut -c problem,tree; }
list > alone.csv
list --residual=narrow > taught.csv
is 'half of what the model would measure is measured, or more' 0 eval 'csv-join -k problem,tree alone.csv taught.csv |
    csv-group -g problem | csv-calc --where="n_rows < 5" | sed 1d | wc -l'
ok 'and some is not' eval '! cmp -s alone.csv taught.csv'
is 'nothing is measured for a list' 'problem,algo,tree' eval 'loop-search --quiet --algo=random --list --evaluations=3 p.csv | head -1'
teach 'vectors > 99' > same.csv
loop-residual -o same same.csv
is 'taught that the model is right, what that wants' "$(first)" first --residual=same
loop-residual -o again narrow.csv
ok 'the same rows, the same bytes' cmp narrow again
ok 'another seed, others' eval 'loop-residual --seed=2 -o other narrow.csv && ! cmp -s narrow other'
printf 'problem\n(mm_u8s8 64 96 80)\n(conv_nhwc 1 8 30 30 16 3 3 1)\n(mm 1500 1400 900)\n' > p.csv
loop-search --quiet --algo=heuristic --measure=3 --confirm=0 --eval=model p.csv > plain.csv
loop-search --quiet --algo=heuristic --measure=3 --confirm=0 --eval=model --residual=narrow p.csv > outside.csv
ok 'outside of what it was taught the model stands' cmp plain.csv outside.csv
head -c 3000 narrow > cut
fails 'a residual that was cut' 1 'cut:' loop-search --algo=heuristic --eval=model --residual=cut p.csv
fails 'no residual' 1 'p.csv:' loop-search --algo=heuristic --eval=model --residual=p.csv p.csv
sed 's/problem_flops/problem_plops/' narrow > bad
fails 'of another version' 1 'problem_flops' loop-search --algo=heuristic --eval=model --residual=bad p.csv
for n in -1e308 nan -1 9223372036854775808; do
    sed "s/(rows [0-9]*)/(rows $n)/" narrow > bad
    fails "rows $n" 1 'bad:' loop-search --algo=heuristic --eval=model --residual=bad p.csv
done
sed '2s/,avx2,/,sse,/' flat.csv > bad
fails 'an unknown instruction set' 1 'bad:2:' loop-residual -o x bad
fails 'nothing to learn from' 1 'nothing to learn' loop-residual -o x <(head -1 flat.csv)
fails 'where to' 2 'output' loop-residual flat.csv
done_testing
