# ratios to the base with their intervals, from bench-compare: label (or benchmark), ratio, lower_ratio, upper_ratio,
# kind; ARG3: which column names the rows; ARG4: title.
# The axis is logarithmic; an interval that is open, or reaches beyond a third or three times, is an arrow to the edge.
high = 320
call ARG0[:strlen(ARG0) - strlen("bench-ratio.gp")] . "house.gp" ARG2
@kinds
rows = 0
widest = 0.02
reach(x) = (house_d = x > 0 ? abs(log(x)) : x <= 0 ? log(3) : 0, \
    widest = house_d > log(3) ? log(3) : house_d > widest ? house_d : widest)
row(t) = (rows = rows + 1, reach(number(t)), reach(number(strcol("lower_ratio"))), reach(number(strcol("upper_ratio"))))
stats ARG1 using (strcol("ratio") eq "" ? NaN : row(strcol("ratio"))) nooutput
edge = exp(1.15 * widest)
set title house_title(ARG4 . ", medians of paired rounds with their intervals") noenhanced
set xlabel "time over that of the base, below 1 is faster"
set logscale x
set xrange [1 / edge:edge]
set xtics (0.33, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3)
if (edge < 1.5) { set xtics (0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4) }
if (edge < 1.15) { set xtics (1); set for [k = -6:6] xtics add (1 + 0.02 * k) }
if (edge < 1.04) { set xtics (1); set for [k = -6:6] xtics add (1 + 0.005 * k) }
set yrange [rows + 0.5:0.5]
set grid xtics noytics
set ytics noenhanced scale 0
set border 1
unset key
set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb base lw 1.5 back
left(x) = cut_low("lower_ratio", 1 / edge)
right(x) = cut_high("upper_ratio", edge)
set style arrow 1 nohead lw 3 lc rgb "#99bbdd"
set style arrow 2 head filled size screen 0.012, 20 lw 3 lc rgb "#99bbdd"
set style arrow 3 backhead filled size screen 0.012, 20 lw 3 lc rgb "#99bbdd"
set style arrow 4 heads filled size screen 0.012, 20 lw 3 lc rgb "#99bbdd"
open(x) = 1 + (number(strcol("upper_ratio")) > edge) + 2 * (number(strcol("lower_ratio")) < 1 / edge)
@footer
plot ARG1 using (left(0)):($0 + 1):(right(0) - left(0)):(0):(open(0)) with vectors arrowstyle variable, \
     ARG1 using "ratio":($0 + 1):ytic(stringcolumn(ARG3)) with points pt 7 ps 0.9 lc rgb ours, \
     ARG1 using "ratio":($0 + 1):(sprintf("%.4g", column("ratio"))) with labels offset 0, 1.1 font ",10"
