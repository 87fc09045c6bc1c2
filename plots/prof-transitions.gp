# transitions into each category by operation; columns op, category, count
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,500 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,750 font "sans,16" }
set output ARG2
set datafile separator comma
set datafile missing ""
set key noenhanced
kind = system("echo ${KIND:-real}")
set title kind . ": how often a category was entered, by operation"
set ylabel "count"
set logscale y
set format y "10^{%L}"
set yrange [0.5:*]
set xtics noenhanced rotate by -30
set grid ytics lc rgb "#dddddd"
set style fill solid 0.7
set boxwidth 0.6
set bmargin 7
set rmargin 8
unset key
plot ARG1 using 0:(column("count")):xtic((strlen(strcol("op")) ? strcol("op") : "(none)") . " > " . strcol("category")) with boxes lc rgb "#4477aa"
