#!/bin/bash
. "$(dirname "$0")/tap.sh"
. "$root/t/inline-live.sh"
inline-sites w > sites.csv
is 'every call of the source is there once' 22 awk -F, 'NR > 1 && $8 == 0 { n++ } END { print n }' sites.csv
# the demo counts its own words: tr and grep are the oracle
words=$(tr -c 'A-Za-z_' '\n' < demo/main.c | grep -c .)
is 'heat is the exact number of executions' "$words" awk -F, '$2 == "table_find" && $3 == "main" { print $9 }' sites.csv
is 'one call more than words ends the loop' "$((words + 1))" awk -F, '$2 == "get_word" { print $9 }' sites.csv
is 'loop depth' 1 awk -F, '$2 == "same" && $3 == "table_find" { print $14 }' sites.csv
is 'recursion and varargs are not legal' $'quicksort\nquicksort\nquicksort\nsay\nsay' bash -c "awk -F, 'NR > 1 && \$8 == 0 && \$11 == \"no\" { print \$2 }' sites.csv | sort"
is 'the default inlines the hash step' yes awk -F, '$2 == "hash_step" && $3 == "hash" { print $10 }' sites.csv
ok 'copies that the default makes are rows too' awk -F, '$8 > 0 { found = 1 } END { exit !found }' sites.csv
inline-sites --no-heat w > cold.csv
is 'without heat the rest is the same' "$(cut -d, -f1-8,10-32 sites.csv)" cut -d, -f1-8,10-32 cold.csv
is 'twice the same bytes' "$(cat sites.csv)" inline-sites w
inline-decide -c inlined sites.csv > d.sexp
inline-build --decisions=d.sexp --out=x w > obeyed.csv
is 'the table is enough to build the same again' 0 awk -F, 'NR > 1 && $3 != $4 { n++ } END { print n + 0 }' obeyed.csv
inline-sites --decisions=<(echo '(decisions)') w > none.csv
is 'under decisions that inline nothing, nothing is inlined' 0 awk -F, '$10 == "yes" { n++ } END { print n + 0 }' none.csv
# a call in a `try`, or where something has to be destroyed, is a call
mkdir cxx
cat > cxx/a.cpp <<'X'
#include <cstdio>
#include <cstdlib>
struct last { int v; last(int x) : v(x) { } ~last() { std::printf("%s", ""); } };
static int risky(int x) { if (x < 0) throw x; return x * 3; }
int tries(int x) { try { return risky(x); } catch (int e) { return e; } }
int holds(int x) { last l(x); return risky(x) + l.v; }
int main(int, char **v)
{
    int s = 0;
    for (int i = -5; i < std::atoi(v[1]); i++) s += tries(i);
    for (int i = 0; i < std::atoi(v[1]); i++) s += holds(i);
    std::printf("%d\n", s);
}
X
printf 'build a.cpp\nsearch 100\nconfirm 300\n' > cxx/program
if printf '#include <cstdio>\n' | clang-$llvm -w -x c++ -fsyntax-only - 2> /dev/null; then
    inline-module --per-file --out=wxx cxx
    inline-sites wxx > cxx.csv
    is 'an invoke is a row, with its line and its heat' $'_ZL5riskyi,_Z5holdsi,6,100\n_ZL5riskyi,_Z5triesi,5,105' bash -c \
        'csv-where -c level --is=0 cxx.csv | csv-cut -c callee,caller,line,heat | grep "^_ZL5risky" | sort'
    inline-optimal --chance=0 --decisions=cxx.sexp --calls=cxx.calls wxx > cxx.best
    is 'inline-optimal decides about them' yes,yes bash -c \
        'csv-where -c callee --is=_ZL5riskyi cxx.calls | csv-cut -c choice | tail -n +2 | paste -sd,'
    csv-where -c callee --is=_ZL5riskyi cxx.csv | inline-decide -c inlined > risky.sexp
    inline-build --decisions=risky.sexp --out=cxx.exe wxx > cxx.obeyed
    is 'decisions about them are obeyed' $'_ZL5riskyi,yes,yes\n_ZL5riskyi,yes,yes' bash -c 'csv-cut -c callee,asked,inlined cxx.obeyed | sed 1d'
    is 'the program does the same' "$(clang-$llvm cxx/a.cpp -lstdc++ -o by-hand && ./by-hand 50)" ./cxx.exe 50
else skip 'calls of C++' 'no C++ headers'; fi
# what runs before main, after it and in other processes counts too, each once, however they end
mkdir forks
cat > forks/a.c <<'X'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int n;
static void bump(void) { n++; }
static void many(int k) { while (k--) bump(); }
__attribute__((constructor)) static void up(void) { many(1); }
__attribute__((destructor)) static void down(void) { many(3); }
static void child(int k)
{
    if (fork()) return;
    many(k);
    if (k > 300) _exit(0);
    exit(0);
}
int main(int argc, char **argv)
{
    many(atoi(argv[argc - 1]));
    child(200);
    child(400);
    while (wait(NULL) > 0) { }
    many(7);
    return 0;
}
X
printf 'build a.c\nsearch 10 ; 20\nconfirm 30\n' > forks/program
inline-module --out=wforks forks
inline-sites wforks > forks.csv
is 'heat of all processes, and of a destructor' "$((2 * (1 + 200 + 400 + 7) + 30 + 2 * 2 * 3))" bash -c \
    'csv-where -c callee --is=bump forks.csv | csv-where -c level --is=0 | csv-cut -c heat | tail -1'
sed -i 's/^    return 0;/    _exit(0);/' forks/a.c
inline-module --out=wforks forks
inline-sites wforks > forks.csv
is 'and of one that ends by _exit' "$((2 * (1 + 200 + 400 + 7) + 30 + 2 * 3))" bash -c \
    'csv-where -c callee --is=bump forks.csv | csv-where -c level --is=0 | csv-cut -c heat | tail -1'
fails 'no work directory' 1 'program.csv \(made by inline-module\): No such file' inline-sites .
done_testing
