#!/bin/bash
# slurm-loopback.sh start|stop DIR N - a Slurm of N nodes on this machine's loopback, all state in DIR; for the tests of
# wide stages.  The client's file is DIR/slurm.conf: export SLURM_CONF=DIR/slurm.conf.
set -euo pipefail
verb=$1 dir=$2 n=${3:-2}
if [ "$verb" = stop ]; then
    for f in "$dir"/n*.pid "$dir/ctld.pid" "$dir/munged.pid"; do [ ! -s "$f" ] || kill "$(<"$f")" 2> /dev/null || true; done
    exit 0
fi
mkdir -p "$dir/state"
chmod 755 "$dir"
(umask 077 && head -c 1024 /dev/urandom > "$dir/key")
base=$((20000 + $$ % 20000)) host=$(hostname -s)
cat > "$dir/slurm.conf" << END
ClusterName=loopback
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$base
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$dir/munge
StateSaveLocation=$dir/state
SlurmctldPidFile=$dir/ctld.pid
SlurmctldLogFile=$dir/ctld.log
SlurmdPidFile=$dir/%n.pid
SlurmdLogFile=$dir/%n.log
SlurmdSpoolDir=$dir/spool-%n
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
SchedulerParameters=sched_min_interval=100000
$(for ((i = 1; i <= n; i++)); do
    echo "NodeName=n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=$((base + i)) CPUs=1 State=UNKNOWN"
done)
PartitionName=main Nodes=n[1-$n] Default=YES MaxTime=INFINITE State=UP
END
munged --force --key-file="$dir/key" --socket="$dir/munge" --pid-file="$dir/munged.pid" --log-file="$dir/munged.log" \
    --seed-file="$dir/seed"
export SLURM_CONF=$dir/slurm.conf
slurmctld -c
for ((i = 1; i <= n; i++)); do mkdir -p "$dir/spool-n$i" && slurmd -N "n$i"; done
for ((i = 0; i < 60; i++)); do
    ! sinfo -h -t idle -o %D 2> /dev/null | grep -qx "$n" || exit 0
    sleep 0.5
done
tail -n 5 "$dir"/*.log >&2
exit 1
