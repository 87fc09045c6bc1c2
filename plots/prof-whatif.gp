# what a faster part brought and what was said before: achieved, predicted, low, high, naive (see
# t/bench/prof-whatif.sh)
wide = 900
high = 560
call ARG0[:strlen(ARG0) - strlen("prof-whatif.gp")] . "house.gp" ARG2
@footer
@kinds
stats ARG1 using "achieved" nooutput name "A"
stats ARG1 using "predicted" nooutput name "P"
top = 1.05 * (A_max > P_max ? A_max : P_max)
low = 0.95 * (A_min < P_min ? A_min : P_min)
set xrange [low:top]
set yrange [low:top]
set grid xtics ytics lc rgb "#d4d4d4" lw 0.7 dt 1
set xtics 0.5
set ytics 0.5
set xlabel "speed-up achieved"
set ylabel "speed-up predicted" offset 1
set multiplot layout 1,2 margins screen 0.095, 0.985, 0.17, 0.86 spacing screen 0.06, 0
set label 1 house_title("thirty programs, a part really made 3 times faster; band: within 10 %") \
    at screen 0.5, 0.955 center font ",13"
set key right bottom
do for [side = 1:2] {
    how = side == 1 ? "predicted" : "naive"
    set title side == 1 ? "prof-whatif: replay of the graph" : "naive: the part's time removed" offset 0, -0.6
    plot [low:top] '+' using 1:(0.9 * $1):(1.1 * $1) with filledcurves lc rgb "#eeeeee" notitle, \
         x with lines lc rgb base lw 1 notitle, \
         ARG1 using "achieved":(column(how) < top ? column(how) : NaN) with points pt 7 ps 0.9 \
             lc rgb colour(1) notitle, \
         for [k = 2:side] ARG1 using "achieved":(column(how) < top ? NaN : top * 0.995) with points pt 9 ps 1.1 \
             lc rgb colour(2) title "more, or more than the whole run"
    unset ylabel
    unset label 1
}
unset multiplot
