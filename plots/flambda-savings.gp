# time saved by one policy on each benchmark, with intervals: benchmark, saved_ratio, lower_ratio, upper_ratio; ARG3: the policy
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,500 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,750 font "sans,12" }
set output ARG2
set datafile separator comma
set datafile missing ""
set title sprintf("real: time saved by %s against the baseline, 95 %% intervals", ARG3) noenhanced
set ylabel "share of the time saved"
set xtics rotate by -40 noenhanced font ",9"
set grid ytics lc rgb "#dddddd"
set bmargin 8
set rmargin 8
set xrange [-0.6:]
set style fill solid 0.6
set boxwidth 0.7
unset key
plot 0 lc rgb "#444444", \
     ARG1 using 0:(column("saved_ratio")):xtic(stringcolumn("benchmark")) with boxes lc rgb "#4477aa", \
     ARG1 using 0:(column("saved_ratio")):(column("lower_ratio")):(column("upper_ratio")) with yerrorbars pt 0 ps 0 lc rgb "#000000"
