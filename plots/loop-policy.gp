# how near to the best known nest, against the time a problem takes: algo, problems, best_ratio, seconds_mean, kind
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 1000,600 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1500,900 font "sans,15" }
set output ARG2
set datafile separator comma
set datafile missing ""
set title "real: unseen matrix products 64 to 256"
set xlabel "seconds a problem, mean"
set ylabel "GFLOPS over the best known, geometric mean"
set logscale x
set xrange [0.0005:300]
set yrange [*:1.02]
set grid lc rgb "#dddddd"
x(s) = strcol("kind") eq "real" ? column("seconds_mean") : 1/0
set termoption noenhanced
set object rectangle from graph 0, first 0.95 to graph 1, first 1.0 fc rgb "#eef5ee" fs noborder behind
plot ARG1 using (x("")):"best_ratio" with points pt 7 ps 1 lc rgb "#4477aa" notitle, \
     ARG1 using (x("")):"best_ratio":(strcol("algo") . " (" . strcol("problems") . ")") with labels left offset 0.7,0 font ",10" notitle
