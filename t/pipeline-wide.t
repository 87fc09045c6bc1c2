#!/bin/bash
# wide stages here, over ssh and under Slurm, on servers of this machine's loopback: the same bytes, whatever breaks
. "$(dirname "$0")/tap.sh"
wide=$root/pipelines/wide
export HOSTS=: JOBS=2
unset SSH SLURM
stop() { "$root/t/ssh-loopback.sh" stop "$T/ssh"; [ ! -d "$T/slurm" ] || "$root/t/slurm-loopback.sh" stop "$T/slurm"; sleep 0.3; }
trap 'stop > /dev/null 2>&1; cd / && rm -rf "$T"' EXIT
mkdir inputs
echo 7 > inputs/seven
cat > inputs/job.sh << 'END'
echo "$1" >> "$2/done"
sleep 0.05
echo n,square,seven
echo "$1,$(($1 * $1)),$(cat inputs/seven)"
END
(echo job,command; for i in {1..16}; do echo "j$i,sh inputs/job.sh $i $T"; done) > jobs.csv
jobs-do jobs.csv | jobs-log serial.csv
jobs-merge --log=serial.csv jobs.csv > want.csv
merged() { jobs-merge --log="$1" jobs.csv | cmp - want.csv; }
redone() { sort done | uniq -d | wc -l; }
run() { rm -f done; "$wide" jobs.csv "$1" inputs; }

ok 'side by side here' run here.csv
ok 'gives the table of one after another' merged here.csv
ok 'again' run here.csv
ok 'does nothing' test ! -e done
# the head killed with all it started, at any moment: what was answered stays, the rest is done by the next run
killed() {
    local i
    for i in 1 2 3 4 5 6; do
        setsid "$wide" jobs.csv killed.csv inputs 2> /dev/null &
        sleep "0.$((RANDOM % 4 + 1))"
        { kill -9 -- -$!; wait $!; } 2> /dev/null
    done
    "$wide" jobs.csv killed.csv inputs && merged killed.csv
}
ok 'killed six times with -9, then run again' killed
printf 'job,command\ngood,echo x\nbad,false\n' > bad.csv
fails 'a job that always fails is told in the end' 1 '1 jobs have no result, and trying again changed nothing' "$wide" bad.csv bad.log
is 'the others are in the log' 1 jobs-left --count --log=bad.log bad.csv
HOSTS=1/nowhere.invalid fails 'no host that works' 1 "none of HOSTS='1/nowhere" "$wide" bad.csv none.log

if [ ! -x /usr/sbin/sshd ] || ! "$root/t/ssh-loopback.sh" start "$T/ssh" 2 2> /dev/null; then
    skip 'other machines' 'no ssh server here (openssh-server)'
    done_testing
fi
export SSH="ssh -F $T/ssh/ssh"
host() { "$root/pipelines/host" "$1" "$T/some"; }
ok 'a bare host is brought up' make -s -C "$root" host HOST=m1 B="$B" BIN="$BIN"
mkdir -p some/bin
cp "$BIN/jobs-do" "$BIN/bench-run" some/bin
ok 'and another' host m2
HOSTS='1/m1 1/m2'
ok 'two hosts' run two.csv
ok 'give the same bytes' merged two.csv
is 'inputs are sent once a host' 1 bash -c "ls $T/ssh/home-m1/.millrace/inputs | wc -l"
HOSTS='1/m1 1/m2 1/:'
ok 'two hosts and this machine' run three.csv
ok 'give the same bytes' merged three.csv
# six connections break off, each somewhere in what it brings, and the head is killed after the second, fourth and sixth
for m in m1 m2; do
    mv ssh/home-$m/.millrace/bin/jobs-do ssh/home-$m/.millrace/bin/jobs-do.real
    { echo "drops=$T/drops"
      cat << 'END'
[ "${1-}" != --version ] || exec -a jobs-do "$HOME/.millrace/bin/jobs-do.real" --version
echo >> "$drops"
[ "$(wc -l < "$drops")" -le 6 ] || exec -a jobs-do "$HOME/.millrace/bin/jobs-do.real" "$@"
"$HOME/.millrace/bin/jobs-do.real" "$@" | head -c $((RANDOM % 400))
kill -9 $(ps -o ppid= $PPID)
END
    } > ssh/home-$m/.millrace/bin/jobs-do
    chmod +x ssh/home-$m/.millrace/bin/jobs-do
