#!/bin/bash
# what follows a sum: emitted kernels against loops over doubles and libm's erf, on every way that they take
. "$(dirname "$0")/tap.sh"
. "$root/t/loop-emitted.sh"
cat > p.csv <<'P'
problem,name
"(mm 37 50 65 (then bias gelu))",gelu
"(mm_nt 20 33 40 (then (over 8) residual relu))",scaled
"(mm 100 70 300 (then residual bias relu bf16))",cast
"(mm_tn 9 1 30 (then bias relu))",thin
"(conv 2 5 9 9 20 3 3 1 (then bias relu))",nchw
"(conv_nhwc 1 6 9 8 20 3 3 2 (then bias residual relu))",nhwc
"(bmm 3 8 20 9 (then (over 3)))",heads
"(mm_bf16 6 40 20 (then bias gelu bf16))",little
"(mm_u8s8 6 40 20 (then (over 16) bias))",bytes
P
loop-emit --object=k.o --header=k.h --c=k.c p.csv > e.csv
is 'all are emitted' 9 eval 'csv-where -c bytes --known e.csv | sed 1d | wc -l'
ok 'the header has what they need' grep -q 'int cast(uint16_t \*c, const float \*a, const float \*b, const float \*bias, const float \*residual);' k.h
cat > main.c <<'C'
#include "k.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned state = 1;
static float draw(void) { state = state * 1664525 + 1013904223; return (float)(int)(state >> 29) - 3 + (float)(state >> 20 & 15) / 16; }
static float *room(long n) { float *x = malloc(n * sizeof *x); for (long i = 0; i < n; i++) x[i] = draw(); return x; }
static float wide(uint16_t x) { union { uint32_t u; float f; } y = { (uint32_t)x << 16 }; return y.f; }
static double gelu_(double x) { return x * (1 + erf(x / sqrt(2))) / 2; }
static int wrong;
static void check(const char *name, double got, double want, double share)
{
    if (!(fabs(got - want) <= 2e-5 * (1 + fabs(want)) + share * fabs(want)) && wrong++ < 5) printf("# %s: %g not %g\n", name, got, want);
}
static void products(void)
{
    float *a = room(100 * 300), *b = room(300 * 100), *c = room(7000), *bias = room(100), *r = room(7000);
    gelu(c, a, b, bias, NULL);
    for (int i = 0; i < 37; i++) for (int j = 0; j < 50; j++) {
        double s = 0;
        for (int k = 0; k < 65; k++) s += (double)a[i * 65 + k] * b[k * 50 + j];
        check("gelu", c[i * 50 + j], gelu_(s + bias[j]), 0);
    }
    scaled(c, a, b, NULL, r);
    for (int i = 0; i < 20; i++) for (int j = 0; j < 33; j++) {
        double s = 0;
        for (int k = 0; k < 40; k++) s += (double)a[i * 40 + k] * b[j * 40 + k];
        check("scaled", c[i * 33 + j], fmax(s / 8 + r[i * 33 + j], 0), 0);
    }
    uint16_t *small = malloc(7000 * 2);
    cast(small, a, b, bias, r);
    for (int i = 0; i < 100; i++) for (int j = 0; j < 70; j++) {
        double s = 0;
        for (int k = 0; k < 300; k++) s += (double)a[i * 300 + k] * b[k * 70 + j];
        check("cast", wide(small[i * 70 + j]), fmax(s + r[i * 70 + j] + bias[j], 0), 1 / 256.);
    }
    thin(c, a, b, bias, NULL);
    for (int i = 0; i < 9; i++) {
        double s = 0;
        for (int k = 0; k < 30; k++) s += (double)a[k * 9 + i] * b[k];
        check("thin", c[i], fmax(s + bias[0], 0), 0);
    }
    heads(c, a, b, NULL, NULL);
    for (int l = 0; l < 3; l++) for (int i = 0; i < 8; i++) for (int j = 0; j < 20; j++) {
        double s = 0;
        for (int k = 0; k < 9; k++) s += (double)a[(l * 8 + i) * 9 + k] * b[(l * 9 + k) * 20 + j];
        check("heads", c[(l * 8 + i) * 20 + j], s / 3, 0);
    }
}
static void windows(void)
{
    float *a = room(2000), *b = room(2000), *c = room(2000), *bias = room(20), *r = room(2000);
    nchw(c, a, b, bias, NULL);
    for (int n = 0; n < 2; n++) for (int m = 0; m < 20; m++) for (int y = 0; y < 7; y++) for (int x = 0; x < 7; x++) {
        double s = bias[m];
        for (int i = 0; i < 5; i++) for (int p = 0; p < 3; p++) for (int q = 0; q < 3; q++)
            s += (double)a[((n * 5 + i) * 9 + y + p) * 9 + x + q] * b[((m * 5 + i) * 3 + p) * 3 + q];
        check("nchw", c[((n * 20 + m) * 7 + y) * 7 + x], fmax(s, 0), 0);
    }
    nhwc(c, a, b, bias, r);
    for (int y = 0; y < 4; y++) for (int x = 0; x < 3; x++) for (int m = 0; m < 20; m++) {
        double s = bias[m] + r[(y * 3 + x) * 20 + m];
        for (int i = 0; i < 6; i++) for (int p = 0; p < 3; p++) for (int q = 0; q < 3; q++)
            s += (double)a[((y * 2 + p) * 8 + x * 2 + q) * 6 + i] * b[((p * 3 + q) * 6 + i) * 20 + m];
        check("nhwc", c[(y * 3 + x) * 20 + m], fmax(s, 0), 0);
    }
}
static void narrow(void)
{
    uint16_t a[6 * 20], b[20 * 40], c[240], packed[little_packed];
    uint8_t u[6 * 20];
    int8_t s8[20 * 40], bytes_b[bytes_packed];
    float *bias = room(40), *f = room(240);
    for (int i = 0; i < 120; i++) a[i] = (uint16_t)(0x3f80 + (i * 37 % 128) + (i % 3 ? 0 : 0x8000)), u[i] = (uint8_t)(i * 101);
    for (int i = 0; i < 800; i++) b[i] = (uint16_t)(0x3f00 + i * 53 % 128 + (i % 2 ? 0x8000 : 0)), s8[i] = (int8_t)(i * 71);
    little_pack(packed, b);
    little(c, a, packed, bias, NULL);
    bytes_pack(bytes_b, s8);
    bytes(f, u, bytes_b, bias, NULL);
    for (int i = 0; i < 6; i++) for (int j = 0; j < 40; j++) {
        double s = 0, t = 0;
        for (int k = 0; k < 20; k++) s += (double)wide(a[i * 20 + k]) * wide(b[k * 40 + j]), t += (double)u[i * 20 + k] * s8[k * 40 + j];
        check("half", wide(c[i * 40 + j]), gelu_(s + bias[j]), 1 / 128.);
        check("bytes", f[i * 40 + j], t / 16 + bias[j], 0);
    }
}
int main(void)
{
    products(), windows(), narrow();
    wrong += gelu_test() + scaled_test() + cast_test() + thin_test() + nchw_test() + nhwc_test() + heads_test() + little_test() + bytes_test();
    return wrong != 0;
}
C
emitted -O1
loop-gen --kind=mm --m=24 --n=40 --k=30 --then='bias,gelu' --test=0 > one.csv
is 'loop-gen writes it' '(mm 24 40 30 (then bias gelu))' csv-calc --print=problem one.csv
ok 'searches check it' eval 'loop-search --quiet --algo=heuristic --measure=3 one.csv | csv-cut -c problem,tree | loop-run --again=2 | csv-calc --print=checked | tail -n 1 | grep -qx 1'
loop-act one.csv | loop-run --backend=c > c.csv
is 'its C text is right' 1 csv-calc --print=checked c.csv
bad() { printf 'problem\n"%s"\n' "$1" > bad.csv; loop-act bad.csv; }
fails 'an unknown word' 1 "unknown 'swish'" bad '(mm 2 2 2 (then swish))'
fails 'bf16 is the last' 1 'relu in .then .... after bf16' bad '(mm 2 2 2 (then bf16 relu))'
fails 'twice' 1 'bias in .then .... after bias' bad '(mm 2 2 2 (then bias bias))'
fails 'a bad divisor' 1 'over' bad '(mm 2 2 2 (then (over 0)))'
fails 'none' 1 'without a word' bad '(mm 2 2 2 (then))'
fails 'not after a copy' 1 'sums of products' bad '(transp 2 2 (then relu))'
done_testing
