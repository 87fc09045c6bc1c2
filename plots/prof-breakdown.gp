# GPU, C and Python time of an iteration, stacked by bench: field, bench, mean
wide = 900
high = 500
call ARG0[:strlen(ARG0) - strlen("prof-breakdown.gp")] . "house.gp" ARG2
@kinds
stats ARG1 using (list_add(strcol("bench"))) nooutput
n = list_n
array gpu[n]
array c[n]
array python[n]
do for [i = 1:n] { gpu[i] = 0; c[i] = 0; python[i] = 0 }
put(i, f, x) = f eq "GPUTimeSec" ? (gpu[i] = x) : f eq "CppTimeSec" ? (c[i] = x) \
    : f eq "PythonTimeSec" ? (python[i] = x) : 0
stats ARG1 using (put(list_index(strcol("bench")), strcol("field"), column("mean"))) nooutput
none = (sum [i = 1:n] gpu[i]) > 0 ? 0 : 1
set title house_title("where the time of an iteration goes") noenhanced
set ylabel "seconds an iteration"
set yrange [0:*]
set xrange [0.4:n + 0.6]
set xtics () noenhanced scale 0
do for [i = 1:n] { set xtics add (list[i] i) }
at(i) = i < 1 ? 1 : int(i)
set boxwidth 0.6
set key outside right
@footer
# the first sample, 0, is taken for a header
plot sample [i = 0:n:1] '+' using (i):(gpu[at(i)] + c[at(i)] + python[at(i)]) with boxes lc rgb "#ccbb44" \
    title "Python", \
     [i = 0:n:1] '+' using (i):(gpu[at(i)] + c[at(i)]) with boxes lc rgb "#4477aa" title "C", \
     [i = 0:n:1] '+' using (i):(gpu[at(i)]) with boxes lc rgb "#228833" title (none ? "" : "GPU")
