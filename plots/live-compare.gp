# CPU time of each build against whole-program -O2 with intervals; columns benchmark, label, ratio, lower_ratio, upper_ratio
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 1000,640 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1500,960 font "sans,16" }
set output ARG2
set datafile separator comma
set datafile missing ""
set grid lc rgb "#dddddd"
set title "real: CPU time against whole-program -O2, confirmation inputs, paired, 95 % intervals"
set style fill solid 0.8
set boxwidth 0.16
set xtics rotate by -40 noenhanced scale 0
set bmargin 8
set ylabel "ratio, below 1 is faster"
set yrange [0.6:1.5]
set key top left horizontal
labels = "O3 Oz threshold learned small"
shade = "#bbbbbb #ddaa33 #66aa55 #4477aa #aa3377"
k = 0
row(l, v) = strcol("label") eq l ? v : NaN
plot 1 lc rgb "#444444" notitle, \
     for [i = 1:words(labels)] sprintf("< awk -F, 'NR == 1 { print; next } $2 == \"%s\"' '%s'", word(labels, i), ARG1) \
         using ($0 + (i - 3) * 0.17):(column("ratio")):(column("lower_ratio")):(column("upper_ratio")):xtic(stringcolumn("benchmark")) \
         with boxerrorbars lc rgb word(shade, i) title word(labels, i)
