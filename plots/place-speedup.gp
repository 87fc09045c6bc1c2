# speed-up over all tensors in slow memory, bars by formulation and ratio, a panel per network, one scale for all;
# below, what plans lose against all tensors in fast memory: geometric means, the bound and what the study reports
#   columns network, batch, formulation, ratio, speedup_over_slow_ratio, lower_ratio, upper_ratio, loss_ratio,
#   least_loss_ratio, reached_ratio, ratio_off, kind; ARG3: networks; ARG4: threads of the kernels
n = words(ARG3)
wide = 1000
rows = (n + 1) / 2 + 1
high = 170 + 270 * rows
call ARG0[:strlen(ARG0) - strlen("place-speedup.gp")] . "house.gp" ARG2
@kinds
@intervals
threads = !exists("ARG4") || ARG4 eq "" || ARG4 eq "1" ? "" : ", " . ARG4 . " kernel threads"
set boxwidth 0.19
@ratios
m = list_n
right = m - 0.52 + 0.09 * m
forms = "numa static sync async"
F = words(forms)
shade(f) = f == 4 ? ours : f == 3 ? "#66ccee" : f == 2 ? "#ccbb44" : theirs
at(net, form, shift) = strcol("network") eq net && strcol("formulation") eq form ? place(strcol("ratio")) + shift : NaN
of(net, form) = strcol("network") eq net && strcol("formulation") eq form ? column("speedup_over_slow_ratio") : NaN
stats ARG1 using (column("speedup_over_slow_ratio")) nooutput name "S"
ends(t) = t eq "fast" || t eq "slow"
top = S_max
upper(t, v) = ends(t) || v != v ? 0 : (top = v > top ? v : top, 0)
stats ARG1 using (upper(strcol("formulation"), number(strcol("upper_ratio")))) nooutput
top = 1.12 * top
left = -0.55
set multiplot layout rows, (n > 1 ? 2 : 1) \
    margins screen 0.075, 0.985, 108.0 / high, 1 - 90.0 / high spacing screen 0.055, 75.0 / high title house_title( \
    "training steps by where tensors lie, over all of them in slow memory" . threads . "\n" . \
    "{/*0.8 " . intervals . "; fast memory: of intermediates, without parameters}")
@footer
unset key
start(f) = f == 4 ? 0.55 : f == 3 ? 0.37 : f == 2 ? 0.22 : 0.03   # of the names, by their lengths
set for [f = 1:F] object 10 + f rectangle at screen start(f), 42.0 / high size screen 0.018, 12.0 / high \
    fc rgb shade(f) fs solid 0.9 noborder
