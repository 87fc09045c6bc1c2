#!/bin/bash
# docs/learning.md is what make learning makes of data/learning.csv
. "${0%/*}/tap.sh"
have gnuplot || { echo '1..0 # skip no gnuplot'; exit 0; }
cp "$root/docs/learning.md" before
ok 'make learning' make -s -C "$root" learning OUT="$PWD/out" B="$B" BIN="$BIN"
ok 'the page has the tables of the rows as they are' cmp before "$root/docs/learning.md"
is 'every question is in it' "$(csv-dedupe -k question "$root/data/learning.csv" | sed 1d | wc -l)" \
    eval "sed -n '/<!-- learning -->/,/<!-- end of/p' before | grep -c '^[*][*]'"
ok 'and its picture' grep -q '<svg' out/learning.svg
done_testing
