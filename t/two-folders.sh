#!/bin/bash
# two-folders.sh [deb] - what is committed, built in two folders by two users (root: the second is nobody) with other
# surroundings: umask, time zone, HOME, number of jobs, every file that was made compared; deb: the packages, too.
#   COMMIT=  another than HEAD;  JOBS=2
# Prints a row what,files,differ; exit 1 where two differ, and which on stderr.  Two builds long, four with deb.
set -uo pipefail
export LC_ALL=C
root=$(cd "$(dirname "$0")/.." && pwd)
W=$(mktemp -d "${TMPDIR:-/var/tmp}/folders.XXXXXX")
trap '[ -n "${KEEP-}" ] || rm -rf "$W"' EXIT
chmod 755 "$W"
one=$W/one two=$W/another-user/in/a-longer-folder bad=0
as_nobody=()
[ "$(id -u)" != 0 ] || as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
for at in "$one" "$two"; do
    git clone -q --no-hardlinks "$root" "$at" && git -C "$at" checkout -q "${COMMIT:-HEAD}" || exit 2
done
mkdir "$W/another-user/home"
[ "$(id -u)" != 0 ] || chown -R 65534:65534 "$W/another-user"
unset CCACHE_DIR MAKEFLAGS MFLAGS MAKELEVEL
first() { (umask 022; cd "$one" && TZ=UTC PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@" > "$W/one.log" 2>&1); }
second() {
    (umask 027; cd "$two" && "${as_nobody[@]}" env -i TZ=Asia/Tokyo HOME="$W/another-user/home" LANG=C.UTF-8 \
        PATH=/usr/bin:/bin "$@" > "$W/two.log" 2>&1)
}
both() { # COMMAND...
    first "$@" || { echo 'the first fails:'; tail -n 5 "$W/one.log"; exit 2; } >&2
    second "$@" || { echo 'the second fails:'; tail -n 5 "$W/two.log"; exit 2; } >&2
}
compared() { # NAME FOLDER FIND-ARGUMENT...
    local name=$1 folder=$2 a b differ=0 f
    shift 2
    a=$(cd "$one/$folder" && find "$@" -type f | sort) b=$(cd "$two/$folder" && find "$@" -type f | sort)
    [ "$a" = "$b" ] || { diff <(echo "$a") <(echo "$b") >&2; differ=$((differ + 1)); }
    while IFS= read -r f; do
        cmp "$one/$folder/$f" "$two/$folder/$f" >&2 || differ=$((differ + 1))
    done <<< "$a"
    echo "$name,$(wc -l <<< "$a"),$differ"
    [ $differ = 0 ] || bad=1
}
echo what,files,differ
# a HOME has pythons of its own, which are recorded, too
both make -s -j"${JOBS:-2}" all PYENV_ROOT=
compared 'make all' . bin build
[ "${1-}" = deb ] || exit $bad
both make -s deb JOBS="${JOBS:-2}"
mkdir "$one/packages" "$two/packages"
mv "$W"/*.deb "$one/packages"
mv "${two%/*}"/*.deb "$two/packages"
compared 'make deb' packages .
exit $bad
