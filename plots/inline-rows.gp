# what inline-compare.gp and inline-policy.gp share: rows of benchmarks, points of labels with intervals; wants table, rows, labels, n, m, title_of(), shade()
row(b) = sum [k = 1:n] (word(rows, k) eq b || (b[1:1] eq "(" && word(rows, k)[1:1] eq "(") ? k : 0)
low(x) = x < 0.5 ? 0.5 : x
top(x) = x > 2 ? 2 : x
set logscale x
set xrange [*<0.9:1.1<*]
set autoscale xfix
set xtics (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.2, 1.3, 1.5, 2)
set xlabel "ratio of CPU times, below 1 is faster; lines that reach 0.5 or 2 are cut"
set yrange [n + 0.6:0.4]
set ytics noenhanced scale 0
set grid xtics lc rgb "#dddddd"
set for [k = 1:n - 1] arrow from graph 0, first k + 0.5 to graph 1, first k + 0.5 nohead lc rgb "#eeeeee" back
set arrow from first 1, graph 0 to first 1, graph 1 nohead lc rgb "#444444" back
set key outside top center horizontal width 1 samplen 2
set ytics () 
do for [k = 1:n] { set ytics add ((word(rows, k)[1:1] eq "(" ? "geometric mean" : word(rows, k)) k) }
of(l) = sprintf("< csv-where -c label --is='%s' '%s'", l, table)
plot for [i = 1:m] of(word(labels, i)) \
    using (column("ratio")):(row(strcol("benchmark")) + (i - (m + 1) / 2.0) * 0.8 / m):(low(column("lower_ratio"))):(top(column("upper_ratio"))) \
    with xerrorbars pt 7 ps 0.7 lw 1.5 lc rgb shade(word(labels, i)) title title_of(word(labels, i))
