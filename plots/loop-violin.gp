# speed-up over the untiled nest, a violin, the points and the median of each algo: algo, position, speedup; ARG3: seconds of a search
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 1100,600 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1650,900 font "sans,16" }
set output ARG2
set datafile separator comma
set datafile missing ""
stats ARG1 using "position" nooutput name "N"
stats ARG1 using "speedup" nooutput name "S"
last = int(N_max)
array name[last]
kind = ""
see(i, algo, k) = (name[i] = algo, kind = k, 1)
stats ARG1 using (see(int(column("position")), strcol("algo"), strcol("kind"))) nooutput
set table $density
plot for [i=1:last] ARG1 using (column("position") == i ? column("speedup") : NaN):(1) smooth kdensity bandwidth 0.06
unset table
set title sprintf("%s: speed-up over the untiled nest; searches of %s s", kind, ARG3)
set ylabel "speed-up"
set xtics ("" 0) rotate by -35 noenhanced
set grid ytics lc rgb "#dddddd"
set style fill solid 0.35 noborder
unset key
set xtics scale 0
do for [i=1:last] { set xtics add (name[i] i) }
array top[last]
set datafile separator whitespace
do for [i=1:last] { stats $density index i-1 using 2 nooutput name "D"; top[i] = D_max }
array middle[last]
set datafile separator comma
do for [i=1:last] { stats ARG1 using (column("position") == i ? column("speedup") : NaN) nooutput name "M"; middle[i] = M_median }
set yrange [0:S_max * 1.05]
set xrange [0:last+1]
set arrow from 0,1 to last+1,1 nohead lc rgb "#222222" dt 2
set datafile separator whitespace
plot for [i=1:last] $density index i-1 using (i - 0.42 * $2 / top[i]):1 with filledcurves x=i lc rgb "#4477aa", \
     for [i=1:last] $density index i-1 using (i + 0.42 * $2 / top[i]):1 with filledcurves x=i lc rgb "#4477aa", \
     for [i=1:last] '+' using (i):(middle[i]) every ::0::0 with points pt 1 ps 2 lw 2 lc rgb "#cc3311"
