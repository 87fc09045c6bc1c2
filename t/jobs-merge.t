#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > make.sh << 'END'
printf 'x,y\n"%s ""q""\nline",%d\n' "$1" "$2"
END
(echo job,command,out; i=0; for j in b a c; do echo "$j,sh make.sh $j $((i++)),$j.txt"; done) > jobs.csv
jobs-do jobs.csv | jobs-log log.csv
is 'tables below each other, in the order of the jobs' 'x,y
"b ""q""
line",0
"a ""q""
line",1
"c ""q""
line",2' jobs-merge --log=log.csv jobs.csv
jobs-merge --log=log.csv jobs.csv > want.csv
(head -1 log.csv; sed 1d log.csv | tac) > back.csv
is 'whichever was done first' "$(cksum < want.csv)" bash -c 'jobs-merge --log=back.csv jobs.csv | cksum'
is 'a name in front, quoted line ends unharmed' $'j\nb\na\nc' bash -c "jobs-merge --log=log.csv --name=j jobs.csv | csv-cut -c j"
is 'the machine behind' "$(bench-machine | tail -1 | cut -d, -f1)" bash -c "jobs-merge --log=log.csv --machine=m jobs.csv | csv-cut -c m | sort -u | head -1"
jobs-merge --files --log=log.csv jobs.csv
is 'files, byte for byte' "$(sh make.sh a 1 | cksum)" bash -c 'cksum < a.txt'
(cat jobs.csv; echo d,echo x,d.txt) > more.csv
fails 'a job without a result' 1 '1 of 4 jobs have no result: d' jobs-merge --log=log.csv more.csv
ok 'then nothing is written' test ! -s got
jobs-do more.csv | jobs-log log.csv 2> /dev/null
fails 'other columns' 1 "job 'd': its columns are not those" jobs-merge --log=log.csv more.csv
fails 'files want a name' 1 "column 'out'" bash -c "csv-cut -c job,command jobs.csv | jobs-merge --files --log=log.csv"
fails 'a column that the answers have' 1 "two columns would be called 'x'" jobs-merge --name=x --log=log.csv jobs.csv
(echo job,command,out; echo a,echo 1,same; echo b,echo 2,same) > same.csv
jobs-do same.csv | jobs-log same.log
fails 'two jobs of one file: none is lost' 1 "same.csv:3: column 'out': 'same' is no file of this job alone" jobs-merge --files --log=same.log same.csv
ok 'and nothing is written' test ! -e same
done_testing
