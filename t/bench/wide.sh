#!/bin/bash
# wide.sh JOBS SECONDS - what handing out costs: JOBS jobs of SECONDS each on HOSTS (two slots here by default) through
# pipelines/wide, beside bare GNU parallel over the same hosts, one call a job.  kind is real.
# Columns: way,jobs,slots,wall_seconds,ideal_seconds,overhead_seconds_per_job.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) n=$1 each=$2 hosts=${HOSTS:-2/:}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
slots=$(for h in $hosts; do echo "${h%%/*}"; done | paste -sd+)
slots=$((slots))
bench-jobs --vary="i=$(seq -s' ' "$n")" --command="sleep $each" | csv-cut -c job,command > "$dir/jobs.csv"
echo way,jobs,slots,wall_seconds,ideal_seconds,overhead_seconds_per_job,kind
row() {
    local way=$1 begin end
    shift
    begin=${EPOCHREALTIME/./}
    "$@" > "$dir/out" 2> "$dir/err" || { cat "$dir/err" >&2; exit 1; }
    end=${EPOCHREALTIME/./}
    # a slot's time that was not work, over the jobs that it did
    printf 'way,jobs,slots,wall_us,each\n%s,%d,%d,%d,%s\n' "$way" "$n" "$slots" $((end - begin)) "$each" |
        csv-calc --set='wall_seconds=wall_us/1e6' --set='ideal_seconds=jobs*each/slots' \
            --set='overhead_seconds_per_job=(wall_seconds-ideal_seconds)*slots/jobs' --set='kind="real"' |
        csv-cut -c way,jobs,slots,wall_seconds,ideal_seconds,overhead_seconds_per_job,kind | tail -n +2
}
row wide env HOSTS="$hosts" "$here/../../pipelines/wide" "$dir/jobs.csv" "$dir/log.csv"
seq "$n" > "$dir/numbers"
row parallel parallel --will-cite -S "$(tr ' ' , <<< "$hosts")" ${SSH:+--ssh "$SSH"} -a "$dir/numbers" "sleep $each; echo {}"
if [ -n "${SLURM_CONF-}" ]; then
    row slurm env SLURM=1 "$here/../../pipelines/wide" "$dir/jobs.csv" "$dir/slurm.csv"
    printf '#!/bin/bash\nsleep %s\n' "$each" > "$dir/one.sh"
    row sbatch sbatch --quiet --wait --array=1-"$n" --output=/dev/null "$dir/one.sh"
fi
