# performance against all-fast (sync) by ratio and network, and relative memory cost; columns network, ratio, performance_ratio, lower_ratio, upper_ratio, cost_ratio; ARG3: networks, ARG4: kind
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,520 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,780 font "sans,18" }
set output ARG2
set datafile separator comma
set style fill solid 0.9 border -1
n = words(ARG3)
width = 0.8 / n
set boxwidth width
set grid ytics lc rgb "#dddddd"
set xtics ("8:1" 0, "4:1" 1, "1:1" 2) scale 0
set xrange [-0.6:2.6]
set yrange [0:1.2<*]
set xlabel "slow : fast memory"
set ylabel "against all fast: performance, cost of memory ($)"
set title sprintf("%s: performance of synchronous plans and cost of memory", ARG4)
set key top left horizontal noenhanced
set arrow from graph 0, first 1 to graph 1, first 1 nohead dt 2 lc rgb "#cc3311"
place(r) = r eq "8:1" ? 0 : r eq "4:1" ? 1 : r eq "1:1" ? 2 : NaN
at(net, i) = strcol("network") eq net ? place(strcol("ratio")) + (i - (n + 1) / 2.0) * width : NaN
plot for [i = 1:n] ARG1 using (at(word(ARG3, i), i)):(column("performance_ratio")):(column("lower_ratio")):(column("upper_ratio")):(width) \
         with boxerrorbars lc rgb word("#4477aa #ddaa33 #66ccee #bbbbbb #228833 #aa3377", i) title word(ARG3, i), \
     ARG1 using (strcol("network") eq word(ARG3, 1) ? place(strcol("ratio")) + 0.48 : NaN):(column("cost_ratio")):("$") with labels font ",20" notitle
