# one of the twelve times and ratios: mean over iterations, lines one standard deviation: field, bench, mean, std; ARG3:
# the field
wide = 900
high = 500
call ARG0[:strlen(ARG0) - strlen("prof-summary.gp")] . "house.gp" ARG2
@kinds
of(x) = strcol("field") eq ARG3 ? x : NaN
stats ARG1 using (strcol("field") eq ARG3 ? list_add(strcol("bench")) : NaN) nooutput
n = list_n
set title house_title(ARG3 . ", mean and standard deviation of the iterations") noenhanced
set ylabel (ARG3[strlen(ARG3) - 2:] eq "Sec" ? "seconds an iteration" : ARG3 eq "TheoreticalSpeedup" ? "factor" : "%")
most = 0
spreads = 0
more(x) = (most = x > most ? x : most, 0)
known(x) = (spreads = spreads + (x == x), 0)
stats ARG1 using (strcol("field") eq ARG3 ? more(column("mean")) : NaN) nooutput
stats ARG1 using (strcol("field") eq ARG3 ? known(column("std")) : NaN) nooutput
if (most > 0) { set yrange [0:*] } else { set yrange [0:1] }
set xrange [0.4:n + 0.6]
set xtics () noenhanced scale 0
do for [i = 1:n] { set xtics add (list[i] i) }
set boxwidth 0.6
unset key
@footer
if (spreads) {
    plot ARG1 using (of(list_index(strcol("bench")))):"mean" with boxes lc rgb "#99bbdd", \
         ARG1 using (of(list_index(strcol("bench")))):"mean":"std" with yerrorbars pt 7 ps 0.7 lc rgb ours
} else {
    plot ARG1 using (of(list_index(strcol("bench")))):"mean" with boxes lc rgb "#99bbdd"
}
