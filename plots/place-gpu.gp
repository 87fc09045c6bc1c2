# training steps on a GPU over memory that the driver moves; columns network, batch, formulation, ratio,
# speedup_over_managed_ratio, lower_ratio, oracle_ratio, kind
call ARG0[:strlen(ARG0) - strlen("place-gpu.gp")] . "house.gp" ARG2
@kinds
@footer
set boxwidth 0.6
set xtics scale 0 noenhanced rotate by 50 right
set bmargin 9.5
set yrange [0:*]
set offsets 0.6, 0.6, graph 0.25, 0
set ylabel "speed-up over managed memory"
set title house_title("training steps on a GPU, planned, over memory that its driver moves")
set key top center horizontal maxcols 2 noenhanced
set arrow from graph 0, first 1 to graph 1, first 1 nohead dt 2 lc rgb warning
form(f) = word("sync async", f)
at(f) = strcol("formulation") eq form(f) ? int($0) : NaN
gain = "speedup_over_managed_ratio"
name(x) = strcol("network") . " " . strcol("batch") . " " . strcol("ratio")
plot for [f = 1:2] ARG1 using (at(f)):(column(gain)) with boxes lc rgb colour(f == 1 ? 4 : 1) title form(f), \
    ARG1 using 0:(column("lower_ratio")):(0):(column(gain) - column("lower_ratio")) with vectors \
        heads size screen 0.005, 90 lc rgb base title "slowest to fastest step", \
    ARG1 using ($0 - 0.36):(column("oracle_ratio")):(0.72):(0) with vectors nohead lw 2 lc rgb warning \
        title "the oracle: no moves, any workspace", \
    ARG1 using 0:(0):(sprintf("%.2f", column(gain))) with labels offset 0,1 tc rgb "#222222" notitle, \
    ARG1 using 0:(0 * column(gain)):xtic(name(0)) with dots lc rgb "white" notitle
