#!/bin/bash
# fault-all.sh [FILTER]... - writes, reads and pieces of memory of every filter of bin/*.c fail (as in t/filter-faults.t)
# What a filter is started with is taken from its own test: the first CALLS (2) runs that go well and are short, with their
# folder, input and environment.  A filter must then end with 1 or 2 (3: bench-compare) and say why, or do what it did
# undisturbed; each file is as before, as after, or, where rows are appended, something between; no signal, nothing left
# over.  Programs that it starts are spared.  Where a run takes longer than a third of a second, fewer faults: at the 1st,
# 5th, 21st ..
# WHAT= of the faults, these (see t/shim).  LIMIT= seconds of a call, undisturbed (2).
# Prints filter,call,runs,wrong; exit 1 where something is wrong, or where a filter has no such call, and says so on stderr.
set -uo pipefail
export LC_ALL=C
root=$(cd "${0%/*}/.." && pwd)
BIN=${BIN:-$root/bin} B=${B:-$root/build} calls=${CALLS:-2} limit=${LIMIT:-2}
programs=$BIN
shim=${SHIM:-$B/t/shim.so}
[ -e "$shim" ] || { echo 'fault-all.sh: make build/t/shim.so first' >&2; exit 2; }
W=$(mktemp -d)
trap 'rm -rf "$W"' EXIT
if [ $# = 0 ]; then
    for f in "$root"/bin/*.c; do f=${f##*/}; set -- "$@" "${f%.c}"; done
fi

