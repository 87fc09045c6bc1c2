#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > r.csv <<'END'
network,batch,formulation,ratio,predicted_seconds,bound_seconds,median_seconds,step_seconds,kind
n,2,slow,1:0,3.6,3.6,4.5,(4 5),real
n,2,fast,0:1,1,1,1.125,(1 1.25),real
n,2,sync,8:1,1.5,1.25,2.25,(2.5 2),real
n,2,numa,8:1,9,9,3.2,(3.2 3.2),real
END
# of the fastest steps; medians are others
is 'speed-ups over all slow, and their extremes' 'network,batch,formulation,ratio,step_seconds,speedup_over_slow_ratio,lower_ratio,upper_ratio,loss_ratio,least_loss_ratio,kind
n,2,slow,1:0,4,1,0.8,1.25,0.75,0.7222222222222222,real
n,2,fast,0:1,1,4,3.2,5,0,0,real
n,2,sync,8:1,2,2,1.6,2.5,0.5,0.19999999999999996,real
n,2,numa,8:1,3.2,1.25,1.25,1.5625,0.6875,,real' place-figure --figure=7 r.csv
is 'performance and cost' 'network,batch,formulation,ratio,performance_ratio,lower_ratio,upper_ratio,cost_ratio,kind
n,2,slow,1:0,0.25,0.2,0.3125,0.47619047619047616,real
n,2,sync,8:1,0.5,0.4,0.625,0.5343915343915344,real' place-figure --figure=9 r.csv
is 'at another price of fast memory' 0.2 eval 'place-figure --figure=9 --price=10 r.csv | csv-cut -c cost_ratio | tail -n 1'
is 'errors; first touch predicts nothing' 'network,batch,formulation,ratio,predicted_seconds,step_seconds,error_ratio,beyond_third,kind
n,2,slow,1:0,3.6,4,-0.09999999999999998,0,real
n,2,fast,0:1,1,1,0,0,real
n,2,sync,8:1,1.5,2,-0.25,0,real' place-figure --figure=11 r.csv
echo 'n,2,sync,8:1,1.5,1.25,1,(1),real' >> r.csv
is 'a prediction far off is named' 'place-figure: n, batch 2, sync, 8:1: predicted 1.5 s, measured 1 s: off by more than a third' \
    eval 'place-figure --figure=11 r.csv 2>&1 > out.csv'
is 'in the table as well' 1 eval 'csv-cut -c beyond_third out.csv | tail -n 1'
is 'the last row counts' 'n,2,sync,8:1,1,4,4,5,0,0.19999999999999996,real' eval 'place-figure --figure=7 r.csv | sed -n 4p'
cat > large.csv <<'END'
network,batch,formulation,ratio,predicted_seconds,kind
n,9,static,,4,simulated
n,9,cache,,6,simulated
n,9,sync,,3,simulated
END
is 'against a cache' 'network,batch,formulation,ratio,step_seconds,control,control_seconds,speedup_over_control_ratio,lower_ratio,upper_ratio,given_bytes,kind
n,9,static,,4,cache,6,1.5,,,,simulated
n,9,sync,,3,cache,6,2,,,,simulated' place-figure --figure=8 large.csv
cat > paged.csv <<'END'
network,batch,formulation,ratio,predicted_seconds,median_seconds,step_seconds,given_bytes,kind
n,9,static,,4,,,50,simulated
n,9,cache,,6,,,,simulated
n,2,async,4:1,1.5,2,(1.5 2.5),30,real
n,2,paged,4:1,1,10,(9 12),30,real
m,2,async,4:1,1.5,2,(2),30,real
END
is 'beside what the system pages, whose steps may have been killed' 'n,9,static,,4,cache,6,1.5,,,50,simulated
n,2,async,4:1,2,paged,10,5,3.6,8,30,real
m,2,async,4:1,2,paged,,,,,30,real' eval 'place-figure --figure=8 paged.csv | sed 1d'
fails 'no cache' 1 'no run of n, batch 9, with fast memory as a cache' eval 'sed /cache/d large.csv | place-figure --figure=8'
cat > study.csv <<'END'
network,batch,formulation,ratio,predicted_seconds,median_seconds,step_seconds,limit_bytes,io_bytes,peak_bytes,input_tensors_bytes,fast_input_tensors_bytes,output_tensors_bytes,fast_output_tensors_bytes,moved_to_slow_bytes,moved_to_fast_bytes,kind
n,2,slow,1:0,4,4,(4 4),0,10,90,8,0,4,0,0,0,real
n,2,sync,9:1,2,2,(2 2.5),9,10,90,8,4,4,3,7,6,real
n,2,numa,9:1,2,3,(3 3),9,10,90,8,4,4,3,7,6,real
n,2,fast,0:1,1,1,(1 1.25),90,10,90,8,8,4,4,0,0,real
END
is 'one network by the size of fast memory' 'network,batch,formulation,ratio,fast_memory_bytes,default_bytes,slowdown_ratio,lower_ratio,upper_ratio,fast_input_ratio,fast_output_ratio,moved_to_slow_bytes,moved_to_fast_bytes,kind
n,2,slow,1:0,10,100,4,3.2,4,0,0,0,0,real
n,2,sync,9:1,19,100,2,1.6,2.5,0.5,0.75,7,6,real
n,2,fast,0:1,100,100,1,0.8,1.25,1,1,0,0,real' place-figure --figure=10 study.csv
fails 'figure 10 wants bytes' 1 "no column 'limit_bytes'" place-figure --figure=10 r.csv
fails 'no figure' 2 'no figure given' place-figure r.csv
fails 'no such figure' 2 "'6' is not one of" place-figure --figure=6 r.csv
fails 'no all-slow run' 1 'no run of n, batch 2, with everything in slow' eval 'sed /slow/d r.csv | place-figure --figure=7'
fails 'a list that is none' 1 "'x' is not a list of seconds" eval 'sed "s/(4 5)/x/" r.csv | place-figure --figure=7'
done_testing
