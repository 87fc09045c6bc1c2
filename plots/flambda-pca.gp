# steps of one benchmark in the plane of two components: initial, saved_ratio, columns ARG4 and ARG5; ARG3: the
# benchmark
wide = 700
high = 500
call ARG0[:strlen(ARG0) - strlen("flambda-pca.gp")] . "house.gp" ARG2
@kinds
set title house_title(sprintf("compiled variants of %s, counters against time saved", ARG3)) noenhanced
set xlabel "first component" . (ARG4 eq "raw_1" ? ", raw units" : ", z-scores")
set ylabel "second component"
set cblabel "share of the time saved"
set palette defined (0 "#cc3311", 0.5 "#ccbb44", 1 "#4477aa")
set key outside top horizontal
set grid xtics
@footer
# a study has thousands of steps, a search tens
stats ARG1 using (column("initial")) nooutput
dot = STATS_records > 500 ? 0.4 : 1.2
plot ARG1 using (column("initial") == 0 ? column(ARG4) : 1/0):(column(ARG5)):(column("saved_ratio")) \
    with points pt 7 ps dot lc palette title "steps", \
     ARG1 using (column("initial") == 1 ? column(ARG4) : 1/0):(column(ARG5)) with points pt 2 ps 1.2 \
         lc rgb "#000000" title "as the compiler leaves it"
