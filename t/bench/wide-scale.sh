#!/bin/bash
# wide-scale.sh LOG JOBS SLOTS... - how a wide stage would scale: JOBS jobs that sleep durations drawn from answers in
# LOG, on so many slots of this machine, through the same code.  Columns: slots, jobs, work_seconds, wall_seconds,
# efficiency_ratio (work over slots times wall), kind: simulated, since the jobs only sleep.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) log=$1 n=$2
shift 2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for ((i = 0; i < n; i += 20)); do csv-sample -n 20 --seed=$((i + 1)) "$log" > "$dir/$i.csv"; done
find "$dir" -name '*.csv' | sort | xargs csv-cat | csv-calc --set='n=row()' --where="n<=$n" \
    --set='job=concat("j",text(n))' --set='command=concat("sleep ",fixed(seconds,3))' |
    csv-cut -c job,command,seconds > "$dir/jobs"
work=$(csv-group -c seconds --stat=sum "$dir/jobs" | csv-calc --print=sum_seconds)
echo slots,jobs,work_seconds,wall_seconds,efficiency_ratio,kind
for slots; do
    begin=${EPOCHREALTIME/./}
    HOSTS=$slots/: "$here/../../pipelines/wide" "$dir/jobs" "$dir/$slots.log"
    printf 'slots,jobs,work_seconds,us\n%s,%s,%s,%s\n' "$slots" "$n" "$work" $((${EPOCHREALTIME/./} - begin)) |
        csv-calc --set='wall_seconds=us/1e6' --set='efficiency_ratio=work_seconds/slots/wall_seconds' \
            --set='kind="simulated"' |
        csv-cut --drop=us | tail -n +2
done
