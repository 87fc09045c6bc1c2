# instructions against trials of a search, a panel per program, and the temperature; columns program, evaluation,
# algorithm, instructions_ratio, best_ratio, temperature; ARG3: programs
n = words(ARG3)
rows = n > 8 ? 3 : n > 2 ? 2 : 1
if (ARG2[strlen(ARG2)-2:] eq "svg") {
    set terminal svg size 1000,320 * rows + 60 dynamic font "sans,12" background "white"
} else {
    set terminal pngcairo size 1500,480 * rows + 90 font "sans,16"
}
call ARG0[:strlen(ARG0) - strlen("inline-trace.gp")] . "kind.gp" ARG1
set output ARG2
high = 480 * rows + 90
set datafile separator comma
set datafile missing ""
set grid lc rgb "#cccccc"
set multiplot layout rows, ceil((n + 1.0) / rows) margins screen 0.07, 0.98, 145.0 / high, 1 - 85.0 / high \
    spacing screen 0.065, 0.12 \
    title kind . ": exact instructions of each set of decisions tried, ratio to the compiler's default"
of(p, c) = strcol("program") eq p ? column(c) : NaN
mode(p, a) = strcol("program") eq p && strcol("algorithm") eq a ? column("instructions_ratio") : NaN
step(r) = (d = 10 ** floor(log10(r / 4)), r / 4 < 1.5 * d ? d : r / 4 < 3.5 * d ? 2 * d \
    : r / 4 < 7.5 * d ? 5 * d : 10 * d)
unset key
set xlabel "trial" offset 0,0.5
do for [i = 1:n] {
    p = word(ARG3, i)
    set title p noenhanced offset 0,-0.5
    set xrange [*:*]
    set yrange [*:*]                                     # stats looks at what is in the ranges only
    stats ARG1 using (of(p, "instructions_ratio")) nooutput name "Y"
    stats ARG1 using (of(p, "evaluation")) nooutput name "X"
    if (Y_max > Y_min) { set ytics step(Y_max - Y_min) } else { set ytics auto }
    if (X_max > 4) { set xtics step(X_max) } else { set xtics 1 }
    set yrange [Y_min - 0.06 * (Y_max - Y_min + 0.01):Y_max + 0.06 * (Y_max - Y_min + 0.01)]
    plot 1 lc rgb "#444444" dt 2 notitle, \
         ARG1 using "evaluation":(mode(p, "heuristic")) with points pt 7 ps 0.9 lc rgb "#999999", \
         '' using "evaluation":(mode(p, "start")) with points pt 7 ps 0.9 lc rgb "#ddaa33", \
         '' using "evaluation":(mode(p, "local")) with points pt 7 ps 0.9 lc rgb "#66aa55", \
         '' using "evaluation":(mode(p, "flip")) with points pt 9 ps 0.9 lc rgb "#66aa55", \
         '' using "evaluation":(mode(p, "anneal")) with points pt 7 ps 0.9 lc rgb "#4477aa", \
         '' using "evaluation":(mode(p, "reward")) with points pt 5 ps 1 lc rgb "#aa3377", \
         '' using "evaluation":(of(p, "best_ratio")) with steps lw 2 lc rgb "#cc3311"
}
set title "temperature of the annealing"
unset key
set yrange [*:*]
set xtics auto
set ytics auto
stats ARG1 using "temperature" nooutput name "T"
annealed = exists("T_records") ? T_records : 0
if (annealed > 0) { set yrange [T_min / 2:T_max * 2] }
set logscale y
set format y "%.0e"
set xrange [0:*]
set key top left samplen 2 font ",11" noenhanced
if (annealed > 0) {
    plot for [i = 1:n] ARG1 using "evaluation":(of(word(ARG3, i), "temperature")) with linespoints pt 7 ps 0.5 \
        title word(ARG3, i)
} else {
    set label "no annealing in these searches" at graph 0.5, 0.5 center
    unset tics
    unset key
    plot [0:1] [0.1:1] NaN
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
plot [0:1] [0:1] NaN with points pt 7 lc rgb "#999999" title "heuristic", NaN with points pt 7 lc rgb "#ddaa33" \
    title "hot calls first", \
    NaN with points pt 7 lc rgb "#66aa55" title "local", NaN with points pt 9 lc rgb "#66aa55" title "single calls", \
    NaN with points pt 7 lc rgb "#4477aa" title "annealing", NaN with points pt 5 lc rgb "#aa3377" \
        title "from rewards", \
    NaN with lines lw 2 lc rgb "#cc3311" title "best so far"
unset multiplot
