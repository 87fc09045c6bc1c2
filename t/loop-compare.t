#!/bin/bash
. "$(dirname "$0")/tap.sh"

cat > p.csv <<'X'
problem,lib,gflops
p,ours,40
p,x,20
p,y,10
q,ours,40
q,x,80
q,y,
X
is 'ratios to each and to the best' 'lib,problems,gflops_geomean,peak_ratio,ratio,ratio_min,wins_share,kind
ours,2,40,0.4,1,1,1,real
x,2,40,0.4,1,0.5,0.5,real
y,1,10,0.1,4,4,1,real
best,2,40,0.4,1,0.5,0.5,real' bash -c "loop-compare --peak=100 p.csv | sed 's/\([0-9]\)\.\([0-9]*[0-9]\)0000000[0-9]*/\1.\2/g; s/39\.99999[0-9]*/40/g; s/40\.00000[0-9]*/40/g; s/10\.00000[0-9]*/10/g; s/0\.39999[0-9]*/0.4/g; s/0\.1000000*[0-9]*/0.1/g'"
is 'a library may be left out' 3 bash -c 'loop-compare --without=x,z p.csv | tail -n +2 | wc -l'
is 'the published ratios' '3.2 10 2.8 1.08' bash -c "loop-compare --published p.csv | awk -F, '/published/ { print \$5 }' | paste -sd ' '"
fails 'ours must be there' 1 "no rows of lib 'mine'" loop-compare --of=mine p.csv
done_testing
