# best nest and time of the search after so many actions of its path, means over problems: algo, step, gflops, seconds;
# ARG3: algos
if (ARG2[strlen(ARG2)-2:] eq "svg") {
    set terminal svg size 900,760 dynamic font "sans,12" background "white"
} else {
    set terminal pngcairo size 1350,1140 font "sans,16"
}
set output ARG2
set datafile separator comma
set datafile missing ""
set grid lc rgb "#dddddd"
set key outside right noenhanced
set xrange [0:48]
set xtics 6
array color[10] = ["#bbbbbb", "#777777", "#66ccee", "#4477aa", "#0033aa", "#ccbb44", "#ee7733", "#228833", \
    "#aa3377", "#cc3311"]
set lmargin 12
set rmargin 22
call ARG0[:strlen(ARG0) - strlen("loop-steps.gp")] . "kind.gp" ARG1
set multiplot layout 2,1 title kind . ": along the path to the best nest, means over the problems"
set ylabel "best GFLOPS so far"
set yrange [0:*]
plot for [i=1:words(ARG3)] ARG1 using (strcol("algo") eq word(ARG3, i) ? column("step") : 1/0):(column("gflops")) \
    with linespoints pt (4 + i % 10) ps 0.8 lw 2 lc rgb color[1 + (i - 1) % 10] title word(ARG3, i)
set ylabel "seconds of search when it was found"
set xlabel "actions"
set yrange [*:*]
set logscale y
set format y "10^{%T}"
plot for [i=1:words(ARG3)] \
    ARG1 using (strcol("algo") eq word(ARG3, i) && column("seconds") > 0 ? column("step") : 1/0):(column("seconds")) \
        with linespoints pt (4 + i % 10) ps 0.8 lw 2 lc rgb color[1 + (i - 1) % 10] \
    title word(ARG3, i)
unset multiplot
