# one metric of the seed toolkit: mean over iterations, whiskers one standard deviation; columns field, bench, mean, std; ARG3: the field
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,500 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,750 font "sans,16" }
set output ARG2
set datafile separator comma
set datafile missing ""
set key noenhanced
kind = system("echo ${KIND:-real}")
set title kind . ": " . ARG3 . ", mean of the iterations" noenhanced
set ylabel (ARG3[strlen(ARG3)-2:] eq "Sec" ? "seconds an iteration" : ARG3 eq "TheoreticalSpeedup" ? "factor" : "%")
set yrange [0:*]
set xtics noenhanced
set grid ytics lc rgb "#dddddd"
set style fill solid 0.7
set boxwidth 0.6
set xrange [-0.6:*]
unset key
rows = sprintf("< awk -F, 'NR == 1 || $1 == \"%s\"' '%s'", ARG3, ARG1)
set offsets 0, 0.6, 0, 0
plot rows using 0:(column("mean")):xtic(strcol("bench")) with boxes lc rgb "#4477aa", \
     rows using 0:(column("mean")):(valid(5) ? column("std") : 0) with yerrorbars pt 0 ps 0 lc rgb "#000000"
