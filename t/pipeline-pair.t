#!/bin/bash
# two contractions in one nest, as attention is: emitted kernels against loops over doubles, on every way that they take
. "$(dirname "$0")/tap.sh"
. "$root/t/loop-emitted.sh"
cat > p.csv <<'P'
problem,name
"(attn 2 37 50 24)",heads
"(nest (sizes (b 2) (q 20) (h 3) (d 16) (k 70) (e 40)) (A b q h d) (B b k h d) (mid (over 4) softmax) (V b k h e) (C b q h e))",rows
"(nest (sizes (m 33) (n 50) (k 17) (o 21)) (A m k) (B k n) (mid gelu) (V n o) (C m o))",layers
P
loop-emit --object=k.o --header=k.h --c=k.c p.csv > e.csv
is 'all are emitted' 3 eval 'csv-where -c bytes --known e.csv | sed 1d | wc -l'
ok 'the header has the fourth tensor' grep -q 'int heads(float \*c, const float \*a, const float \*b, const float \*v);' k.h
ok 'and rows of it apart' grep -q 'heads_ld(.*const float \*v, int64_t ldv);' k.h
cat > main.c <<'C'
#include "k.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static unsigned state = 1;
static float draw(void) { state = state * 1664525 + 1013904223; return (float)(int)(state >> 29) - 3 + (float)(state >> 20 & 15) / 16; }
static float *room(long n) { float *x = malloc(n * sizeof *x); for (long i = 0; i < n; i++) x[i] = draw(); return x; }
static int wrong;
/* one row: `at` strides of keys in b and v, what is made of the scores by `over`, 0: gelu instead of softmax */
static void row(const char *name, const float *c, const float *a, const float *b, long bk, long bd, const float *v, long vk,
                int keys, int d, int e, double over)
{
    double s[100], most = -1e300, sum = 0;
    for (int k = 0; k < keys; k++) {
        s[k] = 0;
        for (int i = 0; i < d; i++) s[k] += (double)a[i] * b[k * bk + i * bd];
        if (over) s[k] /= over;
        else s[k] = s[k] * (1 + erf(s[k] / sqrt(2))) / 2;
        if (s[k] > most) most = s[k];
    }
    for (int k = 0; k < keys && over; k++) sum += s[k] = exp(s[k] - most);
    for (int i = 0; i < e; i++) {
        double want = 0, size = 1;
        for (int k = 0; k < keys; k++) want += s[k] * v[k * vk + i], size += fabs(s[k] * v[k * vk + i]);
        if (over) want /= sum, size /= sum;
        if (!(fabs(c[i] - want) <= 1e-5 * (1 + size)) && wrong++ < 5) printf("# %s: %g not %g\n", name, c[i], want);
    }
}
int main(void)
{
    float *a = room(40000), *b = room(40000), *v = room(40000), *c = room(40000);
    heads(c, a, b, v);
    for (int h = 0; h < 2; h++) for (int q = 0; q < 37; q++)
        row("heads", c + (h * 37 + q) * 24, a + (h * 37 + q) * 24, b + h * 50 * 24, 24, 1, v + h * 50 * 24, 24, 50, 24, 24, sqrt(24));
    rows(c, a, b, v);
    for (int n = 0; n < 2; n++) for (int q = 0; q < 20; q++) for (int h = 0; h < 3; h++)
        row("rows", c + ((n * 20 + q) * 3 + h) * 40, a + ((n * 20 + q) * 3 + h) * 16, b + (n * 70 * 3 + h) * 16, 3 * 16, 1,
            v + (n * 70 * 3 + h) * 40, 3 * 40, 70, 16, 40, 4);
    layers(c, a, b, v);
    for (int m = 0; m < 33; m++) row("layers", c + m * 21, a + m * 17, b, 1, 50, v, 21, 50, 17, 21, 0);
    wrong += heads_test() + rows_test() + layers_test();
    return wrong != 0;
}
C
emitted -O0
ok 'searches check it' eval 'loop-search --quiet --algo=heuristic --measure=3 p.csv | csv-cut -c problem,tree | loop-run --again=2 | csv-calc --print=checked | tail -n 1 | grep -qx 1'
fails 'not added to' 1 'cannot be added to' loop-emit --add p.csv
bad() { printf 'problem\n"%s"\n' "$1" > bad.csv; loop-act bad.csv; }
M='(sizes (m 2) (n 3) (k 4) (o 5)) (A m k) (B k n)'
fails 'an order of words' 1 'relu in .mid .... after softmax' bad "(nest $M (V n o) (C m o) (mid softmax relu))"
fails 'a word of others' 1 'bias is not for .mid' bad "(nest $M (V n o) (C m o) (mid bias))"
fails 'nothing to follow' 1 'without a second contraction' bad "(nest (sizes (m 2) (n 3) (k 4)) (A m k) (B k n) (C m n) (mid relu))"
fails 'and then' 1 'does not go with a second' bad "(nest $M (V n o) (C m o) (then relu))"
fails 'no variable between' 1 'that A and C lack' bad "(nest (sizes (m 2) (k 4) (o 5)) (A m k) (B m k) (V m o) (C m o))"
fails 'the wrong way round' 1 'fastest variable of C and of V' bad "(nest $M (V o n) (C m o))"
done_testing
