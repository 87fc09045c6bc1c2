# instructions against text size of every set of decisions tried, a panel per program; columns program, decisions, text_ratio, instructions_ratio; ARG3: programs
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 1000,640 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1500,960 font "sans,16" }
set output ARG2
set datafile separator comma
set datafile missing ""
set grid lc rgb "#dddddd"
n = words(ARG3)
set multiplot layout (n > 3 ? 2 : 1), ceil(n / (n > 3 ? 2.0 : 1)) title "real: size against exact instructions, ratios to the compiler's default"
of(p, c) = strcol("program") eq p ? column(c) : NaN
named(p, d, c) = strcol("program") eq p && strcol("decisions") eq d ? column(c) : NaN
set xlabel "text size"
set ylabel "instructions"
do for [i = 1:n] {
    p = word(ARG3, i)
    set title p noenhanced
    if (i == 1) { set key top right samplen 1 font ",9" } else { unset key }
    plot ARG1 using (of(p, "text_ratio")):(of(p, "instructions_ratio")) with points pt 7 ps 0.5 lc rgb "#4477aa" title "tried", \
         '' using (strcol("program") eq p && strcol("frontier") eq "yes" ? column("text_ratio") : NaN):(column("instructions_ratio")) with points pt 6 ps 1.2 lw 2 lc rgb "#cc3311" title "frontier", \
         '' using (named(p, "default", "text_ratio")):(named(p, "default", "instructions_ratio")) with points pt 5 ps 1.2 lc rgb "#000000" title "default", \
         '' using (named(p, "none", "text_ratio")):(named(p, "none", "instructions_ratio")) with points pt 9 ps 1.2 lc rgb "#ddaa33" title "inline nothing"
}
unset multiplot
