#!/bin/bash
. "$(dirname "$0")/tap.sh"

cat > p.csv <<'X'
problem,lib,gflops,kind
p,ours,40,simulated
p,x,20,simulated
p,y,10,simulated
q,ours,40,simulated
q,x,80,simulated
q,y,,simulated
X
is 'ratios to each and to the best' 'lib,problems,geomean_gflops,peak_ratio,ratio,low_ratio,high_ratio,least_ratio,least_problem,wins_share,kind
ours,2,40,0.4,1,1,1,1,p,1,simulated
x,2,40,0.4,1,0.5,2,0.5,q,0.5,simulated
y,1,10,0.1,4,,,4,p,1,simulated
best,2,40,0.4,1,0.5,2,0.5,q,0.5,simulated' bash -c "loop-compare --peak=100 p.csv | sed 's/\([0-9]\)\.\([0-9]*[0-9]\)0000000[0-9]*/\1.\2/g; s/39\.99999[0-9]*/40/g; s/40\.00000[0-9]*/40/g; s/10\.00000[0-9]*/10/g; s/0\.39999[0-9]*/0.4/g; s/0\.1000000*[0-9]*/0.1/g'"
is 'a library may be left out' 3 bash -c 'loop-compare --without=x,z p.csv | tail -n +2 | wc -l'
{ sed -n 1p p.csv; for i in {1..9}; do echo "p$i,ours,$((i * 7 % 5 + 9)),simulated"; echo "p$i,x,10,simulated"; done; } > r.csv
width() { loop-compare --confidence=$1 r.csv | csv-where -c lib --is=x | csv-calc --set=w=high_ratio/low_ratio | csv-cut -c w | tail -1; }
ok 'a surer interval is wider' eval '[[ $(width 0.99) > $(width 0.5) ]]'
is 'the published ratios' '3.2 10 2.8 1.08' bash -c "loop-compare --published p.csv | awk -F, '/published/ { print \$5 }' | paste -sd ' '"
sed '2s/simulated/real/' p.csv > two.csv
fails 'kinds are not compared' 1 'two.csv:3: .*the kind of the rows before' loop-compare two.csv
fails 'ours must be there' 1 "no rows of lib 'mine'" loop-compare --of=mine p.csv
done_testing
