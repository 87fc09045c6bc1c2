# slow-down over the share of fast memory, planned, a panel per network
#   columns network, formulation, fast_ratio, slowdown_ratio, least_slowdown_ratio, kind; ARG3: networks
n = words(ARG3)
rows = (n + 1) / 2
wide = n > 1 ? 1000 : 640
high = 100 + 300 * rows
call ARG0[:strlen(ARG0) - strlen("place-sweep.gp")] . "house.gp" ARG2
@kinds
set multiplot layout rows, (n > 1 ? 2 : 1) \
    title "planned from " . kind . " kernel times: a step by the share of tensors that fast memory holds\n" . \
    "{/*0.8 dashed: no plan can be faster}"
@footer
set logscale x 2
set format x "1/%.0f"
forms = "static sync async"
shade(f) = f == 3 ? ours : f == 2 ? "#66ccee" : "#ccbb44"
at(net, f) = strcol("network") eq net && strcol("formulation") eq word(forms, f) ? 1 / column("fast_ratio") : NaN
set xrange [*:*] reverse
set yrange [0.9:*]
set xlabel "fast memory, of what all tensors need"
set ylabel "step time over all fast"
do for [i = 1:n] {
    net = word(ARG3, i)
    set title net noenhanced
    if (i == 2) { unset label 9999 }
    plot for [f = 1:3] ARG1 using (at(net, f)):(column("slowdown_ratio")) with linespoints pt 7 lc rgb shade(f) \
            title word(forms, f), \
        for [f = 1:3] ARG1 using (at(net, f)):(column("least_slowdown_ratio")) with lines dt 2 lc rgb shade(f) notitle
}
unset multiplot
