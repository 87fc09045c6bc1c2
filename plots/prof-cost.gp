# time of an update of the network, by program and recorder; columns label, round, update_seconds: least, and a point for each round
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,500 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,750 font "sans,16" }
set output ARG2
set datafile separator comma
set title "real: CartPole, time of an update of the network; bar: least, points: all rounds"
set ylabel "milliseconds an update"
set yrange [0:*]
set xrange [-0.6:3.6]
set grid ytics lc rgb "#dddddd"
set style fill solid 0.7
set boxwidth 0.6
unset key
set xtics ("Python" 0, "Python, recorded" 1, "Python under cProfile" 2, "C" 3)
at(s) = s eq "python" ? 0 : s eq "recorded" ? 1 : s eq "cprofile" ? 2 : 3
least = "< awk -F, 'NR > 1 { if (!($1 in m) || $3 < m[$1]) m[$1] = $3 } END { for (k in m) print k \",0,\" m[k] }' '" . ARG1 . "'"
plot least using (at(strcol(1))):(1000 * $3) with boxes lc rgb "#4477aa", \
     ARG1 using (at(strcol(1)) + 0.02 * (column(2) - 4.5)):(1000 * column(3)) with points pt 7 ps 0.6 lc rgb "#000000", \
     least using (at(strcol(1)) + 0.15):(1000 * $3):(sprintf("%.3f", 1000 * $3)) with labels offset 0, -0.8 textcolor rgb "#ffffff"
