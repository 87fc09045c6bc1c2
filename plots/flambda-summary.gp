# quartiles and range of the time saved by each policy on one set of benchmarks: policy, n, q1, median, q3, min, max;
# ARG3: the set
wide = 900
high = 620
call ARG0[:strlen(ARG0) - strlen("flambda-summary.gp")] . "house.gp" ARG2
@kinds
set title house_title(sprintf("time saved on the %s benchmarks", ARG3))
set xlabel "share of the time saved: median, quartiles, least and most"
set ytics noenhanced font ",9"
set grid xtics noytics
set lmargin 40
set yrange [*:*] reverse
set offsets 0, 0, 0.7, 0.7
unset key
set arrow from 0, graph 0 to 0, graph 1 nohead lc rgb base
@footer
plot ARG1 using (column("median")):0:(column("min")):(column("max")):ytic(stringcolumn("policy")) with xerrorbars \
    pt 0 ps 0 lc rgb theirs, \
     ARG1 using (column("median")):0:(column("q1")):(column("q3")) with xerrorbars lw 4 pt 0 ps 0 lc rgb colour(1), \
     ARG1 using (column("median")):0 with points pt 7 ps 0.6 lc rgb colour(2)
