#!/bin/bash
. "$(dirname "$0")/tap.sh"
. "$root/t/inline-live.sh"
inline-sites w > sites.csv
is 'every call of the source is there once' 22 awk -F, 'NR > 1 && $8 == 0 { n++ } END { print n }' sites.csv
# the demo counts its own words: tr and grep are the oracle
words=$(tr -c 'A-Za-z_' '\n' < demo/main.c | grep -c .)
is 'heat is the exact number of executions' "$words" awk -F, '$2 == "table_find" && $3 == "main" { print $9 }' sites.csv
is 'one call more than words ends the loop' "$((words + 1))" awk -F, '$2 == "get_word" { print $9 }' sites.csv
is 'loop depth' 1 awk -F, '$2 == "same" && $3 == "table_find" { print $14 }' sites.csv
is 'recursion and varargs are not legal' $'quicksort\nquicksort\nquicksort\nsay\nsay' bash -c "awk -F, 'NR > 1 && \$8 == 0 && \$11 == \"no\" { print \$2 }' sites.csv | sort"
is 'the default inlines the hash step' yes awk -F, '$2 == "hash_step" && $3 == "hash" { print $10 }' sites.csv
ok 'copies that the default makes are rows too' awk -F, '$8 > 0 { found = 1 } END { exit !found }' sites.csv
inline-sites --no-heat w > cold.csv
is 'without heat the rest is the same' "$(cut -d, -f1-8,10-32 sites.csv)" cut -d, -f1-8,10-32 cold.csv
is 'twice the same bytes' "$(cat sites.csv)" inline-sites w
inline-decide -c inlined sites.csv > d.sexp
inline-build --decisions=d.sexp --out=x w > obeyed.csv
is 'the table is enough to build the same again' 0 awk -F, 'NR > 1 && $3 != $4 { n++ } END { print n + 0 }' obeyed.csv
inline-sites --decisions=<(echo '(decisions)') w > none.csv
is 'under decisions that inline nothing, nothing is inlined' 0 awk -F, '$10 == "yes" { n++ } END { print n + 0 }' none.csv
fails 'no work directory' 1 'program.csv \(made by inline-module\): No such file' inline-sites .
done_testing
