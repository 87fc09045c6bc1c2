# GFLOPS of libraries per problem, one row of bars each: problem, lib, gflops; ARG3: title; ARG4: libraries, blanks between
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 1100,500 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1650,750 font "sans,12" }
set output ARG2
set datafile separator comma
set datafile missing ""
set title "real: " . ARG3 noenhanced
set ylabel "GFLOPS, one thread"
set yrange [0:*]
set xlabel "problem, in order of the table"
set key outside right
set grid ytics lc rgb "#dddddd"
n = words(ARG4)
plot for [i=1:n] ARG1 using (strcol("lib") eq word(ARG4, i) ? column("gflops") : 1/0):(0) with points notitle lc rgb "#ffffff" ps 0, \
     for [i=1:n] "< awk -F, 'NR > 1 && $2 == \"" . word(ARG4, i) . "\" { print ++k \",\" $3 }' " . ARG1 using 1:2 with linespoints pt 7 ps 0.4 lw 1 title word(ARG4, i)
