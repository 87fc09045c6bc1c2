#!/bin/bash
. "$(dirname "$0")/tap.sh"

cat > t.csv <<'X'
problem,algo,step,action,tree,gflops,seconds
p,a,0,,x,10,0.1
p,a,1,down,x,20,0.2
q,a,0,,x,10,0.1
q,a,1,down,x,40,0.3
q,a,2,up,x,80,0.4
p,b,0,,x,,
p,b,1,down,x,30,0.5
X
is 'means, medians and geometric means' 'algo,problems,speedup_mean,speedup_median,speedup_geomean,speedup_max,gflops_mean,peak_ratio,seconds_mean,seconds_max,actions_mean,best_ratio,best_ratio_min,kind
a,2,5,5,4,8,50,0.4,0.30000000000000004,0.4,1.5,0.816496580927726,0.6666666666666666,real
b,1,3,3,3.0000000000000004,3,30,0.3,0.5,0.5,1,1,1,real' loop-eval --peak=100 t.csv
is 'the published table' 7 bash -c 'loop-eval --published t.csv | grep -c "published\|^algo"'
printf 'problem,algo,step,gflops\np,a,1,3\n' > bad.csv
fails 'a problem that does not begin' 1 'bad.csv:2: the rows of a problem do not begin with step 0' loop-eval bad.csv
done_testing
