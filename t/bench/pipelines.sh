#!/bin/bash
# pipelines.sh OUT [TARGET...] - run every pipeline at SCALE=ci, one after another, each into OUT/out
# The targets are those that make itself calls phony, but the house's own (Makefile and lib); LIMIT=900 seconds for
# each; DATA= a folder of the flambda study's data, HOST= a host that ssh reaches.  What OUT/log/TARGET.row answers is
# not run again.
# Columns out: target, scale (none: the size does not depend on SCALE), seconds, result (done, failed, cut, absent: ended
# with 1 and said what is not here; not asked: it wants DATA= or HOST=), said (its last line, where it was not done), kind
set -uo pipefail
export LC_ALL=C
[ $# -gt 0 ] || { sed -n '2,7s/^# //p' "$0" >&2; exit 2; }
root=$(cd "${0%/*}/../.." && pwd)
mkdir -p "$1/log" && work=$(cd "$1" && pwd) || exit 1
shift
# a pipeline without a driver of a GPU runs on the stand-in of the tests: simulated
ldconfig -p | grep -q 'libcuda[.]so[.]1' || export LD_LIBRARY_PATH=$root/build/t/cuda
run() { make --no-print-directory -C "$root" OUT="$work/out" "$@"; }
targets() {
    run -pq 2> /dev/null | sed -n 's/^\.PHONY: //p' | tr ' ' '\n' | sort -u |
        grep -vxFf <(sed -n 's/^\.PHONY: //p' "$root/Makefile" "$root"/mk/*.mk "$root"/lib/*/*.mk | tr ' ' '\n') |
        grep -vE '^(force|.*-force|.*-again|bench)$'
}
# what a command is about: own logs, own program, a host, the study's data
about() {
    case $1 in
    flambda-* | bench-guard-replay) echo "DATA=${DATA-}" ;;
    prof-process) echo "DIR=$work/out/prof/e2e" ;;
    prof-logs) echo "DIRS=$work/out/prof/e2e" ;;
    host) echo "HOST=${HOST-}" ;;
    inline-study-one) printf '%s\n' NAME=demo "DECISIONS=$work/out/inline-study/demo/learned.sexp" ;;
    esac
}
scale() { # the recipes differ
    local dry=$work/dry
    for s in default ci; do
        make --no-print-directory -n -C "$root" OUT="$dry" SCALE=$s "$@" 2> /dev/null | sed "s/SCALE=$s//" > "$work/dry.$s"
    done
    if cmp -s "$work/dry.default" "$work/dry.ci"; then echo none; else echo ci; fi
    rm -rf "$dry" "$work"/dry.*
}
asked=("$@")
[ $# -gt 0 ] || mapfile -t asked < <(targets)
for target in "${asked[@]}"; do
    row=$work/log/$target.row log=$work/log/$target
    [ ! -s "$row" ] || continue
    mapfile -t more < <(about "$target")
    begin=$(date +%s%N) said=
    if [[ ${more[*]-} =~ ^(DATA|HOST)=$ ]]; then
        result='not asked' said="${more[0]} names what is not here"
    else
        timeout --kill-after=10 "${LIMIT:-900}" make --no-print-directory -C "$root" OUT="$work/out" SCALE=ci "$target" \
            "${more[@]}" > "$log" 2>&1 < /dev/null
        case $? in
        0) result='done' ;;
        124 | 137) result='cut' ;;
        *) result=failed; ! grep -q 'not here\|no CPU here\|: no \|not found\|needs two\|cannot be reached' "$log" || result=absent ;;
        esac
        [ "$result" = 'done' ] || said=$(grep -v '^make\|^$' "$log" | tail -n 1)
    fi
    printf '%s,%s,%s,%s,"%s",real\n' "$target" "$(scale "$target" "${more[@]}")" \
        "$((($(date +%s%N) - begin) / 100000000))e-1" "$result" "${said//\"/\"\"}" > "$row.new"
    mv "$row.new" "$row"
    cat "$row" >&2
done
{ echo target,scale,seconds,result,said,kind; cat "$work"/log/*.row; } | "$root/bin/csv-calc" --set='seconds=fixed(seconds, 1)'
