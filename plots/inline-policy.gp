# CPU time under each policy against the default, on programs that it was not trained on, a row per confirmation run, with intervals; columns benchmark, label, ratio, lower_ratio, upper_ratio
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
set title "real: CPU time under policies trained on the other programs, against -O2, before the guard, paired, 95 % intervals"
title_of(l) = l eq "heat" ? "learned, with a profile" : l eq "static" ? "learned, without a profile" : l eq "rule" ? "rule: cheap where hot" : l eq "files" ? "each file by itself, -O2" : l eq "start" ? "best beginning elsewhere" : l eq "trials" ? "the best of 8 beginnings, measured" : l
shade(l) = l eq "heat" ? 0x4477aa : l eq "static" ? 0xaa3377 : l eq "rule" ? 0xddaa33 : l eq "files" ? 0x66ccee : l eq "trials" ? 0xee6677 : 0x66aa55
load ARG0[:strlen(ARG0)-strlen("inline-policy.gp")]."inline-rows.gp"
