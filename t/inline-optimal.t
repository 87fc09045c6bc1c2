#!/bin/bash
. "$(dirname "$0")/tap.sh"
need_llvm
mkdir p
cat > p/main.c <<'X'
#include <stdio.h>
static unsigned mix(unsigned x) { x ^= x >> 7; x *= 2654435761u; return x ^ x >> 11; }
static void say(const char *what, unsigned x) { if (x & 1) printf("%s %u\n", what, x); else puts(what); }
static unsigned both(unsigned a, unsigned b) { say("both", a); return mix(a) + mix(b); }
int other(int);
int main(int argc, char **argv)
{
    unsigned x = both((unsigned)argc, 3);
    if (argc > 2) say(argv[1], x);
    if (argc > 3) x = mix(x);
    return other((int)x) & 1;
}
X
cat > p/other.c <<'X'
static int down(int n) { return n > 1 ? n - 2 : n; }
static int loop(int n) { return n > 0 ? loop(n - 1) + down(n) : 0; }
int other(int n) { return loop(n & 7) + down(n + 1); }
X
printf 'build *.c\nsearch x\nconfirm x y\n' > p/program
inline-module --per-file --out=w p
inline-optimal --store=log.csv --calls=calls.csv --decisions=best.sexp --check=2 w > best.csv
get() { csv-where -c module --is="$2" "$1" | csv-cut -c "$3" | tail -1; }

# the oracle: every set of decisions, each built whole
inline-size --exhaustive --most=64 w > all.csv
for file in main.c other.c '(all)'; do
    is "$file: the optimum of all sets" "$(get all.csv "$file" code_bytes)" get best.csv "$file" best_bytes
done
is 'main.c: proven' "$(get best.csv main.c best_bytes) optimum" echo "$(get best.csv main.c lower_bytes) $(get best.csv main.c state)"
# a compiler may decide copies of a call to itself apart: t/inline-recursion-oracle.t
is 'other.c, where a function calls itself: no bound, and the compiler makes less of it' 'beaten 2' echo \
    "$(get best.csv other.c state) $(get best.csv other.c recursive_functions)"
ok 'and lies below the best' [ "$(get best.csv '(all)' lower_bytes)" -lt "$(get best.csv '(all)' best_bytes)" ]
is 'all calls but the recursive have a choice' 64,4 echo "$(get all.csv main.c sets),$(get all.csv other.c sets)"
clang-$llvm -Oz -w -x ir -c w/unit0-Oz.bc -o clang.o
code() { bench-count --metric=size "$1" | csv-where -c metric --is=code_bytes | csv-cut -c value | tail -1; }
is 'code is what clang makes of the same module' "$(code ./clang.o)" get best.csv main.c heuristic_bytes
inline-build --level=-Oz --decisions=best.sexp --out=best w > obeyed.csv
is 'the decisions are obeyed' 0 bash -c 'csv-where -c inlined --is=no obeyed.csv | tail -n +2 | wc -l'
inline-build --level=-Oz --out=oz w > /dev/null
text() { objdump -h "$1" | sed -n 's/^ *[0-9]* \.text  *\([0-9a-f]*\).*/\1/p'; }
is 'the linked program gains what the modules do, but for alignment' yes bash -c "
    d=\$(($(get best.csv '(all)' heuristic_bytes) - $(get best.csv '(all)' best_bytes) - 0x$(text oz) + 0x$(text best)))
    [ \$d -ge -15 ] && [ \$d -le 15 ] && echo yes"
is 'all functions' 4,3 echo "$(get best.csv main.c functions),$(get best.csv other.c functions)"
is 'why a call has no choice' 'both yes say yes mix yes say yes mix yes mix yes loop recursive down yes loop recursive down yes' bash -c \
    'csv-cut -c callee,choice calls.csv | tail -n +2 | tr , " " | xargs'
