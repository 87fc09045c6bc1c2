#!/bin/bash
# what an isolated run may write, see and leave, by scripts in place of the builds, whose effects are known
. "$(dirname "$0")/tap.sh"
. "$root/t/inline-live.sh"
mkdir demo/sub
echo old > demo/sub/old
echo gone > demo/gone
build() { printf '#!/bin/sh\n%s\n' "$2" > "$1"; chmod +x "$1"; }
build plain 'cat | wc -c'
build again 'cat | wc -c; true'
build other 'cat | wc -l'
build exits 'cat | wc -c; exit 3'
build hangs 'sleep 100'
build writes 'cat | wc -c; echo new > new; echo more >> sub/old; rm gone; mkdir d; ln -s x d/l'
build repeats 'cat | wc -c; mkdir d; ln -s x d/l; rm gone; echo more >> sub/old; printf "new\n" > new'
build differs 'cat | wc -c; mkdir d; ln -s y d/l; rm gone; echo more >> sub/old; printf "new\n" > new'
build rewrites 'cat | wc -c; cp sub/old sub/copy; cat sub/copy > sub/old; rm sub/copy'
build speaks 'cat | wc -c; echo oh >&2'
build connects "cat | wc -c; [ \$(readlink /proc/self/ns/net) != '$(readlink /proc/self/ns/net)' ] || echo network"
mkdir tmp
export TMPDIR=$T/tmp
before=$(find demo -type f -exec cksum {} + | sort)
inline-same --limit=2 w plain=plain again=again other=other exits=exits hangs=hangs writes=writes rewrites=rewrites \
    speaks=speaks > same.csv
of() { csv-where -c label --is="$1" "${2-same.csv}" | csv-calc --print="$3" | sort -u | paste -sd' '; }
is 'both sets of runs' 'confirm.1 confirm.2 search.1' of plain same.csv run
for label in plain again rewrites speaks; do is "$label leaves the same" same of $label same.csv state; done
is 'other output' output of other same.csv state
is 'another exit status' exit of exits same.csv state
is 'too long' timeout of hangs same.csv state
is 'files' files of writes same.csv state
is 'new, changed, removed, a folder, a link' 5 of writes same.csv files
is 'nothing of it lasts' "$before" bash -c 'find demo -type f -exec cksum {} + | sort'
is 'nor in TMPDIR' 0 bash -c 'ls -A tmp | wc -l'
for way in '' --copy; do
    inline-same $way w writes=writes repeats=repeats differs=differs > files.csv
    is "the same files by other words ${way:-(overlay)}" same of repeats files.csv state
    is "a link that points elsewhere ${way:-(overlay)}" files of differs files.csv state
    is "the folder is as before ${way:-(overlay)}" "$before" bash -c 'find demo -type f -exec cksum {} + | sort'
    of writes files.csv "concat(files, ' ', files_hash)" >> both
done
is 'overlay and copy say the same' 1 bash -c 'sort -u both | wc -l'
inline-same --stderr w plain=plain speaks=speaks > error.csv
is 'standard error where asked for' stderr of speaks error.csv state
inline-same --copy w plain=plain connects=connects > net.csv
is 'a copy has the network' output of connects net.csv state
inline-same w plain=plain connects=connects > net.csv
[ "$(of plain net.csv apart)" != overlay ] || is 'an overlay has none' same of connects net.csv state
fails 'no label' 2 "'plain' is not LABEL=EXE" inline-same w plain
fails 'no such build' 1 'nope: No such file' inline-same w a=nope
done_testing
