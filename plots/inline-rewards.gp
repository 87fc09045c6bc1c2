# learned reward of inlining each call, sorted, with bootstrap intervals; columns program, place, immediate, lower,
# upper; ARG3: programs
n = words(ARG3)
rows = n > 8 ? 3 : n > 3 ? 2 : 1
if (ARG2[strlen(ARG2)-2:] eq "svg") {
    set terminal svg size 1000,320 * rows + 60 dynamic font "sans,12" background "white"
} else {
    set terminal pngcairo size 1500,480 * rows + 90 font "sans,16"
}
call ARG0[:strlen(ARG0) - strlen("inline-rewards.gp")] . "kind.gp" ARG1
set output ARG2
high = 480 * rows + 90
set datafile separator comma
set datafile missing ""
set grid lc rgb "#cccccc"
set multiplot layout rows, ceil(n / (1.0 * rows)) margins screen 0.08, 0.98, 105.0 / high, 1 - 85.0 / high \
    spacing screen 0.075, 0.13 \
    title kind . ": learned reward of inlining a call (ridge): log of instructions saved, 95 % intervals"
of(p, c) = strcol("program") eq p ? column(c) : NaN
set xlabel "the calls of most and of least reward" offset 0,0.5
set xtics 20
unset key
do for [i = 1:n] {
    p = word(ARG3, i)
    set title p noenhanced offset 0,-0.5
    set ylabel (i % ceil(n / (1.0 * rows)) == 1 || n == 1 ? "reward" : "") offset 1
    plot [0:] 0 lc rgb "#444444", \
         ARG1 using (of(p, "place")):(of(p, "immediate")):(of(p, "lower")):(of(p, "upper")) with yerrorbars pt 0 \
             lw 1.2 lc rgb "#99bbdd", \
         '' using (of(p, "place")):(of(p, "immediate")) with points pt 7 ps 0.8 lc rgb "#4477aa"
}
unset multiplot
