# roofline: intensity (operations a byte of the three tensors) against GFLOPS: lib, intensity, gflops; ARG3: peak; ARG4: libs
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,560 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,840 font "sans,16" }
set output ARG2
set datafile separator comma
set datafile missing ""
set title "real: roofline, one thread"
set xlabel "operations a byte if each tensor moved once"
set ylabel "GFLOPS"
set logscale x 2
set yrange [0:*]
set grid lc rgb "#dddddd"
set key outside right noenhanced
array color[5] = ["#222222", "#4477aa", "#66ccee", "#228833", "#cc3311"]
peak = real(ARG3)
plot peak with lines lw 2 lc rgb "#222222" title sprintf("measured peak %.0f", peak), \
     for [i=words(ARG4):1:-1] ARG1 using (strcol("lib") eq word(ARG4, i) ? column("intensity") : 1/0):(column("gflops")) with points pt 7 ps 0.6 lc rgb color[1 + (i - 1) % 5] title word(ARG4, i)
