#!/bin/bash
# make prof at its smallest: complete, the parts of the end-to-end test near their truth, pictures, processed again from logs alone
. "${0%/*}/tap.sh"
[ -e "$(recorder)" ] || { echo "1..0 # skip the recorder was not built (python3-dev)"; exit 0; }
! ldd "$(recorder)" | grep -q libasan || { echo "1..0 # skip an ASan library in gnuplot, awk and python alike; the recorder itself: prof-record.t"; exit 0; }
/usr/bin/python3 -c 'import numpy' 2> /dev/null || { echo "1..0 # skip no python3-numpy"; exit 0; }
out=$B/pipeline-prof
rm -rf "$out"
ok 'make prof' make -s -C "$root" prof SCALE=test OUT="$out" B="$B" BIN="$BIN"
is 'parts of three iterations, alone, in four threads, in two forked processes of two threads: all as long as they were' \
'9 e2e pass
54 forks pass
36 threads pass' eval "sed 1d $out/prof/verdict.csv | cut -d, -f1,9 | tr , ' ' | sort | uniq -c | sed 's/^ *//'"
ok 'twelve summaries have pictures' test 24 = "$(ls "$out"/prof/e2e/*.summary.{svg,png} | wc -l)"
complete() { for f in "$out"/prof/*/*.svg; do grep -q '</svg>' "$f" || return 1; done; }
ok 'all pictures are complete' complete
is 'Python and C take part in every operation that uses NumPy' 'act sample store train update' eval "sed 1d $out/prof/cartpole/category.csv | awk -F, '\$4 == \"Backend\" { print \$2 }' | sort | paste -sd' '"
ok 'the profile predicts a speed-up above 1' eval "awk -F, '/^theoretical_speedup,/ { exit !(\$2 > 1 && \$2 < 10) }' $out/prof/speedup.csv"
mkdir again && find "$out"/prof/e2e -maxdepth 1 -type f \( -name 'ev.*' -o -name 'names.*' -o -name 'gpu.*' -o -name 'judge.*' \
    -o -name 'threads.*' \) -exec cp -t again {} +
ls -l --time-style=full-iso again > before
ok 'the logs alone are enough, in a comma locale too' env LC_ALL=de_DE.UTF-8 make -s -C "$root" prof-process DIR="$PWD/again" OUT="$PWD/o" PROF_FORMS=svg B="$B" BIN="$BIN"
ok 'and give the same tables' eval "for f in o/process/*.csv; do cmp \$f $out/prof/e2e/\${f##*/} || exit 1; done"
ok 'nothing is written beside the logs' diff before <(ls -l --time-style=full-iso again)
ok 'rows go from filter to filter, none is kept as CSV; more than the page and pictures takes no place' \
    eval "! ls o/process | grep -E 'events|nested|pieces' && [ \$(du -sk o | cut -f 1) -lt 6000 ]"
ok 'and one page' grep -q '</html>' o/process/page.html
echo 'print(sum(range(9)))' > plain.py
mkdir "it's a \"folder\""
prof-record --quiet -o "it's a \"folder\"/of logs" plain.py > plain.out
ok 'an ordinary script, without operations or iterations; logs in any folder' \
    eval 'make -s -C "$root" prof-process DIR="$PWD/it'"'"'s a \"folder\"/of logs" OUT="$PWD/p" PROF_FORMS=svg B="$B" BIN="$BIN" 2> warnings'
ok 'without a warning' eval '[ ! -s warnings ] || { cat warnings; false; }'
ok 'has its operations, none, and their picture' bash -c "csv-cut -c op p/process/operations.csv | grep -qx '(none)' && grep -q '</svg>' p/process/operations.svg"
rm -rf "$out"
done_testing
