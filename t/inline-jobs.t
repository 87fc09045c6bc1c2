#!/bin/bash
. "$(dirname "$0")/tap.sh"
. "$root/t/inline-live.sh"
inline-build --out=a w > /dev/null
here=$(pwd -P)
is 'a line for each run' "demo.1	--directory=$here/demo --input=$here/demo/table.c --exit=0 --label=O2 '$here/a sort'
demo.2	--directory=$here/demo --input=$here/demo/main.c --exit=0 --label=O2 '$here/a words'" inline-jobs w O2=a
inline-jobs w O2=a O3=a | while IFS=$'\t' read -r name args; do eval "bench-run --rounds=2 --warmup=0 --benchmark=$name $args"; done > runs.csv
is 'bench-run understands it' 8 grep -c ',measure,.*,ok,.*demo\.' runs.csv
fails 'a missing executable' 1 'nope: No such file' inline-jobs w O2=nope
fails 'no label' 2 "'a' is not LABEL=EXE" inline-jobs w a
done_testing