is 'a row a call' "$(tail -n +2 w/calls.csv | wc -l)" bash -c 'tail -n +2 calls.csv | wc -l'
inline-size --verdicts=calls.csv -c optimal w > told.csv
is 'the verdicts of the table give the same code' "$(get best.csv '(all)' best_bytes)" get told.csv '(all)' code_bytes
inline-size w > oz.csv
is 'without verdicts the heuristic decides' "$(get best.csv '(all)' heuristic_bytes)" get oz.csv '(all)' code_bytes
inline-size --threshold=-1000 w > low.csv
ok 'and its threshold counts' [ "$(get low.csv '(all)' code_bytes)" -ge "$(get best.csv '(all)' best_bytes)" ]

# what is reported is what inline-build makes, whose code a default of the compiler makes independent of its place or not
mkdir pic
cat > pic/a.c <<'X'
#include <stdlib.h>
void say(const char *, int, int, int);
static void warn(int x, int y, int z) { say("warning", x, y, z); }
void tell(int n) { if (n > 1) warn(1, 2, 3); else if (n > -5) warn(4, 5, 6); else warn(7, 8, 9); }
int main(int c, char **v) { tell(atoi(v[c - 1])); return 0; }
X
cat > pic/b.c <<'X'
#include <stdio.h>
void say(const char *s, int x, int y, int z) { printf("%s %d %d %d\n", s, x, y, z); }
X
cp p/program pic
made() {                                                 # bytes of a program's functions
    local bytes=0 size
    for size in $(nm -S "$1" | sed -En 's/^[0-9a-f]+ ([0-9a-f]+) [tTW] ([^_]|_Z|__clang).*/\1/p'); do bytes=$((bytes + 0x$size)); done
    echo $bytes
}
for how in --per-file '' '--per-file ' ' '; do           # with a blank: at a fixed place
    [[ $how != *' ' ]] || sed -i '/^build/s/$/ -fno-pie/' pic/program
    inline-module $how --out="pic.w$how" pic
    inline-optimal --decisions=pic.sexp "pic.w$how" > pic.csv
    inline-build --level=-Oz --decisions=pic.sexp --out=pic.best "pic.w$how" > /dev/null
    inline-build --level=-Oz --out=pic.oz "pic.w$how" > /dev/null
    is "the best is built as reported ${how:-as one program}" "$(get pic.csv '(all)' best_bytes)" made pic.best
    is "-Oz is built as reported ${how:-as one program}" "$(get pic.csv '(all)' heuristic_bytes)" made pic.oz
done
# a log, also a torn one, is gone on with
head -c 200 log.csv > torn.csv
inline-optimal --store=torn.csv --chance=0 w > again.csv
is 'from a torn log: the same' "$(get best.csv '(all)' best_bytes)" get again.csv '(all)' best_bytes
inline-optimal --store=log.csv --chance=0 w > again.csv
is 'from a whole one: the same' "$(get best.csv '(all)' best_bytes)" get again.csv '(all)' best_bytes
ok 'and hardly a build' [ "$(get again.csv '(all)' builds)" -le 6 ]
sed '2s/,[0-9]*,/,999,/' log.csv > wrong.csv
fails 'a log of something else' 1 'wrong.csv:2: .*999.* is not the number of a function' inline-optimal --store=wrong.csv w
# what the tables say beside whole builds of decisions by chance
counts() { csv-calc --where="module != '(all)'" "$@" | csv-cut -c unequal,sums,sums_unequal | tail -n +2 | xargs; }
inline-optimal --chance=5 w > chance.csv
is 'the tables say what is built' '0,5,0 0,5,0' counts chance.csv
inline-optimal --most=2 --chance=40 --only=main.c w > few.csv
sums=$(get few.csv main.c sums)
ok 'an open table leaves out what it does not know' [ "$sums" -gt 0 -a "$sums" -lt 40 ]
csv-calc --set='bytes=row() == 2 ? bytes + 1 : bytes' log.csv > lies.csv
inline-optimal --store=lies.csv --check=1000000 --chance=40 --only=main.c w > lies.out
ok 'an entry that is wrong is found' [ "$(get lies.out main.c sums_unequal)" -gt 0 ]
# open tables: still no worse than the heuristic, and bounded
inline-optimal --most=2 w > open.csv
ok 'open: not below the optimum' [ "$(get open.csv '(all)' best_bytes)" -ge "$(get best.csv '(all)' best_bytes)" ]
ok 'open: not above nothing inlined' [ "$(get open.csv '(all)' best_bytes)" -le "$(get best.csv '(all)' none_bytes)" ]
ok 'open: a bound that holds' [ "$(get open.csv '(all)' lower_bytes)" -le "$(get best.csv '(all)' best_bytes)" ]
# more functions than are built at a time: those asleep, and what they inline
mkdir many
{   echo 'volatile unsigned v[99];'
    for k in {0..7}; do
        echo "static unsigned leaf$k(unsigned x) { return x * $((k + 3)) ^ x >> $((k + 1)); }
static unsigned mid$k(unsigned x) { return leaf$k(x + 1) + x; }
void top$k(void) { v[$k] = mid$k(v[$((k + 9))]); v[$((k + 20))] = leaf$k($k); }"
    done
    echo 'void most(void) { v[1] = mid0(v[2]) + mid1(v[3]) + mid2(v[4]); } int main(void) { return 0; }'; } > many/a.c
