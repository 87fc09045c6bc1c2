# return of episodes against the actions learned from: algo, steps, return; ARG3: algos, blanks between; ARG4: seconds
# after which to draw again for as long as it runs (with ARG2 - in a window, for a look at a training that goes on)
window = ARG2 eq "-"
svg = ARG2[strlen(ARG2)-2:] eq "svg"
if (!window && svg) { set terminal svg size 900,500 dynamic font "sans,12" background "white" }
if (!window && !svg) { set terminal pngcairo size 1350,750 font "sans,15" }
call ARG0[:strlen(ARG0) - strlen("loop-learning.gp")] . "kind.gp" ARG1
if (!window) { set output ARG2 }
set datafile separator comma
set datafile missing ""
set title kind . ": learning by the model: mean return of episodes, while exploring"
set xlabel "actions learned from"
set ylabel "gain of an episode, share of a nominal peak"
set logscale x
set grid lc rgb "#dddddd"
set key bottom right noenhanced
draw = "plot for [i=1:words(ARG3)] ARG1 using (strcol('algo') eq word(ARG3, i) ? column('steps') : 1/0):'return' " . \
    "with lines lw 2 lc i title word(ARG3, i)"
eval draw
if (ARGC > 3) { while (1) { pause ARG4 + 0; eval draw } }
