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
done_testing
