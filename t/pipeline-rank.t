#!/bin/bash
# make loop-learn and make loop-rank at their smallest: trees in the user's cache, a table of all ways beside the model
. "${0%/*}/tap.sh"
[ "$(loop-machine --peak --rounds=1 | wc -l)" -gt 1 ] || { echo '1..0 # skip neither AVX-512 nor AVX2 here'; exit 0; }
export XDG_CACHE_HOME=$PWD/cache
run() { make -s -C "$root" "$@" SCALE=ci OUT="$PWD/out" B="$B" BIN="$BIN" LOOP_MACHINE=built-in; }
mkdir -p out/loop/rank
printf 'problem\n(mm 33 47 21)\n(mm 64 32 48)\n(mm_nt 16 40 24)\n' > out/loop/rank/learn.problems
ok 'make loop-learn' eval 'run loop-learn > log 2>&1 || { tail -5 log; false; }'
is 'what was learned is where searches look for it' 1 eval 'ls cache/millrace/loop-rank-* | wc -l'
for s in test all; do
    for k in 'mm 33 48' 'mm_nt 24 40' 'mm_tn 20 32' 'mm_tt 28 44' 'conv 1 8 9 9 16 1' 'conv_nhwc 1 8 9 9 16 1'; do
        case $k in conv*) echo "($k $([ $s = test ] && echo '1 1' || echo '1 2'))" ;; *) echo "($k $([ $s = test ] && echo 16 || echo 24))" ;; esac
    done | sed 1iproblem > out/loop/rank/$s.problems
done
ok 'make loop-rank' eval 'run loop-rank > log 2>&1 || { tail -5 log; false; }'
is 'every way, beside the model' 'held_out random seed_2 seed_3 seed_4 seed_5 shuffled trees untrained' \
    eval "csv-cut -c way out/loop/rank.csv | sed 1d | sort -u | tr '\n' ' ' | sed 's/ \$/\n/'"
is 'all problems, none of which was learned from' 6 eval "csv-calc --where='kind == \"all\"' --print=problems out/loop/rank.csv | sort -u"
is 'nothing learned from is asked' 0 eval 'csv-join --quiet -k problem out/loop/rank/train.problems out/loop/rank/test.problems | sed 1d | wc -l'
cp out/loop/rank.csv before
ok 'and once more' eval 'run loop-rank > log 2>&1'
ok 'nothing was measured twice' cmp before out/loop/rank.csv
done_testing
