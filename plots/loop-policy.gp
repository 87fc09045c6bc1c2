# how near to the best known nest each way of finding one comes, and in what time: algo, problems, best_ratio,
# least_best_ratio, mean_seconds, max_seconds
if (ARG2[strlen(ARG2)-2:] eq "svg") {
    set terminal svg size 1100,700 dynamic font "sans,12" background "white"
} else {
    set terminal pngcairo size 1650,1050 font "sans,15"
}
call ARG0[:strlen(ARG0) - strlen("loop-policy.gp")] . "kind.gp" ARG1
set output ARG2
set datafile separator comma
set datafile missing ""
stats ARG1 using "best_ratio" nooutput
set multiplot layout 1,2 title kind . ": unseen matrix products 64 to 256 (in brackets: how many)"
set yrange [STATS_records + 0.5:0.5]
set grid lc rgb "#dddddd"
set bmargin 4
set lmargin at screen 0.2
set rmargin at screen 0.62
set xlabel "GFLOPS over the best known: geometric mean, line to the worst"
set xrange [*:1.02]
set object rectangle from first 0.95, graph 0 to first 1.0, graph 1 fc rgb "#eef5ee" fs noborder behind
set termoption noenhanced
plot ARG1 using "least_best_ratio":($0 + 1):(column("best_ratio") - column("least_best_ratio")):(0) \
        :ytic(strcol("algo") . " (" . strcol("problems") . ")") \
         with vectors nohead lc rgb "#aabbcc" notitle, \
     ARG1 using "best_ratio":($0 + 1) with points pt 7 ps 1 lc rgb "#4477aa" notitle
unset object
set ytics format "" 1
set lmargin at screen 0.65
set rmargin at screen 0.97
set logscale x
set xrange [0.0005:300]
set format x "10^{%L}"
set termoption enhanced
set xlabel "seconds a problem: mean, line to the longest"
plot ARG1 using "mean_seconds":($0 + 1):(column("max_seconds") - column("mean_seconds")):(0) with vectors nohead \
    lc rgb "#aabbcc" notitle, \
     ARG1 using "mean_seconds":($0 + 1) with points pt 7 ps 1 lc rgb "#4477aa" notitle
unset multiplot
