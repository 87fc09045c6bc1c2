#!/bin/bash
# make install and uninstall; what is installed works from any folder, and cannot take itself away
. "$(dirname "$0")/tap.sh"
needs help2man
P=$PWD/usr
ok 'make install' make -s -C "$root" install PREFIX="$P"
internal() { grep -vx '' "$root/share/internal" | sort; }
is 'steps of pipelines are not on PATH' "$(internal)" eval 'find "$P/libexec/millrace" -type f -printf "%f\n" | sort'
ok 'but in one folder with all others' eval '! find "$P/libexec/millrace" -xtype l | grep .'
is 'all others are' "$(comm -23 <(cd "$root/bin" && ls *.c | sed 's/\.c$//' | sort) <(internal))" eval 'ls "$P/bin"'
installed() { env -i PATH="$P/bin:/usr/bin:/bin" HOME="$PWD" "$@"; }
mkdir work && cd work || exit 99
ok 'millrace' eval 'installed millrace | grep -q questions'
ok 'its version is that of the filters' eval '[ "$(installed millrace --version | cut -d" " -f2-)" = "$(installed csv-cat --version | cut -d" " -f2-)" ]'
ok 'help of a filter' eval 'installed millrace help csv-cut | grep -q "^csv-cut - "'
ok 'a pipeline that measures' eval 'installed millrace bench-demo SCALE=test > log 2>&1 || { cat log; false; }'
ok 'leaves its picture here' eval 'grep -q "</svg>" out/bench/*.svg'
ok 'from the tree, too, in another folder' make -s -f "$root/Makefile" bench-demo SCALE=test OUT=elsewhere
# nobody may write where millrace is: all pipelines find what they need, and one that compiles something works
if [ "$(id -u)" = 0 ]; then as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups); else as_nobody=(); fi
chmod -R a+rX "$T"
mkdir "$T/nobody" && chmod 777 "$T/nobody" && cd "$T/nobody" || exit 99
ok 'by who may not write there' eval '"${as_nobody[@]}" env -i PATH="$P/bin:/usr/bin:/bin" HOME="$PWD" millrace bench-demo SCALE=test > log 2>&1 || { cat log; false; }'
for goal in $(sed -nE 's/^  ([a-z][a-z0-9 -]*[a-z0-9])   .*/\1/p' "$root/share/help/pipelines.txt"); do
    case $goal in gallery | prof-process | flambda-*) continue ;; esac       # of a build tree; want DIR=, DATA=
    installed millrace $goal SCALE=ci -n > plan 2>&1
    ok "$goal finds its filters" eval '! grep "No rule" plan'
    # what it names where millrace is
    ok "and its files" eval '! grep -o "$P/[^] $;,:\"'"'"'()]*" plan | sort -u | while read -r f; do [ -e "$f" ] || echo "$f"; done | grep .'
done
ok 'programs of Debian find their runs' eval 'installed millrace inline-study INLINE_NAMES=lua -n | grep -q "fetch-source.*$P/share/millrace/data"'
cd ../work || exit 99
fails "gallery is a build tree's" 2 'no pipeline' installed millrace gallery
for goal in torch learning bench-aa host; do
    fails "so is $goal" 2 'no pipeline' installed make -s -f "$P/share/millrace/Makefile" $goal
done
for goal in clean install all test deb lint; do
    fails "$goal is no pipeline" 2 "no '$goal'" installed millrace $goal
    fails "nor by make" 2 'no pipeline' installed make -s -f "$P/share/millrace/Makefile" $goal
done
ok 'it is all there still' eval '[ -e "$P/bin/csv-cat" ] && [ -e "$P/lib/millrace" ]'
ok 'man pages' eval '[ -s "$P/share/man/man1/csv-cut.1" ] && grep -q "SEE ALSO" "$P/share/man/man1/csv-cut.1" && [ -s "$P/share/man/man7/millrace.7" ]'
ok 'pages and examples' eval '[ -s "$P/share/doc/millrace/docs/concepts.md" ] && [ -d "$P/share/doc/millrace/examples" ]'
ok 'no file holds the folder that it was built in' eval '! grep -rlaF "$root/" "$P/bin" "$P/libexec" "$P/lib/millrace" "$P/share" | grep -v installed.mk'
# a package wants debhelper
mkdir few && ln -s /usr/bin/* few && rm -f few/dh
fails 'no debhelper' 2 'debhelper is not here: apt-get install debhelper' env PATH="$PWD/few" make -s -C "$root" deb
is 'a folder inside is the same folder by its whole name' 'build bin' make -s -C "$root" B="$root/build" BIN="$root/bin" '--eval=names:;@echo $B $(BIN)' names
ok 'make uninstall' make -s -C "$root" uninstall PREFIX="$P"
ok 'leaves no file' eval '! find "$P" -type f -o -type l | grep .'
done_testing
