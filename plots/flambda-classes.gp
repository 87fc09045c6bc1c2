# shares of the three labels as the threshold grows: tau, doesnt_matter_ratio, inline_ratio, apply_ratio
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 700,450 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1050,675 font "sans,12" }
set output ARG2
set datafile separator comma
set datafile missing ""
set title "real: labels of call sites by the smallest difference of rewards that matters"
set xlabel "tau"
set logscale x
set format x "10^{%T}"
set ylabel "share of the call sites"
set yrange [0:1]
set grid lc rgb "#dddddd"
set key outside bottom horizontal
plot ARG1 using (column("tau")):(column("doesnt_matter_ratio")) with linespoints pt 7 lc rgb "#888888" title "does not matter", \
     ARG1 using (column("tau")):(column("inline_ratio")) with linespoints pt 5 lc rgb "#4477aa" title "inline", \
     ARG1 using (column("tau")):(column("apply_ratio")) with linespoints pt 9 lc rgb "#cc3311" title "apply"
