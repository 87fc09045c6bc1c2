#!/bin/bash
# kill-pipeline.sh [--each|--chain=STEP|--random=N] [--same|--shape] TARGET [MAKE-ARGUMENT]... - run a pipeline undisturbed,
# then killed, run again, and compared: nothing may be lost, half written or left over.
#   --each      at every write, rename, open .. below OUT from a fresh start (the default)
#   --every=K   the same at every K-th of them
#   --chain=K   killed again and again after K more of them, on the same OUT, until it ends by itself
#   --random=N  N times at a random moment of the undisturbed run's time
#   --same      files have the same bytes (what is computed); --shape (the default): the same files, headers and number of
#               rows (what is measured)
# Counting is done by t/shim; make's whole process group dies, as by SIGKILL.  Says how many points there were; exit 1 with
# what differs.
set -uo pipefail
export LC_ALL=C
root=$(cd "$(dirname "$0")/.." && pwd)
how=each step=1 compare=shape
while [[ ${1-} == --* ]]; do
    case $1 in
    --each) how=each ;;
    --every=*) how=each step=${1#*=} ;;
    --chain=*) how=chain step=${1#*=} ;;
    --random=*) how=random step=${1#*=} ;;
    --same | --shape) compare=${1#--} ;;
    *) echo "kill-pipeline.sh: no option $1" >&2; exit 2 ;;
    esac
    shift
done
W=$(mktemp -d)
trap '[ -z "${KEEP-}" ] && rm -rf "$W"' EXIT
shim=${B:-$root/build}/t/shim.so
[ -e "$shim" ] || { echo "kill-pipeline.sh: make build/t/shim.so first" >&2; exit 2; }
# run OUT WHAT AT ARGS: make in a session of its own; its status
run() { run_quietly "$@" 2> /dev/null; }
run_quietly() {
    local out=$1 what=$2 at=$3
    shift 3
    setsid --wait bash -c 'export SHIM_GROUP=$$ SHIM_WHAT=$1 SHIM_AT=$2 SHIM_COUNT=$3 SHIM_UNDER=$4 LD_PRELOAD=$5; shift 5; exec make "$@"' \
        run "$what" "$at" "$W/count" "$out" "$shim" -s -C "$root" OUT="$out" "$@" > "$W/log" 2>&1 < /dev/null
}
count() { od -An -tu8 "$W/count" 2> /dev/null | tr -d ' '; }
# what is there: names, and of each file its bytes or its shape
results() {
    (cd "$1" && find . -type f -o -type l | LC_ALL=C sort | grep -v '/durations$\|\.log$\|/count$' | while read -r f; do
        case $compare,$f in
        same,*.svg | same,*.png | shape,*.svg | shape,*.png) echo "$f $([ -s "$f" ] && echo drawn)" ;;
        same,*) echo "$f $(md5sum < "$f")" ;;
        # each time it goes on it warms up and calibrates anew; what it measures is asked for
        # which kernels are timed again depends on what was measured
        shape,*/profile.csv) echo "$f $(head -n 1 "$f" | tr -d '\n')" ;;
        shape,*/runs.csv) echo "$f $(head -n 1 "$f" | tr -d '\n') $(grep -c ',measure,' "$f")" ;;
        shape,*.csv) echo "$f $(head -n 1 "$f" | tr -d '\n') $(wc -l < "$f")" ;;
        *) echo "$f $([ -s "$f" ] && echo filled)" ;;
        esac
    done)
}
bad=0 points=0
check() { # NAME ARGS: runs again undisturbed and compares
    local name=$1
    shift
    if ! run "$W/cut" none 0 "$@"; then
        echo "$name: does not go on:"
        tail -5 "$W/log"
        bad=1
    elif results "$W/cut" > "$W/cut.list"; ! diff "$W/whole.list" "$W/cut.list" > "$W/diff"; then
        echo "$name: the results differ:"
        head -10 "$W/diff"
        bad=1
    fi
}
begin=$(date +%s%N)
run "$W/whole" none 0 "$@" || { echo "the undisturbed run fails:"; tail -5 "$W/log"; exit 1; }
took=$(($(date +%s%N) - begin))
results "$W/whole" > "$W/whole.list"
all=$(count)
echo "$*: undisturbed $((took / 1000000)) ms, $(wc -l < "$W/whole.list") files, $all points"
case $how in
each)
    for ((n = 1; n <= all; n += step)); do
        rm -rf "$W/cut" "$W/count"
        run "$W/cut" kill $n "$@" && continue            # so many were not reached this time
        points=$((points + 1))
        rm -f "$W/count"
        check "killed at $n" "$@"
        [ $bad = 0 ] || [ -n "${GO_ON-}" ] || break
    done
    ;;
chain)
    while rm -f "$W/count"; ! run "$W/cut" kill "$step" "$@"; do
        points=$((points + 1))
        [ $points -lt 5000 ] && [ -s "$W/count" ] || break
        step=$((step + step / 10 + 1))                   # what cannot be gone on with is not begun again for ever
        [ "$(count)" -ge $((step * 10 / 11 - 2)) ] || { echo "after $points kills it fails by itself:"; tail -5 "$W/log"; bad=1; break; }
    done
    rm -f "$W/count"
    check "killed $points times" "$@"
    ;;
random)
    RANDOM=${SEED:-5}
    for ((i = 1; i <= step; i++)); do
        rm -f "$W/count"
        [ $((i % 4)) = 1 ] && rm -rf "$W/cut"
        setsid make -s -C "$root" OUT="$W/cut" "$@" > "$W/log" 2>&1 < /dev/null &
        pid=$!
        sleep "$((took * (RANDOM % 1000) / 1000 / 1000000 / 1000)).$(printf %03d $((took * (RANDOM % 1000) / 1000 / 1000000 % 1000)))"
        kill -9 -- -$pid 2> /dev/null && points=$((points + 1))
        wait $pid 2> /dev/null
        [ $((i % 4)) = 0 ] || [ $i = "$step" ] || continue
        check "killed at random, $i" "$@"
        [ $bad = 0 ] || [ -n "${GO_ON-}" ] || break
    done
    ;;
esac
echo "$*: $points kills, $([ $bad = 0 ] && echo 'all with the same results' || echo FAILED)"
exit $bad
