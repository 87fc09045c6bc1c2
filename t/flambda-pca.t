#!/bin/bash
. "$(dirname "$0")/tap.sh"
line() { # STEP STATIC SECONDS MAJORS
    echo "$1,h,$4,$(seq -s, 4 49),$2,$3"
}
{
    line /r/initial/0/x N/A 2 1; line /r/initial/0/x 100 2 1; line /r/initial/1/x 100 8 2
    line /r/1/0/x 100 1 3; line /r/1/0/x 100 1 3; line /r/2/0/x 100 3 9
} > a.csv
: > b.csv
{ line /r/initial/0/x N/A 2 1; line /r/1/0/x N/A 1 1; } > c.csv
is 'a step counts once, even if one copy lacks its count' 'benchmark,n_rows,n_steps,n_na,initial_seconds,best_seconds,saved_ratio,pca_raw_1,pca_raw_2,pca_raw_3,pca_z_1,pca_z_2,pca_z_3,kind
a,6,4,1,4,1,0.75,1,0,0,1,0,0,real
b,,,,,,,,,,,,,real
c,2,2,2,2,1,0.5,,,,,,,real' bash -c "flambda-counters a.csv b.csv c.csv | flambda-pca | awk -F, -v OFS=, 'NR > 1 { for (i = 5; i < NF; i++) if (\$i != \"\") \$i = sprintf(\"%.9g\", \$i) } { print }'"
ok 'the scatter has every step' bash -c "flambda-counters a.csv | flambda-pca --points=p.csv > /dev/null && [ \$(wc -l < p.csv) = 5 ]"

is 'simulated counters make no real component' simulated bash -c "flambda-counters a.csv | sed 's/,real$/,simulated/' | flambda-pca --points=p.csv | csv-cut -c kind | tail -1"
is 'nor a real point' 'kind simulated ' bash -c "csv-cut -c kind p.csv | uniq | tr '\n' ' '; echo"
need_data inline/pca-data
flambda-counters "$DATA"/inline/pca-data/*.csv | flambda-pca > pca.csv
is 'the best seen speed-ups of the study, per cent' '3.879 3.170 54.954 4.523 1.430 54.429 1.532 0.144 ' bash -c "awk -F, 'NR > 1 && \$1 !~ /fyq/ { printf \"%.3f \", 100 * \$7 } END { print \"\" }' pca.csv"
is 'two exact repeats and only N/A in fyq-stdlib-int-sets' 'fyq-stdlib-int-sets,182,180,182' bash -c "grep int-sets pca.csv | cut -d, -f1-4"
done_testing
