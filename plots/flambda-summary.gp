# quartiles and range of the time saved by each policy on one set of benchmarks: policy, n, q1, median, q3, min, max; ARG3: the set
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,620 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,930 font "sans,12" }
set output ARG2
set datafile separator comma
set datafile missing ""
set title sprintf("real: time saved on the %s benchmarks: quartiles, least and most", ARG3)
set xlabel "share of the time saved"
set ytics noenhanced font ",9"
set grid xtics lc rgb "#dddddd"
set lmargin 40
set yrange [*:*] reverse
set offsets 0, 0, 0.7, 0.7
unset key
set arrow from 0, graph 0 to 0, graph 1 nohead lc rgb "#444444"
plot ARG1 using (column("median")):0:(column("min")):(column("max")):ytic(stringcolumn("policy")) with xerrorbars pt 0 ps 0 lc rgb "#888888", \
     ARG1 using (column("median")):0:(column("q1")):(column("q3")) with xerrorbars lw 4 pt 0 ps 0 lc rgb "#4477aa", \
     ARG1 using (column("median")):0 with points pt 7 ps 0.6 lc rgb "#cc3311"
