#!/bin/bash
# fetch-source with an apt-get of its own: lists that cannot be fetched at first, lists that are stale, a kill; make deps
. "$(dirname "$0")/tap.sh"
needs dpkg-source
mkdir hello && echo hello > hello/file
"$root/t/fake-mirror" . hello hello
fetch() { PATH=$PWD/bin:$PATH "$root/pipelines/fetch-source" hello src/hello "$root/data"; }
asked() { paste -sd' ' asked; }
touch down
fails 'no network' 1 'cannot fetch the source of hello' fetch
ok 'leaves nothing that looks fetched' eval '[ ! -e src/hello ]'
rm down
ok 'then there is one: the next try works' fetch
is 'and is whole' hello cat src/hello/file
: > asked
ok 'again' fetch
is 'asks nobody' '' asked
# a point release: the list that is here names a version that is gone
rm -rf src/hello
echo old > src/.apt/lists/list
: > asked
ok 'a stale list' fetch
is 'is fetched anew, once' 'source update source' asked
# what is cut off in the middle is no package: all of it is asked for again, by a new list, whether the list was new or not
rm -rf src/hello
printf '1\n2\n' > asked
echo 3 > breaks
ok 'a connection that breaks off' fetch
is 'all is fetched again' '1 2 source update source' asked
is 'and is whole' hello cat src/hello/file
rm -rf src
echo 1 > asked
ok 'one that breaks off after the first list' fetch
is 'all is fetched again' '1 update source update source' asked
rm -rf src
printf '1\n2\n' > asked
fails 'one that breaks off in the list' 1 'cannot fetch the source of hello' fetch
ok 'and then holds' fetch
is 'is whole' hello cat src/hello/file
rm breaks
# killed while the list is fetched: it does not count as fetched
rm -rf src
echo 5 > slow
setsid env PATH="$PWD/bin:$PATH" "$root/pipelines/fetch-source" hello src/hello "$root/data" > /dev/null 2>&1 &
pid=$!
sleep 0.5
{ kill -9 -- -$pid; wait $pid; } 2> /dev/null
rm slow
ok 'killed, and again' fetch
is 'it is whole' hello cat src/hello/file
# make deps, on a machine that lacks two packages: what it will do is said before sudo asks for a password
mkdir fake
printf '#!/bin/bash\n[ "$1" = -u ] && echo 1000\n' > fake/id
printf '#!/bin/bash\necho "sudo $*"\n[ -z "$REFUSED" ]\n' > fake/sudo
printf '#!/bin/bash\nexit 0\n' > fake/apt-get
printf '#!/bin/bash\n[[ ${!#} =~ ^(lld|perl)$ ]] || echo "install ok installed"\n' > fake/dpkg-query
chmod +x fake/*
deps() { PATH=$PWD/fake:$PATH make -s -C "$root" deps; }
is 'make deps says what it will install, and how, first' \
'make deps: sudo apt-get update && sudo apt-get install --no-install-recommends perl lld
sudo apt-get update -qq
sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends perl lld' deps
REFUSED=1 fails 'no password' 2 'apt-get update failed; still missing: perl lld' deps
printf '#!/bin/bash\necho "install ok installed"\n' > fake/dpkg-query
ok 'nothing is missing: nothing is said or done' eval '[ -z "$(deps)" ]'
# a package that no mirror has today holds up nobody but who asks for its program
printf 'name,set,package,build,search,confirm\nhello,train,hello,,,\ngone,train,gone,,,\n' > two.csv
of() { PATH=$PWD/bin:$PATH make -s -C "$root" "$PWD/$1/inline-src/fetched" OUT="$PWD/$1" INLINE_TABLE="$PWD/two.csv" INLINE_NAMES="$2"; }
ok 'a program whose source is there' of there hello
fails 'one whose source is not' 2 'cannot fetch the source of gone' of lost gone
fails 'nor when another was asked for before' 2 'cannot fetch the source of gone' of there gone
"$root/t/fake-mirror" . gone hello
ok 'a mirror has it, and it is asked for: it is fetched' of there gone
is 'whole' hello cat there/inline-src/gone/file
: > asked
ok 'once' of there gone
is 'nobody is asked again' '' asked
done_testing
