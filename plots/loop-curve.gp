# return of episodes against the actions learned from, each row and smoothed, a colour for each algo: algo, steps,
# return, kind
call ARG0[:strlen(ARG0) - strlen("loop-curve.gp")] . "house.gp" ARG2
@kinds
@footer
stats ARG1 using (list_add(strcol("algo"))) nooutput
set title house_title("learning")
set xlabel "actions learned from"
set ylabel "return: gain as a share of the peak"
set key bottom right
set format x "%.1s%c"
mine(i) = strcol("algo") eq list[i] ? column("return") : NaN
plot for [i = 1:list_n] ARG1 using "steps":(mine(i)) with lines lw 1 lc rgb colour(i) dt 3 notitle, \
     for [i = 1:list_n] ARG1 using "steps":(mine(i)) smooth sbezier lw 3 lc rgb colour(i) title list[i]
