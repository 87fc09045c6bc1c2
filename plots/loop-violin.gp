# speed-up over the untiled nest, every problem a point, a bar over the middle half and the median: algo, position,
# speedup, kind; ARG3: seconds of a search.  Nothing is drawn where no problem lies.
wide = 1000
high = 560
call ARG0[:strlen(ARG0) - strlen("loop-violin.gp")] . "house.gp" ARG2
@kinds
stats ARG1 using "position" nooutput name "N"
stats ARG1 using "speedup" nooutput name "S"
last = int(N_max)
array name[last]
array middle[last]
array low[last]
array high_end[last]
see(i, algo) = (name[i] = algo, 1)
stats ARG1 using (see(int(column("position")), strcol("algo"))) nooutput
do for [i = 1:last] {
    stats ARG1 using (column("position") == i ? column("speedup") : NaN) nooutput name "M"
    middle[i] = M_median; low[i] = M_lo_quartile; high_end[i] = M_up_quartile
}
set title house_title(sprintf("speed-up of each nest found over the untiled one; searches of %s s", ARG3)) . \
    "\n{/*0.8 a point a problem; the bar holds the middle half of them, the line is the median}"
set ylabel "speed-up"
set logscale y
set yrange [S_min / 1.1:S_max * 1.1]
set ytics (0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64)
set xrange [0.4:last + 0.6]
set xtics () scale 0 rotate by -35 noenhanced
do for [i = 1:last] { set xtics add (name[i] i) }
unset key
set bmargin 7
set arrow from 0.4, 1 to last + 0.6, 1 nohead lc rgb base dt 2 back
do for [i = 1:last] {
    set object i rectangle from i - 0.32, low[i] to i + 0.32, high_end[i] fc rgb "#99bbdd" fs solid 0.5 noborder behind
    set arrow from i - 0.32, middle[i] to i + 0.32, middle[i] nohead lw 2.5 lc rgb warning front
}
@footer
# points are spread sideways by their number, so that equal ones can be told apart
plot ARG1 using (column("position") + 0.24 * sin(2.4 * $0)):"speedup" with points pt 7 ps 0.45 lc rgb ours
