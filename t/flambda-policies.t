#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > t.csv <<'X'
benchmark,policy,repeat,seconds
a,nothing,1,9
a,nothing,2,4
a,nothing,3,4
a,fast,1,9
a,fast,2,1
a,fast,3,4
a,broken,,
b,nothing,2,2
b,fast,2,4
b,broken,2,1
X
is 'first timings dropped, geometric means, failures kept' 'policy,benchmark,baseline_seconds,seconds,saved_ratio
nothing,a,4,4,0
nothing,b,2,2,0
fast,a,4,2,0.5
fast,b,2,4,-1
broken,a,4,,
broken,b,2,1,0.5' bash -c "flambda-policies t.csv | awk -F, -v OFS=, 'NR > 1 { for (i = 3; i <= 5; i++) if (\$i != \"\") \$i = \$i + 0 } { print \$1, \$2, \$3, \$4, \$5 }'"
printf 'benchmark,set\na,train\nb,own\n' > sets.csv
is 'a summary counts bad and good, and hides no set' 'fast,train,1,0.5,0.5,0.5,0.5,0.5,0,0,1,2
fast,test,0,,,,,,0,0,0,
fast,own,1,-1,-1,-1,-1,-1,1,0,0,0.5
fast,all,2,-1,0.5,0.5,-1,0.5,1,0,1,1' bash -c "flambda-policies --table=summary --sets=sets.csv t.csv | grep fast | awk -F, -v OFS=, '{ for (i = 4; i <= NF; i++) if (\$i != \"\") \$i = sprintf(\"%.9g\", \$i) } { print }'"
is 'the best afterwards' $'benchmark,policy,saved_ratio\na,fast,0.5\nb,broken,0.5' flambda-policies --table=best t.csv
is 'regret lies between the best and the worst' $'fast,a,0\nfast,b,1\nbroken,a,\nbroken,b,0' bash -c 'flambda-policies --table=regret t.csv | tail -n +2'
# Welch by hand: logs 0, 1 against 2, 4: means 0.5 and 3, variances 0.5 and 2, t = -2.5 / sqrt(1.25), df = 1.25^2 / (0.25^2 + 1)
awk 'BEGIN { print "benchmark,policy,repeat,seconds"; print "a,p,2," exp(0); print "a,p,3," exp(1); print "a,nothing,2," exp(2); print "a,nothing,3," exp(4) }' > w.csv
is 'the Welch statistic and its degrees of freedom' '-2.23607 1.47059 unclear' bash -c "flambda-policies --table=welch w.csv | awk -F, 'NR == 2 { printf \"%.5f %.5f %s\n\", \$5, \$6, \$8 }'"
fails 'a time of zero is refused at its line' 1 ':2: .*seconds' bash -c "printf 'benchmark,policy,repeat,seconds\na,p,2,0\n' | flambda-policies"
is 'no baseline: kept, with empty values' $'policy,benchmark,baseline_seconds,seconds,saved_ratio,lower_ratio,upper_ratio\np,a,,1,,,' bash -c "printf 'benchmark,policy,repeat,seconds\na,p,2,1\n' | flambda-policies --quiet"

need_data inline/results
flambda-results "$DATA/inline/results" | csv-where -c experiment --is=plugins-valid > timings.csv
flambda-results --experiment=ridge-v0-reproduce-relabel "$DATA/inline/results" > settings.csv
flambda-counters "$DATA"/inline/pca-data/*.csv > counters.csv
p="flambda-policies --quiet --initial=counters.csv --sets=$root/data/flambda-benchmarks.csv --not-single=*_moe"
published() { # NAME WANT TABLE AWK: a figure of the study to six digits
    is "$1" "$2" bash -c "$p --table=$3 timings.csv | awk -F, '$4'"
}
published 'training means of both committees and the best network' '1.130129 1.152672 1.179474 ' summary \
    '$2 == "train" && $1 ~ /(moe|ridge_star_0.00005)$/ { printf "%.6f ", $12 } END { print "" }'
published 'the worst of the ridge committee, the best of naive-multilayer' '-5.826 20.19 ' savings \
    '$1 ~ /ridge_moe/ && $2 == "chameneos-redux-async" { a = $5 } $2 == "naive-multilayer" && $5 > m { m = $5 } END { printf "%.3f %.2f \n", 100 * a, 100 * m }'
published 'greedy sets of 1, 3, 5 and 10 on the training benchmarks' '0.2185 0.0716 0.0075 0.0000 ' greedy \
    '$1 == "train" && ($2 == 1 || $2 == 3 || $2 == 5 || $2 == 10) { printf "%.4f ", $4 } END { print "" }'
is 'H_star of ridge on the eight programs with counters' '3.024 2.920 55.346 3.534 1.514 54.648 1.627 0.301 ' bash -c "$p --table=select --only=2 --base=initial settings.csv | awk -F, '\$1 == \"star\" && \$5 != \"\" { printf \"%.3f \", 100 * \$5 } END { print \"\" }'"
is 'and the share of the possible that it misses' '0.220 0.079 -0.007 0.219 -0.059 -0.004 -0.062 -1.093 ' bash -c "$p --table=select --only=2 --base=initial settings.csv | awk -F, '\$1 == \"star\" && \$5 != \"\" { printf \"%.3f \", \$6 } END { print \"\" }'"
is 'the setting chosen by hand' '1.857 2.176 55.229 2.606 1.365 54.210 0.977 0.292 ' bash -c "$p --table=select --only=2 --base=initial --hand=decay-0.400000-ridge-0.050000-benefit-log_speedup_over_mean settings.csv | awk -F, '\$1 == \"hand\" && \$5 != \"\" { printf \"%.3f \", 100 * \$5 } END { print \"\" }'"
done_testing
