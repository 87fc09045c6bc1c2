#!/bin/bash
# every example runs as it is, in a folder of its own, and leaves what it says
. "$(dirname "$0")/tap.sh"
run() { mkdir "$1" && (cd "$1" && "$root/examples/$1/run" > out 2> err) && [ -s "$1/out" ]; }
is 'the table names all of them' "$(cd "$root/examples" && ls -d */ | tr -d / | sort)" eval \
    "grep -o '^| \\[[a-z]*\\]' '$root/examples/README.md' | tr -d '|[] ' | sort"
ok 'table' run table
is 'finds the one that is slow' 'a new: 2.4 times the first' tail -1 table/out
ok 'bench' run bench
ok 'loop' run loop
ok 'leaves C that compiles' eval 'gcc -O2 -march=native -c -o /dev/null loop/nest.c || gcc -O2 -mavx512f -c -o /dev/null loop/nest.c'
ok 'place' run place
seconds() { sed -n "s/^$1 \([^ ]*\) .*/\1/p" place/out; }
is 'a plan with moves is not slower than one without' 1 csv-calc --let="with=$(seconds sync)" --let="without=$(seconds static)" \
    --print='number(with) <= number(without)' <(printf 'x\n1\n')
if [ -e "$(recorder)" ]; then
    ok 'prof' run prof
    ok 'sees Python' grep -q Python prof/out
else
    skip prof 'no recorder'
fi
if command -v clang > /dev/null; then ok 'inline' run inline; else skip inline 'no clang'; fi
done_testing
