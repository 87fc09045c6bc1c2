# share of the whole run in which each function was on the stack, by cProfile and by the recorder; columns function, cprofile_share, recorded_share
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,600 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,900 font "sans,16" }
set output ARG2
set datafile separator comma
set title "real: share of the run with the function on the stack"
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set ylabel "share"
set yrange [0:*]
set xtics rotate by -35 noenhanced
set grid ytics lc rgb "#dddddd"
set key top right
plot ARG1 using (column("cprofile_share")):xtic(strcol("function")) lc rgb "#ddaa33" title "cProfile", \
     ARG1 using (column("recorded_share")) lc rgb "#4477aa" title "recorder, whole call tree"
