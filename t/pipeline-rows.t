#!/bin/bash
# NAME_rows: products of 1 to 200 rows by one layout of the weights, beside loops over doubles; nothing behind C is touched
. "$(dirname "$0")/tap.sh"
needs gcc
cat > p.csv <<'P'
problem,name
(nest (sizes (m 20) (n 1024) (k 128)) (A m k) (B k n) (C m n) (weights packed)),wide
(nest (sizes (m 5) (n 70) (k 33)) (A m k) (B k n) (C m n) (then bias relu) (weights packed)),ragged
(nest (sizes (m 1) (n 1) (k 5)) (A m k) (B k n) (C m n) (then bias) (weights packed)),one
(mm_q4z 7 192 64 16),words
(mm_s8s8 40 96 64),bytes
P
cat > c.c <<'C'
#include "k.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned state = 1;
static int draw(int n) { state = state * 1664525 + 1013904223; return (int)(state >> 16) % n; }
enum { MOST = 200, WIDEST = 1024, LONGEST = 128 };
static double a[MOST * LONGEST], b[LONGEST * WIDEST], want[MOST * WIDEST];
static float fa[MOST * LONGEST], fb[LONGEST * WIDEST], packed[1 << 18], bias[WIDEST];
static int8_t sa[MOST * LONGEST], sb[LONGEST * WIDEST];
enum { FLOATS, RAGGED, ONE, WORDS, BYTES };
static void run(int what, int64_t m, void *c)
{
    if (what == FLOATS) wide_rows(m, c, fa, packed);
    if (what == RAGGED) ragged_rows(m, c, fa, packed, bias, NULL);
    if (what == ONE) one_rows(m, c, fa, packed, bias, NULL);
    if (what == WORDS) words_rows(m, c, fa, (uint32_t *)packed);
    if (what == BYTES) bytes_rows(m, c, sa, (int8_t *)packed);
}
static int step = 1;
static long wrong(int what, int n, int k)
{
    long bad = 0;
    uint32_t *w = (uint32_t *)fb;
    for (int i = 0; i < MOST * k; i++) a[i] = fa[i] = sa[i] = (int8_t)(draw(9) - 4);
    for (int i = 0; i < k * n; i++) b[i] = sb[i] = (int8_t)(draw(9) - 4);
    for (int i = 0; i < n; i++) bias[i] = (float)(draw(9) - 4);
    for (int i = 0; i < k * n && what < WORDS; i++) fb[i] = (float)b[i];
    if (what == WORDS) {
        float *scale = fb + k / 8 * n, *zero = scale + k / 16 * n;
        for (int i = 0; i < k / 8 * n; i++) w[i] = (uint32_t)draw(65536) << 16 | (uint32_t)draw(65536);
        for (int i = 0; i < k / 16 * n; i++) scale[i] = (float)(1 + draw(3)) / 2, zero[i] = (float)draw(16);
        for (int i = 0; i < k * n; i++)
            b[i] = ((w[i / n / 8 * n + i % n] >> i / n % 8 * 4 & 15) - (double)zero[i / n / 16 * n + i % n]) *
                   (double)scale[i / n / 16 * n + i % n];
    }
    const size_t all[] = { wide_packed * 4, ragged_packed * 4, one_packed * 4, words_packed * 4, bytes_packed };
    memset(packed, 85, sizeof packed);
    if (what == FLOATS) wide_pack(packed, fb);
    if (what == RAGGED) ragged_pack(packed, fb);
    if (what == ONE) one_pack(packed, fb);
    if (what == WORDS) words_pack((uint32_t *)packed, w);
    if (what == BYTES) bytes_pack((int8_t *)packed, sb);
    for (size_t i = all[what]; i < sizeof packed; i++) bad += ((char *)packed)[i] != 85;
    for (int i = 0; i < MOST * n; i++) {
        want[i] = what == RAGGED || what == ONE ? (double)bias[i % n] : 0;
        for (int j = 0; j < k; j++) want[i] += a[i / n * k + j] * b[j * n + i % n];
        if (what == RAGGED) want[i] = fmax(want[i], 0);
    }
    for (int m = 0; m <= MOST; m += step) {
        float *c = malloc(sizeof *c * (size_t)(m * n + n));
        for (int i = 0; i < m * n + n; i++) c[i] = -77;
        run(what, m, c);
        for (int i = 0; i < m * n + n; i++) {
            double got = what == BYTES && i < m * n ? (double)((int32_t *)c)[i] : (double)c[i];
            bad += got != (i < m * n ? want[i] : -77);
        }
        free(c);
    }
    return bad;
}
int main(int argc, char **argv)
{
    if (argc > 1) step = atoi(argv[1]);
    printf("%ld %ld %ld %ld %ld\n", wrong(FLOATS, 1024, 128), wrong(RAGGED, 70, 33), wrong(ONE, 1, 5), wrong(WORDS, 192, 64), wrong(BYTES, 96, 64));
    printf("%d\n", wide_test() | ragged_test() | one_test() | words_test() | bytes_test());
    return 0;
}
C
ok 'they are emitted' loop-emit --rows --object=k.o --header=k.h p.csv
gcc -O1 -o run c.c k.o -lm
is '0 to 200 rows' "0 0 0 0 0
0" ./run
if command -v qemu-x86_64 > /dev/null && gcc -static -O1 -o still c.c k.o -lm 2> err; then
    for cpu in Haswell Nehalem; do is "some of them on $cpu" "0 0 0 0 0
0" bash -c "qemu-x86_64 -cpu $cpu ./still 100 2> /dev/null"; done
fi
fails 'a product that is not packed' 1 'any number of rows is for a product of two matrices' bash -c "printf 'problem\\n(mm 4 5 6)\\n' | loop-emit --rows --object=x.o"
fails 'the C text' 2 '--rows is for --object and --shared' loop-emit --rows --c=x.c p.csv
done_testing
