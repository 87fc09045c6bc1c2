# place-torch - time of a step over the peak of the process, a panel per network: plans, checkpoints, the plain step
#   columns net, way, max_peak_bytes, median_free_seconds, min_free_seconds, max_free_seconds, kind; ARG3: networks
n = words(ARG3)
rows = (n + 1) / 2
wide = n > 1 ? 1000 : 640
high = 100 + 300 * rows
call ARG0[:strlen(ARG0) - strlen("place-torch.gp")] . "house.gp" ARG2
@kinds
set multiplot layout rows, (n > 1 ? 2 : 1) \
    title house_title("a training step in PyTorch by the memory of the process") . \
    "\n{/*0.8 median and range; time in which other work had the core is not counted; numbers: % of what is saved}"
@footer
set xlabel "peak of the process, MB"
set ylabel "seconds a step"
set yrange [0:*]
set key bottom right
set offsets graph 0.1, graph 0.15, graph 0.15, 0
number(way) = way eq "plain" || way eq "block" ? 0 : way[:5] eq "swap:" ? 0 : 1
at(net, good) = strcol("net") eq net && good ? column("max_peak_bytes") / 1e6 : NaN
do for [i = 1:n] {
    net = word(ARG3, i)
    set title net noenhanced
    if (i == 2) { unset label 9999 }
    plot ARG1 using (at(net, number(strcol("way")))):(column("median_free_seconds")): \
                (column("min_free_seconds")):(column("max_free_seconds")) with yerrorbars pt 7 lc rgb ours \
                    title "plan", \
        ARG1 using (at(net, number(strcol("way")))):(column("median_free_seconds")):(strcol("way")) \
                with labels offset 0, 1.2 font ",9" notitle, \
        ARG1 using (at(net, strcol("way") eq "block")):(column("median_free_seconds")): \
                (column("min_free_seconds")):(column("max_free_seconds")) with yerrorbars pt 5 lc rgb theirs \
                title "checkpoint of every block", \
        ARG1 using (at(net, strcol("way") eq "plain")):(column("median_free_seconds")): \
                (column("min_free_seconds")):(column("max_free_seconds")) with yerrorbars pt 9 lc rgb base title "plain"
}
unset multiplot
