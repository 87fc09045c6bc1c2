#!/bin/bash
# make loop at its smallest: training, searches, peers, tables and pictures; killed in the middle it goes on, done it does nothing
. "${0%/*}/tap.sh"
needs gnuplot
out=$PWD/out
run() { make -s -C "$root" loop SCALE=ci OUT="$out" B="$B" BIN="$BIN" LOOP_STEP=192 LOOP_SEARCHES='greedy1 random' LOOP_BROKEN=greedy1 \
    LOOP_PEERS= LOOP_ALL= LOOP_SETS=ragged LOOP_LEARN_STEPS=1000 LOOP_SECONDS=0.01; }
# the problems are there already, fewer than it would make
mkdir -p out/loop/learn out/loop/set
printf 'problem,split\n(mm 64 64 64),train\n(mm 96 64 64),train\n(mm 64 96 64),test\n(mm 80 64 96),test\n' > out/loop/learn/problems.csv
printf 'problem,split\n(mm 33 47 21),train\n(mm 50 61 53),train\n' > out/loop/set/ragged.problems
printf 'problem,split\n(mm 64 96 80),train\n' > out/loop/set/peers.problems
export -f run
export root out B BIN
setsid bash -c 'run > log 2>&1' & pid=$!
for ((i = 0; i < 3000; i++)); do [ ! -e out/loop/search/random.csv ] || break; sleep 0.01; done
{ kill -9 -- -$pid; wait $pid; } 2> /dev/null
ok 'it was killed before the end' test ! -e out/loop/compare.csv
ok 'make loop goes on' eval 'run > log 2>&1 || { tail -5 log; false; }'
sums() { (cd out && find . -name '*.csv' -o -name '*.peers' -o -name '*.png' -type f | sort | xargs sha256sum); }
sums > before
ok 'and once more' eval 'run > log 2>&1'
sums > after
ok 'nothing was measured twice' cmp before after
is 'a row for each algorithm' 'greedy1 greedy1_published heuristic policy random untrained' \
    eval "awk -F, '/real/ { print \$1 }' out/loop/summary.csv | sort | paste -sd' '"
is 'and for what was learned, beside what was not' 'heuristic policy random untrained' \
    eval "awk -F, '/real/ { print \$1 }' out/loop/learn/summary.csv | sort | paste -sd' '"
for p in violin steps; do
    ok "$p.svg shows the policy, the untrained network and the analytic search" \
        eval "grep -q '>policy' out/loop/$p.svg && grep -q '>untrained' out/loop/$p.svg && grep -q '>heuristic' out/loop/$p.svg"
done
# a control has the same options: two runs that differ in the policy's file and in nothing else
options() { make -n -C "$root" OUT="$out" B="$B" BIN="$BIN" LOOP_LEARN_STEPS=1000 loop-table "-W$out/loop/learn/test.csv" 2> /dev/null |
    grep -o "loop-roll .*name=$1_[a-z_]* .*" | sed "s/$1//g; s/ppo//g; s/> .*//" | sort -u; }
ok 'the control of each way has its options' eval '[ -n "$(options ppo)" ] && [ "$(options ppo)" = "$(options untrained)" ]'
is 'a table of each set' 'mm peers ragged' eval "sed 1d out/loop/compare.csv | cut -d, -f1 | sort -u | paste -sd' '"
complete() { for f in out/loop/*.svg; do grep -q '</svg>' "$f" || return 1; done; }
ok 'all pictures are complete' complete
is 'each as SVG and PNG' '6 6' eval 'echo $(ls out/loop/*.svg | wc -l) $(ls out/loop/*.png | wc -l)'
done_testing
