#!/bin/bash
# two-hosts.sh RUNS TARGET [MAKE-ARGUMENT]... - a pipeline begun twice at the same time in one tree and one OUT, by two hosts
# that share a disk: each make is in a PID and UTS namespace of its own, whose processes have the same numbers and which
# the other does not see, with a /tmp of its own.  Both must end well, or one with a message that the other is at it; made once more, OUT has
# what two undisturbed runs have (t/same-results).  Without namespaces (not root) it says so and ends with 2.
#   GAP=   seconds between the two (drawn, up to 2);  GO_ON=1 does not stop at the first difference
# Prints one row target,runs,lost; exit 1 where something is lost or fails, and says what on stderr.
set -uo pipefail
export LC_ALL=C
root=$(cd "$(dirname "$0")/.." && pwd)
runs=$1
shift
W=$(mktemp -d "${TMPDIR:-/var/tmp}/hosts.XXXXXX")
trap '[ -n "${KEEP-}" ] || rm -rf "$W"' EXIT
host() { # NAME: make as on a host of this name
    unshare --uts --pid --fork --mount-proc bash -c 'hostname "$1"; shift; mount -t tmpfs tmp /tmp; exec make "$@"' host "$1" \
        -s -C "$root" OUT="$W/out" "${asked[@]}" > "$W/$1.log" 2>&1 < /dev/null
}
unshare --uts --pid --fork --mount-proc true 2> /dev/null || { echo 'two-hosts.sh: no namespaces here' >&2; exit 2; }
asked=("$@") lost=0
export MILLRACE_MEASURE_LOCK=$W/lock
unset TMPDIR
for copy in whole again; do
    host one || { echo 'the undisturbed run fails:' >&2; tail -n 5 "$W/one.log" >&2; exit 1; }
    mv "$W/out" "$W/$copy"
done
for ((n = 1; n <= runs; n++)); do
    rm -rf "$W/out"
    host one &
    one=$!
    sleep "${GAP:-$((RANDOM % 2)).$((RANDOM % 10))}"
    host two
    two=$?
    wait $one
    one=$?
    : > "$W/differs"
    [ $one$two = 00 ] || { echo "exit $one and $two"; tail -n 3 "$W/one.log" "$W/two.log"; } > "$W/differs"
    host one || { echo "then it does not go on:"; tail -n 5 "$W/one.log"; } >> "$W/differs"
    "$root/t/same-results" "$W/whole" "$W/again" "$W/out" >> "$W/differs"
    [ -s "$W/differs" ] || continue
    lost=$((lost + 1))
    { echo "run $n:"; head -n 20 "$W/differs"; } >&2
    [ -n "${GO_ON-}" ] || break
done
echo "${asked[*]//,/ },$((n > runs ? runs : n)),$lost"
[ $lost = 0 ]
