# regret of each policy over the benchmarks, median and quartiles: policy, p25_regret_ratio, p50_regret_ratio, p75_regret_ratio
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,600 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,900 font "sans,12" }
set output ARG2
set datafile separator comma
set datafile missing ""
set title "real: regret over all benchmarks, median and quartiles; 0 is the best single policy, 1 the worst"
set xlabel "regret"
set xrange [0:*]
set ytics noenhanced font ",9"
set yrange [*:*] reverse
set offsets 0, 0, 0.7, 0.7
set grid xtics lc rgb "#dddddd"
set lmargin 40
unset key
plot ARG1 using (column("p50_regret_ratio")):0:(column("p25_regret_ratio")):(column("p75_regret_ratio")):ytic(stringcolumn("policy")) with xerrorbars lw 3 pt 0 ps 0 lc rgb "#4477aa", \
     ARG1 using (column("p50_regret_ratio")):0 with points pt 7 ps 0.7 lc rgb "#cc3311"
