# prediction error of plans by ratio, a line per network and formulation; columns network, formulation, ratio, error_ratio; ARG3: networks, ARG4: kind
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,520 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,780 font "sans,18" }
set output ARG2
set datafile separator comma
set grid ytics lc rgb "#dddddd"
set xtics ("all slow" 0, "8:1" 1, "4:1" 2, "1:1" 3, "all fast" 4) scale 0
set xrange [-0.4:4.4]
set yrange [*<-20:20<*]
set xlabel "slow : fast memory"
set ylabel "(predicted - measured) / measured, %"
set title sprintf("%s: error of the planned step time", ARG4)
set key outside right noenhanced
set arrow from graph 0, first 0 to graph 1, first 0 nohead lc rgb "#444444"
place(r) = r eq "1:0" ? 0 : r eq "8:1" ? 1 : r eq "4:1" ? 2 : r eq "1:1" ? 3 : r eq "0:1" ? 4 : NaN
belongs(net, form) = strcol("network") eq net && (strcol("formulation") eq form || strcol("formulation") eq "slow" || strcol("formulation") eq "fast")
plot for [i = 1:words(ARG3)] for [f = 1:2] ARG1 using (belongs(word(ARG3, i), word("static sync", f)) ? place(strcol("ratio")) + (i - 2.5) * 0.06 : NaN):(100 * column("error_ratio")) \
    with points pt (f == 1 ? 6 : 7) ps 1.3 lc rgb word("#4477aa #ddaa33 #228833 #aa3377 #66ccee #bbbbbb", i) title word(ARG3, i) . " " . word("static sync", f)
