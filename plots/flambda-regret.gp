# regret of each policy over the benchmarks, median and quartiles: policy, p25_regret_ratio, p50_regret_ratio,
# p75_regret_ratio
wide = 900
high = 600
call ARG0[:strlen(ARG0) - strlen("flambda-regret.gp")] . "house.gp" ARG2
@kinds
set title house_title("regret over all benchmarks")
set xlabel "median and quartiles; 0 is the best single policy, 1 the worst"
set xrange [0:*]
set ytics noenhanced font ",9"
set yrange [*:*] reverse
set offsets 0, 0, 0.7, 0.7
set grid xtics noytics
set lmargin 40
unset key
@footer
plot ARG1 using (column("p50_regret_ratio")):0:(column("p25_regret_ratio")):(column("p75_regret_ratio")) \
        :ytic(stringcolumn("policy")) with xerrorbars lw 3 pt 0 ps 0 lc rgb colour(1), \
     ARG1 using (column("p50_regret_ratio")):0 with points pt 7 ps 0.7 lc rgb colour(2)
