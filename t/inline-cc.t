#!/bin/bash
# a build that knows nothing of us, with CC=inline-cc: what it makes, and what is remembered of it
. "$(dirname "$0")/tap.sh"
need_llvm objcopy
needs clang++-$llvm
mkdir -p b/lib b/src
cat > b/lib/add.c <<'C'
int add(int a, int b) { return a + b; }
C
cat > b/lib/unused.c <<'C'
int unused(void) { return 7; }
C
cat > b/src/main.c <<'C'
#include <math.h>
#include <stdio.h>
#include NAME
int add(int, int);
int main(int argc, char **argv) { printf("%s %d %g\n", TEXT, add(argc, 1), floor(argc + .5)); (void)argv; return 0; }
C
echo > "b/src/a header.h"
cat > b/Makefile <<'M'
all: prog
prog: src/main.o lib/libx.a
	$(CC) -o $@ src/main.o -Llib -lx -lm
src/main.o: src/main.c
	cd src && $(CC) -O1 -MMD -MF main.d '-DTEXT="a  \"b\" c"' '-DNAME="a header.h"' -I. -c main.c
lib/libx.a: lib/add.o lib/unused.o
	$(AR) rcs $@ $^
lib/%.o: lib/%.c
	$(CC) -c -Wall -g -o $@ $<