done
dropped() {
    local i
    : > drops
    for i in 2 4 6; do
        setsid "$wide" jobs.csv dropped.csv inputs 2> /dev/null &
        while kill -0 $! 2> /dev/null && [ "$(wc -l < drops)" -lt $i ]; do sleep 0.02; done
        { kill -9 -- -$!; wait $!; } 2> /dev/null
    done
    [ "$(wc -l < drops)" -ge 6 ] && "$wide" jobs.csv dropped.csv inputs && merged dropped.csv
}
ok 'connections that break off, a head that is killed' dropped
for m in m1 m2; do mv ssh/home-$m/.millrace/bin/jobs-do.real ssh/home-$m/.millrace/bin/jobs-do; done
HOSTS='1/m1 1/m3'
fault() {
    local name=$1 re=$2
    rm -f fault.csv
    run fault.csv 2> said
    { [ -z "$re" ] || grep -q -- "$re" said; } && merged fault.csv || { echo "want /$re/"; cat said; return 1; }
}
ok 'a host that is not there is left out, and said' fault 'unreachable' 'm3 does not answer.*left out'
HOSTS='1/m1 1/m2'
mv ssh/home-m2/.millrace/bin/jobs-do ssh/home-m2/.millrace/bin/jobs-do.real
echo 'echo jobs-do of last year' > ssh/home-m2/.millrace/bin/jobs-do
chmod +x ssh/home-m2/.millrace/bin/jobs-do
ok 'another millrace there' fault 'version' "m2 has 'jobs-do of last year', here is"
# what breaks off on its way: half of what m2 says is lost
cat > ssh/home-m2/.millrace/bin/jobs-do << 'END'
real=$HOME/.millrace/bin/jobs-do.real
[ "${1-}" != --version ] || exec -a jobs-do "$real" --version
"$real" | head -c 100
END
ok 'output that is cut' fault 'cut' 'lines were cut or damaged on their way'
cat > ssh/home-m2/.millrace/bin/jobs-do << 'END'
[ "${1-}" != --version ] || exec -a jobs-do "$HOME/.millrace/bin/jobs-do.real" --version
kill -9 $PPID
END
ok 'a host that dies in the middle' fault 'died' ''
mv ssh/home-m2/.millrace/bin/jobs-do.real ssh/home-m2/.millrace/bin/jobs-do
rm -rf ssh/home-m2/.millrace/inputs
: > ssh/home-m2/.millrace/inputs
ok 'a host that has no room for the inputs' fault 'full' 'm2 did not take the inputs'
rm ssh/home-m2/.millrace/inputs
# a machine on which nothing works answers fastest: its batches go to another all the same
cat > "$T/hole" << 'END'
[ "${1-}" != --version ] || exec -a jobs-do "$HOME/.millrace/bin/jobs-do.real" --version
sed 's/,sh /,false /' | "$HOME/.millrace/bin/jobs-do.real" "$@"
END
mv ssh/home-m2/.millrace/bin/jobs-do ssh/home-m2/.millrace/bin/jobs-do.real
install -m 755 "$T/hole" ssh/home-m2/.millrace/bin/jobs-do
ok 'a host on which all jobs fail' fault 'hole' ''
mv ssh/home-m2/.millrace/bin/jobs-do.real ssh/home-m2/.millrace/bin/jobs-do
# m2 once more with another environment or in a namespace of its own: sshd is started again
again() {
    local pid
    pid=$(< "$T/ssh/m2.pid")
    kill "$pid"
    while kill -0 "$pid" 2> /dev/null; do sleep 0.05; done
    rm -f "$T/ssh/m2.pid"
    "$@" /usr/sbin/sshd -f "$T/ssh/m2.conf" -E "$T/ssh/m2.log"
    until ssh -F "$T/ssh/ssh" m2 true 2> /dev/null; do sleep 0.1; done
}
cp ssh/m2.conf plain.conf
faketime=$(find /usr/lib /usr/lib64 -name libfaketime.so.1 2> /dev/null | head -1)
if [ -n "$faketime" ]; then
    sed "/^SetEnv/s|\$| LD_PRELOAD=$faketime FAKETIME=-5h|" plain.conf > ssh/m2.conf
    again env
    ok 'a host whose clock is five hours slow' [ $(($(date +%s) - $($SSH m2 date +%s))) -gt 17000 ]
    ok 'gives the same bytes' fault 'clock' ''
    is 'and durations that are none of its clock' 0 csv-calc --print='seconds > 100 || seconds < 0' --where='row() == 1' fault.csv
    ok 'nothing of it is done again' run fault.csv
    ok 'with the next run' test ! -e done
    cp plain.conf ssh/m2.conf
