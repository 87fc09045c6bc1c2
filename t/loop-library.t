#!/bin/bash
. "$(dirname "$0")/tap.sh"

lib=$B/libmillrace-loop.a
[ -e "$lib" ] || { skip 'the library' 'not built'; done_testing; exit; }
is 'its names are its own' 'millrace_loop
millrace_loop_any
millrace_loop_error' bash -c "nm -g --defined-only $lib | sed -n 's/.* [TDBRVW] //p' | sort"
cat > use.c <<'C'
#include "millrace_loop.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const char *cache;
static void *again(void *p) { return (void *)(size_t)(millrace_loop("(mm 20 30 40)", cache, 1) == (millrace_kernel *)p); }
int main(int argc, char **argv)
{
    static float a[20 * 40], b[40 * 30], c[20 * 30];
    cache = argc > 1 ? argv[1] : NULL;
    millrace_kernel *f = millrace_loop("(mm 20 30 40)", cache, 2);
    if (!f) return puts(millrace_loop_error()), 1;
    int bad = 0;
    for (int i = 0; i < 800; i++) a[i] = i % 7 - 3;
    for (int i = 0; i < 1200; i++) b[i] = i % 5 - 2;
    f(c, a, b);
    for (int i = 0; i < 20; i++) for (int j = 0; j < 30; j++) {
        double s = 0;
        for (int k = 0; k < 40; k++) s += (double)a[i * 40 + k] * b[k * 30 + j];
        bad |= s != c[i * 30 + j];
    }
    static double da[9 * 40], db[40 * 30], dc[9 * 30];   /* doubles, and floats of another function */
    for (int i = 0; i < 360; i++) da[i] = i % 7 / 3.0;
    for (int i = 0; i < 1200; i++) db[i] = i % 5 / 7.0;
    millrace_kernel_any *g = millrace_loop_any("(mm 9 30 40 (type f64))", NULL, 2);
    if (!g) return puts(millrace_loop_error()), 1;
    g(dc, da, db);
    for (int i = 0; i < 9; i++) for (int j = 0; j < 30; j++) {
        double s = dc[i * 30 + j];
        for (int k = 0; k < 40; k++) s -= da[i * 40 + k] * db[k * 30 + j];
        bad |= s > 1e-12 || s < -1e-12;
    }
    bad |= millrace_loop_any("(mm_bf16 8 8 8)", NULL, 0) != NULL || !strstr(millrace_loop_error(), "packed");
    bad |= millrace_loop("(mm 8 8 8 (type f16))", NULL, 0) != NULL || !strstr(millrace_loop_error(), "not of float");
    bad |= (void (*)(void))millrace_loop_any("(mm 20 30 40)", cache, 1) != (void (*)(void))f;
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, again, (void *)f);
    for (int i = 0; i < 4; i++) {
        void *same;
        pthread_join(t[i], &same);
        bad |= !same;
    }
    bad |= strcmp(millrace_loop_error(), "") != 0;
    bad |= millrace_loop("(mm 20 0 40)", NULL, 0) != NULL || !strstr(millrace_loop_error(), "must be at least 1");
    bad |= millrace_loop("nonsense(", NULL, 0) != NULL || !*millrace_loop_error();
    bad |= millrace_loop("(reduce 4 5)", NULL, 0) == NULL || millrace_loop("(mm_nt 8 300 8)", NULL, 0) == NULL;
    puts(bad ? "wrong" : "right");
    return bad;
}
C
counted=
if nm "$lib" 2> /dev/null | grep -q __gcov_init; then counted=$(gcc -print-file-name=libgcov.a); fi    # make coverage
for cc in gcc clang; do
    if ! command -v $cc > /dev/null; then skip "$cc" 'not here'; continue; fi
    $cc -O1 -I"$root/lib/loop" -o use use.c "$lib" $counted -lcsv -lm -lpthread -ldl
    is "$cc: problems in, functions out; what is wrong is said, and the program lives" 'right' ./use
    is 'with a cache' 'right' ./use cache.csv
    is 'which is used again' 'right' ./use cache.csv
done
is 'and has a row for each problem' 2 bash -c 'wc -l < cache.csv'
done_testing
