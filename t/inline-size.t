#!/bin/bash
. "$(dirname "$0")/tap.sh"
need_llvm
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
# where the compiler inlines too much, and where it is right
mkdir wide self
cat > wide/a.c <<'X'
volatile unsigned v[9];
static unsigned mix(unsigned x) { x ^= x >> 7; x *= 2654435761u; return x ^ x >> 11; }
static unsigned twice(unsigned x) { return x + x; }
static void clear(unsigned *p)
{
    p[0] = 3, p[2] = 1, p[5] = 4, p[7] = 1, p[11] = 5, p[13] = 9, p[17] = 2, p[19] = 6, p[23] = 5, p[29] = 3;
    p[31] = 5, p[37] = 8, p[41] = 9, p[43] = 7;
}
void third(unsigned *p) { clear(p); clear(p); clear(p); }
void first(void)
{
    v[0] = mix(v[1]); v[2] = mix(v[3]); v[4] = mix(7 * twice(v[5])); v[0] = mix(v[6]); v[2] = mix(v[7]);
}
int main(void) { first(); return 0; }
X
cat > self/loop.c <<'X'
static int down(int n) { return n > 1 ? n - 2 : n; }
static int loop(int n) { return n > 0 ? loop(n - 1) + down(n) : 0; }
int other(int n) { return loop(n & 7) + down(n + 1); }
X
printf 'build *.c\nsearch x\nconfirm x\n' | tee wide/program > self/program
inline-module --per-file --out=wide.w wide
inline-module --per-file --out=self.w self
inline-size --search=60 --decisions=self.sexp self.w > self.csv
inline-size --search=60 --decisions=wide.sexp wide.w > wide.csv
get() { csv-cut -c code_bytes "$1" | tail -1; }
is 'a search finds the least of 1024 sets' "$(inline-size --exhaustive wide.w | csv-cut -c code_bytes | tail -1)" get wide.csv
for t in -50 0 5; do
    inline-size --threshold=$t wide.w > at.csv
    ok "threshold $t does not" [ "$(get at.csv)" -gt "$(get wide.csv)" ]
done
inline-size wide.w > wide.oz
inline-build --level=-Oz --out=wide.0 wide.w > /dev/null
inline-build --level=-Oz --decisions=wide.sexp --out=wide.1 wide.w > /dev/null
text() { echo $((0x$(objdump -h "$1" | sed -n 's/^ *[0-9]* \.text  *\([0-9a-f]*\).*/\1/p'))); }
is 'and its decisions gain so much' $(($(get wide.oz) - $(get wide.csv))) echo $(($(text wide.0) - $(text wide.1)))
sed -i 's/static \(unsigned mix\|void clear\)/static __attribute__((noinline)) \1/' wide/a.c
inline-module --per-file --out=right wide
is 'what the compiler does right is gone through once' "$(inline-size right | csv-cut -c code_bytes | tail -1),9" bash -c \
    'inline-size --search=60 right | csv-cut -c code_bytes,sets | tail -1'
ok 'where nothing is better than the compiler its own decisions are told' grep -q 'callee loop) (inline true' self.sexp
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
