# what ran when, a lane for each process and category; columns proc, cat, start_ns, end_ns
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,500 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,750 font "sans,16" }
set output ARG2
set datafile separator comma
set datafile missing ""
set key noenhanced
set title "real: timeline"
set xlabel "seconds"
set style fill solid 0.9 noborder
set lmargin 18
unset key
stats ARG1 using 3 skip 1 nooutput
lo = STATS_min
lanes = system("awk -F, 'NR > 1 && !s[$1 \":\" $2]++ { printf \"%s \", $1 \":\" $2 }' '" . ARG1 . "'")
set yrange [0.4:words(lanes) + 0.6]
set ytics (word(lanes, 1) 1) scale 0 noenhanced
do for [i = 2:words(lanes)] { set ytics add (word(lanes, i) i) }
colour(s) = s eq "Python" ? 0xddaa33 : s eq "GPU" ? 0x228833 : 0x4477aa
plot for [i = 1:words(lanes)] ARG1 using (strcol("proc") . ":" . strcol("cat") eq word(lanes, i) ? (column("start_ns") - lo) / 1e9 : NaN):(i):((column("start_ns") - lo) / 1e9):((column("end_ns") - lo) / 1e9):(i - 0.35):(i + 0.35):(colour(strcol("cat"))) \
    with boxxyerror lc rgb variable
