# one network over the size of fast memory: slow-down, where operands lie, what moves; ARG3: network, ARG4: kind
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,1100 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,1650 font "sans,18" }
set output ARG2
set datafile separator comma
set datafile missing NaN
set grid lc rgb "#dddddd"
set multiplot layout 3,1 title sprintf("%s: %s by the size of fast memory", ARG4, ARG3) noenhanced
set key top right
set offsets graph 0.03, graph 0.03, 0, 0
stats ARG1 using "default_bytes" nooutput
whole = STATS_max / 1e9
set arrow 1 from whole, graph 0 to whole, graph 1 nohead dt 2 lc rgb "#888888"
of(form) = strcol("formulation") eq form || strcol("formulation") eq "slow" || strcol("formulation") eq "fast"
x(form) = of(form) ? column("fast_memory_bytes") / 1e9 : NaN
set yrange [0:*]
set ylabel "step time over all fast"
plot for [f = 1:2] ARG1 using (x(word("static sync", f))):"slowdown_ratio" smooth unique with lines lc rgb word("#66ccee #4477aa", f) notitle, \
     for [f = 1:2] ARG1 using (x(word("static sync", f))):"slowdown_ratio":"lower_ratio":"upper_ratio" with yerrorbars pt 5 + 2 * f lc rgb word("#66ccee #4477aa", f) title word("static sync", f)
set yrange [0:1.02]
set key top left
set ylabel "share of operand bytes in fast memory"
plot for [f = 1:2] ARG1 using (x(word("static sync", f))):"fast_input_ratio" smooth unique with linespoints pt 5 + 2 * f lc rgb word("#66ccee #4477aa", f) title word("static sync", f) . " inputs", \
     for [f = 1:2] ARG1 using (x(word("static sync", f))):"fast_output_ratio" smooth unique with linespoints dt 2 pt 4 + 2 * f lc rgb word("#66ccee #4477aa", f) title word("static sync", f) . " outputs"
set yrange [0:*]
set key top right opaque
set ylabel "GB moved in a step (sync)"
set xlabel "fast memory, GB (dashed: what everything needs)"
plot ARG1 using (x("sync")):(column("moved_to_slow_bytes") / 1e9) smooth unique with linespoints pt 7 lc rgb "#aa3377" title "fast to slow", \
     ARG1 using (x("sync")):(column("moved_to_fast_bytes") / 1e9) smooth unique with linespoints pt 5 lc rgb "#228833" title "slow to fast"
