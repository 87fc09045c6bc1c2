# speed-up over the untiled nest, points and quartiles of each algo: algo, position, speedup
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 1000,500 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1500,750 font "sans,12" }
set output ARG2
set datafile separator comma
set datafile missing ""
set title "real: speed-up over the untiled nest"
set ylabel "speed-up"
set logscale y 2
set xtics rotate by -35 noenhanced
set grid ytics lc rgb "#dddddd"
set style fill solid 0.25 border lc rgb "#4477aa"
set jitter overlap 0.5 spread 0.4
set style boxplot nooutliers
unset key
stats ARG1 using "position" nooutput
last = int(STATS_max)
set xrange [0:last+1]
set arrow from 0,1 to last+1,1 nohead lc rgb "#222222" dt 2
plot for [i=1:last] ARG1 using (i):(column("position") == i ? column("speedup") : 1/0) with boxplot lc rgb "#4477aa", \
     ARG1 using (column("position")):(column("speedup")):xtic(stringcolumn("algo")) with points pt 7 ps 0.4 lc rgb "#cc3311"
