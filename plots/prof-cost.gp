# seconds of the same training bare, recorded, under cProfile and in C; columns quantity, value
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,500 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,750 font "sans,16" }
set output ARG2
set datafile separator comma
set title "real: CartPole, time of an update of the network, by program and recorder"
set ylabel "milliseconds an update"
set yrange [0:*]
set xtics noenhanced
set grid ytics lc rgb "#dddddd"
set style fill solid 0.7
set boxwidth 0.6
unset key
rows = "< awk -F, '$1 ~ /_seconds/ { sub(/_seconds/, \"\", $1); s[$1] = $2; o[++n] = $1 } $1 ~ /_updates/ { sub(/_updates/, \"\", $1); u[$1] = $2 } END { for (i = 1; i <= n; i++) if (u[o[i]]) print o[i] \",\" 1000 * s[o[i]] / u[o[i]] }' '" . ARG1 . "'"
plot rows using 0:2:xtic(1) with boxes lc rgb "#4477aa", rows using 0:2:(sprintf("%.3f", $2)) with labels offset 0, 0.7
