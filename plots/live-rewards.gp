# learned reward of inlining each call, sorted, with bootstrap intervals; columns program, rank, immediate, lower, upper; ARG3: programs
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 1000,640 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1500,960 font "sans,16" }
set output ARG2
set datafile separator comma
set datafile missing ""
set grid lc rgb "#dddddd"
n = words(ARG3)
set multiplot layout (n > 3 ? 2 : 1), ceil(n / (n > 3 ? 2.0 : 1)) title "learned reward of inlining each call (ridge, from real counts), 95 % intervals"
of(p, c) = strcol("program") eq p ? column(c) : NaN
set xlabel "call, by reward"
unset key
do for [i = 1:n] {
    p = word(ARG3, i)
    set title p noenhanced
    plot ARG1 using (of(p, "rank")):(of(p, "lower")):(of(p, "upper")) with filledcurves lc rgb "#aaccee", \
         '' using (of(p, "rank")):(of(p, "immediate")) with lines lw 2 lc rgb "#4477aa", 0 lc rgb "#444444"
}
unset multiplot
