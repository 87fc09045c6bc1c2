# training steps on a GPU over memory that the driver moves; columns network, batch, formulation, ratio,
# speedup_over_managed_ratio, lower_ratio, oracle_ratio, kind
call ARG0[:strlen(ARG0) - strlen("place-gpu.gp")] . "house.gp" ARG2
@kinds
@footer
set xtics () scale 0 noenhanced rotate by 50 right
set bmargin 9.5
set yrange [0:*]
set ylabel "speed-up over managed memory"
set title house_title("training steps on a GPU, planned, over memory that its driver moves")
set key top center horizontal maxcols 2 noenhanced
set arrow from graph 0, first 1 to graph 1, first 1 nohead dt 2 lc rgb warning
name(x) = strcol("network") . " " . strcol("batch") . " " . strcol("ratio")
stats ARG1 using (list_add(name(0))) nooutput
set for [i = 1:list_n] xtics add (list[i] i)
set xrange [0.4:list_n + 0.6]
set offsets 0, 0, graph 0.25, 0
set boxwidth 0.4
form(f) = word("sync async", f)
at(f) = strcol("formulation") eq form(f) ? list_index(name(0)) + (f - 1.5) * 0.42 : NaN
x(i) = at(strcol("formulation") eq form(1) ? 1 : 2)
gain = "speedup_over_managed_ratio"
plot for [f = 1:2] ARG1 using (at(f)):(column(gain)) with boxes lc rgb colour(f == 1 ? 4 : 1) title form(f), \
    ARG1 using (x(0)):(column("lower_ratio")):(0):(column(gain) - column("lower_ratio")) with vectors \
        heads size screen 0.005, 90 lc rgb base title "slowest to fastest step", \
    ARG1 using (x(0) - 0.2):(column("oracle_ratio")):(0.4):(0) with vectors nohead lw 2 lc rgb warning \
        title "the oracle: no moves, any workspace", \
    ARG1 using (x(0)):(column(gain)):(sprintf("%.2f", column(gain))) with labels offset 0,0.7 font ",9" \
        tc rgb "#222222" notitle
