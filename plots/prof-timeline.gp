# what ran when, a lane for each thread and device; columns lane, cat, start_ns, end_ns
lanes = system("awk -F, 'NR > 1 && !s[$1]++ { gsub(/ /, \"_\", $1); printf \"%s \", $1 }' '" . ARG1 . "'")
n = words(lanes)
high = 150 + 30 * (n > 8 ? n : 8)
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,high dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,high*3/2 font "sans,16" }
set output ARG2
set datafile separator comma
set datafile missing ""
kind = system("echo ${KIND:-real}")
set title kind . ": what ran when, by process and thread"
set xlabel "seconds"
set style fill solid 1 noborder
set lmargin 20
set key outside top center horizontal
stats ARG1 using 3 skip 1 nooutput
lo = STATS_min
blank(s) = system("echo " . s . " | tr _ ' '")
set yrange [n + 0.6:0.4]
set ytics (blank(word(lanes, 1)) 1) scale 0 noenhanced
do for [i = 2:n] { set ytics add (blank(word(lanes, i)) i) }
do for [i = 1:n-1] { set arrow from graph 0, first i + 0.5 to graph 1, first i + 0.5 nohead lc rgb "#dddddd" }
# Python in the upper half of a lane, C in the lower; y grows downwards
top(c) = c eq "Python" ? -0.42 : c eq "GPU" ? -0.3 : 0.02
bottom(c) = c eq "Python" ? -0.02 : c eq "GPU" ? 0.3 : 0.42
kind(c) = c eq "Python" ? 0 : c eq "GPU" ? 2 : 1
plot for [i = 1:n] for [k = 0:2] ARG1 using (strcol("lane") eq blank(word(lanes, i)) && kind(strcol("cat")) == k ? (column("start_ns") - lo) / 1e9 : NaN):(i):((column("start_ns") - lo) / 1e9):((column("end_ns") - lo) / 1e9):(i + top(strcol("cat"))):(i + bottom(strcol("cat"))) \
    with boxxyerror lc rgb word("#ddaa33 #4477aa #228833", k + 1) title (i == 1 ? word("Python C GPU", k + 1) : "")
