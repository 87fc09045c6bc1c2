#!/bin/bash
# make loop-residual at its smallest: stores, residuals, all ways, both machines; nothing is measured twice
. "${0%/*}/tap.sh"
run() { make -s -C "$root" loop-residual SCALE=ci OUT="$PWD/out" B="$B" BIN="$BIN" LOOP_RESIDUAL_SETS='ragged layers' LOOP_ISA_SETS=ragged \
    LOOP_RESIDUAL_COUNTS='1 2' LOOP_ISA_COUNTS=1 LOOP_LEARN_STEPS=500; }
grep -q avx512bf16 /proc/cpuinfo || grep -q avx512_bf16 /proc/cpuinfo || { echo "1..0 # skip no AVX512-BF16"; exit 0; }
mkdir -p out/loop/set out/loop/residual
printf 'problem,split\n(mm 33 47 21),train\n(mm 50 61 53),train\n' > out/loop/set/ragged.problems
printf 'problem,split\n(mm_bf16 4 64 64),train\n(mm 16 64 64),train\n' > out/loop/residual/layers.problems
ok 'it runs to its end' eval 'run > log 2>&1 || { tail -5 log; false; }'
is 'a column for each way' 'set,isa,measurements,kind,model,residual,trust,shuffled,policy,fallback,untrained,random' \
    head -1 out/loop/residual.csv
is 'a row for each set and count' 5 eval 'wc -l < out/loop/residual.csv'
is 'and for each machine' 'avx2 avx512' eval 'csv-calc --print=isa out/loop/residual-isa.csv | paste -sd" "'
ok 'no way is better than the best known' eval '! grep -qE ",1\.0*[1-9]" out/loop/residual.csv'
ok 'none of the sets is learned from' eval '! grep -qF -f <(sed 1d out/loop/residual/ragged.problems) out/loop/residual/train.problems'
ok 'nothing of the other machine is learned from' eval '! grep -q ,avx512, out/loop/residual/avx2.store'
find out/loop/residual -type f -exec sha256sum {} + | LC_ALL=C sort > before
ok 'and once more' eval 'run > log 2>&1'
find out/loop/residual -type f -exec sha256sum {} + | LC_ALL=C sort > after
ok 'nothing was measured twice' cmp before after
done_testing
