# roofline: intensity (operations a byte if each of the three tensors moved once) against GFLOPS: lib, intensity,
# gflops, kind; ARG3: peak; ARG4: libs; ARG5: bytes a second that memory delivers.  The roof is the lower of the two;
# points above its slope have their tensors in a cache.
call ARG0[:strlen(ARG0) - strlen("loop-roofline.gp")] . "house.gp" ARG2
@kinds
peak = real(ARG3)
band = ARGC > 4 && ARG5 ne "" ? real(ARG5) / 1e9 : 0
stats ARG1 using "intensity" nooutput name "X"
stats ARG1 using "gflops" nooutput name "Y"
ridge = band > 0 ? peak / band : X_min
set title house_title("roofline, one thread")
set xlabel "operations a byte if each tensor moved once"
set ylabel "GFLOPS"
set logscale xy 2
set xrange [(ridge < X_min ? ridge : X_min) / 1.6:X_max * 1.25]
set yrange [(band > 0 && band * X_min / 1.6 < Y_min ? band * X_min / 1.6 : Y_min) / 1.5:peak * 1.35]
set grid xtics ytics
set key bottom right opaque
roof(x) = band > 0 && band * x < peak ? band * x : peak
set label 1 sprintf("the most this core can do: %.0f GFLOPS", peak) at graph 0.98, first peak * 1.1 right \
    textcolor rgb base font ",10"
if (band > 0) { set label 2 sprintf("what memory delivers: %.0f GB/s", band) at graph 0.03, 0.92 left \
    textcolor rgb base font ",10" }
lib(i) = strcol("lib") eq word(ARG4, i) ? column("intensity") : NaN
@footer
plot roof(x) with lines lw 2.5 lc rgb base notitle, \
     for [i = words(ARG4):1:-1] ARG1 using (lib(i)):"gflops" with points pt (i == 1 ? 7 : 6) ps 0.6 lc rgb colour(i) \
         title word(ARG4, i)
