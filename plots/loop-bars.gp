# GFLOPS of each library on each problem, a row of points per problem: problem, lib, gflops, kind; ARG3: what problems;
# ARG4: peak.  Ours and the four libraries that are best in the mean have colours; the fastest of a row is named when
# it is not ours.
array name[2000]
array best[2000]
array who[2000]
rows = 0
last = ""
set datafile separator comma columnheaders
row(p) = (p eq last ? rows : (rows = rows + 1, last = p, name[rows] = p, best[rows] = 0, who[rows] = "", rows))
see(i, g, l) = (g > best[i] ? (best[i] = g, who[i] = l, 0) : 0)
libs = ""
lib(l) = (strstrt(" " . libs . " ", " " . l . " ") ? 0 : (libs = libs . (libs eq "" ? "" : " ") . l, 0))
stats ARG1 using (see(row(strcol("problem")), column("gflops"), strcol("lib")) + lib(strcol("lib"))) nooutput
wide = 900
high = 170 + (rows < 30 ? 30 : 14) * rows
call ARG0[:strlen(ARG0) - strlen("loop-bars.gp")] . "house.gp" ARG2
@kinds
peak = real(ARG4)
grey = "#b8b8b8"
# the four of the others with the highest means
n = words(libs)
array mean[n]
do for [i = 1:n] {
    stats ARG1 using (strcol("lib") eq word(libs, i) ? column("gflops") : NaN) nooutput
    mean[i] = word(libs, i) eq "ours" ? -1 : STATS_mean
}
above(i) = sum [k = 1:n] (mean[k] > mean[i] || (mean[k] == mean[i] && k < i) ? 1 : 0)
shade(i) = word(libs, i) eq "ours" ? ours : above(i) < 4 ? word("#ee7733 #228833 #aa3377 #009988", above(i) + 1) : grey
set title house_title("GFLOPS, one thread: " . ARG3) noenhanced
set xlabel sprintf("GFLOPS; dashed: the most this core can do, %.0f", peak)
set xrange [0:1.12 * peak]
set yrange [rows + 0.6:0.4]
small = rows < 30 ? ",11" : ",8"
set ytics () scale 0 noenhanced font small
do for [i = 1:rows] { set ytics add (name[i] i) }
set grid xtics ytics
set border 1
set key outside top center horizontal maxcols 6
set arrow from peak, 0.4 to peak, rows + 0.6 nohead dt 2 lc rgb base back
mine(l) = strcol("lib") eq l ? column("gflops") : NaN
at(p) = (p eq last ? k : (k = k + 1, last = p, k))
first(x) = (x == 0 ? (k = 0, last = "", 0) : 0)
@footer
set bmargin 6
some(i, yes) = (i < 1 ? "" : some(i - 1, yes) . ((shade(i) eq grey) == yes ? " " . word(libs, i) : ""))
greys = some(n, 1)
shown = some(n, 0)
index_of(l) = sum [k = 1:n] (word(libs, k) eq l ? k : 0)
do for [i = 1:rows] {
    if (who[i] ne "ours") { set label 10 + i who[i] at best[i], i left offset 0.8, 0 font ",9" \
        textcolor rgb "#555555" noenhanced }
}
set label 1 (greys eq "" ? "" : "grey:" . greys) at graph 0, screen 0.062 left font ",9" textcolor rgb "#777777" \
    noenhanced
plot for [i = 1:words(greys)] ARG1 using (mine(word(greys, i))):(first($0) + at(strcol("problem"))) \
         with points pt 6 ps 0.7 lc rgb grey notitle, \
     for [i = 1:words(shown)] ARG1 using (mine(word(shown, i))):(first($0) + at(strcol("problem"))) \
         with points pt (word(shown, i) eq "ours" ? 7 : 5 + 4 * (i % 2)) ps (word(shown, i) eq "ours" ? 1.3 : 0.9) \
         lc rgb shade(index_of(word(shown, i))) title word(shown, i)
