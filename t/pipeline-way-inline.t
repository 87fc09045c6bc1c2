#!/bin/bash
# millrace inline DIR: a folder with a Makefile, to one table and the flags
. "$(dirname "$0")/tap.sh"
need_llvm qemu-x86_64 gnuplot make
needs ld.lld-$llvm llvm-profdata-$llvm
mkdir mine
cat > mine/main.c <<'X'
#include <stdio.h>
#include <stdlib.h>
unsigned mix(unsigned);
int main(int argc, char **argv)
{
    unsigned x = 1;
    for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 9); i++) x = mix(x + (unsigned)i);
    printf("%u\n", x);
    return 0;
}
X
echo 'unsigned mix(unsigned x) { x ^= x >> 7; x *= 2654435761u; return x ^ x >> 11; }' > mine/mix.c
printf 'mine: main.o mix.o\n\t$(CC) $(CFLAGS) -o $@ main.o mix.o\n%%.o: %%.c\n\t$(CC) $(CFLAGS) -c -o $@ $<\n' > mine/Makefile
cp -r mine untouched
millrace=$BIN/millrace
printf 'build make CFLAGS=-O2 CC=@CC@\nsearch ./mine 50000\nconfirm ./mine 60000 ; ./mine 70000\n' > mine/program
ok 'what it would do' bash -c "'$millrace' inline -n -o out mine | grep -q 'FROM=.*BINARY=mine'"
run() {
    INLINE_ROWS='O2 lto lto-pgo' INLINE_GOALS=learned INLINE_EVALS=2 INLINE_STARTS=--threshold=100 INLINE_ROUNDS=2 \
        "$millrace" inline -o out mine > log 2>&1 || { cat log; return 1; }
}
ok 'from a Makefile to a table' run
is 'a row a build, and what is accepted' 'O2 accepted learned lto lto-irn lto-pgo' bash -c \
    "csv-where -c base --is=O2 out/inline/mine/row.csv | csv-calc --print=label | LC_ALL=C sort | xargs"
is 'it ends with what to do' 'mine: too few rounds to keep anything: keep your flags' tail -n 1 log
code() { objcopy -O binary --only-section=.text "$1" "$1.text" && sha256sum < "$1.text"; }
ok 'flags of the row make the same program by its own Makefile' eval 'cp -r untouched again &&
    xargs -a out/inline/mine/lto-pgo.stock/make.args make -s -B -C again CFLAGS= && [ "$(code again/mine)" = "$(code out/inline/mine/lto-pgo)" ]'
rm mine/program
ok 'the folder is as it was' diff -r untouched mine
fails 'no such folder' 2 'nowhere: no such folder' "$millrace" inline nowhere
done_testing
