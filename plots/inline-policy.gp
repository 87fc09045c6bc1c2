# CPU time under each policy against the default, on programs that it was not trained on, a row per confirmation run,
# with intervals; see inline-rows.gp
said = "CPU time under policies trained on the other programs, against -O2, before the guard, paired, 95 % intervals"
title_of(l) = l eq "heat" ? "learned, with a profile" : l eq "control" ? "the same, from decisions of other calls" : \
    l eq "rule" ? "rule: cheap where hot" : l eq "files" ? "each file by itself, -O2" : l
shade(l) = l eq "heat" ? 0x4477aa : l eq "control" ? 0x999999 : l eq "rule" ? 0xddaa33 : \
    l eq "files" ? 0x66ccee : 0x66aa55
call ARG0[:strlen(ARG0) - strlen("inline-policy.gp")] . "inline-rows.gp" ARG1 ARG2
