# ratios to the base with their intervals, from bench-compare: label (or benchmark), ratio, lower_ratio, upper_ratio; ARG3: which column names the rows; ARG4: title
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 800,480 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1200,720 font "sans,12" }
set output ARG2
set datafile separator comma
set datafile missing ""
set title "real: " . ARG4 . ", 95 % intervals" noenhanced
set ylabel "time, as a ratio to the base"
set xtics rotate by -35 noenhanced font ",9"
set grid ytics lc rgb "#dddddd"
set bmargin 7
set rmargin 6
stats ARG1 using (column("ratio")) nooutput
set xrange [-0.7:STATS_records - 0.3]
unset key
plot 1 lw 2 lc rgb "#444444", \
     ARG1 using 0:(column("ratio")):(column("lower_ratio")):(column("upper_ratio")):xtic(stringcolumn(ARG3)) with yerrorbars pt 7 lw 2 lc rgb "#4477aa"
