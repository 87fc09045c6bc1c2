# transitions into each category by operation: op, category, count
wide = 900
high = 520
call ARG0[:strlen(ARG0) - strlen("prof-transitions.gp")] . "house.gp" ARG2
@kinds
set title house_title("how often a category was entered, by operation") noenhanced
set xlabel "times entered"
stats ARG1 using "count" nooutput
# bars begin at 0; where that hides the small ones, points on a logarithmic axis, which has no beginning
far = STATS_min > 0 && STATS_max > 50 * STATS_min
if (far) { set logscale x; set format x "10^{%L}" }
set xrange [far ? 0.5 * STATS_min : 0:far ? 3 * STATS_max : 1.1 * STATS_max]
n = STATS_records
set yrange [n - 0.4:-0.6]
set ytics noenhanced scale 0
set grid xtics noytics
set border 1
unset key
@footer
entered = '(strcol("op") eq "" ? "(none)" : strcol("op")) . " > " . strcol("category")'
counted = 'ARG1 using "count":0:(sprintf("%.0f", column("count"))) with labels left offset 0.7,0 font ",11"'
if (far) {
    plot ARG1 using "count":0:ytic(@entered) with points pt 7 ps 1.2 lc rgb ours, @counted
} else {
    plot ARG1 using (0):0:(0):"count":($0 - 0.3):($0 + 0.3):ytic(@entered) with boxxyerror lc rgb ours, @counted
}
