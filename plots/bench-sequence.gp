# every run in the order it was made, so that drift and bursts show: label, phase, column ARG3 (cpu_seconds); ARG4,
# ARG5: two labels
call ARG0[:strlen(ARG0) - strlen("bench-sequence.gp")] . "house.gp" ARG2
@kinds
set title house_title("runs in the order they were made") noenhanced
set xlabel "run"
set ylabel ARG3 noenhanced
set key outside top horizontal
phase(p) = strcol("phase") eq p ? column(ARG3) : NaN
measured(l) = strcol("label") eq l ? phase("measure") : NaN
@footer
plot ARG1 using 0:(phase("aa")) with points pt 6 ps 0.5 lc rgb theirs title "base against itself", \
     ARG1 using 0:(phase("warmup")) with points pt 2 ps 0.8 lc rgb base title "warm-up", \
     ARG1 using 0:(measured(ARG4)) with points pt 7 ps 0.5 lc rgb colour(1) title ARG4, \
     ARG1 using 0:(measured(ARG5)) with points pt 5 ps 0.5 lc rgb colour(2) title ARG5
