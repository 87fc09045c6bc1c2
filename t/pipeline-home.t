#!/bin/bash
# problems of all kinds and types, taken home on the ways that take little time; t/bench/loop-home.sh has all of both
. "$(dirname "$0")/tap.sh"
needs gcc
sed -n '1p;2~3p' "$root/t/home/problems.csv" > p.csv
n=$(($(wc -l < p.csv) - 1))
ways=(object-gcc-sanitized)
command -v qemu-x86_64 > /dev/null && ways+=(object-Haswell object-Nehalem)
/usr/bin/python3 -c 'import numpy' 2> /dev/null && ways+=(python)
ok "$n problems, by NAME and NAME_ld" "$root/t/bench/loop-home.sh" w p.csv "${ways[@]}"
for w in "${ways[@]}"; do is "$w has them all" "$n" bash -c "csv-calc --where='way == \"$w\" && right == 1' w/all.csv | tail -n +2 | wc -l"; done
# rows apart: what is refused, and a caller who could not tell would be wrong
is 'halves, what follows a sum and two contractions have rows apart, packed weights have not' 'mm_f16 gelu heads ' \
    bash -c "loop-emit --header=k.h $root/t/home/problems.csv > e.csv; for n in mm_f16 gelu heads mm_bytes; do
        grep -q \"^int \${n}_ld(\" k.h && printf '%s ' \$n; done; echo"
done_testing
