# how busy each lane was, a square for each stretch of time; columns lane, start_ns, end_ns, busy_ratio
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,500 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,750 font "sans,16" }
set output ARG2
set datafile separator comma
set datafile missing ""
set key noenhanced
stats ARG1 using 2 skip 1 nooutput
lo = STATS_min
kind = system("echo ${KIND:-real}")
set title kind . ": utilisation"
set xlabel "seconds"
set cblabel "busy, %"
set cbrange [0:100]
set palette defined (0 "#ffffff", 100 "#225599")
set yrange [-0.6:2.6]
set ytics ("Python" 2, "C" 1, "GPU" 0) scale 0
unset key
lane(s) = s eq "Python" ? 2 : s eq "C" ? 1 : 0
plot ARG1 using (((column("start_ns") + column("end_ns")) / 2 - lo) / 1e9):(lane(strcol("lane"))):((column("start_ns") - lo) / 1e9):((column("end_ns") - lo) / 1e9):(lane(strcol("lane")) - 0.4):(lane(strcol("lane")) + 0.4):(100 * column("busy_ratio")) \
    with boxxyerror fill solid border lc rgb "#eeeeee" fc palette
