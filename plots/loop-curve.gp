# return of episodes against the actions learned from, each row and smoothed, a colour for each algo: algo, steps, return, kind (last)
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,500 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,750 font "sans,16" }
set output ARG2
set datafile separator comma
set datafile missing ""
algos = system("tail -n +2 " . ARG1 . " | cut -d, -f1 | uniq | sort -u | paste -sd' '")
set title sprintf("%s: learning", system("tail -n 1 " . ARG1 . " | sed 's/.*,//'"))
set xlabel "actions learned from"
set ylabel "return: gain as a share of the peak"
set grid lc rgb "#dddddd"
set key bottom right noenhanced
set format x "%.0s%c"
array color[6] = ["#4477aa", "#cc3311", "#228833", "#aa3377", "#ccbb44", "#222222"]
mine(i) = strcol("algo") eq word(algos, i) ? column("return") : NaN
plot for [i = 1:words(algos)] ARG1 using "steps":(mine(i)) with lines lw 1 lc rgb color[1 + (i - 1) % 6] dt 3 notitle, \
     for [i = 1:words(algos)] ARG1 using "steps":(mine(i)) smooth sbezier lw 3 lc rgb color[1 + (i - 1) % 6] title word(algos, i)
