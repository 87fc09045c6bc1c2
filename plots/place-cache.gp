# what plans gain: measured, over what the system pages in the same memory; planned, over fast memory as a cache
#   columns network, batch, formulation, ratio, control (paged, cache), speedup_over_control_ratio, lower_ratio,
#   upper_ratio, given_bytes, kind; a measured row without a ratio is one whose steps the system killed
wide = 1000
high = 900
call ARG0[:strlen(ARG0) - strlen("place-cache.gp")] . "house.gp" ARG2
@kinds
of(c) = strcol("control") eq c
paged_n = cache_n = 0
count(c) = (c eq "paged" ? (paged_n = paged_n + 1) : (cache_n = cache_n + 1), 0)
stats ARG1 using (count(strcol("control"))) nooutput
# each panel by the kind of its own rows
panel = ""
panel_new(k) = among(panel, k) ? 0 : (panel = panel . (panel eq "" ? "" : ", ") . k, 0)
panel_add(c) = of(c) ? panel_new(strcol("kind")) : 0
panel_title(t) = (panel eq "" ? "" : panel . ": ") . t
set title noenhanced font ",12" offset 0,-0.5
set multiplot layout (paged_n && cache_n ? 2 : 1),1 title house_title("what plans gain where memory is too small") \
    noenhanced
@footer
set xtics ("" -9) scale 0 noenhanced
set yrange [0:*]
set offsets 0.5, 0.5, graph 0.1, 0
set arrow from graph 0, first 1 to graph 1, first 1 nohead dt 2 lc rgb warning
gain = "speedup_over_control_ratio"
name(r) = strcol("network") . "\nbatch " . strcol("batch")
mb(b) = sprintf("%.0f MB", b / 1e6)
if (paged_n) {
    list_n = 0
    full(c) = name(0) . ", " . mb(column("given_bytes"))
    stats ARG1 using (of("paged") ? list_add(full(0)) : NaN) nooutput
    set for [i = 1:list_n] xtics add (list[i] i - 1)
    at(c) = of("paged") ? list_index(full(0)) - 1 : NaN
    set boxwidth 0.4
    set ylabel "speed-up over paging"
    panel = ""
    if (kind_column > 0) { stats ARG1 using (panel_add("paged")) nooutput }
    set title panel_title("moves beside kernels, executed, over what the operating system pages in the same memory")
    shown(v) = v == v ? sprintf("%.1f", v) : "paged: killed"
    from0(v) = v == v ? v : 0
    plot ARG1 using (at(0)):(from0(column(gain))) with boxes lc rgb ours notitle, \
        ARG1 using (at(0)):(column(gain)):(column("lower_ratio")):(column("upper_ratio")) with yerrorbars pt -1 \
            lw 1.5 lc rgb base notitle, \
        ARG1 using (at(0) + 0.1):(from0(column(gain))):(shown(column(gain))) with labels offset 0,0.6 notitle
    unset label 9999
}
if (cache_n) {
    set boxwidth 0.36
    panel = ""
    if (kind_column > 0) { stats ARG1 using (panel_add("cache")) nooutput }
    set title panel_title("networks larger than fast memory, planned, over a hardware cache")
    set ylabel "speed-up over a cache"
    set key top left noenhanced
    forms = "static sync"
    shade(f) = f == 1 ? "#ccbb44" : "#66ccee"
    list_n = 0
    stats ARG1 using (of("cache") ? list_add(name(0)) : NaN) nooutput
    set xtics ("" -9)
    set for [i = 1:list_n] xtics add (list[i] i - 1)
    x(f) = of("cache") && strcol("formulation") eq word(forms, f) ? \
        list_index(name(0)) - 1 + (f == 1 ? -0.18 : 0.18) : NaN
    plot for [f = 1:2] ARG1 using (x(f)):(column(gain)) with boxes lc rgb shade(f) title (f == 1 ? "static plan" : \
            "moves between kernels"), \
        for [f = 1:2] ARG1 using (x(f)):(column(gain)):(sprintf("%.2f", column(gain))) with labels offset 0,0.6 notitle
}
unset multiplot
