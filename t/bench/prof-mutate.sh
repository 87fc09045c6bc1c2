#!/bin/bash
# prof-mutate.sh [N [SEED]] - N changes (1000) of a recorded table that leave every row well-formed: which does prof-check
# refuse?  CSV: kind of change, how many, refused with --log, refused by the rows alone.
set -uo pipefail
export LC_ALL=C
root=$(cd "${0%/*}/../.." && pwd)
PATH=${BIN:-$root/bin}:$PATH
W=$(mktemp -d)
trap 'rm -rf "$W"' EXIT
cd "$W" || exit 1
prof-record --quiet -o log "$root/t/data/prof-threads.py" && prof-log --quiet log > rows.csv || exit 1
/usr/bin/python3 "$root/t/bench/prof-mutate.py" rows.csv "${1:-1000}" "${2:-1}" changed
# on a busy machine a process may wait before its first row: check wall says nothing of a change
refused() {
    prof-check "$@" > checks 2> /dev/null
    if [ -n "$(grep ',fail' checks | grep -v ,wall,)" ]; then echo 1; else echo 0; fi
}
{
    echo kind,changes,with_log,alone
    for f in changed/*.csv; do
        kind=${f#*.}
        echo "${kind%.csv},1,$(refused --log=log "$f"),$(refused "$f")"
    done
} | csv-group -g kind -c changes,with_log,alone --stat=sum
