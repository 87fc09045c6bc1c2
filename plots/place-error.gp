# error of planned step times by ratio; columns network, batch, formulation, ratio, error_ratio, kind; ARG3: networks
wide = 1100
call ARG0[:strlen(ARG0) - strlen("place-error.gp")] . "house.gp" ARG2
@kinds
@footer
@ratios
set xtics add ("all slow" -1, "all fast" list_n)
set xrange [-1.4:list_n + 0.4]
set yrange [*<-20:20<*]
set xlabel "slow : fast memory"
set ylabel "(predicted - measured) / measured, %"
set title house_title("error of the planned step time")
set key outside right noenhanced
set arrow from graph 0, first 0 to graph 1, first 0 nohead lc rgb base
spot(r) = r eq "1:0" ? -1 : r eq "0:1" ? list_n : place(r)
forms = "static sync async"
ends(f) = f == 1 && (strcol("formulation") eq "slow" || strcol("formulation") eq "fast")
at(net, f) = strcol("network") eq net && (strcol("formulation") eq word(forms, f) || ends(f)) ? \
    spot(strcol("ratio")) + (f - 2) * 0.2 : NaN
mark(f) = f == 1 ? 6 : f == 2 ? 4 : 7
n = words(ARG3)
array called[n]
do for [i = 1:n] {
    batch = ""
    stats ARG1 using (strcol("network") eq word(ARG3, i) ? batch_seen(strcol("batch")) : NaN) nooutput
    called[i] = word(ARG3, i) . ", batch " . batch
}
plot for [i = 1:n] for [f = 1:3] ARG1 using (at(word(ARG3, i), f) + (i - (n + 1) / 2.0) * 0.05): \
    (100 * column("error_ratio")) with points pt mark(f) ps 1.3 lc rgb colour(i) \
    title called[i] . ", " . word(forms, f)
