# share of each operation in the time of a run, and what ran in it, stacked: env, algo, op, category, share_ratio, kind
wide = 1100
high = 520
call ARG0[:strlen(ARG0) - strlen("prof-survey.gp")] . "house.gp" ARG2
@kinds
run(x) = strcol("algo") . "\n" . strcol("env")
list_n = 0
stats ARG1 using (list_add(run(0))) nooutput
n = list_n
array bar[n]
do for [i = 1:n] { bar[i] = list[i] }
list_n = 0
part(x) = strcol("op") . ", " . strcol("category")
stats ARG1 using (list_add(part(0))) nooutput
m = list_n
array total[m * n]
do for [i = 1:m * n] { total[i] = 0 }
bar_index(t) = sum [i = 1:n] (bar[i] eq t ? i : 0)
add(k, i, x) = (total[(k - 1) * n + i] = total[(k - 1) * n + i] + x, 0)
stats ARG1 using (add(list_index(part(0)), bar_index(run(0)), 100 * column("share_ratio"))) nooutput
do for [k = 2:m] { do for [i = 1:n] { total[(k - 1) * n + i] = total[(k - 1) * n + i] + total[(k - 2) * n + i] } }
set title house_title("where the time of reinforcement learning goes") noenhanced
set ylabel "per cent of CPU time"
set yrange [0:100]
set xrange [0.4:n + 0.6]
set xtics () noenhanced scale 0 font ",10"
do for [i = 1:n] { set xtics add (bar[i] i) }
set boxwidth 0.7
set key outside right invert
@footer
set print $bars
print "set,run,share"
do for [k = 1:m] { do for [i = 1:n] { print sprintf("%d,%d,%g", k, i, total[(k - 1) * n + i]) } }
unset print
# an operation has a colour, what ran in it a shade of it
hue(t) = t[1:3] eq "sim" ? 3 : t[1:3] eq "inf" ? 1 : t[1:3] eq "bac" ? 2 : 7
pale(t) = t[strlen(t) - 5:] eq "Python" ? 0.45 : t[strlen(t) - 2:] eq ", C" ? 0.7 : \
    t[strlen(t) - 3:] eq "ator" ? -0.4 : 0
channel(c, k, s) = (int("0x" . substr(c, 2 * k, 2 * k + 1)) * (1 - abs(s)) + (s > 0 ? 255 * s : 0))
tone(c, s) = sprintf("#%02x%02x%02x", channel(c, 1, s), channel(c, 2, s), channel(c, 3, s))
plot for [k = m:1:-1] $bars using (column("set") == k ? column("run") : NaN):"share" with boxes \
    lc rgb tone(colour(hue(list[k])), pale(list[k])) title list[k]
