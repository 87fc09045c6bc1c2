# instructions against trials of a search, a panel per program, and the temperature; columns program, evaluation, algorithm, instructions_ratio, best_ratio, temperature; ARG3: programs
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 1000,640 dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1500,960 font "sans,16" }
set output ARG2
set datafile separator comma
set datafile missing ""
set grid lc rgb "#dddddd"
n = words(ARG3)
set multiplot layout (n > 3 ? 2 : 1), ceil((n + 1) / (n > 3 ? 2.0 : 1)) title "real: exact instructions of each set of decisions tried, ratio to the compiler's default"
of(p, c) = strcol("program") eq p ? column(c) : NaN
mode(p, a) = strcol("program") eq p && strcol("algorithm") eq a ? column("instructions_ratio") : NaN
set xlabel "trial"
do for [i = 1:n] {
    p = word(ARG3, i)
    set title p noenhanced
    if (i == 1) { set key top right samplen 1 font ",9" } else { unset key }
    plot ARG1 using "evaluation":(mode(p, "heuristic")) with points pt 7 ps 0.5 lc rgb "#bbbbbb" title "heuristic", \
         '' using "evaluation":(mode(p, "start")) with points pt 7 ps 0.5 lc rgb "#ddaa33" title "hot calls only", \
         '' using "evaluation":(mode(p, "local")) with points pt 7 ps 0.5 lc rgb "#66aa55" title "local", \
         '' using "evaluation":(mode(p, "flip")) with points pt 7 ps 0.5 lc rgb "#66aa55" title "single calls", \
         '' using "evaluation":(mode(p, "anneal")) with points pt 7 ps 0.5 lc rgb "#4477aa" title "annealing", \
         '' using "evaluation":(mode(p, "reward")) with points pt 5 ps 1 lc rgb "#aa3377" title "from rewards", \
         '' using "evaluation":(of(p, "best_ratio")) with steps lw 2 lc rgb "#cc3311" title "best so far"
}
set title "temperature of the annealing"
unset key
plot ARG1 using "evaluation":(of(word(ARG3, 1), "temperature")) with linespoints pt 7 ps 0.3 lc rgb "#444444"
unset multiplot
