# share of the runs that took at most so long: label, phase, column ARG3 (cpu_seconds); ARG4, ARG5: two labels
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 800,480 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1200,720 font "sans,12" }
set output ARG2
set datafile separator comma
set datafile missing NaN
set title "real: distribution of " . ARG3 noenhanced
set xlabel ARG3 noenhanced
set ylabel "share of the runs"
set yrange [0:1.02]
set grid lc rgb "#dddddd"
set key bottom right noenhanced
measured(l) = strcol("label") eq l && strcol("phase") eq "measure"
plot ARG1 using (measured(ARG4) ? column(ARG3) : NaN):(1) smooth cnormal lw 2 lc rgb "#4477aa" title ARG4, \
     ARG1 using (measured(ARG5) ? column(ARG3) : NaN):(1) smooth cnormal lw 2 lc rgb "#cc3311" title ARG5
