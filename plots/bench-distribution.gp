# share of the runs that took at most so long: label, phase, column ARG3 (cpu_seconds); ARG4, ARG5: two labels
call ARG0[:strlen(ARG0) - strlen("bench-distribution.gp")] . "house.gp" ARG2
@kinds
set title house_title("share of the runs that took at most so long") noenhanced
set xlabel ARG3 noenhanced
set ylabel "share of the runs"
set key bottom right
measured(l) = strcol("label") eq l && strcol("phase") eq "measure"
# the axis ends where all but a hundredth of the runs do: a burst of a neighbour would squeeze the rest
set datafile missing NaN
stats ARG1 using (measured(ARG4) || measured(ARG5) ? column(ARG3) : NaN) nooutput
longest = STATS_up_quartile + 4 * (STATS_up_quartile - STATS_lo_quartile)
set yrange [0:1.02]                                      # after stats, which looks at what is in the ranges only
set xrange [STATS_min:longest < STATS_max ? longest : STATS_max]
if (longest < STATS_max) { set xlabel sprintf("%s (the longest run took %.3g)", ARG3, STATS_max) noenhanced }
@footer
plot ARG1 using (measured(ARG4) ? column(ARG3) : NaN):(1) smooth cnormal lw 2 lc rgb colour(1) title ARG4, \
     ARG1 using (measured(ARG5) ? column(ARG3) : NaN):(1) smooth cnormal lw 2 lc rgb colour(2) title ARG5
