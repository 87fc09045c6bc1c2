# GPU, C and Python time of an iteration, stacked by bench; columns field, bench, mean, std
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,500 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,750 font "sans,16" }
set output ARG2
set datafile separator comma
set datafile missing ""
set key noenhanced
kind = system("echo ${KIND:-real}")
set title kind . ": time breakdown of an iteration"
set ylabel "seconds an iteration"
set yrange [0:*]
set xtics noenhanced
set grid ytics lc rgb "#dddddd"
set style data histograms
set style histogram rowstacked
set style fill solid 0.8 border -1
set boxwidth 0.6
set key outside right
of(field) = sprintf("< awk -F, 'NR == 1 || $1 == \"%s\"' '%s'", field, ARG1)
plot of("GPUTimeSec") using (column("mean")):xtic(strcol("bench")) lc rgb "#228833" title "GPU", \
     of("CppTimeSec") using (column("mean")) lc rgb "#4477aa" title "C", \
     of("PythonTimeSec") using (column("mean")) lc rgb "#ddaa33" title "Python"
