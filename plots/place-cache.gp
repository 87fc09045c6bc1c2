# speed-up of plans over fast memory as a cache; columns network, batch, formulation, speedup_over_cache_ratio, kind
call ARG0[:strlen(ARG0) - strlen("place-cache.gp")] . "house.gp" ARG2
@kinds
@footer
set boxwidth 0.36
set xtics scale 0 noenhanced
set yrange [0:*]
set offsets 0.3, 0.3, 0, 0
set ylabel "speed-up over fast memory as a hardware cache"
set title house_title("networks larger than fast memory, planned")
set key top left noenhanced
set arrow from graph 0, first 1 to graph 1, first 1 nohead dt 2 lc rgb warning
form(f) = word("static sync", f)
shade(f) = f == 1 ? "#ccbb44" : ours
at(f) = strcol("formulation") eq form(f) ? int($0 / 2) + (f == 1 ? -0.18 : 0.18) : NaN
gain = "speedup_over_cache_ratio"
plot for [f = 1:2] ARG1 using (at(f)):(column(gain)) with boxes lc rgb shade(f) title form(f), \
    for [f = 1:2] ARG1 using (at(f)):(column(gain)):(sprintf("%.2f", column(gain))) with labels offset 0,0.6 notitle, \
    ARG1 using (int($0 / 2)):(0 * column(gain)):xtic(strcol("network") . " " . strcol("batch")) with dots \
        lc rgb "white" notitle
