# roofline: intensity (operations a byte of the three tensors) against GFLOPS: lib, intensity, gflops; ARG3: peak; ARG4: libs
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 800,500 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1200,750 font "sans,12" }
set output ARG2
set datafile separator comma
set datafile missing ""
set title "real: roofline, one thread"
set xlabel "operations a byte if each tensor moved once"
set ylabel "GFLOPS"
set logscale xy
set grid lc rgb "#dddddd"
set key outside right noenhanced
peak = real(ARG3)
plot peak with lines lw 2 lc rgb "#222222" title sprintf("measured peak %.0f", peak), \
     for [i=1:words(ARG4)] ARG1 using (strcol("lib") eq word(ARG4, i) ? column("intensity") : 1/0):(column("gflops")) with points pt 7 ps 0.5 title word(ARG4, i)
