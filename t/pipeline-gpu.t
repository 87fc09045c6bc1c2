#!/bin/bash
# make figure12 on a stand-in for a GPU's driver: from networks to the picture, which says simulated; without a GPU a line
. "${0%/*}/tap.sh"
unset LD_LIBRARY_PATH
run() { make -s -C "$root" figure12 SCALE=test GPU_STEPS=1 GPU_RUNS=1 OUT="$PWD/out" B="$B" BIN="$BIN"; }
if ! ldconfig -p | grep -q 'libcuda[.]so[.]1'; then
    fails 'without a driver: one line' 2 'no GPU can be used here: libcuda' run
    ok 'and no profile' [ ! -e out/gpu/resnet18-2-48/profile.csv ]
fi
ok 'it runs to its end' eval 'LD_LIBRARY_PATH=$B/t/cuda run > log 2>&1 || { tail -5 log; false; }'
is 'a row for each formulation' $'formulation,kind\nsync,simulated\nasync,simulated' csv-cut -c formulation,kind out/figure12.csv
is 'the oracle is over managed memory as well' 0 \
    eval 'csv-calc --where="!(abs(oracle_ratio * oracle_seconds / managed_seconds - 1) < 1e-9)" out/figure12.csv | sed 1d | wc -l'
is 'without one: by a model, no faster than the oracle' $'network,formulation,late\nresnet18,sync,0\nresnet18,async,0' \
    eval 'make -s -C "$root" figure12 SCALE=test GPU_DEVICE=model OUT="$PWD/model" B="$B" BIN="$BIN" &&
        csv-calc --set="late=speedup_over_managed_ratio > oracle_ratio * 1.001" model/figure12.csv | csv-cut -c network,formulation,late'
ok 'the picture says so' grep -q '>simulated: ' out/figure12.svg
find out -type f ! -name '*.lock' -exec sha256sum {} + | LC_ALL=C sort > before
ok 'and once more' eval 'LD_LIBRARY_PATH=$B/t/cuda run > log 2>&1'
find out -type f ! -name '*.lock' -exec sha256sum {} + | LC_ALL=C sort > after
ok 'nothing runs twice' cmp before after
done_testing
