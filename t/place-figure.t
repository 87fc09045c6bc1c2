#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > r.csv <<'END'
network,batch,formulation,ratio,predicted_seconds,bound_seconds,median_seconds,step_seconds,reached_ratio,kind
n,2,slow,1:0,3.6,3.6,4.5,(4 5),70,real
n,2,fast,0:1,1,1,1.125,(1 1.25),0,real
n,2,sync,8:1,1.5,1.25,2.25,(2.5 2),7.7,real
n,2,numa,8:1,9,9,3.2,(3.2 3.2),6,real
END
# of the fastest steps; medians are others
is 'speed-ups over all slow' 'network,batch,formulation,ratio,step_seconds,speedup_over_slow_ratio,lower_ratio,upper_ratio,loss_ratio,lower_loss_ratio,upper_loss_ratio,least_loss_ratio,rounds,reached_ratio,ratio_off,kind
n,2,slow,1:0,4,1,,,0.75,,,0.7222222222222222,0,,0,real
n,2,fast,0:1,1,4,,,0,,,0,0,,0,real
n,2,sync,8:1,2,2,,,0.5,,,0.19999999999999996,0,7.7,0,real
n,2,numa,8:1,3.2,1.25,,,0.6875,,,,0,6,1,real' eval 'place-figure --figure=7 r.csv 2> said'
is 'performance and cost' 'network,batch,formulation,ratio,performance_ratio,lower_ratio,upper_ratio,cost_ratio,rounds,reached_ratio,ratio_off,kind
n,2,slow,1:0,0.25,,,0.47619047619047616,0,,0,real
n,2,sync,8:1,0.5,,,0.5343915343915344,0,7.7,0,real' place-figure --figure=9 r.csv
is 'at another price of fast memory' 0.2 eval 'place-figure --figure=9 --price=10 r.csv | csv-cut -c cost_ratio | tail -n 1'
is 'errors; first touch predicts nothing' 'network,batch,formulation,ratio,predicted_seconds,step_seconds,error_ratio,beyond_third,kind
n,2,slow,1:0,3.6,4,-0.09999999999999998,0,real
n,2,fast,0:1,1,1,0,0,real
n,2,sync,8:1,1.5,2,-0.25,0,real' place-figure --figure=11 r.csv
echo 'n,2,sync,8:1,1.5,1.25,1,(1),7.5,real' >> r.csv
is 'a prediction far off is named' 'place-figure: n, batch 2, sync, 8:1: predicted 1.5 s, measured 1 s: off by more than a third' \
    eval 'place-figure --figure=11 r.csv 2>&1 > out.csv'
is 'in the table as well' 1 eval 'csv-cut -c beyond_third out.csv | tail -n 1'
is 'the last row counts' 'n,2,sync,8:1,1,4,,,0,,,0.19999999999999996,0,7.5,1,real' \
    eval 'place-figure --figure=7 r.csv 2> said | sed -n 4p'
