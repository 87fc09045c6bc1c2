# quality against time: how near to the best nest that any method found each comes, and in what time of a problem: algo,
# method, best_ratio, least_best_ratio, mean_seconds, kind
wide = 1000
high = 620
call ARG0[:strlen(ARG0) - strlen("loop-study.gp")] . "house.gp" ARG2
@kinds
list_n = 0
stats ARG1 using (list_add(strcol("method"))) nooutput
stats ARG1 using "least_best_ratio" nooutput name "L"
# the colours say the method; of the name what is left: seconds, nests measured
short(x) = (at = strstrt(strcol("algo"), "-"), strcol("algo")[at + 1:])
set title house_title("the nest that each method finds, over the best of all; mean, line to the worst problem")
set logscale x
set format x "10^{%T}"
set xlabel "seconds for a problem, measurements included"
set ylabel "GFLOPS over the best known"
set yrange [L_min * 0.97:1.03]
set xrange [*:*]
set key outside right
@footer
plot for [i = 1:list_n] ARG1 using (strcol("method") eq list[i] ? column("mean_seconds") : NaN):"best_ratio":(0): \
        (column("least_best_ratio") - column("best_ratio")) with vectors nohead lc rgb "#cccccc" notitle, \
     for [i = 1:list_n] ARG1 using (strcol("method") eq list[i] ? column("mean_seconds") : NaN):"best_ratio" \
        with points pt (4 + i) ps 1.1 lc rgb colour(i) title list[i], \
     ARG1 using "mean_seconds":"best_ratio":(short(0)) with labels noenhanced font ",8" offset 0, 0.8 notitle
