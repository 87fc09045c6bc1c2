#!/bin/bash
# jobs.sh DIR - a table of jobs, a log of answers with a sound sum where the filter is built, an output
d=$1
printf 'xjob,command,input,stdin,out\na,echo 1,,,o\nb,"cat ""x y""",in,text,\n' > "$d/table"
printf 'yjob,task,status,seconds,machine,sum,output\na,0123456789abcdef,ok,0.5,m,0123456789abcdef,1\\n\n' > "$d/answers"
printf 'job,command\na,echo 1\nb,echo 2\n' > "$d.csv"
[ ! -x bin/jobs-do ] || { printf y; bin/jobs-do "$d.csv"; } > "$d/log"
printf 'z1,"2"\\\r\n' > "$d/output"
rm -f "$d.csv"