is 'another ratio than the one asked for is said' 'n, batch 2, sync: no plan found at 8:1, the pools have 7.5:1' eval 'grep sync said | sed "s/^place-figure: //"'
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
n,2,async,4:1,2,paged,10,5,,,30,real
m,2,async,4:1,2,paged,,,,,30,real' eval 'place-figure --figure=8 paged.csv | sed 1d'
fails 'no cache' 1 'no run of n, batch 9, with fast memory as a cache' eval 'sed /cache/d large.csv | place-figure --figure=8'
cat > study.csv <<'END'
network,batch,formulation,ratio,predicted_seconds,median_seconds,step_seconds,limit_bytes,io_bytes,peak_bytes,input_tensors_bytes,fast_input_tensors_bytes,output_tensors_bytes,fast_output_tensors_bytes,moved_to_slow_bytes,moved_to_fast_bytes,kind
n,2,slow,1:0,4,4,(4 4),0,10,90,8,0,4,0,0,0,real
n,2,sync,9:1,2,2,(2 2.5),9,10,90,8,4,4,3,7,6,real
n,2,numa,9:1,2,3,(3 3),9,10,90,8,4,4,3,7,6,real
n,2,fast,0:1,1,1,(1 1.25),90,10,90,8,8,4,4,0,0,real
END
is 'one network by the size of fast memory' 'network,batch,formulation,ratio,fast_memory_bytes,default_bytes,slowdown_ratio,lower_ratio,upper_ratio,fast_input_ratio,fast_output_ratio,moved_to_slow_bytes,moved_to_fast_bytes,rounds,reached_ratio,ratio_off,kind
n,2,slow,1:0,10,100,4,,,0,0,0,0,0,,0,real
n,2,sync,9:1,19,100,2,,,0.5,0.75,7,6,0,,0,real
n,2,fast,0:1,100,100,1,,,1,1,0,0,0,,0,real' place-figure --figure=10 study.csv
fails 'figure 10 wants bytes' 1 "no column 'limit_bytes'" place-figure --figure=10 r.csv
fails 'no figure' 2 'no figure given' place-figure r.csv
fails 'no such figure' 2 "'6' is not one of" place-figure --figure=6 r.csv
fails 'no all-slow run' 1 'no run of n, batch 2, with everything in slow' eval 'sed /slow/d r.csv | place-figure --figure=7'
fails 'a list that is none' 1 "'x' is not a list of seconds" eval 'sed "s/(4 5)/x/" r.csv | place-figure --figure=7'
# rounds by pairs.  The oracle goes through all signs of the ranks for every ratio of a fine grid: those that the signed-rank
# test does not reject at 5 % are the interval.
naive() { # SECONDS OVER SECONDS: lower and upper ratio
    awk -v a="$1" -v b="$2" 'BEGIN {
        n = split(a, s); split(b, f)
        for (i = 1; i <= n; i++) { d[i] = log(s[i] / f[i]); m = d[i] < 0 ? -d[i] : d[i]; if (m > most) most = m }
        for (x = -most - 0.01; x <= most + 0.01; x += 0.0005) {
            w = 0
            for (i = 1; i <= n; i++) {
                rank = 1; v = d[i] - x; v = v < 0 ? -v : v
                for (j = 1; j <= n; j++) { u = d[j] - x; u = u < 0 ? -u : u; if (u < v) rank++ }
                if (d[i] > x) w += rank
            }
            le = ge = 0
            for (signs = 0; signs < 2 ^ n; signs++) {
                t = 0; rest = signs
                for (j = 1; j <= n; j++) { if (rest % 2) t += j; rest = int(rest / 2) }
                le += t <= w; ge += t >= w
            }
            p = 2 * (le < ge ? le : ge) / 2 ^ n
            if (p > 0.05) { if (!(k++)) low = exp(x); high = exp(x) }
        }
        print low, high }'
}
near() { # what the figure says of sync
    csv-where -c formulation --is=sync "$1" | csv-cut -c "$2,$3" | sed 1d | tr , ' ' |
        awk -v want="$4" '{ split(want, w); for (i = 1; i <= 2; i++) { x = $i / w[i] - 1; if (x > 0.002 || x < -0.002) bad = 1 } }
            END { exit bad || NR != 1 }'
}
rounds() { # SLOW FAST SYNC
    printf '%s\n' network,batch,formulation,ratio,predicted_seconds,bound_seconds,median_seconds,step_seconds,round_seconds,reached_ratio,kind
    for f in "slow,1:0:$1" "fast,0:1:$2" "sync,8:1:$3"; do echo "n,2,${f%:*},3,3,4,(${f##*:}),(${f##*:}),8,real"; done
}
s='4 4.5 4.2 4.9 4.1 4.3' y='2 2.1 2.3 2.05 1.9 2.2'
rounds "$s" '1 1 1 1 1 1' "$y" > six.csv
place-figure --figure=7 six.csv > f.csv
ok 'six rounds: the interval of all signs' near f.csv lower_ratio upper_ratio "$(naive "$s" "$y")"
ok 'and of the loss' near <(csv-calc --set='lower_loss_ratio=1 - lower_loss_ratio' --set='upper_loss_ratio=1 - upper_loss_ratio' \
    f.csv) upper_loss_ratio lower_loss_ratio "$(naive '1 1 1 1 1 1' "$y")"
s+=' 4.4 4.6' y+=' 2.15 2.6'
rounds "$s" '1 1 1 1 1 1 1 1' "$y" > eight.csv
place-figure --figure=7 eight.csv > f.csv
ok 'eight rounds' near f.csv lower_ratio upper_ratio "$(naive "$s" "$y")"
rounds '4 4.5 4.2 4.9 4.1' '1 1 1 1 1' '2 2.1 2.3 2.05 1.9' > five.csv
is 'five are too few for an interval' ',,5' eval \
    'place-figure --figure=7 five.csv | csv-where -c formulation --is=sync | csv-cut -c lower_ratio,upper_ratio,rounds | sed 1d'
# pictures have what is in the table, whichever the ratios are: a bar or a point for each row (of all fast: a line)
rounds "$s" '1 1 1 1 1 1 1 1' "$y" | sed '$d' > any.csv
for r in 9:1 5:2 1:2; do echo "n,2,sync,$r,3,3,4,(3),(3),${r/5:2/2.5},real" | sed 's/1:2,real/0.5,real/; s/9:1,real/9,real/'; done >> any.csv
drawn() { # FIGURE PLOT WHAT TIMES: so often in the picture
    place-figure --figure="$1" any.csv > f.csv
    gnuplot -c "$root/plots/$2.gp" f.csv f.svg n > /dev/null 2>&1
    is "figure $1 has what its table has" "$4" eval "grep -c \"<$3\" f.svg"
}
if command -v gnuplot > /dev/null; then
    drawn 7 place-speedup "polygon fill = 'rgb(102, 204, 238)'" 7     # three bars, their means, the key
    drawn 9 place-cost "polygon fill = 'rgb( 68, 119, 170)'" 5        # three bars, all slow, the key
    drawn 11 place-error "use xlink:href='#gpPt3'" 5                  # three points, the key, one symbol made of it
else
    skip 'pictures' 'no gnuplot'
fi
done_testing
