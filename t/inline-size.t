#!/bin/bash
. "$(dirname "$0")/tap.sh"
needs clang-14 opt-14 llvm-link-14
mkdir p
cat > p/a.c <<'X'
int putchar(int);
static int twice(int x) { return x + x; }
static void out(int x) { putchar(x & 15 ? 'a' + (x & 15) : '-'); putchar(x & 7); putchar('\n'); }
int main(int argc, char **argv) { (void)argv; out(twice(argc)); out(argc); out(twice(argc + 1)); return 0; }
X
printf 'build a.c\nsearch x\nconfirm x\n' > p/program
inline-module --out=w p
tail -n +2 w/calls.csv | cut -d, -f1,3 > calls
{ echo callee,chain,predicted; sed 's/$/,yes/' calls; } > yes.csv
{ echo callee,chain,predicted; sed 's/$/,no/' calls; } > no.csv
head -1 no.csv > none.csv
bytes() { inline-size "$@" w | csv-cut -c code_bytes | tail -1; }
least=$(bytes --exhaustive)
ok 'the least is no more than all inlined' [ "$least" -le "$(bytes --verdicts=yes.csv)" ]
ok 'nor than nothing' [ "$least" -le "$(bytes --verdicts=no.csv)" ]
ok 'verdicts matter' [ "$(bytes --verdicts=yes.csv)" != "$(bytes --verdicts=no.csv)" ]
is 'unnamed calls are not inlined' "$(bytes --verdicts=no.csv)" bytes --verdicts=none.csv
is 'too many sets: no number' '""' bytes --exhaustive --most=4
inline-size --search=30 --decisions=found.sexp w > found.csv
found=$(csv-cut -c code_bytes found.csv | tail -1)
ok 'a search finds no less than there is' [ "$found" -ge "$least" ]
ok 'and no more than the compiler' [ "$found" -le "$(bytes)" ]
ok 'nor than nothing inlined' [ "$found" -le "$(bytes --verdicts=none.csv)" ]
ok 'it keeps its budget' [ "$(csv-cut -c sets found.csv | tail -1)" -le 30 ]
is 'twice the same' "$(cat found.csv)" inline-size --search=30 w
inline-build --level=-Oz --decisions=found.sexp --out=found.exe w > obeyed.csv
is 'what it decided is obeyed' 1 bash -c 'csv-where -c asked --is=yes obeyed.csv | csv-where -c inlined --is=no | wc -l'
inline-module --per-file --out=parts p
is 'one source alone' 2 bash -c 'inline-size --only=a.c parts | tail -n +2 | wc -l'
fails 'a source that is none' 1 "b.c: no source of p ends so" inline-size --only=b.c parts
is 'the whole program is one module' 2 bash -c 'inline-size w | tail -n +2 | wc -l'
printf 'callee,chain,predicted\na,b,maybe\n' > bad.csv
fails 'a verdict that is none' 1 "bad.csv:2: column 'predicted': 'maybe' is not yes, no or empty" inline-size --verdicts=bad.csv w
fails 'two ways at once' 2 'exclude one another' inline-size --exhaustive --threshold=3 w
fails 'a search of what is given' 2 'exclude one another' inline-size --search=9 --verdicts=yes.csv w
fails 'nothing' 2 'one work directory' inline-size
done_testing
