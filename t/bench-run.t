#!/bin/bash
. "$(dirname "$0")/tap.sh"
export TMPDIR=$T                                         # a lock of our own: nothing here is a measurement
run() { bench-run --quiet --warmup=0 "$@"; }
col() { csv-cut -c "$1" "$2"; }
run --rounds=4 --seed=1 --label=a 'echo hi' --label=b 'echo  hi' > r.csv
is 'one row per run, with the fixed columns first' 'label,round,position,phase,wall_seconds,cpu_seconds,user_seconds,sys_seconds' \
    sh -c 'head -n 1 r.csv | cut -d, -f1-8'
is 'four rounds, both labels' '8' sh -c 'grep -c ,measure, r.csv'
is 'an empty command is timed too' '5' sh -c 'grep -c ,calibrate, r.csv'
is 'each label is first in half of the rounds' '2 2' sh -c "awk -F, '\$4 == \"measure\" && \$3 == 0 { n[\$1]++ } END { print n[\"a\"], n[\"b\"] }' r.csv"
is 'all are good, and print the same' 'ok 3' sh -c "awk -F, '\$4 == \"measure\" { print \$16, \$20 }' r.csv | sort -u"
run --rounds=4 --seed=1 --label=a true --label=b true > s.csv
is 'the seed draws the order' "$(awk -F, '$4 == "measure" { print $1 }' r.csv)" awk -F, '$4 == "measure" { print $1 }' s.csv
run --rounds=1 --label='x,y' "printf '%s|%s' 'a b' \"c\"" > q.csv
is 'words are split as sh does, a label may hold a comma' '"x,y",5' sh -c 'csv-cut -c label,output_bytes q.csv | tail -n 1'
fails 'a wrong exit status is an error' 1 'exit status 1, not 0' bench-run --rounds=2 --warmup=0 --label=a true --label=b false
is 'and an error row' 'exit' sh -c "bench-run --quiet --rounds=2 --warmup=0 --label=a true --label=b false 2> /dev/null | awk -F, '\$1 == \"b\" { print \$16 }' | sort -u"
fails 'another output is an error' 1 'output differs' bench-run --rounds=2 --warmup=0 --label=a 'echo 1' --label=b 'echo 2'
ok 'unless it may differ' bench-run --rounds=2 --warmup=0 --output-rule=own --label=a 'echo 1' --label=b 'echo 2'
is 'a timeout is no error but a lower bound' 'timeout' sh -c "bench-run --quiet --rounds=1 --warmup=0 --timeout=0.05 --label=a 'sleep 9' 2> /dev/null | awk -F, '\$1 == \"a\" { print \$16 }'"
fails 'a command that is not there' 1 'no-such-program' bench-run --rounds=1 --label=a no-such-program
fails 'what needs a shell is refused' 2 'need a shell' bench-run --rounds=1 --label=a 'true | true'
ok 'or given to one' bench-run --quiet --rounds=1 --shell --label=a 'true | true'
fails 'labels and commands must match' 2 '2 labels but 1 commands' bench-run --label=a --label=b true
fails 'labels are unique' 2 'given twice' bench-run --label=a true --label=a true
fails 'no command' 2 'no command' bench-run --rounds=3
fails 'events that libpfm4 does not know' 2 'no-such-event' bench-run --event=no-such-event --rounds=1 --label=a true
run --rounds=1 --event=page-faults --label=a true > e.csv 2> err
is 'an event has a count and a source' 'base,n_page_faults,n_page_faults_source' sh -c 'head -n 1 e.csv | cut -d, -f28-'
rm -f o.csv
run --rounds=3 -o o.csv --label=a true --label=b 'true 1'
rows=$(wc -l < o.csv)
run --rounds=3 -o o.csv --label=a true --label=b 'true 1'
is 'a complete table is left alone' "$rows" sh -c 'wc -l < o.csv'
head -c $(($(wc -c < o.csv) - 150)) o.csv > cut.csv
bench-run --quiet --rounds=3 --warmup=0 -o cut.csv --label=a true --label=b 'true 1' 2> /dev/null
is 'a cut one is completed' '6' sh -c 'grep -c ,measure, cut.csv'
fails 'not with another seed' 1 'o.csv:[0-9]*: begun with --seed=1' bench-run --rounds=3 --seed=2 -o o.csv --label=a true --label=b 'true 1'
fails 'not with other labels' 1 "begun with a label 'b'" bench-run --rounds=3 -o o.csv --label=a true --label=c 'true 1'
sh -c 'bench-run --quiet --warmup=0 --rounds=100000 -o k.csv --label=a true --label=b "true 1" & p=$!
    while [ "$(wc -l 2> /dev/null < k.csv || echo 0)" -lt 20 ]; do sleep 0.01; done; kill -9 $p; wait $p' 2> /dev/null
ok 'after kill -9 the table is whole rows' csv-check k.csv
ok 'and goes on' bench-run --quiet --warmup=0 --rounds=12 -o k.csv --label=a true --label=b 'true 1'
is 'to the rounds that were asked for' 'a,b' sh -c "awk -F, '\$4 == \"measure\" && \$2 == 11 { print \$1 }' k.csv | sort | paste -sd,"
# the lock of measurements serves every user of the machine, whoever made it and with what umask
mkdir -m 1777 shared
lock=$T/shared/millrace-measure.lock
(umask 077 && MILLRACE_MEASURE_LOCK=$lock bench-run --quiet --rounds=1 --label=a true > /dev/null)
is 'others may read the lock' 644 stat -c %a shared/millrace-measure.lock
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null && chmod 755 "$T" &&
    setpriv --reuid=65534 --regid=65534 --clear-groups env "$BIN/csv-cat" --version > /dev/null 2>&1; then
    ok 'a second user measures, too' setpriv --reuid=65534 --regid=65534 --clear-groups env MILLRACE_MEASURE_LOCK="$lock" HOME=/ \
        "$BIN/bench-run" --quiet --rounds=1 --label=a true