printf 'build a.c\nsearch x\nconfirm x\n' > many/program
inline-module --per-file --out=many.w many
inline-optimal --check=2 --chance=5 many.w > many.csv
is 'built asleep or awake, functions come out alike' '0,5,0' counts many.csv
ok 'and most builds are of some of them' [ "$(get many.csv a.c whole)" -lt "$(get many.csv a.c builds)" ]
# what is inlined into a function that is built is built with it: asleep, its own code would be another
mkdir deep
{   echo 'volatile unsigned v[99]; unsigned all[64];'
    for k in {0..3}; do
        echo "static unsigned deep$k(const unsigned *p, unsigned n)
{ unsigned s = 0, t[4]; for (unsigned i = 0; i < 4; i++) t[i] = p[i] * $((k + 3)); for (unsigned i = 0; i < n; i++) s += t[i & 3] ^ p[i]; return s; }
static unsigned leaf$k(unsigned x)
{ unsigned b[8] = { x, x + 1 }; switch (x & 7) { case 0: return 1; case 1: return x * 3; case 3: return x ^ 77; } return deep$k(b, 8) + deep$k(all, x); }
static unsigned mid$k(unsigned x) { unsigned r = 0; for (unsigned i = 0; i < 3; i++) r += leaf$k(x + i); return r; }
void top$k(void) { v[$k] = mid$k(v[$((k + 9))]); v[$((k + 20))] = leaf$k($k); }"
    done
    echo 'int main(void) { return 0; }'; } > deep/a.c
