# what ran when, a lane for each thread and device: lane, cat, start_ns, end_ns
set datafile separator comma columnheaders
array seen[400]
n = 0
index_of(t) = sum [i = 1:n] (seen[i] eq t ? i : 0)
see(t) = (index_of(t) ? 0 : (n = n + 1, seen[n] = t, 0))
stats ARG1 using (see(strcol("lane"))) nooutput
high = 170 + 30 * (n > 6 ? n : 6)
call ARG0[:strlen(ARG0) - strlen("prof-timeline.gp")] . "house.gp" ARG2
@kinds
set title house_title("what ran when, by process and thread") noenhanced
set xlabel "seconds"
set lmargin 20
set key outside top center horizontal
# Python in the upper half of a lane, C in the lower; y grows downwards
sort_of(c) = c eq "Python" ? 0 : c eq "GPU" ? 2 : 1
found = ""
note(k) = (found = strstrt(found, k) ? found : found . k, 0)
stats ARG1 using (note(sprintf("%d", sort_of(strcol("cat"))))) nooutput
sorts = ""
do for [k in "0 1 2"] { if (strstrt(found, k)) { sorts = sorts . " " . k } }
stats ARG1 using "start_ns" nooutput
lo = STATS_min
set yrange [n + 0.6:0.4]
set ytics () scale 0 noenhanced
do for [i = 1:n] { set ytics add (seen[i] i) }
set grid xtics noytics
do for [i = 1:n - 1] { set arrow from graph 0, first i + 0.5 to graph 1, first i + 0.5 nohead lc rgb "#dddddd" }
top(k) = k == 0 ? -0.42 : k == 2 ? -0.3 : 0.02
bottom(k) = k == 0 ? -0.02 : k == 2 ? 0.3 : 0.42
at(name) = (column(name) - lo) / 1e9
lane(k) = sort_of(strcol("cat")) == k ? index_of(strcol("lane")) : NaN
@footer
plot for [w in sorts] k = int(w), \
    ARG1 using ((at("start_ns") + at("end_ns")) / 2):(lane(k)):(at("start_ns")):(at("end_ns")) \
        :(lane(k) + top(k)):(lane(k) + bottom(k)) \
    with boxxyerror fs solid 1 noborder lc rgb word("#ccbb44 #4477aa #228833", k + 1) title word("Python C GPU", k + 1)
