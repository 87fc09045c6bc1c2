# what a faster part brought and what was said before: shape, achieved, predicted, low, high, guessed, naive (see
# t/bench/prof-whatif.sh)
wide = 900
high = 560
call ARG0[:strlen(ARG0) - strlen("prof-whatif.gp")] . "house.gp" ARG2
@footer
@kinds
stats ARG1 using (list_add(strcol("shape"))) nooutput
stats ARG1 using "achieved" nooutput name "A"
stats ARG1 using "naive" nooutput name "N"
top = 1.05 * (A_max > N_max ? A_max : N_max)
low = 0.95 * (A_min < N_min ? A_min : N_min)
set xrange [low:top]
set yrange [low:top]
set grid xtics ytics lc rgb "#d4d4d4" lw 0.7 dt 1
set xtics 0.5
set ytics 0.5
set xlabel "speed-up achieved"
set ylabel "speed-up predicted" offset 1
set multiplot layout 1,2 margins screen 0.095, 0.985, 0.17, 0.86 spacing screen 0.06, 0
set label 1 house_title("thirty programs, a part of each really made 1.5 and 3 times faster; band: within 10 %") \
    at screen 0.5, 0.955 center font ",13"
set key left top
within = "#eeeeee"
do for [side = 1:2] {
    how = side == 1 ? "predicted" : "naive"
    set title side == 1 ? "prof-whatif: replay of the graph" : "naive: the part's time removed" offset 0, -0.6
    plot [low:top] '+' using 1:(0.9 * $1):(1.1 * $1) with filledcurves lc rgb within notitle, \
         x with lines lc rgb base lw 1 notitle, \
         for [i = 1:list_n] ARG1 using (strcol("shape") eq list[i] ? column("achieved") : NaN):how \
             with points pt (2 * i + 3) ps 0.9 lc rgb colour(i) title side == 1 ? list[i] : ""
    unset ylabel
    unset label 1
    unset key
}
unset multiplot
