# speed-up of plans over fast memory as a cache; columns network, batch, formulation, speedup_over_cache_ratio; ARG3: kind
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,520 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,780 font "sans,18" }
set output ARG2
set datafile separator comma
set style fill solid 0.9 border -1
set boxwidth 0.36
set grid ytics lc rgb "#dddddd"
set xtics scale 0 noenhanced
set yrange [0:*]
set offsets 0.3, 0.3, 0, 0
set ylabel "speed-up over fast memory as a hardware cache"
set title sprintf("%s: networks larger than fast memory", ARG3)
set key top left noenhanced
set arrow from graph 0, first 1 to graph 1, first 1 nohead dt 2 lc rgb "#cc3311"
place(form) = strcol("formulation") eq form ? int($0 / 2) + (form eq "static" ? -0.18 : 0.18) : NaN
plot for [f = 1:2] ARG1 using (place(word("static sync", f))):"speedup_over_cache_ratio" with boxes lc rgb word("#66ccee #4477aa", f) title word("static sync", f), \
     for [f = 1:2] ARG1 using (place(word("static sync", f))):"speedup_over_cache_ratio":(sprintf("%.2f", column("speedup_over_cache_ratio"))) with labels offset 0,0.6 notitle, \
     ARG1 using (int($0 / 2)):(0 * column("speedup_over_cache_ratio")):xtic(strcol("network") . " " . strcol("batch")) with dots lc rgb "white" notitle
