# mean regret of greedy sets of policies, where they were chosen and elsewhere: set, k, mean_ratio, other_ratio
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 700,450 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1050,675 font "sans,12" }
set output ARG2
set datafile separator comma
set datafile missing ""
set title "real: mean regret of the best of k policies, chosen greedily on the training benchmarks"
set xlabel "policies in the set"
set ylabel "mean regret"
set yrange [0:*]
set grid lc rgb "#dddddd"
plot ARG1 using (strcol("set") eq "train" ? column("k") : 1/0):(column("mean_ratio")) with linespoints pt 7 lc rgb "#4477aa" title "training benchmarks", \
     ARG1 using (strcol("set") eq "train" ? column("k") : 1/0):(column("other_ratio")) with linespoints pt 5 lc rgb "#cc3311" title "test benchmarks"