cp many/program deep
inline-module --per-file --out=deep.w deep
inline-optimal --check=2 --chance=3 deep.w > deep.csv
is 'and what is inlined into them is awake with them' '0,3,0' counts deep.csv
# what inline-build refuses is no choice: an optimum can be built
mkdir refused
cat > refused/a.c <<'X'
#include <stdlib.h>
#include <string.h>
int puts(const char *);
static int grows(int n) { char b[n % 50 + 1]; memset(b, 65, sizeof b); b[sizeof b - 1] = 0; return puts(b); }
__attribute__((target("avx2")))
static int wide(int x) { return x * 5 + 3; }
static int small(int x) { return x + 7; }
int main(int argc, char **argv) { return grows(atoi(argv[argc - 1])) + wide(argc) + small(argc) > 1000000; }
X
cp many/program refused
inline-module --per-file --out=refused.w refused
inline-optimal --decisions=refused.sexp --calls=refused.calls refused.w > refused.csv
is 'a dynamic alloca' 'dynamic alloca' bash -c 'csv-where -c callee --is=grows refused.calls | csv-cut -c choice | tail -1'
inline-build --level=-Oz --decisions=refused.sexp --out=refused.exe refused.w > refused.obeyed
is 'all that is decided is obeyed' yes bash -c 'csv-cut -c inlined refused.obeyed | sed 1d | sort -u'
is 'the optimum is built as reported' "$(get refused.csv '(all)' best_bytes)" made refused.exe
# what is destroyed is destroyed twice, at the end and where an exception leaves, by calls of one key; and a function of a
# class goes when nothing calls it any more
mkdir class
cat > class/a.cpp <<'X'
int risky(int x);
int release(int, int, int);
struct last { int v; bool open; last(int x) : v(x), open(x > 3) { } ~last() { if (open) release(v, 1, 2); } };
int holds(int x) { last l(5); l.open = false; int r = risky(x); l.open = false; return r; }
int other(int x) { last l(x); risky(x); l.open = false; return l.v; }
int main(int argc, char **) { return holds(argc) + other(3); }
X
cat > class/b.cpp <<'X'
int release(int a, int b, int c) { return a + b + c; }
int risky(int x) { return x / 2; }
X
printf 'build *.cpp\nsearch x\nconfirm x\n' > class/program
inline-module --per-file --out=class.w class
inline-optimal --decisions=class.sexp --calls=class.calls class.w > class.csv
inline-build --level=-Oz --decisions=class.sexp --out=class.exe class.w > /dev/null
is 'the optimum of C++ is built as reported' "$(get class.csv '(all)' best_bytes)" made class.exe
is 'one key, one decision' '' bash -c 'csv-cut -c callee,chain,optimal class.calls | sort -u | cut -d, -f1,2 | uniq -d; echo'
inline-size --exhaustive class.w > class.all
is 'it is that of all sets' "$(get class.all '(all)' code_bytes)" get class.csv '(all)' lower_bytes
mkdir -p sub/far
cp p/main.c sub/far/main.c
cp p/other.c sub/other.c
printf 'build far/main.c other.c\nsearch x\nconfirm x y\n' > sub/program
inline-module --per-file --out=deep sub
is 'one source by the end of its path' 'far/main.c (all)' bash -c 'inline-optimal --most=1 --chance=0 --only=main.c deep | csv-cut -c module | tail -n +2 | xargs'
fails 'not by half of its name' 1 'ain.c: no source of sub ends so' inline-optimal --only=ain.c deep
# tables that do not settle: what was built before is kept where it is less
mkdir unsettled
cat > unsettled/m.c <<'X'
extern int printf(const char *, ...);
volatile int g;
int arr[64];
#define SWITCH switch (x & 3) { case 0: g = 1; break; case 1: g = 2; break; case 2: g++; }
int f0(int x) { if (x & 1) g = x; arr[x & 63]++; return x; }
static int f1(int x) { SWITCH SWITCH SWITCH for (int i = 0; i < 3; i++) x += f0(x); return x; }
static inline int f2(int x) { SWITCH x += f0(x + 1); x = f0(x + 1); SWITCH return x; }
static __attribute__((always_inline)) inline int f3(int x)
{
    for (int i = 0; i < x; i++) arr[i & 63] += i;
    for (int i = 0; i < x; i++) arr[i & 63] += i;
    for (int i = 0; i < 3; i++) x += f1(x + 1);
    arr[x & 63]++;
    return x;
}
int main(int c, char **v) { (void)v; int s = c; s += f3(c); s += f2(c + 1); s += f1(c + 2); printf("%d %d %d\n", s, g, arr[3]); return 0; }
X
cp sub/program unsettled
sed -i 's/^build .*/build m.c/' unsettled/program
inline-module --per-file --out=un.w unsettled
is 'nothing inlined is never better than what is best' '' bash -c 'inline-optimal un.w | csv-calc --where="best_bytes > none_bytes" --print=module | xargs'
fails 'no work directory' 1 'made by inline-module' inline-optimal p
fails 'two' 2 'one work directory' inline-optimal w w
done_testing
