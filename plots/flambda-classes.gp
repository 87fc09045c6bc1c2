# shares of the three labels as the threshold grows: tau, doesnt_matter_ratio, inline_ratio, apply_ratio
wide = 700
high = 450
call ARG0[:strlen(ARG0) - strlen("flambda-classes.gp")] . "house.gp" ARG2
@kinds
set title house_title("labels of call sites")
set xlabel "tau: the smallest difference of rewards that matters"
set logscale x
set format x "10^{%T}"
set ylabel "share of the call sites"
set yrange [0:1]
set grid xtics
set key outside top horizontal
@footer
plot ARG1 using (column("tau")):(column("doesnt_matter_ratio")) with linespoints pt 7 lc rgb theirs \
    title "does not matter", \
     ARG1 using (column("tau")):(column("inline_ratio")) with linespoints pt 5 lc rgb colour(1) title "inline", \
     ARG1 using (column("tau")):(column("apply_ratio")) with linespoints pt 9 lc rgb colour(2) title "apply"
