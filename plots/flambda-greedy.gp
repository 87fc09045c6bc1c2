# mean regret of greedy sets of policies, where they were chosen and elsewhere: set, k, mean_ratio, other_ratio
wide = 700
high = 450
call ARG0[:strlen(ARG0) - strlen("flambda-greedy.gp")] . "house.gp" ARG2
@kinds
set title house_title("mean regret of the best of k policies")
set xlabel "policies in the set, chosen greedily on the training benchmarks"
set ylabel "mean regret"
set yrange [0:*]
set grid xtics
@footer
plot ARG1 using (strcol("set") eq "train" ? column("k") : 1/0):(column("mean_ratio")) with linespoints pt 7 \
    lc rgb colour(1) title "training benchmarks", \
     ARG1 using (strcol("set") eq "train" ? column("k") : 1/0):(column("other_ratio")) with linespoints pt 5 \
         lc rgb colour(2) title "test benchmarks"
