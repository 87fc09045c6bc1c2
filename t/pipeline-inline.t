#!/bin/bash
# make inline-study SCALE=ci from a source directory to decisions; the timing part of it is not run here
. "$(dirname "$0")/tap.sh"
. "$root/t/inline-live.sh"
needs qemu-x86_64
live=$T/out/inline-study/demo
pipeline() { make -s -C "$root" SCALE=ci OUT="$T/out" BIN="$BIN" B="$B" INLINE_STUDY_EVALS=10 INLINE_STUDY_SIZE=10 "$live/built" > log 2>&1; }
ok 'explores, learns rewards, decides and builds' pipeline
ok 'history of ten trials or more' test "$(wc -l < "$live/history.csv")" -gt 10
is 'every decision was obeyed, or says why not' 0 awk -F, 'NR > 1 && $3 == "yes" && $4 == "no" && $5 == "" { n++ } END { print n + 0 }' "$live/obeyed.csv"
cost() { awk -F, -v d="$1" '$2 == d { print $9 }' "$live/history.csv"; }
best=$(awk -F, 'NR > 1 && $7 == "ok" && (!n || $9 < n) { n = $9 } END { print n }' "$live/history.csv")
ok 'nothing tried is worse than the default and taken' test "$best" -le "$(cost default)"
cp "$live/history.csv" before.csv
rm "$live/built" "$live/learned.sexp"
ok 'again' pipeline
ok 'nothing is tried twice' cmp before.csv "$live/history.csv"
head -c $(($(wc -c < before.csv) * 2 / 3)) before.csv > "$live/history.csv"
rm "$live/built" "$live/explored" "$live/learned.sexp" "$live/rewarded" "$live/rewards.csv"
ok 'a log that was cut off in the middle goes on' pipeline
is 'to the same sets with the same costs' "$(cut -d, -f2,9 before.csv | sort)" bash -c "cut -d, -f2,9 $live/history.csv | sort"
# one program under one's own decisions; a name that is none is said before anything is fetched or made
one() { make -s -C "$root" SCALE=ci OUT="$T/out" BIN="$BIN" B="$B" inline-study-one "$@"; }
ok 'one program' bash -c "$(declare -f one); root='$root' T='$T'; one NAME=demo DECISIONS='$live/learned.sexp' > one.csv"
is 'is counted on the runs that confirm' 2 grep -c ',one,instructions,[1-9][0-9]*,yes,2,' one.csv
fails 'a name that is none' 2 "NAME='nobody': none of" one NAME=nobody DECISIONS="$live/learned.sexp"
fails 'no decisions' 2 "DECISIONS='nothing': no file" one NAME=demo DECISIONS=nothing
ok 'nothing is made for it' test ! -e "$T/out/inline-study/nobody"
done_testing