M
ok 'a build with an archive' make -s -C b CC=inline-cc AR=ar
is 'its program is what the compiler makes of it' 'a  "b" c 2 1' ./b/prog
ok 'dependencies are written as asked' test -s b/src/main.d
records() { objcopy -O binary --dump-section .millrace.cc=rec "$1" copy && cat rec; }
is 'the program knows its compilations, words with blanks and quotes, and no member of the archive that is not in it' \
"millrace-cc compile $T/b/src main.c -O1 '-DTEXT=\"a  \\\"b\\\" c\"' '-DNAME=\"a header.h\"' -I.
millrace-cc compile $T/b lib/add.c -g" records b/prog
is 'and where each stood in the link: an object, a member of the first archive' \
"order 0 $T/b/src main.c
order 1 $T/b lib/add.c
order 1 $T/b lib/unused.c" bash -c 'objcopy -O binary --dump-section .millrace.ld=rec b/prog copy && sed -n "s/^millrace-cc order/order/p" rec'
mkdir plain
cp -r b/* plain
make -s -C plain -B CC=clang-$llvm AR=ar
code() { objdump -d --no-show-raw-insn "$1" | sed '1,3d' | cksum; }
is 'and is the same code as without us' "$(code plain/prog)" code b/prog
printf 'search x ; x y\nconfirm z\n' > b/program
inline-module --from-build=b --program=prog --out=w b
is 'it is taken apart by its own record' 'add,main' bash -c 'csv-cut -c callee,caller w/calls.csv | grep ^add'
is 'in the order of the link, with the archive they come from' $'main.c,0\nlib/add.c,1' bash -c 'csv-cut -c source,archive w/units.csv | tail -n 2'
is 'a library for the linker comes along' "-L$T/b/lib -lx -lm" bash -c 'csv-cut -c libraries w/program.csv | tail -1'
inline-build --out=again w > built.csv
is 'and built again from there it does the same' 'a  "b" c 2 1' ./again
# one command for all
ok 'sources and link in one command' bash -c 'cd b && inline-cc -O2 "-DTEXT=\"t\"" "-DNAME=\"a header.h\"" -Isrc src/main.c lib/add.c -lm -o one'
is 'it runs' 't 2 1' b/one
is 'two compilations' 2 bash -c 'objcopy -O binary --dump-section .millrace.cc=rec b/one copy; wc -l < rec'
ok 'also where a library and its folder are words of their own' bash -c 'cd b &&
    inline-cc -O2 -D "TEXT=\"t\"" "-DNAME=\"a header.h\"" -I src src/main.c -o one -L lib -l x -l m -Wl,--wrap=add2'
is 'it runs too' 't 2 1' b/one
is 'what the linker is to wrap is remembered' '-Llib -lx -lm -Wl,--wrap=add2' \
    bash -c "objcopy -O binary --dump-section .millrace.ld=rec b/one copy; sed -n 's/^millrace-cc link [^ ]* //p' rec"
is 'and a name that is defined stands with its -D' "'-DTEXT=\"t\"' '-DNAME=\"a header.h\"' -I src" \
    bash -c "objcopy -O binary --dump-section .millrace.cc=rec b/one copy; sed -n 's/.*main.c -O2 //p' rec"
is 'nothing else is left' $'Makefile\nlib\none\nprog\nprogram\nsrc' ls b
# no room, no memory for the record: the compiler's object stands, its status too, and it is said
if [ -e "$B/t/shim.so" ] && ! sanitized; then
    clang-$llvm -c b/lib/add.c -o want.o
    for fault in enospc:1 enospc:2 eio:1 malloc:40 malloc:120 malloc:127; do
        rm -f b/lib/add.o
        SHIM_WHAT=${fault%:*} SHIM_AT=${fault#*:} SHIM_ONLY=inline-cc SHIM_COUNT=$T/count LD_PRELOAD=$B/t/shim.so \
            inline-cc -c b/lib/add.c -o b/lib/add.o 2> err && rc=0 || rc=$?
        rm -f count
        if [ $rc != 0 ]; then [ ! -e b/lib/add.o ] || echo "$fault: exit $rc, and an object"
        elif cmp -s want.o b/lib/add.o; then grep -q 'add.o: how it was made is not recorded' err || echo "$fault: not said"
        else [ "$(records b/lib/add.o | wc -l)" = 1 ] || echo "$fault: half a record"
        fi
    done > wrong 2>&1
    ok 'a build does not fail because of the record' [ ! -s wrong ]
    [ ! -s wrong ] || cat wrong
    rm -f b/lib/add.o
fi
# C++
cat > b/x.cc <<'C'
#include <string>
#include <cstdio>
static std::string twice(const std::string &s) { return s + s; }
int main() { std::puts(twice("ab").c_str()); }
C
ok 'C++' bash -c 'cd b && inline-cc --c++ -O2 x.cc -o x'
is 'it runs too' abab b/x
inline-module --from-build=b --program=x --out=wx b
inline-build --out=x2 wx > built.csv
is 'and is taken apart and built again' abab ./x2
is 'what the compiler refuses is refused, with its status' 1 bash -c 'inline-cc -c nope.c 2> /dev/null; echo $?'
clang-$llvm -DTEXT='"x"' -DNAME='"a header.h"' -Ib/src b/src/main.c b/lib/add.c -lm -o b/foreign
fails 'a program that was built without us says so' 1 "no program 'foreign' that was built with CC=inline-cc" inline-module --from-build=b --program=foreign --out=w2 b
cat > cc.json <<J
[ { "directory": "$T/b", "file": "src/main.c", "command": "cc -DTEXT='\"j\"' -DNAME='\"a header.h\"' -Isrc -c -o x.o src/main.c" },
  { "directory": "$T/b", "file": "lib/add.c", "arguments": ["cc", "-O3", "-c", "lib/add.c"], "output": "add.o" } ]
J
inline-module --commands=cc.json --libraries=-lm --out=w3 b
inline-build --out=json w3 > built.csv
is 'a compile_commands.json' 'j 2 1' ./json
echo '[{"directory": 3}]' > bad.json
fails 'a bad one' 1 'bad.json:1:.*another kind' inline-module --commands=bad.json --out=w4 b
# one source, two objects of a program
mkdir twice
echo 'int printf(const char *, ...); static int n = N; __attribute__((constructor)) static void say(void) { printf("%d\n", n); }' > twice/x.c
echo 'int main(void) { return 0; }' > twice/main.c
printf 'prog: main.o one.o two.o\n\t$(CC) -o $@ $^\none.o: x.c\n\t$(CC) -DN=1 -c -o $@ x.c\ntwo.o: x.c\n\t$(CC) -DN=20 -c -o $@ x.c\n' > twice/Makefile
printf 'search x ;\nconfirm z ;\n' > twice/program
make -s -C twice CC=inline-cc
inline-module --from-build=twice --program=prog --out=w5 twice
is 'a source that is compiled twice with other flags is in the program twice' $'1\n20' bash -c 'twice/prog | sort -n'
is 'and in what is built from it' $'1\n20' bash -c 'inline-build --out=both w5 > built.csv; ./both | sort -n'
for n in 1 20; do echo "{\"directory\":\"$T/twice\",\"file\":\"x.c\",\"command\":\"cc -DN=$n -c x.c\"}"; done |
    sed "1s/.*/[{\"directory\":\"${T//\//\\/}\/twice\",\"file\":\"main.c\",\"command\":\"cc -c main.c\"},&,/; 2s/$/]/" > twice.json
fails 'compile_commands.json does not say which of them are in one program' 0 'x.c: compiled twice, with other flags' \
    inline-module --commands=twice.json --out=w6 twice
# dependencies of one command for all are those of the program, in the file that the compiler would write
echo '#define V 1' > twice/v.h
echo '#include "v.h"
int main(void) { return V; }' > twice/v.c
for options in '-MMD v.c -o v.exe' '-MMD -MF deps v.c -o v' '-MD -MT all v.c -o v' '-MMD v.c'; do
    same=$(cd twice && rm -f ./*.d deps && clang-$llvm $options && cat ./*.d deps 2> no)
    is "inline-cc $options writes the same dependencies" "$same" \
        bash -c "cd twice && rm -f ./*.d deps && inline-cc $options && { cat ./*.d deps 2> no || true; }"
done
done_testing
