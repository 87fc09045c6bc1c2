#!/bin/bash
. "$(dirname "$0")/tap.sh"
. "$root/t/loop-emitted.sh"

# products and a convolution of doubles, taken home: beside loops over long doubles, which floats would not reach
cat > p.csv <<'X'
problem,name
(mm 17 45 30 (type f64)),ragged
(mm_nt 21 36 40 (type f64)),nt
(mm_tt 33 19 20 (type f64)),tt
(mm_tn 1 40 33 (type f64)),thin
(mm 90 1 70 (type f64)),vector
(conv_nhwc 1 16 9 9 10 3 3 1 (type f64)),conv
X
loop-emit --object=k.o --shared=libk.so --c=k_.c --header=k.h p.csv > e.csv
is 'both instruction sets have them' '6 avx2 avx512' bash -c 'csv-cut -c isa e.csv | tail -n +2 | uniq -c | sed "s/^ *//"'
is 'the header says double' 'int nt(double *c, const double *a, const double *b);' grep 'int nt(' k.h
cat > call.c <<'C'
#include "k.h"
#include <stdio.h>
#include <stdlib.h>
typedef int plain_fn(double *, const double *, const double *);
typedef int ld_fn(double *, int64_t, const double *, int64_t, const double *, int64_t);
static double draw(void) { return rand() / (double)RAND_MAX - 0.3; }
static double *some(long n)
{
    double *x = malloc(n * sizeof *x);
    for (long i = 0; i < n; i++) x[i] = draw();
    return x;
}
static int far(double got, long double want) { long double d = got - want; return !((d < 0 ? -d : d) <= 1e-13L); }
static int bad(plain_fn *f, ld_fn *g, int ta, int tb, long m, long n, long k, long pad)
{
    long lda = (ta ? m : k) + pad, ldb = (tb ? k : n) + pad, ldc = n + pad, rows = (ta ? k : m), cols = (tb ? n : k);
    double *a = some((rows - 1) * lda + lda - pad), *b = some((cols - 1) * ldb + ldb - pad);
    double *c = some((m - 1) * ldc + n);
    int wrong = 0;
    if (pad) g(c, ldc, a, lda, b, ldb);
    else f(c, a, b);
    for (long i = 0; i < m; i++)
        for (long j = 0; j < n; j++) {
            long double s = 0;
            for (long l = 0; l < k; l++) s += (long double)a[ta ? l * lda + i : i * lda + l] * b[tb ? j * ldb + l : l * ldb + j];
            wrong |= far(c[i * ldc + j], s);
        }
    free(a), free(b), free(c);
    return wrong;
}
static int bad_conv(void)
{
    double *a = some(9 * 9 * 16), *b = some(3 * 3 * 16 * 10), *c = some(7 * 7 * 10);
    int wrong = 0;
    conv(c, a, b);
    for (int y = 0; y < 7; y++) for (int x = 0; x < 7; x++) for (int m = 0; m < 10; m++) {
        long double s = 0;
        for (int p = 0; p < 3; p++) for (int q = 0; q < 3; q++) for (int i = 0; i < 16; i++)
            s += (long double)a[((y + p) * 9 + x + q) * 16 + i] * b[((p * 3 + q) * 16 + i) * 10 + m];
        wrong |= far(c[(y * 7 + x) * 10 + m], s);
    }
    free(a), free(b), free(c);
    return wrong;
}
int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) return printf("%d\n", ragged_isa()), 0;
    int wrong = ragged_test() | nt_test() | tt_test() | thin_test() | vector_test() | conv_test() | bad_conv();
    for (long pad = 0; pad < 4; pad += 3)
        wrong |= bad(ragged, ragged_ld, 0, 0, 17, 45, 30, pad) | bad(nt, nt_ld, 0, 1, 21, 36, 40, pad) |
                 bad(tt, tt_ld, 1, 1, 33, 19, 20, pad) | bad(thin, thin_ld, 1, 0, 1, 40, 33, pad) |
                 bad(vector, vector_ld, 0, 0, 90, 1, 70, pad);
    puts(wrong ? "wrong" : "right");
    return wrong;
}
C
called
if /usr/bin/python3 -c 'import numpy' 2> /dev/null; then
    cat > call.py <<'P'
import ctypes, numpy as np
f = np.ctypeslib.ndpointer(np.float64, flags='C_CONTIGUOUS')
nt = ctypes.CDLL('./libk.so').nt
nt.argtypes = [f, f, f]
a, b, c = (np.random.default_rng(1).standard_normal(s) for s in ((21, 40), (36, 40), (21, 36)))
nt(c, a, b)
assert np.allclose(c, a @ b.T, rtol=0, atol=1e-12)
print('right')
P
    is 'from Python, beside NumPy' 'right' env PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 call.py
else
    skip 'from Python' 'no python3-numpy'
fi
# what is not there is refused by name
for bad in '(attn 1 8 8 8 (type f64))' '(point 8 8 (type f64))' '(mm_bf16 8 8 8 (type f64))'; do
    printf 'problem\n%s\n' "$bad" > bad.csv
    fails "$bad" 1 'bad.csv:2: .*[(]type f64[)] is for one sum of products of floats' loop-act bad.csv
done
printf 'problem\n(mm 8 8 8 (type f8))\n' > bad.csv
fails 'another type' 1 'bad.csv:2: .*[(]type ..[)] is one of f64 f16 bf16' loop-act bad.csv
printf 'problem\n(mm 16384 8 16384 (type f64))\n' > bad.csv
fails 'more than offsets of 32 bits reach' 1 'more than 134217728 doubles' loop-act bad.csv
is 'a set of doubles' '(mm 384 1 384 (type f64))' bash -c "loop-gen --set=thin --type=f64 --test=0 | sed -n 2p | sed 's/,.*//'"
done_testing
