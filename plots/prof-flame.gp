# flame graph: callers below, width is time; columns depth, start_us, end_us, name
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,500 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,750 font "sans,16" }
set output ARG2
set datafile separator comma
set datafile missing ""
set key noenhanced
kind = system("echo ${KIND:-real}")
set title kind . ": flame graph"
set xlabel "seconds"
set style fill solid 0.8 border lc rgb "#ffffff"
unset ytics
unset key
stats ARG1 using 3 skip 1 nooutput
width = STATS_max
set xrange [0:width / 1e6]
set yrange [0.4:*]
third(x) = floor(x) - 3 * floor(floor(x) / 3.0)
colour(d, s) = 0xdd5522 + 256 * floor(40 * third(d)) + floor(20 * third(s / 100))
plot ARG1 using ((column("start_us") + column("end_us")) / 2e6):(column("depth")):(column("start_us") / 1e6):(column("end_us") / 1e6):(column("depth") - 0.5):(column("depth") + 0.5):(colour(column("depth"), column("start_us"))) with boxxyerror lc rgb variable, \
     ARG1 using ((column("start_us") + column("end_us")) / 2e6):(column("depth")):(column("end_us") - column("start_us") > width * 0.03 ? substr(strcol("name"), 1, int(130.0 * (column("end_us") - column("start_us")) / width)) : "") with labels font ",9" noenhanced
