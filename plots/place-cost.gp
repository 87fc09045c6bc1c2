# performance of plans with moves against all fast, by ratio and network, and what memory costs
#   columns network, batch, formulation, ratio, performance_ratio, lower_ratio, upper_ratio, cost_ratio, reached_ratio,
#   ratio_off, kind; ARG3: networks
call ARG0[:strlen(ARG0) - strlen("place-cost.gp")] . "house.gp" ARG2
@kinds
@intervals
@footer
n = words(ARG3)
array called[n]
do for [i = 1:n] {
    batch = ""
    stats ARG1 using (strcol("network") eq word(ARG3, i) ? batch_seen(strcol("batch")) : NaN) nooutput
    called[i] = word(ARG3, i) . ", batch " . batch
}
form = "sync"
stats ARG1 using (strcol("formulation") eq "async" ? (form = "async", 0) : 0) nooutput
width = 0.8 / n
set boxwidth width
@ratios
set xtics add ("1 : 0" -1)
set xrange [-1.6:list_n - 0.4]
set yrange [0:1.3]
set xlabel "slow : fast memory"
set ylabel "against all fast: performance; cost of memory ($)"
where = form eq "async" ? "beside" : "between"
set title house_title("performance with moves " . where . " kernels, and cost of memory\n" . \
    "{/*0.8 " . intervals . "}")
set key top left horizontal noenhanced
set arrow from graph 0, first 1 to graph 1, first 1 nohead dt 2 lc rgb warning
drawn(f) = f eq form || f eq "slow"
of(net) = strcol("network") eq net && drawn(strcol("formulation")) ? \
    (strcol("ratio") eq "1:0" ? -1 : place(strcol("ratio"))) : NaN
at(i) = of(word(ARG3, i)) + (i - (n + 1) / 2.0) * width
y(off) = strcol("ratio_off") eq off ? column("performance_ratio") : NaN
plot for [i = 1:n] ARG1 using (at(i)):(y("0")):(width) with boxes lc rgb colour(i) title called[i], \
    for [i = 1:n] ARG1 using (at(i)):(y("1")):(width) with boxes fs solid 0.35 lc rgb colour(i) notitle, \
    for [i = 1:n] ARG1 using (at(i)):(y("1") / 2):(sprintf("%.1f:1", column("reached_ratio"))) with labels notitle, \
    for [i = 1:n] ARG1 using (at(i)):(column("performance_ratio")):(number(strcol("lower_ratio"))): \
        (number(strcol("upper_ratio"))):(width) with boxerrorbars fs empty noborder lw 1.2 lc rgb base notitle, \
    ARG1 using (of(word(ARG3, 1)) + 0.48):(column("cost_ratio")):("$") with labels font ",20" notitle
