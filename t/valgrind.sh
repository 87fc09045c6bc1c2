#!/bin/bash
# valgrind.sh [FILTER..] - the first runs of each filter in its own test under valgrind, every access to memory watched
# The first RUNS_EACH runs are watched, and the test is stopped after SECONDS_EACH; whether it passes is not asked here.
# A row a filter: filter, runs (watched, those that the end of the test cut among them), findings, which are in
# LOGS/FILTER/N/log.  Exit 1 where there are any.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
BIN=${BIN:-$root/bin} LOGS=${LOGS:-$root/build/valgrind}
[ $# -gt 0 ] || set -- $(cd "$root/bin" && printf '%s\n' *.c | sed 's/\.c$//')
echo filter,runs,findings
bad=0
for f in "$@"; do
    rm -rf "${LOGS:?}/$f"
    mkdir -p "$LOGS/$f/bin"
    ln -s "$BIN"/* "$LOGS/$f/bin"
    rm "$LOGS/$f/bin/$f"
    cat > "$LOGS/$f/bin/$f" << END
#!/bin/bash
for ((i = 1; i <= ${RUNS_EACH:-6}; i++)); do
    mkdir "$LOGS/$f/\$i" 2> /dev/null || continue
    exec valgrind -q --leak-check=no --suppressions="$root/t/valgrind.supp" --log-file="$LOGS/$f/\$i/log" \
        "$BIN/$f" "\$@"
done
exec "$BIN/$f" "\$@"
END
    chmod +x "$LOGS/$f/bin/$f"
    BIN=$LOGS/$f/bin timeout -k 2 "${SECONDS_EACH:-12}" prove -Q "$root/t/$f.t" < /dev/null > /dev/null 2>&1
    # what is said of memory; not that valgrind lacks a system call or an instruction (AVX-512)
    findings=$(cat "$LOGS/$f"/*/log 2> /dev/null | grep -cE \
        '^==[0-9]+== (Invalid|Conditional|Use of|Syscall|Jump|Mismatched|Source|Process .*SIG(SEGV|BUS|FPE|ABRT))')
    echo "$f,$(find "$LOGS/$f" -name log | wc -l),$findings"
    [ "$findings" = 0 ] || bad=1
done
exit $bad
