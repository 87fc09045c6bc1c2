#!/bin/bash
# pipelines/ratios: exact costs over those of a base
. "$(dirname "$0")/tap.sh"
ratios() { "$root/pipelines/ratios" "$@"; }
cat > e.csv <<'X'
run,label,metric,value
a.1,O2,instructions,100
a.1,new,instructions,50
a.2,O2,instructions,10
a.2,new,instructions,20
a.2,odd,instructions,
b.1,O2,instructions,10
b.1,new,instructions,40
b.2,new,instructions,40
X
is 'geometric means over runs, then over programs' 'program,label,metric,runs,ratio,least,most
a,O2,instructions,2,1,1,1
a,new,instructions,2,1,0.5,2
b,O2,instructions,1,1,1,1
b,new,instructions,1,4,4,4
(geometric mean),O2,instructions,2,1,1,1
(geometric mean),new,instructions,2,2,1,4' ratios O2 e.csv
is 'another base' 'a,O2,instructions,2,1,0.5,2' eval 'ratios new e.csv | sed -n 2p'
fails 'no such base' 1 "no label 'x'" ratios x e.csv
is 'of one program no mean of programs' 3 eval 'ratios O2 <(grep -v ^b e.csv) | wc -l'
fails 'a cost that is none' 1 'more than 0' ratios O2 <(sed s/100/0/ e.csv)
done_testing
