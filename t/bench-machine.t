#!/bin/bash
. "$(dirname "$0")/tap.sh"
is 'three columns' 'fingerprint,fact,value' sh -c 'bench-machine | head -n 1'
is 'one fingerprint of 16 digits' 1 sh -c "bench-machine | tail -n +2 | cut -d, -f1 | grep -E '^[0-9a-f]{16}\$' | sort -u | wc -l"
is 'the same every time' "$(bench-machine | tail -n 1 | cut -d, -f1)" sh -c 'X=1 bench-machine | tail -n 1 | cut -d, -f1'
is 'it says whether there are hardware counters' 1 sh -c "bench-machine | grep -cE ',hardware_counters,(yes|none)'"
is 'as an s-expression' 'kernel' sh -c 'bench-machine --sexp | grep -o "(kernel" | tr -d "("'
fails 'no operand' 2 'no operand' bench-machine x
ok "one line for the foot of a picture" eval 'bench-machine --line | grep -Eqx "[0-9]+ cores? of .*, [0-9]+ GB(, virtual)?, machine [0-9a-f]{16}"'
done_testing
