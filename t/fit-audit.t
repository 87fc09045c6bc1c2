#!/bin/bash
. "$(dirname "$0")/tap.sh"
printf 'label,a,b,c,d,e\np,1,1,5,3,true\nq,1,1,5,3,true\np,1,1,5,3,true\nq,2,2,5,5,false\nq,3,3,5,7,false\n' > t.csv
is 'dead columns, collisions and the ceiling' 'item,key,value
n_rows,,5
n_columns,,5
rank,,2
n_constant,,1
constant,c,5
n_equal,,1
equal,b,a
n_collinear,,1
collinear,d,a
n_distinct,,3
n_colliding,,3
ceiling_ratio,,0.8
majority_ratio,,0.6' fit-audit -y label t.csv
is 'without a target there is no ceiling' 0 bash -c 'fit-audit --ignore=label t.csv | grep -c ratio || true'
printf 'a,b\n1e200,2e200\n3e200,6e200\n2e200,4e200\n7e200,14e200\n' > huge.csv
awk 'BEGIN { print "a,b"; for (i = 0; i < 7; i++) printf "%d.%s,%g\n", 1e15, i % 2 ? "125" : "5", i % 2 ? 1 : 4 }' > far.csv
is 'multiples among huge numbers, and far from 0' $'collinear,b,a\ncollinear,b,a' bash -c 'fit-audit huge.csv | grep ^coll; fit-audit far.csv | grep ^coll'
done_testing
