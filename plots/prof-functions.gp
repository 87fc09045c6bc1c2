# share of the whole run with each function on the stack, by cProfile and by the recorder: function, cprofile_share,
# recorded_share
wide = 900
high = 560
call ARG0[:strlen(ARG0) - strlen("prof-functions.gp")] . "house.gp" ARG2
@kinds
stats ARG1 using "cprofile_share" nooutput
n = STATS_records
set title house_title("how long a function was on the stack") noenhanced
set xlabel "share of the run"
set xrange [0:1.02]
set yrange [n + 0.6:0.4]
set ytics () noenhanced scale 0
set grid xtics ytics
set border 1
set key bottom right
@footer
plot ARG1 using "cprofile_share":($0 + 1):ytic(strcol("function")) with points pt 6 ps 1.4 lw 1.6 lc rgb colour(2) \
    title "cProfile", \
     ARG1 using "recorded_share":($0 + 1) with points pt 7 ps 0.8 lc rgb ours title "recorder, whole call tree"
