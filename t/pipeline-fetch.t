#!/bin/bash
# fetch-source with an apt-get of its own: lists that cannot be fetched at first, lists that are stale, a kill
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
done_testing
