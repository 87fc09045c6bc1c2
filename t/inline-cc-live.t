#!/bin/bash
# builds by cmake and meson with CC=inline-cc: C and C++, flags with blanks, archives that are thin and that are not
. "$(dirname "$0")/tap.sh"
need_llvm objcopy
needs clang++-$llvm
cat > add.c <<'C'
int add(int a, int b) { return a + b; }
C
cat > main.c <<'C'
#include <stdio.h>
int add(int, int);
int main(int argc, char **argv) { printf("%s %d\n", TEXT, add(argc, 1)); (void)argv; return 0; }
C
cat > two.cc <<'C'
#include <cstdio>
static int twice(int x) { return 2 * x; }
struct S { int v; int get() const { return twice(v); } };
int main(int argc, char **) { S s{argc}; std::printf("%s %d\n", TEXT, s.get()); return 0; }
C
printf 'search x ; x y\nconfirm z\n' > program
cat > CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.13)
project(p C CXX)
add_library(x STATIC add.c)
add_executable(prog main.c)
target_compile_definitions(prog PRIVATE "TEXT=\"a  b\"")
target_link_libraries(prog x)
add_executable(two two.cc)
target_compile_definitions(two PRIVATE "TEXT=\"c  d\"")
C
cat > meson.build <<'C'
project('p', 'c', 'cpp')
x = static_library('x', 'add.c')
executable('prog', 'main.c', link_with: x, c_args: ['-DTEXT="a  b"'])
executable('two', 'two.cc', cpp_args: ['-DTEXT="c  d"'])
C
export CC=inline-cc CXX='inline-cc --c++'
# taken_apart NAME FOLDER: the two programs of a build, their compilations and calls, and what comes out of them again
taken_apart() {
    inline-module --from-build="$2" --program=prog --out="$2.w" .
    is "$1: each compilation, and the archive it came from" $'main.c 0\nadd.c 1' \
        bash -c "csv-cut -c source,archive $2.w/units.csv | tail -n 2 | sed 's,.*/,,; s/,/ /'"
    ok "$1: the archive is no library besides" bash -c "! csv-cut -c libraries $2.w/program.csv | grep libx"
    inline-build --out=again "$2.w" > built.csv
    is "$1: built again, flags with blanks and all, it does the same" 'a  b 2' ./again
    inline-module --from-build="$2" --program=two --out="$2.w2" .
    is "$1: calls of C++" $'_ZL5twicei,_ZNK1S3getEv\n_ZNK1S3getEv,main' \
        bash -c "csv-cut -c callee,caller $2.w2/calls.csv | tail -n +2 | sort"
    inline-build --out=again "$2.w2" > built.csv
    is "$1: built again it does the same" 'c  d 2' ./again
}
if command -v cmake > /dev/null && command -v make > /dev/null; then
    ok 'cmake builds' bash -c 'cmake -S . -B c -DCMAKE_BUILD_TYPE=Release > log 2>&1 && cmake --build c >> log 2>&1'
    taken_apart cmake c
else
    skip cmake 'it is not here'
fi
if command -v meson > /dev/null && command -v ninja > /dev/null; then
    ok 'meson builds' bash -c 'meson setup --buildtype=release m > log 2>&1 && ninja -C m >> log 2>&1'
    taken_apart meson m
else
    skip meson 'it is not here'
fi
mkdir t
inline-cc -O2 -c -o t/a_member_with_a_long_name.o add.c
inline-cc -O2 -c '-DTEXT="a  b"' -o t/main.o main.c
for thin in '' --thin; do
    rm -f t/libx.a
    (cd t && ar rcs $thin libx.a a_member_with_a_long_name.o)
    inline-cc -o "t/prog$thin" t/main.o -Lt -lx
    objcopy -O binary --dump-section .millrace.ld="record$thin" "t/prog$thin" copy
done
# gnu89's extern inline is no definition for others: what C a source is in must reach the text that is compiled again
mkdir old
for f in one two; do printf 'extern __inline int twice(int x) { return 2 * x; }\nint %s(int x) { return twice(x) + 1; }\n' $f > old/$f.c; done
printf 'int twice(int x) { return 2 * x; }\nint one(int), two(int);\nint main(int n, char **v) { (void)v; return one(n) + two(n) - 6; }\n' > old/main.c
for f in one two main; do inline-cc -O2 -ansi -c -o old/$f.o old/$f.c; done
inline-cc -o old/prog old/one.o old/two.o old/main.o
ok 'C of 1989: taken apart' inline-module --from-build=old --program=prog --out=old.w .
ok 'and built again' bash -c 'inline-build --out=again old.w > built.csv && ./again'
is 'a thin archive is recorded as one that holds its members' "$(cksum < record)" bash -c 'cksum < record--thin'
done_testing
