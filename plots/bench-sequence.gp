# every run in the order it was made, so that drift and bursts show: label, phase, column ARG3 (cpu_seconds); ARG4, ARG5: two labels
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 800,480 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1200,720 font "sans,12" }
set output ARG2
set datafile separator comma
set datafile missing ""
set title "real: runs in the order they were made" noenhanced
set xlabel "run"
set ylabel ARG3 noenhanced
set grid lc rgb "#dddddd"
set key outside top horizontal noenhanced
measured(l) = strcol("label") eq l && strcol("phase") eq "measure"
plot ARG1 using 0:(measured(ARG4) ? column(ARG3) : 1/0) with points pt 7 ps 0.5 lc rgb "#4477aa" title ARG4, \
     ARG1 using 0:(measured(ARG5) ? column(ARG3) : 1/0) with points pt 5 ps 0.5 lc rgb "#cc3311" title ARG5, \
     ARG1 using 0:(strcol("phase") eq "warmup" ? column(ARG3) : 1/0) with points pt 2 ps 0.8 lc rgb "#999999" title "warm-up", \
     ARG1 using 0:(strcol("phase") eq "aa" ? column(ARG3) : 1/0) with points pt 6 ps 0.4 lc rgb "#bbbbbb" title "base against itself"
