# how busy each lane was, a square for each stretch of time: lane, start_ns, end_ns, busy_ratio
wide = 900
high = 340
call ARG0[:strlen(ARG0) - strlen("prof-strip.gp")] . "house.gp" ARG2
@kinds
stats ARG1 using "start_ns" nooutput
lo = STATS_min
stats ARG1 using (strcol("lane") eq "GPU") nooutput name "gpu"
least = gpu_max > 0 ? 0 : 1                             # no GPU was recorded: no lane of it
set title house_title(least ? "how busy Python and C were" : "how busy Python, C and the GPU were") noenhanced
set xlabel "seconds"
set cblabel "busy, %"
set cbrange [0:100]
set palette defined (0 "#ffffff", 100 "#225599")
set yrange [least - 0.6:2.6]
set ytics ("Python" 2, "C" 1) scale 0
if (!least) { set ytics add ("GPU" 0) }
unset grid
unset key
lane(s) = s eq "Python" ? 2 : s eq "C" ? 1 : 0
at(name) = (column(name) - lo) / 1e9
y(d) = lane(strcol("lane")) + d
@footer
plot ARG1 using ((at("start_ns") + at("end_ns")) / 2):(y(0)):(at("start_ns")):(at("end_ns")):(y(-0.4)):(y(0.4)) \
        :(100 * column("busy_ratio")) \
    with boxxyerror fill solid border lc rgb "#eeeeee" fc palette
