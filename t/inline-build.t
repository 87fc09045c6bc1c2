#!/bin/bash
. "$(dirname "$0")/tap.sh"
. "$root/t/inline-live.sh"
inline-build --out=plain --complete=default.sexp w > plain.csv
./plain sort < demo/main.c > reference.txt
inline-build --decisions=default.sexp --out=again w > again.csv
is 'the default, replayed, is obeyed' 0 awk -F, 'NR > 1 && $3 == "yes" && $4 == "no" && $5 !~ /^illegal/ { n++ } END { print n + 0 }' again.csv
is 'and nothing else is inlined' 0 awk -F, 'NR > 1 && $3 == "no" { n++ } END { print n + 0 }' again.csv
echo '(decisions)' > none.sexp
inline-build --decisions=none.sexp --sites --out=none w > none.csv
is 'an empty set inlines nothing' 0 awk -F, '$4 == "yes" { n++ } END { print n + 0 }' none.csv
is 'the program does the same' "$(cat reference.txt)" ./none sort < demo/main.c
cat > one.sexp <<'X'
(decisions (program demo) (compiler clang-14)
  (site (path hash:3:20) (callee hash_step) (inline true))
  (site (path main:7:48) (callee say) (inline true))
  (site (path quicksort:7:5) (callee quicksort) (inline true))
  (site (path main:9:9) (callee table_find) (inline true)))
X
is 'what is not obeyed is listed with the reason' $'callee,chain,asked,inlined,reason
hash_step,hash:3:20,yes,yes,
quicksort,quicksort:7:5,yes,no,illegal: recursive
say,main:7:48,yes,no,illegal: never inlinable
table_find,main:9:9,yes,no,no such call' inline-build --decisions=one.sexp --out=one w
is 'an inlined call is gone from the code' 0 bash -c 'objdump -d one | grep -c "call.*<hash_step>" || true'
# every subset of eight calls gives the same output and is obeyed: 20 drawn ones
bad=0
for k in $(seq 20); do
    awk -v seed=$k 'BEGIN { srand(seed) } !/inline true/ || rand() < .5 || /^\(dec/' default.sexp > half.sexp
    grep -q ')))$' half.sexp || echo ')' >> half.sexp
    inline-build --decisions=half.sexp --out=half w > half.csv || { bad=1; cat half.sexp; continue; }
    ./half sort < demo/main.c | cmp -s - reference.txt || bad=1
done
ok 'the output never changes' test $bad = 0
echo '(decisions (site (path a) (callee b)))' > bad.sexp
fails 'a malformed decision' 1 'bad.sexp:1' inline-build --decisions=bad.sexp --out=x w
printf "(decisions (site (path \"a\\\\nb\") (callee c) (inline true)))" > forged.sexp
fails 'a name that would forge the replay file' 1 'quote or a line end' inline-build --decisions=forged.sexp --out=x w
fails 'both' 2 'threshold' inline-build --decisions=one.sexp --threshold=5 --out=x w
done_testing
