#!/bin/bash
# times as the study kept its own are read by the study's filter, and are the same times
. "$(dirname "$0")/tap.sh"
mkdir here
bench-run --quiet --rounds=4 --warmup=0 --benchmark=p.1 --label=a true --label=b 'sh -c ""' > here/runs.csv
bench-run --quiet --rounds=3 --warmup=0 --benchmark=p.2 --label=a true --label=c false > here/more.csv
csv-cat here/runs.csv here/more.csv > here/all.csv
ok 'written' "$root/pipelines/results" here/all.csv results live
is 'a file for each program and build' 'p.1/live/a.csv p.1/live/b.csv p.2/live/a.csv p.2/live/c.csv' bash -c 'cd results; echo */*/*'
is 'read again, the same times' "$(csv-where -c phase --is=measure here/all.csv | csv-where -c status --is=ok |
    csv-sort -k benchmark,label,round:n | csv-calc --print='concat(benchmark, label, digits(cpu_seconds, 4))')" bash -c \
    "flambda-results results | csv-where -c seconds --known | csv-calc --print='concat(benchmark, policy, digits(seconds, 4))'"
is 'a build without a good run is an empty file' 0 bash -c 'wc -c < results/p.2/live/c.csv'
sed 's/,p\.2,/,..\/p,/' here/all.csv > here/out.csv
fails 'a name that leads elsewhere' 1 "'../p' is no name of a file" "$root/pipelines/results" here/out.csv away/in live
ok 'and nothing is written' test ! -e away
sed 's/^b,/b b,/' here/all.csv > here/blank.csv
fails 'a name with a blank' 1 "'b b' is no name of a file" "$root/pipelines/results" here/blank.csv away/in live
done_testing
