#!/bin/bash
. "$(dirname "$0")/tap.sh"
. "$root/t/loop-emitted.sh"

# convolutions with zeros around, whose weights stay and are packed once, taken home: beside loops over doubles
cat > p.csv <<'X'
problem,name
(conv_nhwc 1 20 7 7 100 3 3 1 (pad 1) (weights packed)),unit
(conv_nhwc 2 5 11 9 70 5 3 2 (pad 2 0 1 1) (then bias relu) (weights packed)),strided
(conv 1 9 8 8 33 3 3 1 (pad 1) (weights packed)),planes
"(nest (sizes (m 150) (x 20) (k 30)) (A x k) (B k m) (C x m) (weights packed))",product
X
loop-search --algo=heuristic --eval=model --measure=2 --confirm=0 --quiet p.csv > s.csv
csv-join -k problem s.csv p.csv > n.csv
loop-emit --object=k.o --c=k_.c --header=k.h n.csv > e.csv
is 'both instruction sets have them' '4 avx2 avx512' \
    bash -c 'csv-cut -c isa e.csv | tail -n +2 | uniq -c | sed "s/^ *//"'
is 'no rows apart where weights are packed' 0 bash -c 'grep -c _ld\( k.h || true'
cat > call.c <<'C'
#include "k.h"
#include <stdio.h>
#include <stdlib.h>
static float *some(long n)
{
    float *x = malloc(n * sizeof *x);
    for (long i = 0; i < n; i++) x[i] = rand() % 15 - 7;
    return x;
}
typedef void pack_fn(float *, const float *);
static float *packed(long n, pack_fn *pack, const float *b)
{
    float *x = malloc(n * sizeof *x);
    pack(x, b);
    return x;
}
/* z: images, channels, lines, columns, results, taps down, across, stride, zeros above, below, left, right */
static int far(const float *c, const float *a, const float *b, const float *bias, const int *z, int planes)
{
    const int high = (z[2] + z[8] + z[9] - z[5]) / z[7] + 1, wide = (z[3] + z[10] + z[11] - z[6]) / z[7] + 1;
    int wrong = 0;
    for (int n = 0; n < z[0]; n++) for (int y = 0; y < high; y++) for (int x = 0; x < wide; x++)
    for (int m = 0; m < z[4]; m++) {
        double s = bias ? bias[m] : 0;
        for (int p = 0; p < z[5]; p++) for (int q = 0; q < z[6]; q++) for (int i = 0; i < z[1]; i++) {
            const int h = y * z[7] + p - z[8], w = x * z[7] + q - z[10];
            if (h < 0 || h >= z[2] || w < 0 || w >= z[3]) continue;
            s += planes ? (double)a[((n * z[1] + i) * z[2] + h) * z[3] + w] * b[((m * z[1] + i) * z[5] + p) * z[6] + q]
                        : (double)a[((n * z[2] + h) * z[3] + w) * z[1] + i] * b[((p * z[6] + q) * z[1] + i) * z[4] + m];
        }
        if (bias && s < 0) s = 0;
        wrong |= !(c[planes ? ((n * z[4] + m) * high + y) * wide + x : ((n * high + y) * wide + x) * z[4] + m] == s);
    }
    return wrong;
}
int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) return printf("%d\n", unit_isa()), 0;
    int wrong = unit_test() | strided_test() | planes_test() | product_test();
    float *a = some(20000), *b = some(20000), *c = some(60000), *bias = some(210);
    float *p = packed(unit_packed, unit_pack, b);
    unit(c, a, p);
    wrong |= far(c, a, b, 0, (int[]){ 1, 20, 7, 7, 100, 3, 3, 1, 1, 1, 1, 1 }, 0);
    free(p), p = packed(strided_packed, strided_pack, b);
    strided(c, a, p, bias, 0);
    wrong |= far(c, a, b, bias, (int[]){ 2, 5, 11, 9, 70, 5, 3, 2, 2, 0, 1, 1 }, 0);
    free(p);
    p = packed(planes_packed, planes_pack, b);
    planes(c, a, p);
    wrong |= far(c, a, b, 0, (int[]){ 1, 9, 8, 8, 33, 3, 3, 1, 1, 1, 1, 1 }, 1);
    free(p);
    p = packed(product_packed, product_pack, b);
    product(c, a, p);
    wrong |= far(c, a, b, 0, (int[]){ 1, 30, 1, 20, 150, 1, 1, 1, 0, 0, 0, 0 }, 0);
    free(p), free(a), free(b), free(c), free(bias);
    puts(wrong ? "wrong" : "right");
    return wrong;
}
C
called
for bad in '(mm 8 8 8 (weights packed))' '(attn 1 8 8 8 (weights packed))' \
    '(conv_nhwc 1 8 8 8 8 3 3 1 (type f16) (weights packed))'; do
    printf 'problem\n%s\n' "$bad" > bad.csv
    fails "$bad" 1 'bad.csv:2: ' loop-act bad.csv
done
printf 'problem\n(conv_nhwc 1 8 8 8 8 3 3 1 (weights raw))\n' > bad.csv
fails 'another word' 1 'bad.csv:2: .*[(]weights ..[)] is [(]weights packed[)]' loop-act bad.csv
done_testing
