#!/bin/bash
. "$(dirname "$0")/tap.sh"
command -v clang-14 opt-14 llvm-link-14 > /dev/null || { echo '1..0 # skip clang-14 and llvm-14 are not here'; exit 0; }
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
is 'the whole program is one module' 2 bash -c 'inline-size w | tail -n +2 | wc -l'
printf 'callee,chain,predicted\na,b,maybe\n' > bad.csv
fails 'a verdict that is none' 1 "bad.csv:2: column 'predicted': 'maybe' is not yes, no or empty" inline-size --verdicts=bad.csv w
fails 'two ways at once' 2 'exclude one another' inline-size --exhaustive --threshold=3 w
fails 'nothing' 2 'one work directory' inline-size
done_testing
