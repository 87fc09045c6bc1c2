#!/bin/bash
. "$(dirname "$0")/tap.sh"
# the tables of policies and counters on a small folder of the study's layout, through make
run() { make -s -C "$root" B="$B" BIN="$BIN" OUT="$T/$1" DATA="$T/data" "${@:2}"; }
for b in kb sieve; do
    mkdir -p data/results/$b/plugins-valid
    for p in nothing fast; do
        t=$([ $p = fast ] && echo 1 || echo 2)
        for w in 1 2 3; do echo "w$w,o,r,9s,$t.${w}s,$t.${w}s"; done > data/results/$b/plugins-valid/plugin_$p.csv
    done
done
: > data/results/sieve/plugins-valid/plugin_broken.csv
mkdir data/pca-data
for i in 0 1; do echo "/r/initial/$i/x,h,$(seq -s, $i $((i + 46))),100,4.$i"; done > data/pca-data/kb.csv
for i in 1 2 3 4; do echo "/r/$i/0/x,h,$((i * i)),$(seq -s, $i $((i + 45))),$((100 + i)),3.$i"; done >> data/pca-data/kb.csv
: > data/pca-data/sieve.csv
ok 'make flambda-policies runs' run out flambda-policies
is 'with the columns fixed' 'policy,benchmark,baseline_seconds,seconds,saved_ratio,lower_ratio,upper_ratio' head -1 out/flambda/policies.csv
is 'the baseline is the lesser of nothing and the initial runs' 'fast,kb,2.1985|fast,sieve,2.1985|' bash -c "awk -F, '\$1 == \"fast\" { printf \"%s,%s,%.4f|\", \$1, \$2, \$3 } END { print \"\" }' out/flambda/policies.csv"
is 'a build that failed is not hidden' 'broken,sieve,2.1984,,,,' bash -c "grep ^broken out/flambda/policies.csv | sed 's/,2.1984[0-9]*/,2.1984/'"
is 'train, test, own and all' $'fast,train,1\nfast,test,1\nfast,own,0\nfast,all,2' bash -c "grep ^fast out/flambda/policies-summary.csv | cut -d, -f1-3"
ok 'the pictures are drawn' bash -c 'grep -q "<svg" out/flambda/policies.svg && grep -q "<svg" out/flambda/policies-set.svg'
ok 'make flambda-pca runs' run out flambda-pca
is 'a benchmark without rows has empty values' $'kb,6,6,0\nsieve,,,' bash -c "tail -n +2 out/flambda/pca.csv | cut -d, -f1-4"
ok 'its scatter is drawn' bash -c 'grep -q "<svg" out/flambda/pca/kb-z.svg'
ok 'again into another folder' run again flambda-policies flambda-pca
is 'gives the same bytes' "$(cat out/flambda/{policies,policies-summary,pca,pca-points}.csv | cksum)" bash -c 'cat again/flambda/{policies,policies-summary,pca,pca-points}.csv | cksum'
mv data/pca-data elsewhere
ok 'it does without counters' run bare flambda-policies
is 'then nothing is the baseline' 0.4554 bash -c "awk -F, '\$1 == \"fast\" && \$2 == \"kb\" { printf \"%.4f\n\", \$5 }' bare/flambda/policies.csv"
done_testing
