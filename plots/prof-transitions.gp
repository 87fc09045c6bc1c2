# transitions into each category by operation: op, category, count
wide = 900
high = 520
call ARG0[:strlen(ARG0) - strlen("prof-transitions.gp")] . "house.gp" ARG2
@kinds
set title house_title("how often a category was entered, by operation") noenhanced
set xlabel "times entered"
set logscale x
set format x "10^{%L}"
set xrange [0.8:*]
stats ARG1 using "count" nooutput
n = STATS_records
set yrange [n - 0.4:-0.6]
set ytics noenhanced scale 0
set grid xtics noytics
set border 1
unset key
@footer
plot ARG1 using (0.8):0:(0.8):"count":($0 - 0.3):($0 + 0.3) \
        :ytic((strcol("op") eq "" ? "(none)" : strcol("op")) . " > " . strcol("category")) \
    with boxxyerror lc rgb ours
