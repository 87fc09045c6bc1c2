#!/bin/bash
# fetch-source with an apt-get of its own: lists that cannot be fetched at first, lists that are stale, a kill
. "$(dirname "$0")/tap.sh"
needs dpkg-source
# a source package of one file
mkdir -p pool hello-1/debian && echo hello > hello-1/file
printf 'hello (1-1) unstable; urgency=low\n\n  * One.\n\n -- A <a@b.invalid>  Mon, 26 Dec 2022 16:30:00 +0000\n' > hello-1/debian/changelog
printf 'Source: hello\nMaintainer: A <a@b.invalid>\n\nPackage: hello\nArchitecture: all\nDescription: x\n' > hello-1/debian/control
mkdir hello-1/debian/source && echo '3.0 (quilt)' > hello-1/debian/source/format
tar -czf hello_1.orig.tar.gz --exclude=debian hello-1
dpkg-source -b hello-1 > /dev/null 2>&1 && mv hello_1* pool
# apt-get: `update` fails while ./down is there, and else writes what ./now says; `source` works if the list says "new"
mkdir fake
cat > fake/apt-get <<E2
#!/bin/bash
W=$PWD
E2
cat >> fake/apt-get <<'E2'
what= next=
for a; do
    case $a in
    update) what=update ;; source) what=source ;;
    Dir::State::lists=*) lists=${a#*=} ;;
    esac
done
echo "$what" >> "$W/asked"
[ ! -e "$W/slow" ] || sleep 5
if [ $what = update ]; then
    [ ! -e "$W/down" ] || { echo 'E: no network' >&2; exit 100; }
    cat "$W/now" > "$lists/list"
else
    [ "$(cat "$lists/list" 2> /dev/null)" = new ] || { echo 'E: 404 Not Found' >&2; exit 100; }
    cp "$W"/pool/* .
fi
E2
chmod +x fake/apt-get
fetch() { PATH=$PWD/fake:$PATH "$root/pipelines/fetch-source" hello src/hello "$root/data"; }
asked() { paste -sd' ' asked; }
echo new > now
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
touch slow
setsid env PATH="$PWD/fake:$PATH" "$root/pipelines/fetch-source" hello src/hello "$root/data" > /dev/null 2>&1 &
pid=$!
sleep 0.5
{ kill -9 -- -$pid; wait $pid; } 2> /dev/null
rm slow
ok 'killed, and again' fetch
is 'it is whole' hello cat src/hello/file
done_testing
