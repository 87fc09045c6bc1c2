#!/bin/bash
. "$(dirname "$0")/tap.sh"

lib=$B/libmillrace-loop.a
[ -e "$lib" ] || { skip 'the library' 'not built'; done_testing; exit; }
is 'its names are its own' 'millrace_loop
millrace_loop_any
millrace_loop_error
millrace_loop_get
millrace_loop_pack
millrace_loop_packed
millrace_loop_prepare
millrace_loop_tune
millrace_loop_wait' bash -c "nm -g --defined-only $lib | sed -n 's/.* [TDBRVW] //p' | sort"
cat > use.c <<'C'
#include "millrace_loop.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const char *cache;
static int right(float c, double want) { double d = c - want; return d < 1e-4 && d > -1e-4; }
/* by a key: an epilogue, weights packed once, attention; the model's kernel, then one that was measured */
static int keys(void)
{
    static float a[20 * 40], b[40 * 30], c[20 * 30], bias[30], residual[20 * 30], packed[9 * 16 * 8 * 64];
    int bad = 0;
    for (int i = 0; i < 800; i++) a[i] = i % 7 - 3;
    for (int i = 0; i < 1200; i++) b[i] = i % 5 - 2;
    for (int i = 0; i < 600; i++) bias[i % 30] = i % 30 * 2, residual[i] = i % 11;
    millrace_problem *p = millrace_loop_prepare("(mm 20 30 40 (then bias residual relu))");
    if (!p) return puts(millrace_loop_error()), 1;
    bad |= p != millrace_loop_prepare("( mm 20  30 40 (then bias residual relu) )");
    for (int turn = 0; turn < 2; turn++) {
        millrace_call *f = millrace_loop_get(p);
        if (!f) return puts(millrace_loop_error()), 1;
        bad |= f(c, a, b, bias, residual);
        for (int i = 0; i < 20; i++) for (int j = 0; j < 30; j++) {
            double s = bias[j] + residual[i * 30 + j];
            for (int k = 0; k < 40; k++) s += (double)a[i * 40 + k] * b[k * 30 + j];
            bad |= !right(c[i * 30 + j], s > 0 ? s : 0);
        }
        if (turn) break;
        bad |= millrace_loop_tune(p, cache, 3);
        millrace_loop_wait();
        bad |= millrace_loop_get(p) == f || millrace_loop_get(p) != millrace_loop_get(p);
    }
    millrace_problem *w = millrace_loop_prepare("(conv_nhwc 1 4 6 6 16 3 3 1 (weights packed))");
    if (!w || millrace_loop_tune(w, NULL, 2)) return puts(millrace_loop_error()), 1;
    millrace_pack *pack = millrace_loop_pack(w);
    if (!pack || millrace_loop_packed(w) < 3 * 3 * 4 * 16) return puts("pack"), 1;
    pack(packed, b);
    millrace_loop_get(w)(c, a, packed, NULL, NULL);
    for (int i = 0; i < 16; i++) for (int m = 0; m < 16; m++) {
        double s = 0;
        for (int k = 0; k < 36; k++)
            s += (double)a[((i / 4 + k / 12) * 6 + i % 4 + k / 4 % 3) * 4 + k % 4] * b[k * 16 + m];
        bad |= !right(c[i * 16 + m], s);
    }
    bad |= millrace_loop_tune(w, NULL, 2) != -1 || !strstr(millrace_loop_error(), "in use");
    bad |= millrace_loop_pack(p) != NULL || millrace_loop_packed(p) != 0;
    bad |= millrace_loop_prepare("(mm 2 2)") != NULL || !*millrace_loop_error();
    bad |= !millrace_loop_get(p) || *millrace_loop_error();
    return bad;
}
/* memory that this process has touched, in kB: a thread that begins reserves 64 MB and touches little */
static long memory(void)
{
    long pages = 0, kept = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &pages, &kept) != 2) exit(2);
    fclose(f);
    return kept * 4;
}
/* look-ups and errors of all kinds take nothing with them */
static int growth(void)
{
    const char *wrong[] = { "(mm 20 0 40)", "(mm 20 (", "nonsense(", "(conv_nhwc 1 4 6 6 16 9 3 1)", "(mm 4 4 4 (then no))" };
    long had = 0;
    for (int i = 0; i < 20000; i++) {
        if (i == 2000) had = memory();
        millrace_loop("(mm 20 30 40)", NULL, 0);
        if (millrace_loop(wrong[i % 5], NULL, 0)) return 1;
        if (i < 3000 && cache && millrace_loop_any("(mm 7 7 7)", "use.c", 1)) return 1;      /* no cache */
    }
    if (memory() - had > 200) printf("%ld kB more\n", memory() - had);
    int fd = dup(0);
    if (fd > 20) printf("%d descriptors\n", fd);
    return memory() - had > 200 || fd > 20;
}
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
    bad |= f(c, a, b);
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
    bad |= millrace_loop("(mm_bf16 8 8 8)", NULL, 0) != NULL || !strstr(millrace_loop_error(), "packed");
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
    bad |= keys() || growth();
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
head -c -30 cache.csv > torn.csv
is 'whose last row a full disk tore' 'right' bash -c './use torn.csv 2> /dev/null'
printf notes > notes
is 'a file that is none is left as it is' "notes:1: header differs from 'machine,problem,tree'; another version's results? move the file away
notes" bash -c './use notes; cat notes; echo'
is 'and has a row for each problem' 3 bash -c 'wc -l < cache.csv'
done_testing
