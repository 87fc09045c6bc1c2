#!/bin/bash
. "$(dirname "$0")/tap.sh"
(echo n,job,command; for i in {1..10}; do echo "$i,j$i,echo $i"; done) > jobs.csv
is 'without a log all are left, byte for byte' "$(cat jobs.csv)" jobs-left --log=none.csv jobs.csv
csv-sample --first=4 jobs.csv | jobs-do | jobs-log log.csv
is 'the others are left' $'5\n6\n7\n8\n9\n10' bash -c "jobs-left --log=log.csv jobs.csv | csv-cut -c n | tail -n +2"
is 'counted' 6 jobs-left --log=log.csv --count jobs.csv
is 'another command under the same name is another job' 10 bash -c "sed 's/echo/printf/' jobs.csv | jobs-left --log=log.csv --count"
is 'shares are disjoint and whole' "$(sed 1d jobs.csv | sort)" bash -c "for k in 1 2 3; do jobs-left --log=none.csv --part=\$k/3 jobs.csv | sed 1d; done | sort"
is 'more shares than jobs: some are empty' n,job,command jobs-left --log=none.csv --part=12/12 jobs.csv
is 'a job that failed is left' 1 bash -c "printf 'job,command\nf,false\n' > f.csv; jobs-do f.csv 2> /dev/null | jobs-log f.log; jobs-left --log=f.log --count f.csv"
is 'shares shorter and shorter, each a table' '| 1 2 | 3 4 | 5 6 | 7 | 8 | 9 | 10' bash -c "jobs-left --log=none.csv --slots=2 jobs.csv | tr '\0' '#' |
    sed 's/^#//' | cut -d, -f1 | sed 's/^n$/|/; /^$/d' | paste -sd' '"
is 'together all jobs, each once' "$(sed 1d jobs.csv)" bash -c "jobs-left --log=none.csv --slots=3 jobs.csv | tr -d '\0' | grep -v ^n,"
jobs-do jobs.csv | jobs-log full.csv
is 'nothing left: no batch' 0 bash -c 'jobs-left --log=full.csv --slots=2 jobs.csv | wc -c'
fails 'no share' 2 'not K/N' jobs-left --log=log.csv --part=0/3 jobs.csv
fails 'more than there are' 2 'not K/N' jobs-left --log=log.csv --part=4/3 jobs.csv
fails 'no log named' 2 'see --log' jobs-left jobs.csv
done_testing
