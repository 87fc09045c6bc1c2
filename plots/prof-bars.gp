# time by operation, stacked by set of categories; columns op, cats, total_ns; ARG3: operations, ARG4: sets, blanks between
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 900,500 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1350,750 font "sans,16" }
set output ARG2
set datafile separator comma
set datafile missing ""
set key noenhanced
kind = system("echo ${KIND:-real}")
set title kind . ": time by operation"
set ylabel "seconds"
set yrange [0:*]
set xtics noenhanced
set grid ytics lc rgb "#dddddd"
set style data histograms
set style histogram rowstacked
set style fill solid 0.8 border -1
set boxwidth 0.6
set key outside right
colour = "#4477aa #ddaa33 #228833 #aa3377 #66ccee #bbbbbb"
of(cats) = sprintf("< awk -F, -v c='%s' -v ops='%s' 'NR > 1 && $4 == c { t[$2] += $5 } END { n = split(ops, o, \" \"); for (i = 1; i <= n; i++) print o[i] \",\" t[o[i]] / 1e9 }' '%s'", cats, ARG3, ARG1)
plot for [i = 1:words(ARG4)] of(word(ARG4, i)) using 2:xtic(1) lc rgb word(colour, (i - 1) % 6 + 1) title word(ARG4, i)
