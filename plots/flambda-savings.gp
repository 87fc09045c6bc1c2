# time saved by one policy on each benchmark, with intervals: benchmark, saved_ratio, lower_ratio, upper_ratio; ARG3:
# the policy
wide = 900
high = 500
call ARG0[:strlen(ARG0) - strlen("flambda-savings.gp")] . "house.gp" ARG2
@kinds
set title house_title(sprintf("time saved by %s against the baseline, 95 %% intervals", ARG3)) noenhanced
set ylabel "share of the time saved"
set xtics rotate by -40 noenhanced font ",9"
set bmargin 8
set rmargin 8
set xrange [-0.6:]
set boxwidth 0.7
unset key
@footer
plot 0 lc rgb base, \
     ARG1 using 0:(column("saved_ratio")):xtic(stringcolumn("benchmark")) with boxes lc rgb colour(1), \
     ARG1 using 0:(column("lower_ratio")):(0):(column("upper_ratio") - column("lower_ratio")) \
         with vectors heads size screen 0.005, 90 lc rgb "#000000"   # yerrorbars would put white discs on the bars
