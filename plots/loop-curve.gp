# return of episodes against the actions learned from, each row and the mean of the last 10: algo (may be missing), steps, return, kind
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,500 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,750 font "sans,16" }
set output ARG2
set datafile separator comma
set datafile missing ""
set title sprintf("%s: learning", system("tail -n 1 " . ARG1 . " | sed 's/.*,//'"))
set xlabel "actions learned from"
set ylabel "return: gain as a share of the peak"
set grid lc rgb "#dddddd"
set key bottom right noenhanced
set format x "%.0s%c"
plot ARG1 using "steps":"return" with lines lw 1 lc rgb "#bbccdd" title "each 100 episodes", \
     ARG1 using "steps":"return" smooth sbezier lw 3 lc rgb "#4477aa" title "smoothed"
