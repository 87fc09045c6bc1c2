#!/bin/bash
# trees that put nests in order: what they learn is found again, what is measured counts, files that are not theirs
. "$(dirname "$0")/tap.sh"
unset MILLRACE_LOOP_RANK
export XDG_CACHE_HOME=$PWD/cache
best_isa=$(loop-machine --peak --rounds=1 | csv-cut -c isa | tail -n 1)
[ "$best_isa" != isa ] || { echo '1..0 # skip neither AVX-512 nor AVX2 here'; exit 0; }
isa() { "$1" --isa="$best_isa" "${@:2}"; }
for n in 48 80 112; do for k in 40 96; do echo "(mm 64 $n $k)"; done; done | sed 1iproblem > p.csv
isa loop-search --algo=heuristic --list --spread --measure=40 p.csv | csv-dedupe -k problem,tree > pool.csv
# the model as the truth, but nests with an even place among their neighbours are ten times slower: that is not in it
isa loop-run --eval=model pool.csv | csv-calc --where='gflops > 0' --set="gflops=gflops / (tree ~ ' pack_' ? 10 : 1)" > model.csv
fails 'the model has measured nothing' 1 "0 measured nests of $best_isa" isa loop-rank -o a model.csv
csv-calc --set="kind='real'" model.csv > runs.csv
isa loop-rank --trees=50 --weight=1 -o a runs.csv
isa loop-rank --trees=50 --weight=1 -o b runs.csv
ok 'the same rows, the same trees' cmp a b
isa loop-rank --trees=50 --weight=1 --seed=2 -o b runs.csv
ok 'another seed, others' eval '! cmp -s a b'
places() { isa loop-rank --model=a --order="$1" runs.csv; }
for o in trees model untrained random; do
    is "$o: each place once" "$(csv-group -g problem -c gflops --stat=n runs.csv | csv-cut -c problem,n_gflops)" \
        eval "places $o | csv-dedupe -k problem,place | csv-group -g problem -c place --stat=n | csv-cut -c problem,n_place |
              sed 's/n_place/n_gflops/'"
done
first() { places "$1" | csv-calc --where='place < 1' | csv-group -g problem -c gflops --stat=max | csv-cut -c max_gflops; }
csv-group -g problem -c gflops --stat=max runs.csv | csv-cut -c max_gflops | sed 1s/.*/best/ > best
ok 'what was learned is found again: the first is within a tenth of the best' \
    eval "paste -d, <(first trees) best | csv-calc --where='max_gflops < .9 * best' | sed 1d | wc -l | grep -qx 0"
model_first() { csv-cat <(places "$1") | csv-sort -k problem,model_seconds:n | csv-dedupe -k problem; }
is "the model's first is among the first two" 0 eval "model_first trees | csv-calc --where='place > 1' | sed 1d | wc -l"
for o in random untrained; do
    is "$o: so it is there" 0 eval "model_first $o | csv-calc --where='place > 1' | sed 1d | wc -l"
done
ok 'what is measured changes what is next' eval "! cmp -s <(places trees | csv-cut -c place) \
    <(csv-calc --set='gflops=0' runs.csv | isa loop-rank --model=a | csv-cut -c place)"
isa loop-rank --trees=50 --weight=1 --shuffle -o s runs.csv
ok 'a control is other trees' eval '! cmp -s a s'
# searches: by them where trees are there, and only then
list() { isa loop-search --algo=heuristic --list --measure=6 "$@" p.csv; }
ok 'without trees the order is the model'\''s' cmp <(list) <(list --rank=none)
ok 'with trees another one' eval '! cmp -s <(list) <(list --rank=a)'
is 'the model'\''s first is among its first two' 6 eval 'csv-join -k problem,tree <(list --measure=1 | csv-dedupe -k problem) \
    <(list --rank=a --measure=2 | csv-dedupe -k problem,tree) | sed 1d | wc -l'
ok 'one measurement is the model'\''s' cmp <(list --measure=1) <(list --measure=1 --rank=a)
isa loop-rank --trees=5 --quiet runs.csv
is 'kept in the cache, by machine' 1 eval "ls cache/millrace/loop-rank-$best_isa-* | wc -l"
ok 'and used where nests are measured' eval "isa loop-search --algo=heuristic --measure=2 --confirm=0 p.csv > x"
ok 'not where they are not' cmp <(isa loop-search --algo=heuristic --eval=model p.csv) <(isa loop-search --algo=heuristic --eval=model --rank=none p.csv)
echo '(rank (machine x) (isa avx2) (encoder 1) (rows 2) (problems 1) (features a) (tree -1 0))' > old
fails 'trees of another version' 1 'old:1: learned by another version' loop-search --algo=heuristic --list --rank=old p.csv
head -c 3000 a > cut
fails 'trees that were cut' 1 'cut:' loop-search --algo=heuristic --list --rank=cut p.csv
sed '0,/(tree slowdown (/s/(tree slowdown ([a-z_0-9]*/(tree slowdown (nothing/' a > bad
fails 'a feature that is none' 1 'bad:7: a node tests what is no feature' loop-rank --model=bad runs.csv
sed 's/problem_flops/another/g' a > bad
fails 'other features' 1 'learned by another version' loop-rank --model=bad runs.csv
sed '1s/(machine "[^"]*")/(machine other)/' a > other
fails 'trees of another machine that were asked for' 1 'learned on other' loop-search --algo=heuristic --list --rank=other p.csv
ok 'are not used where they were not' eval "MILLRACE_LOOP_RANK=other isa loop-search --algo=heuristic --measure=2 --confirm=0 p.csv > x 2> err && grep -q 'not used' err"
fails 'nothing to learn from' 1 'nothing to learn from' loop-rank -o x <(head -1 runs.csv)
fails 'two things at once' 2 'one of' loop-rank --table -o x runs.csv
fails 'no seconds' 1 "'seconds'" loop-rank -o x pool.csv
is 'features for any other learner' "$(($(wc -l < runs.csv)))" eval 'isa loop-rank --table runs.csv | wc -l'
done_testing
