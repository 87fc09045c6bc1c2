#!/bin/bash
# residual.sh DIR - a small residual as an input to begin with, if the filters are built
d=$1
PATH=${0%/*}/../../bin:$PATH
printf 'problem\n(mm 64 48 32)\n' | loop-search --quiet --algo=heuristic --spread --measure=8 --cache="$d.store" --confirm=0 > "$d.rows" &&
    loop-residual --members=2 --rounds=3 --depth=2 -o "$d/small" "$d.store"
rm -f "$d.store" "$d.rows"
