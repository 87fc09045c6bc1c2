# CPU time of each build against whole-program -O2, a row per confirmation run, with intervals; columns benchmark, label, ratio, lower_ratio, upper_ratio
table = ARG1
list(c) = system(sprintf("csv-cut -c %s '%s' | tail -n +2 | tr ' ' '_' | awk '!seen[$0]++'", c, table))
rows = list("benchmark")
labels = list("label")
n = words(rows)
m = words(labels)
high = 160 + n * (10 * m + 8)
if (ARG2[strlen(ARG2)-2:] eq "svg") { set terminal svg size 1000,high dynamic font "sans,12" background "white" } else { set terminal pngcairo size 1500,high * 3 / 2 font "sans,16" }
set output ARG2
set datafile separator comma
set datafile missing ""
set title "real: CPU time against whole-program -O2, confirmation inputs, paired, 95 % intervals"
title_of(l) = l eq "learned" ? "learned for speed" : l eq "small" ? "learned for size" : l eq "threshold" ? "best threshold" : l eq "files" ? "each file by itself, -O2" : "-".l
shade(l) = l eq "learned" ? 0x4477aa : l eq "small" ? 0xaa3377 : l eq "threshold" ? 0x66aa55 : l eq "Oz" ? 0xddaa33 : l eq "Os" ? 0xee9988 : l eq "files" ? 0x66ccee : 0x999999
load ARG0[:strlen(ARG0)-strlen("inline-compare.gp")]."inline-rows.gp"
