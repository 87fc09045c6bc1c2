# speed-up over all tensors in slow memory, bars by formulation and ratio, a panel per network, one scale for all
#   columns network, batch, formulation, ratio, speedup_over_slow_ratio, lower_ratio, upper_ratio, kind; ARG3: networks
n = words(ARG3)
wide = n > 1 ? 1000 : 640
rows = (n + 1) / 2
high = 150 + 270 * rows
call ARG0[:strlen(ARG0) - strlen("place-speedup.gp")] . "house.gp" ARG2
@kinds
set boxwidth 0.24
set xtics ("8 : 1" 0, "4 : 1" 1, "1 : 1" 2) scale 0
forms = "numa static sync"
shade(f) = f == 3 ? ours : f == 2 ? "#ccbb44" : theirs
place(r) = r eq "8:1" ? 0 : r eq "4:1" ? 1 : r eq "1:1" ? 2 : NaN
at(net, form, shift) = strcol("network") eq net && strcol("formulation") eq form ? place(strcol("ratio")) + shift : NaN
of(net, form) = strcol("network") eq net && strcol("formulation") eq form ? column("speedup_over_slow_ratio") : NaN
stats ARG1 using (column("speedup_over_slow_ratio")) nooutput name "S"
stats ARG1 using (strcol("formulation") eq "fast" || strcol("formulation") eq "slow" ? NaN : column("upper_ratio")) nooutput name "U"
top = 1.12 * (U_max > S_max ? U_max : S_max)
set multiplot layout rows, (n > 1 ? 2 : 1) margins screen 0.075, 0.985, 85.0 / high, 1 - 90.0 / high spacing screen 0.055, 75.0 / high \
    title house_title("training steps by where tensors lie, over all of them in slow memory\n{/*0.8 bars: the median step; lines: extremes of single steps}")
@footer
unset key
set for [f = 1:3] object 10 + f rectangle at screen 0.03 + 0.17 * (f - 1), 22.0 / high size screen 0.018, 12.0 / high \
    fc rgb shade(f) fs solid 0.9 noborder
names = "NUMA,_first_come static_plan plan_with_moves"
blanks(t) = strstrt(t, "_") == 0 ? t : t[:strstrt(t, "_") - 1] . " " . blanks(t[strstrt(t, "_") + 1:])
set for [f = 1:3] label 10 + f blanks(word(names, f)) at screen 0.045 + 0.17 * (f - 1), 22.0 / high left font ",11"
do for [i = 1:n] {
    net = word(ARG3, i)
    batch = ""
    stats ARG1 using (strcol("network") eq net ? batch_seen(strcol("batch")) : NaN) nooutput
    stats ARG1 using (of(net, "fast")) nooutput name "F"
    set title net . (batch eq "" ? "" : ", batch " . batch) noenhanced offset 0,-0.6
    set xrange [-0.55:2.75]
    set yrange [0:top]
    set ylabel (i % 2 ? "speed-up over all slow" : "")
    set xlabel (i > n - 2 ? "slow : fast memory" : "") offset 0,0.6
    set arrow 1 from -0.55, 1 to 2.75, 1 nohead lc rgb base lw 0.8 back
    set arrow 2 from -0.55, F_max to 2.45, F_max nohead dt 2 lw 1.6 lc rgb warning
    set label 2 "all\nfast" at 2.48, F_max left textcolor rgb warning font ",10"
    if (i == 2) { unset label 9999; unset for [f = 1:3] label 10 + f; unset for [f = 1:3] object 10 + f }
    plot for [f = 1:3] ARG1 using (at(net, word(forms, f), (f - 2) * 0.25)):(column("speedup_over_slow_ratio")): \
        (column("lower_ratio")):(column("upper_ratio")):(0.24) with boxerrorbars lc rgb shade(f) lw 1.2
}
unset multiplot
