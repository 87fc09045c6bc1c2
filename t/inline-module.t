#!/bin/bash
. "$(dirname "$0")/tap.sh"
. "$root/t/inline-live.sh"
ok 'leaves the module, the module for size, the table and what may never be inlined' test -s w/module.bc -a -s w/module-Oz.bc -a -s w/program.csv
is 'the compiler says which functions no decision may inline' $'callee,reason\nquicksort,recursive\nsay,varargs' cat w/never.csv
is 'only what is needed is left' $'calls.csv\nmodule-Os.bc\nmodule-Oz.bc\nmodule.bc\nnever.csv\nprogram.csv\nunits.csv' ls w
is 'a call, where it is, and what the heuristic thinks of it' 'hash_step,hash,hash:3:20,table.c,15,20,-15025,337' grep ^hash_step w/calls.csv
inline-module --per-file --out=f demo
# bodies of libc's headers are there with clang only, and gcc has made a loop of the last call before it is asked
names() { tail -n +2 "$1" | cut -d, -f"$2" | grep -vE '^(getchar|tolower|vprintf|quicksort,quicksort,47)' | sort; }
is 'per file, a call to another file is no decision, the others are' $'before\nfresh\nget_word\nhash\nhash_step\nletter\nletter\nquicksort\nquicksort\nquicksort\nsame\nsay\nsay\nswap\nswap\nswap' names f/calls.csv 1
printf 'name,set,package,build,search,confirm\ndemo,train,,*.c,sort <main.c,words <main.c\n' > p.csv
touch w/unit0-Os.bc-1234abcd.i.tmp w/mine.tmp
ok 'made again' inline-module --out=w demo
is 'what a killed compiler had begun is gone, a file of somebody else is not' mine.tmp bash -c 'cd w && ls | grep "tmp$"'
rm w/mine.tmp
ok 'a row of a table says the same as three lines' inline-module --table=p.csv --program=demo --out=w2 demo
ok 'the same module' cmp w/module.bc w2/module.bc
mkdir bad; cp demo/* bad; echo 'int broken( {' > bad/broken.c
fails 'a program that does not compile' 1 "broken.c: clang-$llvm exit 1: .*error: " inline-module --out=w3 bad
printf 'build *.c\nsearch <nope.txt\nconfirm x\n' > bad/program
fails 'an input that is not there' 1 'bad/program:1: input .*nope.txt: No such file' inline-module --out=w3 bad
printf 'build nope*.c\nsearch x\nconfirm x\n' > bad/program
fails 'sources that are not there' 1 "no file matches 'nope\*.c'" inline-module --out=w3 bad
printf 'build *.c\nsearch x\n' > bad/program
fails 'a missing line' 1 'a line `confirm ...` is missing' inline-module --out=w3 bad
printf 'bild *.c\n' > bad/program
fails 'an unknown line' 1 "bad/program:1: 'bild' is not build" inline-module --out=w3 bad
fails 'an unknown program' 1 "no program 'x'" inline-module --table=p.csv --program=x --out=w3 demo
fails 'a missing compiler' 1 'clang-98, opt-98 or llvm-link-98 not found' inline-module --compiler=clang-98 --out=w3 demo
fails 'a missing gcc' 1 'gcc-98 not found \(apt install gcc-98\)' inline-module --compiler=gcc-98 --out=w3 demo
fails 'a compiler that nobody knows' 1 "no compiler is called 'tcc'; known: clang, clang-N, gcc, gcc-N" inline-module --compiler=tcc --out=w3 demo
fails 'a made-up version' 1 "no compiler is called 'clang-x'" inline-module --compiler=clang-x --out=w3 demo
# the same by other compilers, where they are
for c in clang-16 clang-19; do
    if have $c opt-${c#*-} llvm-link-${c#*-}; then
        inline-module --compiler=$c --out=$c demo
        is "$c names the calls of the program alike" "$(cut -d, -f1-6 w/calls.csv | sort)" bash -c "cut -d, -f1-6 $c/calls.csv | sort"
        is "$c forbids the same" "$(cat w/never.csv)" cat $c/never.csv
    else skip "$c names the calls of the program alike" "$c is not here"; fi
done
# clang without a number is the one that the system calls so, not the oldest that is here
if have clang-19 opt-19 llvm-link-19; then
    mkdir default
    ln -s "$(realpath "$(command -v clang-19)")" default/clang
    PATH=$PWD/default:$PATH inline-module --out=default/w demo
    is 'the compiler that is called clang is taken' clang-19 csv-calc --print=compiler default/w/program.csv
else skip 'the compiler that is called clang is taken' 'no clang-19'; fi
if have_gcc_plugin; then
    ok 'gcc' inline-module --compiler=gcc --out=g demo
    is 'names the calls of the source alike' "$(names w/calls.csv 1,2,5)" names g/calls.csv 1,2,5
    is 'gcc forbids what it cannot inline' $'callee,reason\nsay,function not inlinable' cat g/never.csv
    # per file, gcc
    inline-module --compiler=gcc --per-file --out=gf demo
    is 'per file too' "$(names f/calls.csv 1,2,5)" names gf/calls.csv 1,2,5
else skip gcc 'no gcc with g++ and its plugin-dev'; fi
# a run that ends by _exit leaves no profile: it is said, and with no other there is none
if have ld.lld-$llvm llvm-profdata-$llvm; then
    mkdir quits
    cat > quits/a.c <<'X'
#include <stdlib.h>
#include <unistd.h>
static int half(int x) { return x / 2; }
int main(int argc, char **argv) { int n = half(atoi(argv[argc - 1])); if (n > 3) _exit(0); return 0; }
X
    printf 'build a.c\nsearch 1 ; 20\nconfirm 30\n' > quits/program
    for kind in fe irn; do
        ok "$kind: a run by _exit is left out" bash -c "inline-module --lto --profile=$kind --out=q quits 2> err &&
            grep -q 'search run 2: no profile: a run that ends by _exit leaves none' err && [ \$(wc -l < err) = 1 ]"
    done
    sed -i 's/^search .*/search 20/' quits/program
    fails 'with no other there is no profile' 1 'quits: no profile: a run that ends by _exit leaves none' \
        inline-module --lto --profile=irn --out=q quits
else skip 'profiles of runs by _exit' "$missing is not here"; fi
mkdir plus
echo 'template <class T> static T twice(T x) { return x + x; } int main(int n, char **) { return twice(n); }' > plus/a.c++
printf 'build *.c++ -mllvm -disable-symbolication\nsearch x\nconfirm y\n' > plus/program
mkdir plus/inc 'b[c]d'
echo '#define STEP 2' > plus/inc/step.h
sed -i '1s/^/#include "step.h"\n/; s/x + x/x + STEP + MORE/' plus/a.c++
sed -i '1s/$/ -I inc -D MORE=1/' plus/program
cp -r plus 'b[c]d/x'
ok 'C++ by any of its endings, options whose value is the next word' inline-module --out=wplus plus
ok 'in a folder whose name is a pattern' inline-module --out=wplus 'b[c]d/x'
is 'is C++' main bash -c 'csv-cut -c caller wplus/calls.csv | sed 1d'
fails 'no source directory' 2 'one source directory' inline-module --out=w3
done_testing
