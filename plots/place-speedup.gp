# speed-up over all tensors in slow memory, bars by formulation and ratio, a panel per network; columns network, formulation, ratio, speedup_over_slow_ratio, lower_ratio, upper_ratio; ARG3: networks, ARG4: kind
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 1000,720 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1500,1080 font "sans,18" }
set output ARG2
set datafile separator comma
set style fill solid 0.9 border -1
set boxwidth 0.24
set grid ytics lc rgb "#dddddd"
set xtics ("8:1" 0, "4:1" 1, "1:1" 2) scale 0
set xrange [-0.6:2.6]
set yrange [0:*]
set xlabel "slow : fast memory"
set ylabel "speed-up over all slow"
n = words(ARG3)
place(r) = r eq "8:1" ? 0 : r eq "4:1" ? 1 : r eq "1:1" ? 2 : NaN
at(net, form, shift) = strcol("network") eq net && strcol("formulation") eq form ? place(strcol("ratio")) + shift : NaN
set key top left reverse Left samplen 1
set multiplot layout (n > 2 ? 2 : 1), (n > 1 ? 2 : 1) title sprintf("%s: training steps by placement, bars are extremes of single steps", ARG4)
do for [i = 1:n] {
    net = word(ARG3, i)
    set title net noenhanced
    set xrange [*:*]                                         # stats leaves out what lies beyond the last panel's ranges
    set yrange [*:*]
    stats ARG1 using (strcol("network") eq net && strcol("formulation") eq "fast" ? column("speedup_over_slow_ratio") : NaN) nooutput name "F"
    stats ARG1 using (strcol("network") eq net ? column("speedup_over_slow_ratio") : NaN) nooutput name "A"
    line = F_max
    set xrange [-0.6:2.6]
    set yrange [0:(A_max > line ? A_max : line) * 1.5]
    set arrow 1 from graph 0, first line to graph 1, first line nohead dt 2 lw 2 lc rgb "#cc3311"
    set label 1 "all fast" at graph 0.99, first line * 1.04 right textcolor rgb "#cc3311"
    plot for [f = 1:3] ARG1 using (at(net, word("numa static sync", f), (f - 2) * 0.25)):(column("speedup_over_slow_ratio")):(column("lower_ratio")):(column("upper_ratio")):(0.24) \
        with boxerrorbars lc rgb word("#bbbbbb #ddaa33 #4477aa", f) title word("numa static sync", f)
}
unset multiplot
