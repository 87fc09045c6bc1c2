#!/bin/bash
# obey-inline.sh DRAWS SEED WORK...: build each program under random sets of decisions, half (SHARE=0.5) of its calls and then
# of the copies that come to be, and count what was obeyed; the outputs of all builds must be those of the heuristic's build.
# A set that makes the compiler run into its limits is a row with that reason.
# Not part of `make test`: it wants real programs (make inline lays them out in out/inline/NAME/w) and minutes.
# Prints a table: program, compiler, draw, asked, inlined, then the calls not inlined by reason, unasked, wrong outputs.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PATH=${BIN:-$root/bin}:$PATH
draws=$1 seed=$2
shift 2
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
outputs() {                                              # of all search runs of one build, as one line
    inline-jobs --set=search "$1" "x=$2" | while IFS=$'\t' read -r _ args; do
        eval "set -- $args"
        directory=. input=$T/nothing command=
        for a; do
            case $a in
            --directory=*) directory=${a#*=} ;;
            --input=*) input=${a#*=} ;;
            --label=*) ;;
            *) command=$a ;;
            esac
        done
        (cd "$directory" && eval "timeout 60 $command" < "$input" 2> "$T/stderr" | cksum) || echo "exit $?"
    done | tr '\n' ' '
}
# half of the rows of a table of calls (columns callee, chain and legal or reason) as sites
half() { csv-cut -c callee,chain "$1" | awk -F, -v seed="$2" -v share="${SHARE:-0.5}" 'BEGIN { srand(seed) } NR > 1 && rand() < share {
    n = split($2, e, " @ "); printf "(site (path"; for (i = n; i; i--) printf " %s", e[i]; printf ") (callee %s) (inline true))\n", $1 }'; }
: > "$T/nothing"
echo program,compiler,draw,asked,inlined,illegal,context,no_such_call,refused,unexplained,unasked,wrong_output
failed=0
one() {                                                  # a work directory; status 3: something was wrong
    local work=$1 program compiler want wrong failed=0
    program=$(csv-cut -c name "$work/program.csv" | tail -n 1)
    compiler=$(csv-cut -c compiler,unit "$work/program.csv" | tail -n 1 | tr , -)
    inline-build --out="$T/default" "$work" > "$T/default.csv"
    want=$(outputs "$work" "$T/default")
    for k in $(seq "$draws"); do
        { echo '(decisions'; half "$work/calls.csv" $((seed * 1000 + k)); echo ')'; } > "$T/one.sexp"
        inline-build --decisions="$T/one.sexp" --sites --out="$T/exe" "$work" > "$T/one.csv" 2> "$T/why" ||
            { echo "$program,$compiler,$k: $(cat "$T/why")"; continue; }
        csv-where -c inlined --is=no "$T/one.csv" | csv-where -c asked --is=no > "$T/left.csv"
        { sed '$d' "$T/one.sexp"; half "$T/left.csv" $((seed * 1000 + k + 500)); echo ')'; } > "$T/two.sexp"
        inline-build --decisions="$T/two.sexp" --out="$T/exe" "$work" > "$T/two.csv" 2> "$T/why" ||
            { echo "$program,$compiler,$k: $(cat "$T/why")"; continue; }
        wrong=0
        [ "$(outputs "$work" "$T/exe")" = "$want" ] || wrong=1
        awk -F, -v p="$program,$compiler,$k" -v wrong=$wrong 'NR == 1 { next }
            $3 == "no" { unasked += $4 == "yes" && $5 !~ /always_inline/; next }
            { asked++ } $4 == "yes" { inlined++; next }
            $5 ~ /^illegal/ { illegal++; next } $5 ~ /^context/ { context++; next } $5 ~ /^no such call/ { no++; next }
            $5 ~ /^refused/ { refused++; next } { unexplained++ }
            END { printf "%s,%d,%d,%d,%d,%d,%d,%d,%d,%d\n", p, asked, inlined, illegal, context, no, refused, unexplained, unasked, wrong }' "$T/two.csv" | tee "$T/row.csv"
        [ $wrong = 0 ] || { failed=1; cp "$T/two.sexp" "$program-$compiler-$k.sexp"; }
        awk -F, '$10 || $11 { exit 1 }' "$T/row.csv" || failed=1
    done
    [ $failed = 0 ] || exit 3
}
# each in a shell of its own, which stops at an error; the others go on, and what stopped is a row too
for work; do
    one "$work" < "$T/nothing" &
    rc=0
    wait $! || rc=$?
    [ $rc = 0 ] || failed=1
    [ $rc = 0 ] || [ $rc = 3 ] || echo "$work: stopped with status $rc"
done
exit $failed
