# programs recorded, raw and corrected, over the same not recorded: program, density, raw_ratio, corrected_ratio,
# half_width_ratio
wide = 900
high = 820
call ARG0[:strlen(ARG0) - strlen("prof-corrected.gp")] . "house.gp" ARG2
@kinds
stats ARG1 using (list_add(strcol("program"))) nooutput
n = list_n
stats ARG1 using "raw_ratio" nooutput name "R"
stats ARG1 using (column("corrected_ratio") + column("half_width_ratio")) nooutput name "H"
top = R_max > H_max ? R_max : H_max
title_of(d) = d eq "few" ? "chosen C functions" : d eq "calls" ? "every C function of a module" \
    : "every Python function and every builtin"
of(d, shift) = strcol("density") eq d ? list_index(strcol("program")) + shift : NaN
set boxwidth 0.38
set xrange [0.4:n + 0.6]
set yrange [0:1.05 * top]
set lmargin 9
set xtics () noenhanced scale 0
do for [i = 1:n] { set xtics add (list[i] i) }
set key at screen 0.5, 0.945 center top horizontal maxrows 1
set multiplot layout 3,1 margins screen 0.095, 0.98, 0.09, 0.87 spacing screen 0, 0.09 \
    title house_title("CPU time recorded over not recorded; lines: 95 % intervals")
@footer
do for [d in "few calls tree"] {
    set title title_of(d) offset 0, -0.6
    set ylabel "ratio"
    plot ARG1 using (of(d, -0.2)):"raw_ratio" with boxes lc rgb "#ccbb44" title "raw", \
         ARG1 using (of(d, 0.2)):"corrected_ratio" with boxes lc rgb ours title "corrected", \
         ARG1 using (of(d, 0.2)):"corrected_ratio":"half_width_ratio" with yerrorbars pt 0 ps 0 lc rgb "#000000" \
             notitle, \
         1 with lines lc rgb "#228833" lw 2 title "not recorded"
    unset key
    unset label 9999
}
unset multiplot
