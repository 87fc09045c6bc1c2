# one network, ARG3, over the size of fast memory: slow-down, where operands lie, what moves; columns of place-figure 10
wide = 900
high = 1100
call ARG0[:strlen(ARG0) - strlen("place-study.gp")] . "house.gp" ARG2
@kinds
@batches
@intervals
set multiplot layout 3,1 title house_title(ARG3 . ", batch " . batch . ", by the size of fast memory; " . intervals) \
    noenhanced
@footer
set key top right
set offsets graph 0.03, graph 0.03, 0, 0
stats ARG1 using "default_bytes" nooutput
whole = STATS_max / 1e9
set arrow 1 from whole, graph 0 to whole, graph 1 nohead dt 2 lc rgb "#888888"
forms = "static sync async"
shade(f) = f == 3 ? ours : f == 2 ? "#66ccee" : "#ccbb44"
of(f) = strcol("formulation") eq word(forms, f) || strcol("formulation") eq "slow" || strcol("formulation") eq "fast"
x(f) = of(f) ? column("fast_memory_bytes") / 1e9 : NaN
end(name) = strcol(name) eq "" ? column("slowdown_ratio") : column(name)   # no line, and no warning of an empty plot
set yrange [0:*]
set ylabel "step time over all fast"
plot for [f = 1:3] ARG1 using (x(f)):"slowdown_ratio" smooth unique with lines lc rgb shade(f) notitle, \
    for [f = 1:3] ARG1 using (x(f)):(column("slowdown_ratio")):(end("lower_ratio")):(end("upper_ratio")) \
        with yerrorbars pt 0 lc rgb shade(f) notitle, \
    for [f = 1:3] ARG1 using (x(f)):"slowdown_ratio" with points pt 7 lc rgb shade(f) title word(forms, f)
unset label 9999
set yrange [0:1.02]
set key bottom right
set ylabel "share of operand bytes in fast memory"
plot for [f = 1:3] ARG1 using (x(f)):"fast_input_ratio" smooth unique with linespoints pt 7 lc rgb shade(f) \
        title word(forms, f) . " inputs", \
    for [f = 1:3] ARG1 using (x(f)):"fast_output_ratio" smooth unique with linespoints dt 2 pt 6 lc rgb shade(f) \
        title word(forms, f) . " outputs"
set yrange [0:*]
set key top right opaque
set ylabel "GB moved in a step"
set xlabel "fast memory, GB (dashed: what everything needs)"
plot for [f = 2:3] ARG1 using (x(f)):(column("moved_to_slow_bytes") / 1e9) smooth unique with linespoints pt 7 \
        lc rgb shade(f) title word(forms, f) . ", fast to slow", \
    for [f = 2:3] ARG1 using (x(f)):(column("moved_to_fast_bytes") / 1e9) smooth unique with linespoints dt 2 pt 5 \
        lc rgb shade(f) title word(forms, f) . ", slow to fast"
unset multiplot
