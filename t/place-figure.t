#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > r.csv <<'END'
network,batch,formulation,ratio,predicted_seconds,median_seconds,step_seconds,kind
n,2,slow,1:0,3.6,4,(4 5),real
n,2,fast,0:1,1,1,(1 1.25),real
n,2,sync,8:1,1.5,2,(2 2.5),real
n,2,numa,8:1,9,3.2,(3.2 3.2),real
END
is 'speed-ups over all slow, and their extremes' 'network,batch,formulation,ratio,step_seconds,speedup_over_slow_ratio,lower_ratio,upper_ratio,kind
n,2,slow,1:0,4,1,0.8,1.25,real
n,2,fast,0:1,1,4,3.2,5,real
n,2,sync,8:1,2,2,1.6,2.5,real
n,2,numa,8:1,3.2,1.25,1.25,1.5625,real' place-figure --figure=7 r.csv
is 'performance and cost' 'network,batch,ratio,performance_ratio,lower_ratio,upper_ratio,cost_ratio,kind
n,2,8:1,0.5,0.4,0.625,0.5343915343915344,real' place-figure --figure=9 r.csv
is 'errors; first touch predicts nothing' 'network,batch,formulation,ratio,predicted_seconds,step_seconds,error_ratio,kind
n,2,slow,1:0,3.6,4,-0.09999999999999998,real
n,2,fast,0:1,1,1,0,real
n,2,sync,8:1,1.5,2,-0.25,real' place-figure -f 11 r.csv
echo 'n,2,sync,8:1,1.5,1,(1),real' >> r.csv
is 'the last row counts' 'n,2,sync,8:1,1,4,4,5,real' eval 'place-figure --figure=7 r.csv | sed -n 4p'
fails 'no figure' 2 'no figure given' place-figure r.csv
fails 'no such figure' 2 "'8' is not one of" place-figure --figure=8 r.csv
fails 'no all-slow run' 1 'no run of n, batch 2, with everything in slow' eval 'sed /slow/d r.csv | place-figure --figure=7'
fails 'a list that is none' 1 "'x' is not a list of seconds" eval 'sed "s/(4 5)/x/" r.csv | place-figure --figure=7'
done_testing