# take FILTER: its first calls into $W/taken/1 ..: args, env, stdin, cwd (before), rc
take() {
    local p=$1 test
    rm -rf "${W:?}/bin" "$W/taken"
    mkdir "$W/bin" "$W/taken"
    for test in "$BIN"/*; do [[ $test == *.c ]] || ln -s "$test" "$W/bin/"; done
    rm "$W/bin/$p"
    cat > "$W/bin/$p" << E
#!/bin/bash
c=\$(mktemp -d $W/taken/new.XXXXXX)
[ "\$(du -sk . 2> /dev/null | cut -f1)" -lt 40000 ] && cp -r . \$c/cwd
words=() n=0
for w; do                                                # what a pipe gave, <(..), is given again from a file
    n=\$((n + 1))
    if [[ \$w == /dev/fd/* ]]; then cat "\$w" > \$c/pipe.\$n; w=\$c/pipe.\$n; fi
    words+=("\$w")
done
set -- "\${words[@]}"
[ \$# = 0 ] || printf '%q ' "\$@" > \$c/args
touch \$c/args
pwd > \$c/where
export -p > \$c/env
rc=0
if [ -p /dev/stdin ] || [ -f /dev/stdin ]; then
    cat > \$c/stdin
    timeout $limit $BIN/$p "\$@" < \$c/stdin || rc=\$?
else timeout $limit $BIN/$p "\$@" || rc=\$?; fi
[ \$rc = 0 ] && [ -d \$c/cwd ] && ! [[ " \$* " == *" --_"* || " \$* " == *" --help"* || " \$* " == *" --version"* ]] && echo good > \$c/rc
[ \$rc != 124 ] || exec $BIN/$p "\$@" < \$([ -f \$c/stdin ] && echo \$c/stdin || echo /dev/null)
exit \$rc
E
    chmod +x "$W/bin/$p"
    cd "$root" || exit 2
    BIN=$W/bin TMPDIR=$W/taken setsid timeout 120 "t/$p.t" > /dev/null 2>&1 < /dev/null &
    test=$!
    while kill -0 $test 2> /dev/null && [ "$(find "$W"/taken/new.*/rc 2> /dev/null | wc -l)" -lt $calls ]; do sleep 0.1; done
    kill -9 -- -$test 2> /dev/null
    wait $test 2> /dev/null
    cd "$W" || exit 2
}
# again CALL FAULT N: the call in a new copy of its folder, $W/now/cwd; out, err, rc
again() {
    local words
    rm -rf "$W/now" "$W/count"
    mkdir "$W/now"
    cp -r "$1/cwd" "$W/now/cwd"
    words="$BIN/$p $(sed "s,$(cat "$1/where"),$W/now/cwd,g" "$1/args")"
    rc=0
    (
        . "$1/env"
        cd "$W/now/cwd" || exit 99
        export SHIM_WHAT=$2 SHIM_AT=$3 SHIM_COUNT=$W/count SHIM_ONLY=$p TMPDIR=$W/tmp
        PATH=$programs:$PATH
        eval "exec timeout $((limit + 18)) env LD_PRELOAD=$shim $words"
    ) < "$([ -f "$1/stdin" ] && echo "$1/stdin" || echo /dev/null)" > "$W/now/out" 2> "$W/now/err" || rc=$?
}
wrong() { bad=$((bad + 1)); echo "$p $(cut -c1-150 "$c/args"): $what at $n: $*: $(head -c 200 "$W/now/err" | head -n 3)" >&2; }
files() { (cd "$1" && find . -type f ! -name '*.lock' | sort); }
# each file as before, as after, or a part of what was appended
whole() {
    local f
    while IFS= read -r f; do
        cmp -s "$W/now/cwd/$f" "$W/good/cwd/$f" || cmp -s "$W/now/cwd/$f" "$c/cwd/$f" && continue
        if [ -f "$W/good/cwd/$f" ] && [ -f "$c/cwd/$f" ] &&
            cmp -s -n "$(stat -c %s "$W/now/cwd/$f")" "$W/now/cwd/$f" "$W/good/cwd/$f" &&
            cmp -s -n "$(stat -c %s "$c/cwd/$f")" "$W/now/cwd/$f" "$c/cwd/$f"; then continue; fi
        if [ $same = no ] && [ -f "$W/good/cwd/$f" ]; then continue; fi
        wrong "$f is neither as before nor as after"
    done < <(files "$W/now/cwd")
}
attack() { # CALL
    c=$1 bad=0 runs=0
    rm -rf "$W/good" "$W/tmp"
    mkdir "$W/tmp"
    what=none n=0
    again "$c" none 0
    [ $rc = 0 ] || { echo "$p $(cat "$c/args"): not repeated alone, exit $rc" >&2; return 1; }
    mv "$W/now" "$W/good"
    took=$(date +%s%3N)
    again "$c" none 0
    took=$(($(date +%s%3N) - took))
    same=yes
    cmp -s "$W/good/out" "$W/now/out" && diff -r "$W/good/cwd" "$W/now/cwd" > /dev/null || same=no
    for what in ${WHAT:-enospc eio eintr short malloc read-eio read-eintr read-eagain read-short}; do
        for ((n = 1; n < 30000; n = next)); do
            if [ $took -gt 333 ]; then next=$((4 * n + 1))
            elif [ $what = malloc ]; then next=$((2 * n + 1))
            else next=$((n + 1 + n / 4))
            fi
            again "$c" $what $n
            runs=$((runs + 1))
            [ $rc != 124 ] || wrong 'it hangs'
            [ $rc -lt 125 ] || wrong "a signal, or no program: $rc"
            if [ $rc = 0 ]; then
                [ $same = no ] || cmp -s "$W/now/out" "$W/good/out" || wrong 'exit 0, other output'
                [ $same = no ] || diff -rq "$W/good/cwd" "$W/now/cwd" > /dev/null || wrong 'exit 0, other files'
            else
                [[ $rc == [123] ]] || wrong "exit $rc"
                [ -s "$W/now/err" ] || wrong 'no message'
                [[ $what != *eintr && $what != *short ]] || wrong "$what is no error"
                whole
            fi
            [ -z "$(find "$W/now/cwd" -name '.millrace-*')" ] || wrong 'a temporary file is left'
            [ "$(od -An -tu8 "$W/count" 2> /dev/null || echo 0)" -ge $n ] || break
        done
    done
    echo "$p,$(sed 's/[",]/ /g' "$c/args" | cut -c1-60),$runs,$bad"
    [ $bad = 0 ]
}
status=0
echo filter,call,runs,wrong
for p; do
    take "$p"
    found=no
    for good in $(ls -tr "$W"/taken/new.*/rc 2> /dev/null | head -n $calls); do
        found=yes
        attack "${good%/rc}" || status=1
    done
    [ $found = yes ] || { echo "$p: no call of its test was taken" >&2; status=1; }
done
exit $status
