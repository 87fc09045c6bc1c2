#!/bin/bash
. "$(dirname "$0")/tap.sh"

loop-peak --rounds=3 > p.csv
is 'the columns' 'isa,gflops,machine' head -1 p.csv
ok 'each instruction set has a plausible peak' awk -F, 'NR > 1 { n++; if ($2 < 1 || $2 > 1000) bad = 1 } END { exit bad || !n }' p.csv
is 'only the one asked for' avx2 bash -c 'loop-peak --isa=avx2 --rounds=1 | tail -1 | cut -d, -f1'
fails 'operands are refused' 2 'no operands' loop-peak x
done_testing
