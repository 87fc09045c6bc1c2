#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > jobs.csv << 'END'
job,command,input
three,seq 3,
quoted,"sh -c ""echo 'a,b'; echo '\""x, y\"",1'""",
in,"tr a-z A-Z",in.txt
END
echo hello > in.txt
jobs-do jobs.csv > a.csv
is 'a line for each job, in order' $'three,ok\nquoted,ok\nin,ok' bash -c "csv-cut -c job,status a.csv | tail -n +2"
is 'one physical line each, whatever the output' 4 bash -c 'wc -l < a.csv'
is 'the output without commas, quotes and line ends' '1\n2\n3\n' bash -c "csv-where -c job --is=three a.csv | csv-cut -c output | tail -1"
jobs-log log.csv a.csv
is 'or is given as a text' 'A B' bash -c "printf 'job,command,stdin\\nt,tr a-z A-Z,a b\\n' > t.csv; jobs-do t.csv | jobs-log t.log; jobs-merge --log=t.log t.csv"
printf 'job,command,input\nin,tr a-z A-Z,in.txt\n' > one.csv
is 'standard input comes from a file' HELLO jobs-merge --log=log.csv one.csv
is 'machine is the fingerprint of bench-machine' "$(bench-machine | tail -1 | cut -d, -f1)" bash -c "csv-cut -c machine a.csv | tail -1"
printf 'job,command\nbad,false\ngood,true\ncrash,sh crash.sh\nnone,no-such-program\n' > bad.csv
echo "kill -11 \$\$" > crash.sh
fails 'failures are answers, and are told' 1 '3 of 4 jobs failed' jobs-do bad.csv
is 'with their status' $'bad,exit\ngood,ok\ncrash,signal\nnone,not_started' bash -c "jobs-do bad.csv 2> /dev/null | csv-cut -c job,status | tail -n +2"
printf 'job,command\nslow,sleep 20\n' > slow.csv
is 'a job that takes too long is stopped' timeout bash -c "jobs-do --timeout=0.1 slow.csv 2> /dev/null | csv-cut -c status | tail -1"
ok 'some were done: enough for --any' bash -c 'jobs-do --any bad.csv 2> /dev/null | grep -q good,.*,ok'
fails 'all failed: not even for --any' 1 '3 of 3 jobs failed' bash -c 'grep -v good bad.csv | jobs-do --any'
fails 'a command that needs a shell' 1 ":2: job 'a': its command:" bash -c "printf 'job,command\na,echo \$HOME\n' | jobs-do"
fails 'a name that is no file name' 1 ":2: column 'job': '../a b'" bash -c "printf 'job,command\n../a b,true\n' | jobs-do"
fails 'a name twice' 1 ":3: column 'job'" bash -c "printf 'job,command\na,true\na,false\n' | jobs-do"
fails 'no command' 1 'command' bash -c "printf 'job\na\n' | jobs-do"
# what a job leaves running ends with it, and rows come out as jobs end, not at the end of the table
printf 'job,command\na,true\nb,sleep 30\n' > live.csv
is 'rows come as jobs end' a bash -c "{ timeout 1 jobs-do live.csv || true; } | tail -n +2 | cut -d, -f1"
# who is killed takes the command along
printf 'job,command\nlong,sleep 30\n' > long.csv
orphan() {
    local p c= i state=
    jobs-do long.csv > /dev/null 2>&1 & p=$!; disown
    for i in {1..100}; do
        c=$(grep -lxs "PPid:[[:space:]]$p" /proc/[0-9]*/status | head -1)
        [ -n "$c" ] && [ "$(tr '\0' ' ' < "${c%/status}/cmdline")" = 'sleep 30 ' ] && break
        sleep 0.1
    done
    kill -9 $p && [ -n "$c" ] || return 1
    for i in {1..50}; do
        state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "$c" 2> /dev/null)
        case $state in '' | Z | X) return 0 ;; esac
        sleep 0.1
    done
    return 1
}
ok 'a command ends with jobs-do that was killed' orphan
done_testing
