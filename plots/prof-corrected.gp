# ten programs recorded, raw and corrected, over the same not recorded; columns program, density, raw_ratio, corrected_ratio, half_width_ratio
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,800 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,1200 font "sans,16" }
set output ARG2
set datafile separator comma
set datafile missing ""
set style fill solid 0.8 border -1
set boxwidth 0.38
set grid ytics lc rgb "#dddddd"
set yrange [0:*]
set lmargin 8
set xtics noenhanced
set key noenhanced outside top right horizontal
title_of(d) = d eq "few" ? "chosen C functions" : d eq "calls" ? "every C function of a module" : "every Python function and every builtin"
rows(d) = sprintf("< awk -F, 'NR == 1 || $2 == \"%s\"' '%s'", d, ARG1)
set multiplot layout 3,1 title "real: recorded CPU time over that of the same program not recorded, raw and corrected (95 % interval)"
do for [d in "few calls tree"] {
    set title title_of(d) offset 0,-0.5
    set ylabel "ratio"
    plot rows(d) using ($0 - 0.2):(column("raw_ratio")) with boxes lc rgb "#ddaa33" title "raw", \
         rows(d) using ($0 + 0.2):(column("corrected_ratio")):xtic(strcol("program")) with boxes lc rgb "#4477aa" title "corrected", \
         rows(d) using ($0 + 0.2):(column("corrected_ratio")):(column("half_width_ratio")) with yerrorbars pt 0 ps 0 lc rgb "#000000" notitle, \
         1 with lines lc rgb "#228833" lw 2 title "not recorded"
}
unset multiplot
