# best GFLOPS so far against the time of the search, mean over problems: algo, seconds, gflops; ARG3: algos, blanks between
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,500 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,750 font "sans,12" }
set output ARG2
set datafile separator comma
set datafile missing ""
set title "real: GFLOPS along the path to the best nest"
set xlabel "seconds of search"
set ylabel "GFLOPS"
set logscale x
set format x "10^{%T}"
set yrange [0:*]
set grid lc rgb "#dddddd"
set key outside right noenhanced
plot for [i=1:words(ARG3)] ARG1 using (strcol("algo") eq word(ARG3, i) && column("seconds") > 0 ? column("seconds") : 1/0):(column("gflops")) with points pt (4 + i % 10) ps 0.7 title word(ARG3, i)
