#!/bin/bash
# rank.sh DIR - small trees as an input to begin with, if the filters are built
d=$1
PATH=${0%/*}/../../bin:$PATH
printf 'problem\n(mm 64 48 32)\n' | loop-search --quiet --algo=heuristic --spread --measure=16 --cache="$d.store" --confirm=0 > "$d.rows" &&
    loop-rank --quiet --trees=3 --weight=1 -o "$d/small" "$d.store"
rm -f "$d.store" "$d.rows"
