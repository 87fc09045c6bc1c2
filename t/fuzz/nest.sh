#!/bin/bash
# nest.sh DIR - what fuzzing of problems begins with: one of each kind, type and word, those that are taken home in tests
set -eu
n=0
while IFS= read -r line; do
    problem=${line%,*}
    printf '%s\n' "${problem//\"/}" > "$1/seed-home-$((n += 1))"
done < <(sed 1d "${0%/*}/../home/problems.csv")
