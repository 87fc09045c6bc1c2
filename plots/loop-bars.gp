# GFLOPS, a group of bars per problem: problem, then a column for each library; ARG3: what problems; ARG4: peak
set datafile separator comma
set datafile missing ""
stats ARG1 using 0 nooutput name "P"
problems = P_records - 1                                 # the header is counted
n = words(system("head -n 1 " . ARG1 . " | tr , ' '")) - 1
high = 560 + (n > 8 ? 60 : 0)
wide = 330 + problems * (22 + 6 * n)
if (wide < 900) { wide = 900 }
if (wide > 2400) { wide = 2400 }
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size wide,high dynamic font "sans,12" background "white" } else { set terminal pngcairo size int(wide*1.25),int(high*1.25) font "sans,14" }
set output ARG2
set title sprintf("real: %s, one thread; dashed: measured peak of %.0f", ARG3, real(ARG4)) noenhanced
set ylabel "GFLOPS"
set yrange [0:real(ARG4)*1.05]
set xrange [-0.7:problems-0.3]
set grid ytics lc rgb "#dddddd"
set key outside right top noenhanced reverse Left samplen 1
set style fill solid 0.9 noborder
set style data histograms
set style histogram clustered gap 1.5
if (problems > 40) { set xtics rotate by -90 noenhanced scale 0 font ",9" } else { set xtics rotate by -35 noenhanced scale 0 font ",10" }
set rmargin 20
set arrow from graph 0, first real(ARG4) to graph 1, first real(ARG4) nohead dt 2 lc rgb "#222222"
array color[17] = ["#222222", "#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677", "#aa3377", "#bbbbbb", "#ee7733", "#0077bb", "#99ddff", "#009988", "#cc3311", "#ee3377", "#999933", "#882255", "#44aa99"]
plot for [i = 2:n + 1] ARG1 using i:xtic(1) lc rgb color[i - 1] title columnheader(i)
