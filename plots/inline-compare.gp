# CPU time of each build against whole-program -O2, a row per confirmation run, with intervals; see inline-rows.gp
said = "CPU time against whole-program -O2, confirmation inputs, paired, 95 % intervals"
title_of(l) = l eq "learned" ? "learned for speed" : l eq "small" ? "learned for size" : \
    l eq "threshold" ? "best threshold" : l eq "files" ? "each file by itself, -O2" : "-" . l
shade(l) = l eq "learned" ? 0x4477aa : l eq "small" ? 0xaa3377 : l eq "threshold" ? 0x66aa55 : l eq "Oz" ? 0xddaa33 : \
    l eq "Os" ? 0xee9988 : l eq "files" ? 0x66ccee : 0x999999
call ARG0[:strlen(ARG0) - strlen("inline-compare.gp")] . "inline-rows.gp" ARG1 ARG2