names = "NUMA,_first_come static_plan moves_between moves_beside_kernels"
blanks(t) = strstrt(t, "_") == 0 ? t : t[:strstrt(t, "_") - 1] . " " . blanks(t[strstrt(t, "_") + 1:])
set for [f = 1:F] label 10 + f blanks(word(names, f)) at screen start(f) + 0.02, 42.0 / high left font ",11"
do for [i = 1:n] {
    net = word(ARG3, i)
    batch = ""
    stats ARG1 using (strcol("network") eq net ? batch_seen(strcol("batch")) : NaN) nooutput
    stats ARG1 using (of(net, "fast")) nooutput name "F"
    set title net . (batch eq "" ? "" : ", batch " . batch) noenhanced offset 0,-0.6
    set xrange [left:right]
    set yrange [0:top]
    set ylabel (i % 2 ? "speed-up over all slow" : "")
    set xlabel (i > n - 2 && n > 1 ? "slow : fast memory" : "") offset 0,0.6
    set arrow 1 from left, 1 to right, 1 nohead lc rgb base lw 0.8 back
    set arrow 2 from left, F_max to m - 0.55, F_max nohead dt 2 lw 1.6 lc rgb warning
    set label 2 "all\nfast" at m - 0.52, F_max left textcolor rgb warning font ",10"
    if (i == 2) { unset label 9999; unset for [f = 1:F] label 10 + f; unset for [f = 1:F] object 10 + f }
    x(f) = at(net, word(forms, f), (f - 2.5) * 0.2)
    # what is not to be seen lies outside, since gnuplot warns of a plot that is empty
    y(off) = strcol("ratio_off") eq off ? column("speedup_over_slow_ratio") : -9
    end(name) = number(strcol(name)) > 0 ? number(strcol(name)) : -9
    plot for [f = 1:F] ARG1 using (x(f)):(y("0")):(0.19) with boxes lc rgb shade(f), \
        for [f = 1:F] ARG1 using (x(f)):(y("1")):(0.19) with boxes fs solid 0.35 lc rgb shade(f), \
        for [f = 1:F] ARG1 using (x(f)):(end("lower_ratio") < 0 ? -9 : column("speedup_over_slow_ratio")): \
            (end("lower_ratio")):(end("upper_ratio")):(0.19) with boxerrorbars fs empty noborder lw 1.2 lc rgb base, \
        for [f = 1:F] ARG1 using (x(f)):(y("1") / 2):(sprintf("%.1f:1", column("reached_ratio"))) with labels rotate \
            font ",9"
}
unset arrow 1; unset arrow 2; unset label 2
if (n == 1) { unset label 9999; unset for [f = 1:F] label 10 + f; unset for [f = 1:F] object 10 + f }
if (n % 2 && n > 1) { set multiplot next }
# means over the networks of performance against all fast, as losses in per cent; below 0 where a ratio was not run
all(form, r, name) = strcol("formulation") eq form && strcol("ratio") eq r && strcol("ratio_off") eq "0" ? \
    log(1 - column(name)) : NaN
gather(v) = v == v ? (total = total + v, count = count + 1, 0) : 0
array mean[F * m + 1]
array least[F * m + 1]
do for [f = 1:F] {
    do for [k = 1:m] {
        total = count = 0
        stats ARG1 using (gather(all(word(forms, f), list[k], "loss_ratio"))) nooutput
        mean[(f - 1) * m + k] = count > 0 ? 100 * (1 - exp(total / count)) : -10
        total = count = 0
        stats ARG1 using (gather(all(word(forms, f), list[k], "least_loss_ratio"))) nooutput
        least[(f - 1) * m + k] = count > 0 ? 100 * (1 - exp(total / count)) : -10
    }
}
unset title
set title "loss (mean" . (house_off ? ", but pale" : "") . "); lines: least of any plan" . \
    (list_index("4:1") ? "; diamonds: the study's" : "") offset 0,-0.6
set ylabel "loss, %"
set xlabel "slow : fast memory" offset 0,0.6
set yrange [0:100]
set xrange [left:right]
spot(i) = place(list[(int(i) - 1) % m + 1]) + (row(i) - 2.5) * 0.2
row(i) = (int(i) - 1) / m + 1
paper(f) = f == 1 ? 71.9 : f == 3 ? 27.7 : NaN           # the study: NUMA and moves between kernels, at 4 : 1
mark(i) = list[(i - 1) % m + 1] eq "4:1" ? paper(row(i)) : NaN
# numbers stand above the bar and its line, and above the study's mark where that is near
over(i) = least[i] > mean[i] ? least[i] : mean[i]
top_of(i) = abs(mark(i) - over(i) - 5) < 12 && mark(i) + 4 > over(i) ? mark(i) + 4 : over(i)
do for [i = 1:F * m] {
    if (mean[i] >= 0) { set label 100 + i sprintf("%.0f", mean[i]) at spot(i), top_of(i) center offset 0,0.6 \
        font ",10" }
}
plot for [i = 1:F * m] "+" using (spot(i)):(mean[i]) every ::0::0 with boxes lc rgb shade(row(i)), \
    for [i = m + 1:F * m] "+" using (spot(i)):(least[i]):(0.09) every ::0::0 with xerrorbars pt -1 lw 2.5 \
        lc rgb base, \
    for [i = 1:F * m] "+" using (spot(i)):(mark(i) == mark(i) ? mark(i) : -9) every ::0::0 with points pt 13 ps 1.4 \
        lc rgb warning
unset multiplot
