#!/bin/bash
# make inline SCALE=ci from a source directory to decisions; the timing part of it is not run here
. "$(dirname "$0")/tap.sh"
. "$root/t/inline-live.sh"
command -v qemu-x86_64 > /dev/null || { echo "1..0 # skip qemu-x86_64 is not here"; exit 0; }
live=$T/out/inline/demo
pipeline() { make -s -C "$root" SCALE=ci OUT="$T/out" BIN="$BIN" B="$B" INLINE_EVALS=10 INLINE_SIZE=10 "$live/built" > log 2>&1; }
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
# a design of trials, measured, fitted, its opinions built; eight orthogonal trials tell seven calls apart
table=$T/out/inline/designs/table.csv
ok 'a design beside the search' make -s -C "$root" SCALE=ci OUT="$T/out" BIN="$BIN" B="$B" INLINE_EVALS=10 INLINE_SIZE=10 \
    INLINE_DESIGNS=factorial-8 "$table"
is 'two models, two rules, all seven calls told apart' '4 7 1' bash -c \
    "csv-where -c model --is=functions --not '$table' | csv-group -g factors,known | csv-cut -c n_rows,factors,known | sed '1d; y/,/ /'"
is 'and one model of functions, two rules' 2 bash -c "csv-where -c model --is=functions '$table' | sed 1d | wc -l"
is 'which were really measured' real bash -c "csv-calc --print=kind '$table' | sort -u"
is 'where nothing is sure the default is proposed' 1 bash -c \
    "csv-where -c rule --is=sure '$table' | csv-where -c certain --is=0 | csv-calc --print=ratio | sort -u"
# policies, from this log as if it were that of two programs: each is told what did best on the other
two=$T/two/inline
printf 'name,set,package,build,search,confirm\na,train,,,,\nb,train,,,,\n' > table.csv
mkdir -p "$two"
touch -d 2001-01-01 table.csv
touch -d 2001-01-02 "$two/sources"
for name in a b; do
    cp -r "$live" "$two/$name"
    sed -i "s/^demo,/$name,/" "$two/$name/history.csv"
    touch -d 2001-01-03 "$two/$name/w/program.csv"
    touch -d 2001-01-04 "$two/$name/sites.csv"
    touch -d 2001-01-05 "$two/$name/started"
done
policy() { make -s -C "$root" INLINE_TABLE="$T/table.csv" OUT="$T/two" BIN="$BIN" B="$B" "$@" "$two/policy/a.start.sexp" "$two/policy/a.trials.sexp" > log 2>&1 || { cat log; return 1; }; }
ok 'policies from the other program' policy
ok 'a beginning is one of the log' cmp "$two/policy/a.start.sexp" "$live/store/$(csv-cut -c decisions "$two/policy/a.ranked.csv" | sed -n 2p).sexp"
least=$({ echo default; csv-cut -c decisions "$two/policy/a.ranked.csv" | sed -n 2,9p; } | while read -r set; do
    awk -F, -v d="$set" '$2 == d { print $9, $10, d }' "$live/history.csv"; done | awk -v base="$(awk -F, '$2 == "default" { print $9, $10 }' "$live/history.csv")" '
    BEGIN { split(base, b) } $2 <= 1.3 * b[2] { e = .95 * log($1 / b[1]) + .05 * log($2 / b[2]); if (!n++ || e < m) { m = e; d = $3 } } END { print d }')
ok 'of eight the best by the goal' cmp "$two/policy/a.trials.sexp" "$live/store/$least.sexp"
rm "$two/policy/a.trials.sexp"
ok 'fewer trials' policy INLINE_POLICY_TRIALS=1
ok 'no beginning that is worse than the default' bash -c "cmp -s $two/policy/a.trials.sexp $two/policy/a.start.sexp || cmp $two/policy/a.trials.sexp $live/store/default.sexp"
done_testing