else
    skip 'a clock that is slow' 'no libfaketime'
fi
mkdir small
if mount -t tmpfs -o size=64k none small 2> /dev/null; then
    trap 'stop > /dev/null 2>&1; umount "$T/small"; cd / && rm -rf "$T"' EXIT
    # a disk that is really full, first under the inputs, then under what jobs write
    rm -rf ssh/home-m2/.millrace/inputs
    ln -s "$T/small" ssh/home-m2/.millrace/inputs
    head -c 100000 /dev/urandom > inputs/large
    ok 'a disk too small for the inputs' fault 'small' 'm2 did not take the inputs.*left out'
    rm -r ssh/home-m2/.millrace/inputs inputs/large small/*
    sed "/^SetEnv/s|\$| TMPDIR=$T/small|" plain.conf > ssh/m2.conf
    again env
    mv inputs/job.sh job.sh
    (echo 'head -c 80000 /dev/zero > "${TMPDIR:-/tmp}/millrace-wide-$1-$$" || exit 1'; echo 'rm "${TMPDIR:-/tmp}/millrace-wide-$1-$$"'; cat job.sh) > inputs/job.sh
    ok 'a disk that fills while jobs run' fault 'fills' 'No space left'
    mv job.sh inputs/job.sh
    cp plain.conf ssh/m2.conf
    umount small
    trap 'stop > /dev/null 2>&1; cd / && rm -rf "$T"' EXIT
else
    skip 'a full disk' 'this user cannot mount a small one'
fi
# what is timed: m2 is given another processor, so that rows of two machines come back
sed 's/^model name.*/model name : another/' /proc/cpuinfo > cpuinfo
if unshare --mount true 2> /dev/null; then
    again unshare --mount bash -c 'mount --bind "$0" /proc/cpuinfo && exec "$@"' "$T/cpuinfo"
    printf 'job,command\n' > timed.csv
    for i in {1..8}; do echo "p$i,bench-run --quiet --rounds=6 --warmup=0 --benchmark=p$i --label=a true --label=b true"; done >> timed.csv
    TIMED=1 HOSTS='4/m1 4/m2' ok 'timed jobs on two machines' "$wide" timed.csv timed.log inputs
    jobs-merge --log=timed.log --machine=by timed.csv > timed.all
    is 'have two fingerprints' 2 bash -c 'csv-dedupe -k by timed.all | tail -n +2 | wc -l'
    is 'those that the rows themselves say' 0 bash -c "csv-calc --where='by != machine' timed.all | tail -n +2 | wc -l"
    is 'the keys of one machine' "$(for i in {1..8}; do echo p$i; done)" bash -c 'csv-dedupe -k benchmark timed.all | csv-cut -c benchmark | tail -n +2'
    is 'one at a time on each, whatever slots there are' 1 bash -c 'cut -f2,3,4 timed.log.joblog | tail -n +2 | sort -k1,1 -k2,2n |
        while read -r h s w; do [ "$h" != "${was-}" ] || [ $((${s/./} + 5)) -ge $end ] || echo overlap; was=$h end=$((${s/./} + 10#${w/./})); done | sort -u | wc -l | sed s/0/1/'
    bench-compare --quiet --base=a timed.all > compared.csv 2> /dev/null
    is 'each compared with itself' 8 bash -c "csv-where -c benchmark --is='(geometric mean)' --not compared.csv | tail -n +2 | wc -l"
    # label a of a program that m1 ran beside label b of one that m2 ran
    read -r one two < <(csv-dedupe -k machine timed.all | csv-cut -c machine | tail -n +2 | paste -sd' ')
    (csv-where -c machine --is="$one" timed.all | csv-where -c label --is=a
     csv-where -c machine --is="$two" timed.all | csv-where -c label --is=b | tail -n +2) |
        csv-calc -g label --set='benchmark="mixed"' --set='round=run_count()' > mixed.csv
    fails 'never with the other' 3 'was measured on two machines' bench-compare --base=a mixed.csv
else
    skip 'another processor' 'no mount namespaces for this user'
fi
again env
if command -v clang-14 > /dev/null; then
    mkdir ssh/home-m2/bin
    printf '#!/bin/sh\necho "another clang version 14.0.1"\n' > ssh/home-m2/bin/clang-14
    chmod +x ssh/home-m2/bin/clang-14
    fails 'another compiler there is refused, and named' 1 'clang-14' host m2
    rm -r ssh/home-m2/bin
    ok 'until it is the same' host m2
fi

if [ ! -x /usr/sbin/slurmctld ] || ! "$root/t/slurm-loopback.sh" start "$T/slurm" 2 > slurm.why 2>&1; then
    skip 'Slurm' 'no Slurm that works here (slurm-wlm munge)'
    done_testing
fi
export SLURM_CONF=$T/slurm/slurm.conf SLURM=1 TASKS=6
fails 'a dry run shows the script' 1 'nothing was submitted' env DRY=1 "$wide" jobs.csv dry.csv inputs
ok 'with the array' grep -q '^#SBATCH --job-name=millrace-.*--array=1-6$' got
ok 'an array job' run slurm.csv
ok 'gives the same bytes' merged slurm.csv
ok 'and leaves only the log' test ! -e slurm.csv.parts
cancelled() {
    (sleep 1; scancel --signal=KILL -n "$(squeue -h -o %j | head -1)") 2> /dev/null &
    "$wide" jobs.csv cancelled.csv inputs && merged cancelled.csv
}
ok 'tasks that were killed are submitted again' cancelled
node_down() {
    (sleep 1; scontrol update nodename=n2 state=down reason=test) 2> /dev/null &
    "$wide" jobs.csv down.csv inputs && merged down.csv
}
ok 'a node that goes down' node_down
# what a user set for his shell and his tools changes nothing
bench-jobs --vary='n=1 2' --command='seq {n}' > own.jobs
hostile() {
    echo 'echo noise; cd() { builtin cd "$@"; pwd; }' > noise
    (cd "$root" && env BASH_ENV="$T/noise" CDPATH=.:/ PARALLEL=--tag GREP_OPTIONS=-v POSIXLY_CORRECT=1 pipelines/wide "$T/own.jobs" "$T/own.log") &&
        jobs-merge --log=own.log own.jobs | csv-diff - <(printf 'job,stdout\n' > /dev/null; env -i PATH="$PATH" LC_ALL=C "$root/pipelines/wide" own.jobs plain.log && jobs-merge --log=plain.log own.jobs)
}
ok 'CDPATH, PARALLEL and others of the user' hostile
mkdir -p home/.parallel && echo --tag > home/.parallel/config
ok 'the configuration of his GNU parallel' env HOME="$T/home" "$root/pipelines/wide" own.jobs config.log
is 'neither' "$(jobs-merge --log=plain.log own.jobs)" jobs-merge --log=config.log own.jobs
done_testing
