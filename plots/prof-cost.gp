# time of an update of the network, by program and recorder: label, round, update_seconds: a bar for the median, a point
# for each round
wide = 900
high = 500
call ARG0[:strlen(ARG0) - strlen("prof-cost.gp")] . "house.gp" ARG2
@kinds
programs = "python recorded cprofile c"
set title house_title("CartPole, time of an update of the network, median and rounds") noenhanced
set ylabel "milliseconds an update"
set yrange [0:*]
set xrange [0.4:4.6]
set xtics ("Python" 1, "Python, recorded" 2, "Python under cProfile" 3, "C" 4) scale 0
set boxwidth 0.6
unset key
array middle[4]
ms(i) = strcol("label") eq word(programs, i) ? 1000 * column("update_seconds") : NaN
do for [i = 1:4] { stats ARG1 using (ms(i)) nooutput; middle[i] = STATS_median }
@footer
# the first sample, 0, is taken for a header
plot sample [i = 0:4:1] '+' using (i):(middle[int(i) < 1 ? 1 : int(i)]) with boxes lc rgb "#99bbdd", \
     for [i = 1:4] ARG1 using (i + 0.02 * (column("round") - 4.5)):(ms(i)) with points pt 7 ps 0.6 lc rgb ours, \
     [i = 0:4:1] '+' using (i + 0.33):(middle[int(i) < 1 ? 1 : int(i)]) \
         :(sprintf("%.3f", middle[int(i) < 1 ? 1 : int(i)])) with labels left offset 0, 0 font ",10"
