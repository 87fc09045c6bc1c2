# accuracy on programs never seen, per kind of model: model, accuracy_ratio, majority_ratio, ceiling_ratio; ARG3: title
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 800,480 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1200,720 font "sans,12" }
set output ARG2
set datafile separator comma
set datafile missing ""
set title "real: " . ARG3 . ", every program left out once" noenhanced
set ylabel "share of call sites right"
set yrange [0:1]
set grid ytics lc rgb "#dddddd"
set style fill solid 0.6
set boxwidth 0.6
set key outside bottom horizontal
plot ARG1 using 0:(column("accuracy_ratio")):xtic(stringcolumn("model")) with boxes lc rgb "#4477aa" title "model", \
     ARG1 using 0:(column("majority_ratio")) with lines lw 2 lc rgb "#cc3311" title "always the commonest class of the others", \
     ARG1 using 0:(column("ceiling_ratio")) with lines lw 2 dt 2 lc rgb "#222222" title "ceiling of any function of the features"
