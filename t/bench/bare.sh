#!/bin/bash
# bare.sh [FOLDER] - README's first screen by somebody who has nothing else: a fresh clone in a bare Debian 12
# (debootstrap, as root; FOLDER keeps it for another time).  Each command that is typed with its seconds; outputs are
# compared with the page.  apt's mirror: MIRROR=
set -euo pipefail
unset CDPATH
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${1:-${TMPDIR:-/tmp}/millrace-bare} mirror=${MIRROR:-http://deb.debian.org/debian}
there=$folder/root
[ "$(id -u)" = 0 ] || { echo "bare: chroot wants root" >&2; exit 2; }
command -v debootstrap > /dev/null || { echo "bare: apt-get install debootstrap" >&2; exit 2; }
if [ ! -e "$there/bootstrapped" ]; then
    rm -rf "$there"
    mkdir -p "$there"
    debootstrap --variant=minbase bookworm "$there" "$mirror" > "$folder/debootstrap.log"
    touch "$there/bootstrapped"
fi
rm -rf "$there/root/millrace"
git clone -q --no-hardlinks "$root" "$there/root/millrace"
cp /etc/resolv.conf /etc/hosts "$there/etc"
# in it: nothing of this shell's surroundings
inside() {
    unshare --mount --pid --fork bash -c 'mount --bind "$1" "$1" && cd "$1" && mount -t proc proc proc &&
        mount --rbind /dev dev && mkdir -p old && pivot_root . old && umount -l old && exec chroot . /usr/bin/env -i \
        HOME=/root TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
        bash -c "$2"' bare "$there" "$1"
}
typed() {
    local begin=$EPOCHREALTIME tenths how=ok
    inside "$1" > "$folder/log" 2>&1 || { how='not ok'; tail -30 "$folder/log" | sed 's/^/# /'; }
    tenths=$(((${EPOCHREALTIME/./} - ${begin/./}) / 100000))
    echo "$how $((tenths / 10)).$((tenths % 10)) s: $1"
    [ "$how" = ok ]
}
# what README says must be there
typed 'apt-get update -q && apt-get install -y -q --no-install-recommends git make'
typed 'cd /root/millrace && make deps all'
typed 'apt-get install -y -q --no-install-recommends python3-torchvision'
inside 'cd /root/millrace && export PATH=$PWD/bin:$PATH && t/readme-lines README.md "bash -c"'
# not typed: what the script takes by itself
typed 'cd /root/millrace && python3 examples/place/train.py | tail -1 >&2'
cat "$folder/log"
