# time by operation, stacked by set of categories: op, cats, total_ns; the kind comes by gnuplot -e "kind='..'"
wide = 900
high = 500
call ARG0[:strlen(ARG0) - strlen("prof-bars.gp")] . "house.gp" ARG2
@kinds
stats ARG1 using (list_add(strcol("op"))) nooutput
n = list_n
array op[n]
do for [i = 1:n] { op[i] = list[i] }
list_n = 0
stats ARG1 using (list_add(strcol("cats"))) nooutput
m = list_n
# the rows are sums; what is drawn for a set is it and all before it, the last first
array total[m * n]
do for [i = 1:m * n] { total[i] = 0 }
op_index(t) = sum [i = 1:n] (op[i] eq t ? i : 0)
add(k, i, x) = (total[(k - 1) * n + i] = total[(k - 1) * n + i] + x, 0)
stats ARG1 using (add(list_index(strcol("cats")), op_index(strcol("op")), column("total_ns") / 1e9)) nooutput
do for [k = 2:m] { do for [i = 1:n] { total[(k - 1) * n + i] = total[(k - 1) * n + i] + total[(k - 2) * n + i] } }
set title house_title("time by operation and by what was running") noenhanced
set ylabel "seconds"
set yrange [0:*]
set xrange [0.4:n + 0.6]
set xtics () noenhanced scale 0
do for [i = 1:n] { set xtics add ((op[i] eq "" ? "(none)" : op[i]) i) }
set boxwidth 0.6
set key outside right invert
# as in prof-breakdown.gp and prof-timeline.gp: Python, C and the GPU
has(k, t) = strstrt(list[k], t) > 0
is(k, t) = list[k] eq t
shade(k) = has(k, "GPU") ? colour(3) : has(k, "CUDA") ? colour(5) : has(k, "Profiler") ? colour(7) \
    : is(k, "Python") ? colour(4) : is(k, "C") ? colour(1) : is(k, "Backend") ? colour(6) \
    : is(k, "Off CPU") ? colour(9) : is(k, "Waiting") ? colour(10) : colour(k % 2 ? 2 : 8)
@footer
set print $bars
print "set,operation,seconds"
do for [k = 1:m] { do for [i = 1:n] { print sprintf("%d,%d,%g", k, i, total[(k - 1) * n + i]) } }
unset print
plot for [k = m:1:-1] $bars using (column("set") == k ? column("operation") : NaN):"seconds" with boxes \
    lc rgb shade(k) title list[k]
