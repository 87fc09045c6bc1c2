# instructions against text size of every set of decisions tried, a panel per program; columns program, decisions,
# text_ratio, instructions_ratio, frontier; ARG3: programs; ARG4: the base, where the points have names to be shown
n = words(ARG3)
first = ARGC > 3 ? ARG4 : "default"
rows = n > 8 ? 3 : n > 3 ? 2 : 1
if (ARG2[strlen(ARG2)-2:] eq "svg") {
    set terminal svg size 1000,320 * rows + 60 dynamic font "sans,12" background "white"
} else {
    set terminal pngcairo size 1500,480 * rows + 90 font "sans,16"
}
call ARG0[:strlen(ARG0) - strlen("inline-frontier.gp")] . "kind.gp" ARG1
set output ARG2
high = 480 * rows + 90
set datafile separator comma
set datafile missing ""
set grid lc rgb "#cccccc"
set multiplot layout rows, ceil(n / (1.0 * rows)) margins screen 0.08, 0.98, 145.0 / high, 1 - 85.0 / high \
    spacing screen 0.08, 0.13 \
    title kind . ": size of the code against exact instructions, ratios to " . (ARGC > 3 ? "-" . ARG4 : "default")
of(p, c) = strcol("program") eq p ? column(c) : NaN
named(p, d, c) = strcol("program") eq p && strcol("decisions") eq d ? column(c) : NaN
best(p, c) = strcol("program") eq p && strcol("frontier") eq "yes" ? column(c) : NaN
step(r) = (d = 10 ** floor(log10(r / 4)), r / 4 < 1.5 * d ? d : r / 4 < 3.5 * d ? 2 * d \
    : r / 4 < 7.5 * d ? 5 * d : 10 * d)
unset key
set xlabel "size of the code" offset 0,0.5
set ylabel "instructions" offset 1
do for [i = 1:n] {
    p = word(ARG3, i)
    set title p noenhanced offset 0,-0.5
    set xrange [*:*]
    set yrange [*:*]                                     # stats looks at what is in the ranges only
    stats ARG1 using (of(p, "instructions_ratio")) nooutput name "Y"
    stats ARG1 using (of(p, "text_ratio")) nooutput name "X"
    if (Y_max > Y_min) { set ytics step(Y_max - Y_min) } else { set ytics auto }
    if (X_max > X_min) { set xtics step(1.6 * (X_max - X_min)) } else { set xtics auto }
    set yrange [Y_min - 0.06 * (Y_max - Y_min + 0.01):Y_max + 0.06 * (Y_max - Y_min + 0.01)]
    set xrange [X_min - 0.06 * (X_max - X_min + 0.01):X_max + 0.06 * (X_max - X_min + 0.01)]
    plot ARG1 using (of(p, "text_ratio")):(of(p, "instructions_ratio")) with points pt 7 ps 0.8 lc rgb "#4477aa", \
         '' using (best(p, "text_ratio")):(best(p, "instructions_ratio")) with points pt 6 ps 1.3 lw 2 \
             lc rgb "#cc3311", \
         '' using (named(p, first, "text_ratio")):(named(p, first, "instructions_ratio")) with points pt 5 \
             ps 1.2 lc rgb "#000000", \
         '' using (named(p, "none", "text_ratio")):(named(p, "none", "instructions_ratio")) with points pt 9 ps 1.4 \
             lc rgb "#ddaa33", \
         '' using (ARGC > 3 ? of(p, "text_ratio") : NaN):(of(p, "instructions_ratio")):"decisions" \
             with labels noenhanced font ",8" left rotate by 35 offset 0.4, 0.4
}
set lmargin screen 0
set rmargin screen 1
set bmargin screen 0
set tmargin screen 75.0 / high
unset border
unset tics
unset label
unset logscale
unset xlabel
unset ylabel
set title ""
set key center horizontal maxrows 1 samplen 1 width 0.5 font ",14"
plot [0:1] [0:1] NaN with points pt 7 lc rgb "#4477aa" title (ARGC > 3 ? "build" : "tried"), \
    NaN with points pt 6 lw 2 lc rgb "#cc3311" title "frontier", \
    NaN with points pt 5 lc rgb "#000000" title first, \
    NaN with points pt 9 lc rgb "#ddaa33" title (ARGC > 3 ? "" : "nothing inlined")
unset multiplot
