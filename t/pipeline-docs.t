#!/bin/bash
# pages: what they name is there, planted faults are found, and outputs that are marked as checked are what comes out
. "$(dirname "$0")/tap.sh"
quiet_if() { local found; found=$("$@" 2>&1); [ -z "$found" ] || { echo "$found" | head -30; return 1; }; }
here() { (cd "$root" && "$@"); }
ok 'pages name what there is' quiet_if here t/lint-docs
# in a tree of links a page of faults: each is found in its line, by its rule alone
mkdir tree
for f in "$root"/*; do case ${f##*/} in docs | *.md) ;; *) ln -s "$f" tree ;; esac; done
cp -r "$root"/docs "$root"/*.md tree
lint() { (cd tree && t/lint-docs "$1"); }
cat > faults <<'E2'
path|The scripts are in `pipelines/nothing`.
path|See [the page](nothing.md).
path|See [notes](notes/2026-01-nothing.md).
path|What it is stands in `lib/base/nothing.h`.
path|Its header is `fit/nothing.h`.
path|The tests `t/nothing-*.t` look.
target|    make nothing
target|    $ make deps figure77
target|Then `make figures-all SCALE=ci` makes it.
setting|    make figure7 PLACE_NOTHING=1
setting|`INLINE_NOTHING=3` says how often.
filter|The filter `place-nothing` does it.
filter|    csv-show t.csv | csv-nothing
filter|`loop-nothings --help`
option|    csv-cut --nothing=a t.csv
option|    $ bench-run --label=a x | bench-compare --bases=a
option|With `--nothing-of-this` it is quicker.
option|`prof-top --nothing log` lists them.
option|    millrace csv-cut --nothing=a t.csv
quote|    loop-gen --einsum=mk,kn->mn --size=m=8
E2
cut -d'|' -f2- faults > tree/docs/planted.md
is 'planted paths, targets, settings, filters and options are found' "$(awk -F'|' '{ print "docs/planted.md:" NR ": " $1 }' faults)" \
    eval 'lint docs/planted.md | cut -d: -f1-3'
printf '## What it reaches\n\n- inline: text .98765 of what it was\n' > tree/README.md
ok 'a number that no result has' eval '[ "$(lint README.md)" = "README.md:3: number: .98765" ]'
# <!-- checked --> before a block: its first line, behind $, is run in an empty folder beside data/ and must print the rest
checked() {
    perl -e '
        my ($on, $command, $said, $bad, $n) = (0, "", "", 0, 0);
        sub judge {
            return if $command eq "";
            my $got = `$command 2>&1`;
            $n++;
            if ($got ne $said) { print "$ARGV: $command\nprints\n${got}the page says\n$said"; $bad = 1 }
            ($command, $said) = ("", "");
        }
        while (<>) {
            if (/<!-- checked -->/) { $on = 1 }
            elsif ($on && /^    \$ (.*)/) { judge(); $command = $1 }
            elsif ($on && /^    > (.*)/) { $command .= "\n$1" }
            elsif ($on && /^    (.*)/) { $said .= "$1\n" }
            elsif ($on && /\S/) { judge(); $on = 0 }
        } continue { if (eof) { judge(); $on = 0 } }
        print STDERR "$n commands of pages\n";
        exit $bad' "$@"
}
ln -s "$root/data" data
ok 'outputs on pages are what commands print' checked "$root"/README.md "$root"/docs/*.md
ok 'no picture of the gallery has labels cut off or over each other' quiet_if "$root/t/lint-svg" "$root"/share/gallery/*.svg
done_testing
