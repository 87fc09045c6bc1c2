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
        kill -9 -- -$! 2> /dev/null
        wait $! 2> /dev/null
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
host() { make -s -C "$root" host HOST="$1" B="$B" BIN="$BIN"; }
ok 'a bare host is brought up' host m1
ok 'and another' host m2
HOSTS='1/m1 1/m2'
ok 'two hosts' run two.csv
ok 'give the same bytes' merged two.csv
is 'inputs are sent once a host' 1 bash -c "ls $T/ssh/home-m1/.millrace/inputs | wc -l"
HOSTS='1/m1 1/m2 1/:'
ok 'two hosts and this machine' run three.csv
ok 'give the same bytes' merged three.csv
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
if command -v clang-14 > /dev/null; then
    mkdir ssh/home-m2/bin
    printf '#!/bin/sh\necho "another clang version 14.0.1"\n' > ssh/home-m2/bin/clang-14
    chmod +x ssh/home-m2/bin/clang-14
    fails 'another compiler there is refused, and named' 2 'clang-14' host m2
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
done_testing
