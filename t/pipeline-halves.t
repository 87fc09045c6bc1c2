#!/bin/bash
. "$(dirname "$0")/tap.sh"
. "$root/t/loop-emitted.sh"

# what is stored as f16 or bf16, taken home: beside loops over doubles
cat > p.csv <<'P'
problem,name
(mm 17 45 30 (type f16)),ragged
(mm_tt 33 19 20 (type bf16)),tt
(mm 1 70 40 (then bias relu f16) (type f16)),thin
(conv_nhwc 1 16 9 9 10 3 3 1 (type f16)),conv
(attn 2 21 33 16 (type bf16)),attn
P
loop-emit --object=k.o --c=k_.c --header=k.h p.csv > e.csv
is 'both instruction sets have them, attention of bf16 AMX, too' '4 avx2 avx512
1 avx2 avx512 amx' bash -c 'csv-cut -c isa e.csv | tail -n +2 | uniq -c | sed "s/^ *//"'
is 'the header says what is stored' 'int tt(float *c, const uint16_t *a, const uint16_t *b);' grep 'int tt(' k.h
is 'and V is, too' 'int attn(float *c, const uint16_t *a, const uint16_t *b, const uint16_t *v);' grep 'int attn(' k.h
cat > call.c <<'C'
#include "k.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* eighths, which both have without a loss: as doubles, and the upper bits of their floats as halves */
static void draw(double *d, uint16_t *h, long n, int f16)
{
    for (long i = 0; i < n; i++) {
        float x = (float)(rand() % 31 - 15) / 8;
        uint32_t u;
        memcpy(&u, &x, 4);
        d[i] = x;
        h[i] = (uint16_t)(!f16 ? u >> 16 : x == 0 ? 0 : (u >> 16 & 0x8000) | (((u & 0x7fffffff) - (112u << 23)) >> 13));
    }
}
static int far(double got, double want) { return !(fabs(got - want) <= 1e-5 * (1 + fabs(want))); }
static double a[4000], b[4000], v[4000];
static uint16_t ah[4000], bh[4000], vh[4000], out[4000];
static float c[4000], bias[100];
/* exact memory, for the sanitizers */
static uint16_t *own(const uint16_t *h, long n) { return memcpy(malloc(n * 2), h, n * 2); }
static int product(int (*f)(float *, const uint16_t *, const uint16_t *), int t, int m, int n, int k, int f16)
{
    draw(a, ah, m * k, f16), draw(b, bh, k * n, f16);
    uint16_t *x = own(ah, m * k), *y = own(bh, k * n);
    int bad = 0;
    f(c, x, y);
    free(x), free(y);
    for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) {
        double s = 0;
        for (int l = 0; l < k; l++) s += a[t ? l * m + i : i * k + l] * b[t ? j * k + l : l * n + j];
        bad |= far(c[i * n + j], s);
    }
    return bad;
}
static int layer(void)                                   /* sums of eighths times eighths: all of them are f16 here */
{
    draw(a, ah, 40, 1), draw(b, bh, 40 * 70, 1);
    for (int i = 0; i < 40; i++) a[i] = ah[i] = 0;
    a[3] = 1, ah[3] = 0x3c00;
    for (int j = 0; j < 70; j++) bias[j] = (float)(j % 5);
    thin(out, ah, bh, bias, NULL);
    int bad = 0;
    for (int j = 0; j < 70; j++) {
        double s = fmax(0, b[3 * 70 + j] + bias[j]), e = out[j] >> 10;
        bad |= far(out[j] ? ldexp(1024 + (out[j] & 1023), (int)e - 25) : 0, s);
    }
    return bad;
}
static int convolution(void)
{
    draw(a, ah, 9 * 9 * 16, 1), draw(b, bh, 9 * 16 * 10, 1);
    conv(c, ah, bh);
    int bad = 0;
    for (int y = 0; y < 7; y++) for (int x = 0; x < 7; x++) for (int m = 0; m < 10; m++) {
        double s = 0;
        for (int p = 0; p < 3; p++) for (int q = 0; q < 3; q++) for (int i = 0; i < 16; i++)
            s += a[((y + p) * 9 + x + q) * 16 + i] * b[((p * 3 + q) * 16 + i) * 10 + m];
        bad |= far(c[(y * 7 + x) * 10 + m], s);
    }
    return bad;
}
static int attention(void)
{
    enum { H = 2, Q = 21, K = 33, D = 16 };
    draw(a, ah, H * Q * D, 0), draw(b, bh, H * K * D, 0), draw(v, vh, H * K * D, 0);
    uint16_t *x = own(ah, H * Q * D), *y = own(bh, H * K * D), *z = own(vh, H * K * D);
    int bad = 0;
    attn(c, x, y, z);
    free(x), free(y), free(z);
    for (int h = 0; h < H; h++) for (int i = 0; i < Q; i++) {
        double s[K], sum = 0;
        for (int j = 0; j < K; j++) {
            s[j] = 0;
            for (int l = 0; l < D; l++) s[j] += a[(h * Q + i) * D + l] * b[(h * K + j) * D + l];
            sum += s[j] = exp(s[j] / 4);
        }
        for (int l = 0; l < D; l++) {
            double w = 0, size = 0;
            for (int j = 0; j < K; j++) w += s[j] / sum * v[(h * K + j) * D + l];
            for (int j = 0; j < K; j++) size += s[j] / sum * fabs(v[(h * K + j) * D + l]);
            /* by the unit for bf16 each weight is rounded to that */
            bad |= fabs(c[(h * Q + i) * D + l] - w) > (attn_isa() & 36 ? size / 256 : 0) + 1e-5 * (1 + fabs(w));
        }
    }
    return bad;
}
int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) return printf("%d\n", ragged_isa()), 0;
    int bad = ragged_test() | tt_test() | thin_test() | conv_test() | attn_test();
    bad |= product(ragged, 0, 17, 45, 30, 1) | product(tt, 1, 33, 19, 20, 0) | layer() * 2 | convolution() * 4 |
           attention() * 8;
    if (bad) printf("%d\n", bad);
    puts(bad ? "wrong" : "right");
    return bad;
}
C
called
# what is not there is refused by name
for bad in '(mm_bf16 8 8 8 (type f16))' '(point 8 8 (type f16))'; do
    printf 'problem\n%s\n' "$bad" > bad.csv
    fails "$bad" 1 'bad.csv:2: .*[(]type f16[)] is for sums of products' loop-act bad.csv
done
is 'a set of halves' '(mm 384 1 384 (type f16))' bash -c "loop-gen --set=thin --type=f16 --test=0 | sed -n 2p | sed 's/,.*//'"
is 'attention of bf16' '(attn 12 128 128 64 (type bf16))' bash -c "loop-gen --set=attention --type=bf16 --test=0 | sed -n 2p | sed 's/,.*//'"
# NAME_test has a decoder of its own
printf 'problem,name\n(mm 9 17 33 (type e5m2)),f\n' > byte.csv
loop-emit --c=byte.c byte.csv > /dev/null
printf 'int f_test(void);\nint main(void) { return f_test() ? 1 : 0; }\n' > judge.c
sed '/half_e5m2(uint32_t h)/,/^}/s/return \(.*\);/return ((h >> 2 \& 31) == 16 ? 2 : 1) * (\1);/' byte.c > doubled.c
ok 'f_test: right' eval 'cc -O1 -o judge judge.c byte.c && ./judge'
ok 'f_test: numbers of one exponent are taken twice as large' eval '! cmp -s byte.c doubled.c && cc -O1 -o judge judge.c doubled.c && ! ./judge'
done_testing