else skip 'a second user' 'not root, or nobody cannot run what is here'; fi
# what somebody else puts in its place is refused at once
refused() { fails "$1" 1 "$2" env MILLRACE_MEASURE_LOCK="$lock" timeout 20 bench-run --quiet --rounds=1 --label=a true; rm -rf "$lock"; }
rm "$lock"; mkfifo "$lock"
refused 'a pipe in the place of the lock' 'no file, but something that user [0-9]* put in the place of the measuring lock'
ln -s /dev/null "$lock"
refused 'a link' 'a link stands in the place of the measuring lock'
mkdir "$lock"
refused 'a folder' 'no file, but something'
if have python3; then
    python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$lock"
    refused 'a socket' 'no file, but something'
fi
# One lock for all TMPDIRs of jobs and all users: where only root may write to /run/lock, root does not measure beside the
# others.  In a /run/lock of our own, since that of the machine may be held for long.
if [ "$(id -u)" = 0 ] && unshare -m mount -t tmpfs none /run/lock 2> /dev/null; then
    mkdir j1 j2
    of() { # MODE TMPDIR
        unshare -m bash -c 'mount -t tmpfs -o mode=$1 none /run/lock; unset MILLRACE_MEASURE_LOCK; TMPDIR=$PWD/$2 strace -qq \
            -e trace=open,openat bench-run --quiet --rounds=1 --label=a true 2>&1 > /dev/null | grep -o "[^\"]*measure.lock" | sort -u' x $*
    }
    is 'a /run/lock of all users' /run/lock/millrace-measure.lock of 1777 j1
    is 'another TMPDIR' /run/lock/millrace-measure.lock of 1777 j2
    is "a /run/lock of root's own" /tmp/millrace-measure.lock of 755 j1
else skip '/run/lock' 'not root'; fi
waits() {
    flock "$lock" sh -c ': > locked; until grep -q waiting said; do sleep 0.05; done' & : > said
    until [ -e locked ]; do sleep 0.02; done
    MILLRACE_MEASURE_LOCK=$lock bench-run --quiet --rounds=1 --label=a true > /dev/null 2> said; wait
    grep -q "process [0-9]* (.*) holds $lock" said
}
ok 'who waits says for whom' waits
mkdir there && cp "$(type -P true)" there/t
build() { bench-run --quiet --rounds=1 --warmup=0 "$@" | csv-where -c phase --is=measure | csv-cut -c build | tail -n 1; }
is 'a program in its folder is known by its bytes' "$(build --label=a there/t)" build -C there --label=a ./t
fails 'an input that is not there, not the command' 1 '^bench-run: none: No such file' bench-run --input=none --label=a true
fails 'a folder that is not there' 1 '^bench-run: none: No such file' bench-run -C none --label=a true
two() { bench-run --quiet --rounds=3 --warmup=0 -o two.csv --label=a 'sleep 0.05' --label=b 'sleep 0.05'; }
both() { two & until [ -s two.csv ]; do sleep 0.01; done; two 2> /dev/null; wait; }
is 'two that fill one table fill it once' 6 eval 'both; csv-where -c phase --is=measure two.csv | tail -n +2 | wc -l'
is 'the noise floor leaves half of the time' measure eval "bench-run --quiet --aa --rounds=1000 --warmup=0 --max-time=0.4 --label=a 'sleep 0.01' |
    csv-cut -c phase | tail -n 1"
# when to stop, and limits
one() { bench-run --quiet --rounds=1 --warmup=0 "$@" 2> no | csv-where -c phase --is=measure; }
is 'decided: as many rounds as it takes' 'sequential 1' eval "bench-run --quiet --rounds=300 --until=decided --warmup=0 --metric=wall --label=a 'sleep 0' --label=b 'sleep 0.02' |
    csv-where -c phase --is=measure | csv-group -g stop -c round --stat=max | csv-calc --print=\"concat(stop, ' ', max_round < 60)\""
fails 'nothing to stop at' 2 "'soon' is neither" bench-run --until=soon --label=a true --label=b true
is 'CPU time' 'cpu_limit' eval "one --cpu-limit=1 --label=a 'sh -c \"while :; do :; done\"' | csv-calc --print=status"
is 'memory' 'exit ok' eval "one --memory-limit=100Mi --label=a 'perl -e \"\\\$x = q(a) x 3e8\"' | csv-calc --print=status | xargs echo -n; echo -n ' ';
    one --label=a 'perl -e \"\\\$x = q(a) x 3e8\"' | csv-calc --print=status"
is 'what is written' 'output_limit 1000' eval "one --output-limit=1000 --label=a 'seq 10000' | csv-calc --print=\"concat(status, ' ', output_bytes)\""
is 'what each run wants before it, in no time of its own' 'x ok' eval "one --prepare='cp $PWD/x.in x.made' --label=a 'cat x.made' 2>&1 | csv-calc --print=\"concat('x ', status)\"" < <(echo x > x.in)
is 'messages in a file' 'oops' eval "one --stderr=said --label=a 'sh -c \"echo oops >&2\"' > no; grep -o '^oops$' said | sort -u"
done_testing
