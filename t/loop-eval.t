#!/bin/bash
. "$(dirname "$0")/tap.sh"

cat > t.csv <<'X'
problem,algo,step,action,tree,gflops,seconds,kind
p,a,0,,x,10,0.1,real
p,a,1,down,x,20,0.2,real
q,a,0,,x,10,0.1,real
q,a,1,down,x,40,0.3,real
q,a,2,up,x,80,0.4,real
p,b,0,,x,,,real
p,b,1,down,x,30,0.5,real
X
is 'means, medians and geometric means' 'algo,problems,mean_speedup,median_speedup,geomean_speedup,max_speedup,mean_gflops,peak_ratio,mean_seconds,max_seconds,mean_actions,best_ratio,least_best_ratio,kind
a,2,5,5,4,8,50,0.4,0.30000000000000004,0.4,1.5,0.816496580927726,0.6666666666666666,real
b,1,3,3,3.0000000000000004,3,30,0.3,0.5,0.5,1,1,1,real' loop-eval --peak=100 t.csv
is 'the best so far, and when it was found' 'algo,step,gflops,seconds,kind
a,0,10,0.1,real
a,1,30,0.25,real
a,2,50,0.30000000000000004,real' bash -c 'loop-eval --table=steps t.csv | head -4'
is 'a path that has ended stays where it is' 'b,48,30,0.5,real' bash -c 'loop-eval --table=steps t.csv | tail -1'
is 'a speed-up for each problem, in order' 'algo,position,speedup,kind
a,1,2,real
a,1,8,real
b,2,3,real' loop-eval --table=violin t.csv
sed 's/,real$/,simulated/' t.csv > s.csv
is 'the kind is that of the rows' 'simulated' bash -c 'loop-eval s.csv | csv-cut -c kind | tail -1'
{ cat t.csv; sed -n '2,3{s/,a,/,c,/;s/,[12]0,/,990,/;p}' s.csv; } > both.csv
is 'kinds are not compared with each other' "$(loop-eval t.csv | sed -n 2p)" bash -c 'loop-eval both.csv | sed -n 2p'
{ cat t.csv; echo 'r,a,0,,x,10,0.1,simulated'; } > mixed.csv
fails 'an algo of two kinds' 1 "mixed.csv:9: column 'kind': 'simulated' is not the kind of the other rows" loop-eval mixed.csv
is 'the published table' 7 bash -c 'loop-eval --published t.csv | grep -c "published\|^algo"'
printf 'problem,algo,step,gflops\np,a,1,3\n' > bad.csv
fails 'a problem that does not begin' 1 'bad.csv:2: the rows of a problem do not begin with step 0' loop-eval bad.csv
printf 'problem,algo,step,action,tree,gflops,seconds,kind\np,a,0,,x,1,.1,real\np,a,1,up,x,4,.2,real\nq,a,0,,x,2,.1,real\nq,a,1,up,x,4,.2,real\nr,a,0,,x,,,real\n' > some.csv
is 'a problem that was not measured counts for none' '3,3,4' bash -c 'loop-eval some.csv | csv-cut -c problems,mean_speedup,mean_gflops | tail -1'
done_testing
