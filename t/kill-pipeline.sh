#!/bin/bash
# kill-pipeline.sh [--every=K|--chain=K|--once=PLACES|--random=MS|--moment] [--kills=N] TARGET [MAKE-ARGUMENT]... - run a pipeline twice undisturbed,
# then killed, run again, and compared (t/same-results): nothing may be lost, half written, doubled or left over,
# nor in TMPDIR, which is a folder of its own.
#   --every=K    from a fresh start each time, at every K-th write, rename, open .. below OUT (the default, K=1)
#   --chain=K    killed again and again on the same OUT, after 1 to 2K more of them; when it ended, compared and begun anew
#   --once=PLACES  killed again and again on the same OUT, each time at the first place where it was not killed yet, until it
#                ends.  What was made stays, so each rule is killed at each of its writes and run again.  PLACES: all; sites:
#                program, call and file but for its numbers, there the first, second, fourth, eighth .. time (see t/shim);
#                names: the same, whichever folder the file is in
#   --random=MS  the same after 0 to 2 MS milliseconds, whatever it does then
#   --moment     from a fresh start each time, at a random moment of as long as an undisturbed run takes
#   --kills=N    so many times at most (100; with --every: all)
# t/shim counts; make's whole process group dies, as by SIGKILL.
# SEED= of what is drawn; KEEP=1 keeps the folders; GO_ON=1 does not stop at the first difference.  Prints one row
# target,mode,points,kills,ends,same; exit 1 where something differs, and says what on stderr.
set -uo pipefail
export LC_ALL=C
root=$(cd "$(dirname "$0")/.." && pwd)
how=every step=1 kills=
while [[ ${1-} == --* ]]; do
    case $1 in
    --every=* | --chain=* | --random=* | --once=*) how=${1%%=*} how=${how#--} step=${1#*=} ;;
    --moment) how=moment step= ;;
    --kills=*) kills=${1#*=} ;;
    *) echo "kill-pipeline.sh: no option $1" >&2; exit 2 ;;
    esac
    shift
done
W=$(mktemp -d "${TMPDIR:-/var/tmp}/kill.XXXXXX")
mkdir "$W/tmp"
export TMPDIR=$W/tmp
trap '[ -n "${KEEP-}" ] || rm -rf "$W"' EXIT
shim=${B:-$root/build}/t/shim.so
[ -e "$shim" ] || { echo "kill-pipeline.sh: make build/t/shim.so first" >&2; exit 2; }
asked=("$@")
RANDOM=${SEED:-5}

# run AT: make in a session of its own, killed at the AT-th write (0: never); its status
run() { run_quietly "$@" 2> /dev/null; }
run_quietly() {
    rm -f "$W/count"
    setsid --wait bash -c 'export SHIM_GROUP=$$ SHIM_WHAT=kill SHIM_AT=$1 SHIM_COUNT=$2 SHIM_UNDER=$3 LD_PRELOAD=$4; shift 4; exec make "$@"' \
        run "$1" "$W/count" "$W/out" "$shim" -s -C "$root" OUT="$W/out" "${asked[@]}" > "$W/log" 2>&1 < /dev/null
}
count() { od -An -tu8 "$W/count" 2> /dev/null | tr -d ' '; }
drawn() { echo $(((RANDOM * 32768 + RANDOM) % (2 * $1) + 1)); }
late() { late_quietly "$@" 2> /dev/null; }
late_quietly() { # MS: make killed when so much time has passed
    setsid make -s -C "$root" OUT="$W/out" "${asked[@]}" > "$W/log" 2>&1 < /dev/null &
    local pid=$!
    sleep "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))"
    kill -9 -- -$pid
    wait $pid
}
bad=0 points=0 ends=0 unfetched=0
same() { # NAME
    ends=$((ends + 1))
    "$root/t/same-results" "$W/whole" "$W/again" "$W/out" > "$W/differs" &&
        ! find "$W/tmp" -name '*millrace-*' ! -name '*.lock' | grep . >> "$W/differs" && return
    echo "$1: the results differ:" >&2
    head -n 12 "$W/differs" >&2
    bad=1
}
# a mirror that does not answer is asked again by whoever types make again
whole() {
    local tries
    for tries in 1 2 3 4; do
        run 0 && return
        grep -q 'cannot fetch the source of' "$W/log" || return
        unfetched=$((unfetched + 1))
    done
    return 1
}
ends_by_itself() { # NAME
    if whole; then same "$1"; return; fi
    echo "$1: does not go on:" >&2
    tail -n 5 "$W/log" >&2
    bad=1
}
goes_on() { [ $bad = 0 ] || [ -n "${GO_ON-}" ]; }

for copy in whole again; do
    begun=$(date +%s%3N)
    whole || { echo "the undisturbed run fails:" >&2; tail -n 5 "$W/log" >&2; exit 1; }
    all=$(count) took=$(($(date +%s%3N) - begun))
    mv "$W/out" "$W/$copy"
done
case $how in
once)
    export SHIM_ONCE=$W/places SHIM_PLACES=$step SHIM_TRACE=$W/trace SHIM_RUN=1
    while [ $points -lt "${kills:-1000000}" ]; do
        run 0
        case $? in
        0)  same "killed $points times"
            break ;;
        137) points=$((points + 1)) ;;
        *)  echo "after $points kills, the last at $(tail -n 1 "$W/trace"), it fails by itself:" >&2
            tail -n 5 "$W/log" >&2
            bad=1
            goes_on || break
            rm -rf "$W/out" ;;
        esac
        SHIM_RUN=$((SHIM_RUN + 1))
    done
    [ -z "${TRACE-}" ] || cp "$W/trace" "$TRACE"
    ;;
every)
    for ((n = 1 + (step > 1 ? RANDOM % step : 0); n <= all && points < ${kills:-all}; n += step)); do
        goes_on || break
        rm -rf "$W/out"
        run "$n" && continue                             # so many were not reached this time
        points=$((points + 1))
        ends_by_itself "killed at $n"
    done
    ;;
moment)
    while [ $points -lt "${kills:-100}" ] && goes_on; do
        rm -rf "$W/out"
        at=$((RANDOM * took / 32768))
        late $at && continue                             # it had ended
        points=$((points + 1))
        ends_by_itself "killed after $at ms"
        echo "$points: killed after $at of $took ms" >&2
    done
    ;;
chain | random)
    while [ $points -lt "${kills:-100}" ] && goes_on; do
        if [ $how = chain ]; then run "$(drawn "$step")"; else late "$(drawn "$step")"; fi
        case $? in
        0)  same "killed $points times"
            rm -rf "$W/out" ;;
        137) points=$((points + 1)) ;;
        *)  echo "after $points kills it fails by itself:" >&2
            tail -n 5 "$W/log" >&2
            bad=1
            rm -rf "$W/out" ;;
        esac
    done
    ends_by_itself "killed $points times"
    ;;
esac
[ $unfetched = 0 ] || echo "typed again $unfetched times, since the mirror did not answer" >&2
echo "${asked[*]//,/ },$how $step,$all,$points,$ends,$([ $bad = 0 ] && echo yes || echo no)"
exit $bad
