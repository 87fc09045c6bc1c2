# flame graph: callers below, width is time: depth, start_us, end_us, name
wide = 900
high = 500
call ARG0[:strlen(ARG0) - strlen("prof-flame.gp")] . "house.gp" ARG2
@kinds
set title house_title("flame graph: callers below, width is time") noenhanced
set xlabel "seconds"
set style fill solid 0.85 border lc rgb "#ffffff"
unset ytics
unset grid
set border 1
unset key
stats ARG1 using "end_us" nooutput
width = STATS_max
stats ARG1 using "depth" nooutput name "D"
set xrange [0:width / 1e6]
set yrange [D_min - 0.6:D_max + 0.6]
third(x) = floor(x) - 3 * floor(floor(x) / 3.0)
shade(d, s) = 0xdd6633 + 256 * floor(30 * third(d)) + floor(20 * third(s / 100))
span = 0
of(x) = (span = column("end_us") - column("start_us"), x)
shown(s) = span > width * 0.03 ? s[1:int(125.0 * span / width)] : ""
@footer
plot ARG1 using ((column("start_us") + column("end_us")) / 2e6):"depth":(column("start_us") / 1e6) \
         :(column("end_us") / 1e6):(column("depth") - 0.5):(column("depth") + 0.5) \
         :(shade(column("depth"), column("start_us"))) with boxxyerror lc rgb variable, \
     ARG1 using (of((column("start_us") + column("end_us")) / 2e6)):"depth":(shown(strcol("name"))) \
         with labels noenhanced font ",9"
