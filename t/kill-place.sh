#!/bin/bash
# kill-place.sh [ROUNDS [SCALE]]: kill -9 make figure7 and all it started at ROUNDS (20) random moments, let it finish, and compare with a
# run that nobody disturbed: the same rows, the same losses, no kernel timed twice.  Minutes long, so not one of the tests of `make test`.
set -uo pipefail
rounds=${1:-20} scale=${2:-ci}
root=$(cd "$(dirname "$0")/.." && pwd) out=$(mktemp -d "${TMPDIR:-/var/tmp}/kill-place.XXXXXX")
trap 'rm -rf "$out"' EXIT
RANDOM=1
figure() { make -s -C "$root" figure7 figure9 figure11 SCALE="$scale" OUT="$out/$1" > "$out/$1.log" 2>&1; }
begin=$SECONDS
figure whole || { tail "$out/whole.log"; exit 1; }
took=$((SECONDS - begin))
echo "undisturbed: $took s"
for ((i = 1; i <= rounds; i++)); do
    setsid bash -c "$(declare -f figure); root='$root' scale='$scale' out='$out'; figure cut" &
    pid=$!
    sleep "$(awk -v r=$RANDOM -v t=$took -v n="$rounds" 'BEGIN { print 0.2 + r / 32768 * 2 * t / n }')"
    kill -9 -- -$pid 2> /dev/null && echo "$i: killed with $(ls "$out"/cut/place/*/*.run.csv 2> /dev/null | wc -l) runs done"
    wait $pid 2> /dev/null
    sha256sum "$out"/cut/place/*/*.run.csv > "$out/runs.$i" 2> /dev/null
    if [ "$i" -gt 1 ] && comm -23 <(sort "$out/runs.$((i - 1))") <(sort "$out/runs.$i") | grep .; then
        echo "$i: a finished run was lost or made again"
        exit 1
    fi
done
figure cut || { tail "$out/cut.log"; exit 1; }
keys() { sed 1d "$out/$1/figure7.csv" | cut -d, -f1-4,9 | sort; }
losses() { for f in "$out/$1"/place/*/*.run.csv; do echo "$(basename "$(dirname "$f")")" $(cut -d, -f1,4 "$f" | sed 1d); done | sort -u; }
twice() { for f in "$out"/cut/place/*/profile.csv; do sed 1d "$f" | cut -d, -f1,4-6 | sort | uniq -d; done; }
files() { (cd "$out/$1" && find . -type f ! -name '*.part' | sort); }
cmp <(keys whole) <(keys cut) && cmp <(losses whole) <(losses cut) && cmp <(files whole) <(files cut) && [ -z "$(twice)" ] &&
    echo "after $rounds kills: the same results, nothing measured twice"
