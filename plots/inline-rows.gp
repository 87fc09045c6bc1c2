# inline-rows.gp - what inline-compare.gp and inline-policy.gp share: a row of points with intervals for each benchmark
# of table ARG1, a colour for each label: benchmark, label, ratio, lower_ratio, upper_ratio, kind.  Wants
# title_of(label), shade(label) and said, the title.  Rows in parentheses are means.
array bench[400]
array lab[100]
n = 0
m = 0
set datafile separator comma columnheaders
row(b) = sum [k = 1:n] (bench[k] eq b || (b[1:1] eq "(" && bench[k][1:1] eq "(") ? k : 0)
of(l) = sum [k = 1:m] (lab[k] eq l ? k : 0)
see(b, l) = (row(b) ? 0 : (n = n + 1, bench[n] = b, 0)) + (of(l) ? 0 : (m = m + 1, lab[m] = l, 0))
stats ARG1 using (see(strcol("benchmark"), strcol("label"))) nooutput
wide = 1000
high = 160 + n * (10 * m + 8)
call ARG0[:strlen(ARG0) - strlen("inline-rows.gp")] . "house.gp" ARG2
@kinds
@footer
set title house_title(said)
set logscale x
set xrange [*<0.9:1.1<*]
set autoscale xfix
set xtics (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.2, 1.3, 1.5, 2)
set xlabel "ratio of CPU times, below 1 is faster; lines that reach 0.5 or 2 are cut"
set yrange [n + 0.6:0.4]
set grid noytics xtics
set for [k = 1:n - 1] arrow from graph 0, first k + 0.5 to graph 1, first k + 0.5 nohead lc rgb "#eeeeee" back
set arrow from first 1, graph 0 to first 1, graph 1 nohead lc rgb base back
set key outside top center horizontal width 1
set ytics () scale 0 noenhanced
do for [k = 1:n] { set ytics add ((bench[k][1:1] eq "(" ? "geometric mean" : bench[k]) k) }
mine(i, x) = strcol("label") eq lab[i] ? x : NaN
plot for [i = 1:m] ARG1 using (mine(i, column("ratio"))):(row(strcol("benchmark")) + (i - (m + 1) / 2.0) * 0.8 / m): \
         (cut_low("lower_ratio", 0.5)):(cut_high("upper_ratio", 2)) \
         with xerrorbars pt 7 ps 0.7 lw 1.5 lc rgb shade(lab[i]) title title_of(lab[i])
