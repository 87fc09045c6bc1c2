#!/bin/bash
. "$(dirname "$0")/tap.sh"
. "$root/t/loop-emitted.sh"

# 60 problems of all kinds, with every operand order, ragged sizes, windows, strides, and inputs that are transposed
{
    loop-gen --kind=mm --m=1,7,64 --n=16,33 --k=1,50 --test=0
    for k in mm_nt mm_tn mm_tt; do loop-gen --kind=$k --m=5,70 --n=19,130 --k=40 --test=0 | tail -n +2; done
    loop-gen --kind=mm_tt --m=90 --n=200 --k=170 --test=0 | tail -n +2
    loop-gen --kind=bmm --b=3 --m=8,13 --n=20 --k=9,32 --test=0 | tail -n +2
    for k in conv conv_nhwc; do
        loop-gen --kind=$k --n=2 --c=3,16 --h=9 --m=5,40 --kh=1,3 --kw=1,3 --s='1|2' --test=0 | tail -n +2
    done
    loop-gen --kind=point --i=7 --j=5,64 --test=0 | tail -n +2
    loop-gen --kind=reduce --i=6,20 --j=40 --test=0 | tail -n +2
    loop-gen --kind=transp --i=5,40 --j=33 --test=0 | tail -n +2
    echo '"(nest (sizes (a 6) (b 17) (c 9) (d 4)) (A d a c) (B c b d) (C b a))",train'
} > p.csv
n=$(($(wc -l < p.csv) - 1))
ok "$n problems" test "$n" -ge 60
loop-emit --object=k.o --shared=libk.so --header=k.h p.csv > e.csv
{ sed -n 1p p.csv; awk 'NR % 6 == 3' p.csv; sed '$!d' p.csv; } > some.csv    # compilers take their time
loop-emit --c=k.c --header=c.h some.csv > ec.csv
is 'all of them are emitted' "$n" bash -c 'csv-where -c bytes --known e.csv | tail -n +2 | wc -l'
is 'the same bytes every time' '' bash -c 'loop-emit --object=l.o --shared=libl.so p.csv > e2.csv; cmp k.o l.o; cmp e.csv e2.csv; loop-emit --c=l.c some.csv > e2.csv; cmp k.c l.c; echo'
loop-emit --object=a.o --add --skip --header=a.h p.csv > ea.csv
is 'but sums alone can be added to' 4 bash -c "csv-where -c reason --is='only a sum can be added to' ea.csv | tail -n +2 | wc -l"

# a caller that knows nothing but the header and the text of the problem: its reference is loops over doubles
cat > caller.h <<'C'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned random_ = 1;
static float draw(void) { random_ = random_ * 1664525 + 1013904223; return (float)(random_ >> 8) / (1 << 23) - 1; }
static float *room(long n, long ld, long row)      /* exactly as much as is allowed to be touched */
{
    float *x = malloc(((n / row - 1) * ld + row) * sizeof *x);
    for (long i = 0; i < (n / row - 1) * ld + row; i++) x[i] = draw();
    return x;
}
typedef int plain_fn(float *, const float *, const float *);
typedef int ld_fn(float *, int64_t, const float *, int64_t, const float *, int64_t);
static void reference(const char *kind, const long *z, double *c, const float *a, const float *b)
{
    if (!strncmp(kind, "conv", 4)) {
        int nhwc = kind[4] == '_';
        long N = z[0], C = z[1], H = z[2], W = z[3], M = z[4], KH = z[5], KW = z[6], S = z[7];
        long P = (H - KH) / S + 1, Q = (W - KW) / S + 1;
        for (long n = 0; n < N; n++) for (long m = 0; m < M; m++) for (long p = 0; p < P; p++) for (long q = 0; q < Q; q++)
        for (long i = 0; i < C; i++) for (long r = 0; r < KH; r++) for (long s = 0; s < KW; s++) {
            long y = p * S + r, x = q * S + s;
            double u = nhwc ? a[((n * H + y) * W + x) * C + i] : a[((n * C + i) * H + y) * W + x];
            double v = nhwc ? b[((r * KW + s) * C + i) * M + m] : b[((m * C + i) * KH + r) * KW + s];
            c[nhwc ? ((n * P + p) * Q + q) * M + m : ((n * M + m) * P + p) * Q + q] += u * v;
        }
    } else if (!strcmp(kind, "bmm") || !strncmp(kind, "mm", 2)) {
        int batch = kind[0] == 'b', ta = kind[2] == '_' && kind[3] == 't', tb = kind[2] == '_' && kind[4] == 't';
        long B = batch ? z[0] : 1, M = z[batch], N = z[batch + 1], K = z[batch + 2];
        for (long l = 0; l < B; l++) for (long i = 0; i < M; i++) for (long j = 0; j < N; j++) for (long k = 0; k < K; k++)
            c[(l * M + i) * N + j] += (double)a[l * M * K + (ta ? k * M + i : i * K + k)] * b[l * K * N + (tb ? j * K + k : k * N + j)];
    } else if (!strcmp(kind, "nest")) {
        for (long i = 0; i < 6; i++) for (long j = 0; j < 17; j++) for (long k = 0; k < 9; k++) for (long d = 0; d < 4; d++)
            c[j * 6 + i] += (double)a[(d * 6 + i) * 9 + k] * b[(k * 17 + j) * 4 + d];
    } else {
        for (long i = 0; i < z[0]; i++) for (long j = 0; j < z[1]; j++) {
            if (!strcmp(kind, "point")) c[i * z[1] + j] += (double)a[i * z[1] + j] + b[i * z[1] + j];
            else if (!strcmp(kind, "reduce")) c[i] += a[i * z[1] + j];
            else c[j * z[0] + i] += a[i * z[1] + j];
        }
    }
}
static int bad(const char *text, plain_fn *f, ld_fn *g, int test, int add, const long *n, const long *row, long pad)
{
    char kind[16];
    long z[8] = { 0 }, ld[3];
    sscanf(text, "(%15s %ld %ld %ld %ld %ld %ld %ld %ld", kind, &z[0], &z[1], &z[2], &z[3], &z[4], &z[5], &z[6], &z[7]);
    float *x[3];
    for (int t = 0; t < 3; t++) ld[t] = row[t] + pad, x[t] = room(n[t] ? n[t] : 1, ld[t], n[t] ? row[t] : 1);
    float *dense[2];
    for (int t = 0; t < 2; t++) {
        dense[t] = malloc((n[t] + 1) * sizeof(float));
        for (long i = 0; i < n[t]; i++) dense[t][i] = x[t][i / row[t] * ld[t] + i % row[t]];
    }
    double *want = calloc(n[2], sizeof *want);
    for (long i = 0; add && i < n[2]; i++) want[i] = x[2][i / row[2] * ld[2] + i % row[2]];
    reference(kind, z, want, dense[0], dense[1]);
    if (pad) g(x[2], ld[2], x[0], ld[0], x[1], ld[1]);
    else f(x[2], x[0], x[1]);
    int wrong = test != 0;
    for (long i = 0; i < n[2]; i++) wrong |= !(fabs(x[2][i / row[2] * ld[2] + i % row[2]] - want[i]) <= 1e-4 * (1 + fabs(want[i])));
    if (wrong) printf("%s is wrong, pad %ld, test %d\n", text, pad, test);
    for (int t = 0; t < 3; t++) free(x[t]);
    free(dense[0]), free(dense[1]), free(want);
    return wrong;
}
C
rows() {  # extents of the last dimensions, by the layouts that loop-gen's help names
    local z
    read -ra z <<< "$1"
    case ${z[0]} in
    mm) echo "${z[3]}, ${z[2]}, ${z[2]}" ;;
    mm_nt) echo "${z[3]}, ${z[3]}, ${z[2]}" ;;
    mm_tn) echo "${z[1]}, ${z[2]}, ${z[2]}" ;;
    mm_tt) echo "${z[1]}, ${z[3]}, ${z[2]}" ;;
    bmm) echo "${z[4]}, ${z[3]}, ${z[3]}" ;;
    conv) echo "${z[4]}, ${z[7]}, $(((z[4] - z[7]) / z[8] + 1))" ;;
    conv_nhwc) echo "${z[2]}, ${z[5]}, ${z[5]}" ;;
    nest) echo '9, 4, 6' ;;
    reduce) echo "${z[2]}, 1, ${z[1]}" ;;
    transp) echo "${z[2]}, 1, ${z[1]}" ;;
    point) echo "${z[2]}, ${z[2]}, ${z[2]}" ;;
    esac
}
caller() {
    echo "#include \"$1\""
    echo '#include "caller.h"'
    echo 'int main(int argc, char **argv) { int wrong = 0, level = 0; (void)argv;'
    sed -n 's|^/\* \((.*)\): c is .*; elements: c \([0-9]*\), a \([0-9]*\), b \([0-9]*\) \*/|\1;\3, \4, \2|p' "$1" |
        paste -d ';' - <(csv-where -c bytes --known "$3" | csv-cut -c name | tail -n +2) | while IFS=';' read -r text n name; do
        sizes=${text#(}
        for pad in 0 3; do
            echo "wrong += bad(\"$text\", $name, ${name}_ld, ${name}_test(), $2, (long[]){ $n }, (long[]){ $(rows "${sizes%)}") }, $pad);"
        done
        echo "level |= ${name}_isa();"
    done
    echo 'if (argc > 1) printf("%d\n", level); else puts(wrong ? "wrong" : "right"); return wrong != 0; }'
}
caller k.h 0 e.csv > caller.c
caller a.h 1 ea.csv > adder.c
caller c.h 0 ec.csv > some.c
for cc in gcc clang; do
    if ! command -v $cc > /dev/null; then skip "$cc" 'not here'; continue; fi
    $cc -O1 -o with_o caller.c k.o -lm && $cc -O1 -o with_so caller.c -L. -lk -Wl,-rpath,. -lm
    is "$cc, object: right beside doubles, dense and with leading dimensions" 'right' ./with_o
    is "$cc, shared library" 'right' ./with_so
    ok "$cc, C text without a warning" $cc -O1 -Wall -Wextra -Werror -c -o c.o k.c
    $cc -o with_c some.c c.o -lm
    is "$cc, C text" 'right' ./with_c
    $cc -O1 -o adds adder.c a.o -lm
    is "$cc, added to C" 'right' ./adds
    if $cc -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -o san caller.c k.o -lm 2> /dev/null; then
        is "$cc, a caller under AddressSanitizer and UBSan" 'right' env ASAN_OPTIONS=detect_leaks=0 ./san
    else
        skip "$cc, sanitizers" 'not here'
    fi
done
if command -v gcc > /dev/null; then
    gcc -O1 -static-pie -o still caller.c k.o -lm 2> /dev/null && is 'static-pie' 'right' ./still
    ok 'no text relocation in a library made of the object' gcc -shared -Wl,-z,text -o libm2.so k.o
    is 'nothing is asked of others' '' bash -c 'nm -u k.o; nm -D -u libk.so; echo'
    if gcc -O0 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -o sane some.c k.c -lm 2> /dev/null; then
        is 'C text under AddressSanitizer and UBSan' 'right' env ASAN_OPTIONS=detect_leaks=0 ./sane
    else skip 'C text under sanitizers' 'not here'; fi
fi
printf 'problem,name\n%s,f0\n%s,f1\n%s,f2\n%s,f3\n%s,f4\n%s,f5\n%s,f6\n%s,f7\n%s,f8\n%s,f9\n%s,fa\n%s,fb\n%s,fc\n%s,fd\n%s,fe\n%s,ff\n' \
    '(mm 20 33 16 (then bias gelu))' '(mm 9 40 16 (then residual layernorm))' '(mm 17 40 9 (then (clip 0 6) bf16))' \
    '(mm_tt 9 20 33 (then (over 3) relu) (type f64))' '(mm_nt 9 20 33 (type f16))' '(mm 8 27 5 (then bias f16) (type bf16))' \
    '(conv_nhwc 1 5 9 9 20 3 3 2 (pad 1) (weights packed))' '(conv 1 5 9 9 20 3 3 1 (pad 1))' \
    '(attn_causal 2 20 33 16)' '(mm_u8s8 5 20 8)' '(mm_bf16 5 20 8 (then relu))' '(mm 9 40 33 (type e5m2))' \
    '(mm_q4z 5 33 64 32 (then scale bias))' '(mm_q4 2 20 16 8)' \
    '(nest (sizes (y 3) (x 4) (g 8) (m 4) (c 4) (p 3) (q 3)) (A (pad 1 (+ y p)) (pad 1 (+ x q)) g c) (B p q g c m) (C y x g m))' \
    '(nest (sizes (y 3) (x 4) (g 2) (m 8) (c 8) (q 2)) (A y (+ x q) g c) (B q g c m) (C y x g m) (then residual relu))' > more.csv
loop-emit --parts --c=more.c --header=more.h more.csv > em.csv
# weights whose last dimension is not the vectors' variable alone
printf 'problem,name\n%s,f0\n%s,f1\n%s,f2\n' '(nest (sizes (m 8) (n 16) (k 8) (p 1)) (A k m) (B k n p) (C m n p) (weights packed))' \
    '(nest (sizes (m 9) (g 3) (n 32) (k 8)) (A m k) (B k (+ (* 32 g) n)) (C m g n) (weights packed))' \
    '(nest (sizes (m 9) (g 3) (n 32) (k 8)) (A m k) (B k (+ (* 32 g) n)) (C g m n) (weights packed))' > last.csv
loop-emit --c=last.c --header=last.h last.csv > /dev/null
echo '#include "last.h"
int main(void) { static float b[8 * 16], to[f0_packed]; f0_pack(to, b); return f0_test() | f1_test() | f2_test(); }' > last_.c
if have gcc; then ok 'packed where they lie' bash -c 'gcc -O1 -fsanitize=address -o last last_.c last.c -lm && ASAN_OPTIONS=detect_leaks=0 ./last'; fi
printf 'problem\n%s\n%s\n' '(nest (sizes (m 1) (n 32) (k 8)) (A m k) (B k n) (C n m) (weights packed))' \
    '(nest (sizes (m 1) (n 32) (k 8)) (A k m) (B k n) (C m n) (weights packed))' > column.csv
is 'one column is no row' '2' bash -c 'loop-emit --rows --skip column.csv | grep -c "any number of rows is for"'
# a whole network: one library, one header; names that would be the same, but for what is behind 64 letters or a sign
{ loop-gen --set=grouped --test=0; loop-gen --set=grouped --test=0 --then=bias | sed 1d; printf '%s,\n' '(mm 3 4 5 (then (clip -2 5)))' '(mm 3 4 5 (then (clip 2 5)))'; } > net.csv
loop-emit --shared=libnet.so --header=net.h net.csv > names.csv
is 'every layer has a name of its own' "$(sed 1d net.csv | wc -l)" bash -c "csv-cut -c name names.csv | sed 1d | sort -u | wc -l"
{ echo '#include "net.h"'; csv-cut -c name names.csv | sed '1d;s/.*/extern int &_isa(void); int (*const f_&)(void) = &_test;/'; echo 'int main(void) { return 0; }'; } > net.c
ok 'and all are in one library' gcc -o net net.c -L. -lnet -Wl,-z,defs
if have g++; then ok 'C text is C++, too' g++ -x c++ -w -fsyntax-only more.c; fi
# what else a kernel may be by its own test, as C text; the same on aarch64
echo '#include "more.h"
int main(void) { return f0_test() | f1_test() | f2_test() | f3_test() | f4_test() | f5_test() | f6_test() | f7_test() |
                        f8_test() | f9_test() | fa_test() | fb_test() | fc_test() | fd_test() | fe_test() | ff_test() | LEVEL; }' > mine.c
if have gcc; then ok 'epilogues, types, zeros around images, attention, groups' bash -c 'gcc -O1 -DLEVEL=0 -o mine mine.c more.c -lm && ./mine'; fi
if command -v aarch64-linux-gnu-gcc > /dev/null && command -v qemu-aarch64 > /dev/null; then
    arm() { aarch64-linux-gnu-gcc -O1 -Wall -Wextra -Werror -c -o arm.o "$2" && aarch64-linux-gnu-gcc -static -O1 "-DLEVEL=f0_isa() != 1 | f8_isa() != 1" -o arm "$1" arm.o -lm && qemu-aarch64 ./arm; }
    is 'aarch64' 'right' arm some.c k.c
    ok 'aarch64: all of them' arm mine.c more.c
else skip 'aarch64' 'no compiler or no emulator for it here'; fi
# emulated instructions are slow
loop-emit --object=some.o some.csv > /dev/null
older some.c some.o
# types with B in groups: packed by what is emitted, beside integers
printf 'problem,name\n(mm_bf16 37 45 50),half\n(mm_u8s8 19 70 44),byte\n(mm_u8s8 1 33 4),one\n(mm_u8s8 40 200 96),wide\n(mm_u8s8 70 3 300),thin\n' > types.csv
loop-emit --object=types.o --c=types_.c --header=types.h types.csv > te.csv
is 'each type has its instructions' 'avx512_bf16 amx avx512_vnni amx' bash -c "csv-cut -c isa te.csv | tail -n +2 | uniq | paste -sd ' '"
cat > types.c <<'C'
#include "types.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static uint16_t half_of(int n) { float f = (float)n; uint32_t u; memcpy(&u, &f, 4); return u >> 16; }
static int bytes(int m, int n, int k, int packed, int (*f)(int32_t *, const uint8_t *, const int8_t *), void (*pack)(int8_t *, const int8_t *))
{
    uint8_t *a = malloc(m * k);
    int8_t *b = malloc(k * n), *p = malloc(packed);
    int32_t *c = malloc(m * n * sizeof *c);
    int bad = 0;
    for (int i = 0; i < m * k; i++) a[i] = rand();
    for (int i = 0; i < k * n; i++) b[i] = rand();
    pack(p, b), f(c, a, p);
    for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) {
        int s = 0;
        for (int l = 0; l < k; l++) s += a[i * k + l] * b[l * n + j];
        bad |= s != c[i * n + j];
    }
    return bad;
}
int main(void)
{
    enum { M = 37, N = 45, K = 50 };
    static uint16_t a[M * K], b[K * N], p[half_packed];
    static int x[M * K], y[K * N];
    static float c[M * N];
    int bad = half_test() | byte_test() | one_test() | bytes(19, 70, 44, byte_packed, byte, byte_pack) | bytes(1, 33, 4, one_packed, one, one_pack) |
        wide_test() | thin_test() | bytes(40, 200, 96, wide_packed, wide, wide_pack) |
        bytes(70, 3, 300, thin_packed, thin, thin_pack);
    for (int i = 0; i < M * K; i++) a[i] = half_of(x[i] = rand() % 200 - 100);
    for (int i = 0; i < K * N; i++) b[i] = half_of(y[i] = rand() % 200 - 100);
    half_pack(p, b), half(c, a, p);
    for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) {
        int s = 0;
        for (int l = 0; l < K; l++) s += x[i * K + l] * y[l * N + j];
        bad |= (float)s != c[i * N + j];
    }
    puts(bad ? "wrong" : "right");
    return bad;
}
C
for cc in gcc clang; do
    command -v $cc > /dev/null || continue
    $cc -O1 -o types types.c types.o
    is "$cc: bf16 and bytes, object" 'right' ./types
    $cc -O1 -o types types.c types_.c 2> err
    is "$cc: bf16 and bytes, C" 'right' ./types
    if command -v qemu-x86_64 > /dev/null; then is 'and by plain loops' 'right' qemu-x86_64 -cpu Nehalem ./types; fi
done
if /usr/bin/python3 -c 'import numpy' 2> /dev/null; then
    cat > call.py <<'P'
import ctypes, numpy as np
lib = ctypes.CDLL('./libk.so')
f = np.ctypeslib.ndpointer(np.float32, flags='C_CONTIGUOUS')
mm, conv = lib.mm_64_33_50, lib.conv_2_16_9_9_40_3_3_2
mm.argtypes = conv.argtypes = [f, f, f]
a, b, c = (np.random.default_rng(1).standard_normal(s).astype(np.float32) for s in ((64, 50), (50, 33), (64, 33)))
mm(c, a, b)
assert np.allclose(c, a.astype(float) @ b.astype(float), atol=1e-4)
a, b = (np.random.default_rng(1).standard_normal(s).astype(np.float32) for s in ((2, 16, 9, 9), (40, 16, 3, 3)))
c = np.empty((2, 40, 4, 4), np.float32)
conv(c, a, b)
w = np.lib.stride_tricks.sliding_window_view(a.astype(float), (3, 3), (2, 3))[:, :, ::2, ::2]
assert np.allclose(c, np.einsum('ncpqrs,mcrs->nmpq', w, b.astype(float)), atol=1e-4)
print('right')
P
    is 'from Python, beside NumPy' 'right' /usr/bin/python3 call.py
else
    skip 'from Python' 'no python3-numpy'
fi
printf 'problem\n(transp 8 8)\n' > t.csv
fails 'what cannot be emitted is refused' 1 't.csv:2: .*cannot be emitted: only a sum can be added to' loop-emit --add --object=t.o t.csv
ok 'and nothing is written' test ! -e t.o
is 'or left out, with the reason' 1 bash -c 'loop-emit --add --skip t.csv | grep -c "only a sum"'
printf 'problem,name\n(mm 8 8 8),two words\n' > t.csv
fails 'a name that is none' 1 "t.csv:2: column 'name': 'two words' is no C identifier" loop-emit t.csv
# C, C++ and the C text have words of their own, a header with them does not compile; all that the text defines is known
printf 'problem\n(mm 8 8 8)\n(mm 8 8 8 (type f64))\n(mm_nt 8 8 64 (type f16))\n(mm_u8s8 8 8 8)\n(mm_bf16 8 8 8)\n(mm_q4 1 8 64 32)\n' > t.csv
loop-emit --c=t.c t.csv > /dev/null
macros=$({ sed -n 's/^# *define \([A-Za-z_0-9]*\).*/\1/p' t.c
    sed -n '/^enum {\|^static const float [A-Z]/s|/\*.*||p' t.c | grep -o '\<[A-Z][A-Z0-9_]*\>'; } | grep -v '^CARRY_\|^in_carry_\|_H$' | sort -u)
for name in short inline class xor _x int8_t uint_fast16_t size_t INT64_C UINT8_MAX SIZE_MAX NULL EOF alloca bit_FMA carry linux main $macros; do
    printf 'problem,name\n(mm 8 8 8),%s\n' "$name" > t.csv
    loop-emit t.csv 2>&1 | grep -q "t.csv:2: column 'name': '$name' is a word of C or C++" || echo "$name is taken"
done > kept
ok 'words of C, of C++ and of the C text are no names' test ! -s kept
for name in malloc free memcpy sin; do
    printf 'problem,name\n(mm 8 8 8),%s\n' $name > t.csv
    fails "nor is $name" 1 "t.csv:2: column 'name': '$name' is a function of the C library" loop-emit --object=t.o t.csv
done
printf 'problem,name\n(mm 8 8 8),shorts\n(mm 8 8 8),int_x\n(mm 8 8 8),Class\n' > t.csv
ok 'but what only has them in it is' eval 'loop-emit --header=t.h t.csv > /dev/null && cc -fsyntax-only -x c t.h'
printf 'problem,name\n(mm 8 8 8),f\n(mm 8 8 9),f\n' > t.csv
fails 'a name given twice' 1 't.csv:3: the name f was given in line 2' loop-emit t.csv
printf 'problem,name\n(mm 8 8 8),f_ld\n(mm 8 8 9),f\n' > t.csv
fails 'a name that is that of a function of another' 1 't.csv:3: the name f was given in line 2, or is that of one' loop-emit t.csv
printf 'problem,name\n(mm 300 65 70),f\n(mm 3 5 8),f_of10\n' > t.csv
fails 'nor that of a part of another' 1 't.csv:3: the name f_of10 was given in line 2, or is that of one' loop-emit --parts t.csv
for name in one two; do printf 'problem,name\n(mm 8 8 8),%s\n' $name | loop-emit --header=$name.h > t.csv; done
ok 'a program may have the headers of several' eval 'printf "%s\n" "#include \"one.h\"" "#include \"two.h\"" "#include \"one.h\"" "void *f[2] = { one, two };" > t.c
    cc -Werror -fsyntax-only t.c'

# what was decided can be read, and the text is C++ too
printf 'problem,name\n"(mm_nt 20 40 30 (then bias gelu bf16))",one\n"(mm_bf16 20 40 32)",two\n"(attn_causal 2 40 40 16)",three\n' > t.csv
loop-emit --parts --c=t.c --object=t.o --header=t.h --plan=t.plan --ir=t.ir t.csv > /dev/null
ok 'a plan has its tiles, its calls and what they cost' \
    eval 'grep -q "tile 0: .* rows x .* vectors along" t.plan && grep -q "between C" t.plan && grep -q "cycles if all is near" t.plan'
# 12 KB apart all rows are in the same sets of the first cache, of which few have room; 2112 bytes apart they are not.  A
# prefetcher follows one load through them: one step in each turn of the loop.  Of 64 MB three of the tiles that read a
# panel ask for a line each of the next; of panels that were packed before two, which have two vectors; a tile alone for
# all, where few rows can be asked for
for n in 3072 528; do
    echo "(mm 8 $n 96),far$n,(tree (for n $((n / 48)) 0 (for k 96 0 (for m 8 0 (for n 48 0 (mul A B) (acc T))))) (for m 8 0 (for n $n 0 (write C))))"
done | sed '1i problem,name,tree' > far.csv
echo '(mm 8 12288 768),alone,(tree (for n 256 0 (for k 768 0 (for m 8 0 (for n 48 0 (mul A B) (acc T))))) (for m 8 0 (for n 12288 0 (write C))))
(mm 8 12240 768),many,(tree (for n 255 0 (for k 768 0 (for m 8 0 (for n 48 0 (mul A B) (acc T))))) (for m 8 0 (for n 12240 0 (write C))))
(mm 80 4800 3500),next,(tree (for k 7 0 (for n 100 0 (for m 10 0 (for k 500 0 (for m 8 0 (for n 48 0 (mul A B) (acc T))))))) (for m 80 0 (for n 4800 0 (write C))))
(mm_bf16 80 4800 7000),given,(tree (for k 7 0 (for n 150 0 (for m 10 0 (for k 500 0 (for m 8 0 (for n 32 0 (mul A B) (acc T))))))) (for m 80 0 (for n 4800 0 (write C))))' >> far.csv
awk -F, -v OFS=, '{ $NF = $NF (NR == 1 ? ",isa" : /^.mm_bf16/ ? ",avx512" : ",") } 1' far.csv > isa.csv && mv isa.csv far.csv
loop-emit --object=far.o --plan=far.plan far.csv > /dev/null
is 'rows far apart are asked for as the first cache holds them' '36864 33792' \
    bash -c "sed -n '/^far.*avx512/,/^\(far\|alone\)/s/.*prefetches \([0-9]*\) bytes.*/\1/p' far.plan | paste -sd ' '"
# a mark makes it four, for prefetchers that follow several
sed 's/,far/,few/; s/\(for k 96 0\)\(.*\)\(for m 8 0\) (for n 48 0/\1 unroll\2\3 unroll (for n 48 0 unroll/' far.csv | head -2 > few.csv
loop-emit --object=few.o --plan=few.plan few.csv > /dev/null
is 'one in a turn, or where it is asked for four' 'body k*1 body k*4' \
    bash -c "cat far.plan few.plan | sed -n '/^f[a-z]*3072 avx512/,/^[a-z0-9]* avx2/s/^ *\(body.*\)/\1/p' | xargs"
is 'and lines of the panel that is next' '192 256 320 448000 448064' \
    bash -c "sed -n '/ avx512 /,/ avx2 /s/.*prefetches 1 lines of the next panel \([0-9]*\) bytes on,.*/\1/p' far.plan | sort -nu | xargs"
is 'by a tile alone all lines, then the next row is enough; or none where many rows are' '49152 3 192 783360' \
    bash -c "sed -n '/^\(alone\|many\).*avx512/,/^\(next\|many.*avx2\)/{/prefetches/{s/.*broadcasts, prefetches \([0-9]*\) bytes on/\1/;s/, prefetches \([0-9]*\) lines of the next panel \([0-9]*\).*/ \1 \2/;s/, views.*//;p}}' far.plan | xargs"
# the sums are the same where all is far from caches of 64 bytes
loop-machine | sed 's/\(cache_bytes,.\),[^,]*/\1,64/' > tiny.csv
{ echo problem,name,isa,tree
  while read -r k p; do
      echo "$p,tiny$k,avx512,(tree (for n 3 0 (for m 5 0 (for k $k 0 (for m 8 0 (for n 32 0 (mul A B) (acc T)))))) (for m 5 0 (for m 8 0 (for n 96 0 (write C)))))"
  done << P
70 (mm 40 96 70)
71 (nest (sizes (m 40) (n 96) (k 71)) (A m k) (B k n) (C m n) (weights packed))
35 (mm_bf16 40 96 70)
17 (mm_u8s8 40 96 68)
18 (mm_s8s8 40 96 72)
P
} > tiny.nests
MILLRACE_LOOP_MACHINE=tiny.csv loop-emit --object=tiny.o --header=tiny.h --plan=tiny.plan tiny.nests > /dev/null
is 'panels of all types that are asked for' 5 bash -c "sed -n 's/^\(tiny..\) avx512.*/\1/p;/the next panel/p' tiny.plan | grep -B1 next | grep -c '^tiny'"
{ echo '#include "tiny.h"'; echo 'int main(void) { return tiny70_test() | tiny71_test() | tiny35_test() | tiny17_test() | tiny18_test(); }'; } > tiny.c
ok 'are right' bash -c 'cc -o tiny tiny.c tiny.o -lm && ./tiny'
# sums along lanes of what is read once or twice, from there: as many rows as uses, each in several accumulators
{ echo problem,name,isa,tree
  while IFS=, read -r name p m n k; do
      for isa in avx512 avx2; do
          echo "($p),$name$isa,$isa,(tree (for n $n 0 (for k $k 0 (for m $m 0 (mul A B) (acc T)))) (for m $m 0 (for n $n 0 (write C))))"
      done
  done << P
one,mm_nt 1 70 1000,1,70,1000
odd,mm_nt 1 70 301 (type f64),1,70,301
two,mm_nt 2 33 517,2,33,517
half,mm_nt 2 9 131 (type f16),2,9,131
P
} > sums.nests
MILLRACE_LOOP_MACHINE=tiny.csv loop-emit --object=sums.o --header=sums.h --plan=sums.plan sums.nests > /dev/null
is 'rows at a time, accumulators of each, bytes ahead' '1 8 6144' \
    sed -n '0,/.*tile 0: \([0-9]*\) rows.* in \([0-9]*\) accumulators, prefetches \([0-9]*\) .*/s//\1 \2 \3/p' sums.plan
{ echo '#include "sums.h"'; echo 'int main(void) { return 0'
  for name in {one,odd,two,half}avx{512,2}; do echo "| ${name}_test()"; done; echo '; }'; } > sums.c
ok 'and the sums are right' bash -c 'cc -o sums sums.c sums.o -lm && ./sums'
echo 'problem,name,tree
(mm_nt 1 1000 1000),rows,(tree (for n 250 0 (for n 4 0 (for m 1 0 (for k 1000 0 vectorize (mul A B) (acc T))))) (for m 1 0 (for n 1000 0 (write C))))
(mm_nt 1 400 400),near,(tree (for n 100 0 (for n 4 0 (for m 1 0 (for k 400 0 vectorize (mul A B) (acc T))))) (for m 1 0 (for n 400 0 (write C))))' > lines.csv
loop-emit --object=far.o --plan=lines.plan lines.csv > /dev/null
is 'four rows are asked for less far ahead, and what the second cache holds is not' 'rows 1536' \
    bash -c "sed -n 's/^\(rows\|near\) avx512.*/\1/p;s/.*prefetches \([0-9]*\) bytes.*/\1/p' lines.plan | grep -B1 1536 | tail -2 | xargs"
is 'and each turn is one of them' 2 bash -c "sed -n '/avx512/,/^far/p' far.plan | grep -A1 'loop 96' | grep -c 'body k.1'"
fails 'two outputs cannot be one' 1 'two outputs are standard output: one of them needs a file' loop-emit --plan=- t.csv
ok 'and instructions' eval 'grep -q " mac " t.ir && grep -q " store " t.ir && grep -q " tile_mac " t.ir'
if command -v c++ > /dev/null; then
    printf '#include "t.h"\nint main() { return one_test() | two_test() | three_test(); }\n' > t-main.cc
    ok 'the text is C++, too, and is found by C++' eval 'c++ -w -o t-cxx t-main.cc t.c && ./t-cxx'
else
    skip 'no C++ compiler here'
fi
cat > t-memory.c <<'C'
#include "t.h"
#include <stdio.h>
#include <sys/resource.h>
static float a[600], b[1200], bias[40];
static uint16_t c[800];
int main(void)
{
    struct rlimit none = { 1 << 20, 1 << 20 };
    printf("%d ", one_scratch() > 0);
    setrlimit(RLIMIT_AS, &none);
    printf("%d %d\n", one(c, a, b, bias, 0), one_test());
    return 0;
}
C
cc -o t-memory t-memory.c t.o
is 'without memory a call says so, and goes on' '1 12 2' ./t-memory
# what is not a number stays none, and scores that hide a key may be infinite or the least number there is
mkdir special
cd special
printf 'problem,name\n(attn 2 16 33 3),att\n(attn 1 1 16 1),one\n(mm 2 21 2 (then residual bf16)),bf\n(mm 2 21 2 (then residual f16)),hf\n' > s.csv
loop-emit --object=k.o --c=k_.c --header=s.h s.csv > /dev/null
cat > call.c <<'C'
#include "s.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
static int wrong;
static void want(int yes, const char *what) { if (!yes) wrong = 1, puts(what); }
int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) return printf("%d\n", att_isa()), 0;
    float q[96], k[198], v[198], c[96], a[4] = { 1, 1, 1, 1 }, b[42], r[42];
    for (int i = 0; i < 96; i++) q[i] = (float)(i % 3 - 1);
    for (int i = 0; i < 198; i++) k[i] = (float)(i % 5 - 2), v[i] = (float)(i % 7);
    for (int i = 0; i < 33; i += 8) {
        int none = 0;
        float was = k[3 * i];
        k[3 * i] = NAN, att(c, q, k, v), k[3 * i] = was;
        for (int j = 0; j < 96; j++) none += j < 48 ? isnan(c[j]) != 0 : !isnan(c[j]);
        want(none == 96, "a NaN among the scores");
    }
    for (int i = 0; i < 16; i++) k[i] = -FLT_MAX, v[i] = (float)i;
    *q = 1, one(c, q, k, v), want(fabsf(*c - 7.5f) < 1e-3f, "all scores the least");
    for (int i = 0; i < 16; i++) k[i] = i == 3 ? -INFINITY : 0;
    v[3] = 3e38f, one(c, q, k, v), want(fabsf(*c - 7.8f) < 1e-3f, "a key that is hidden");
    for (int i = 0; i < 16; i++) k[i] = -INFINITY;
    one(c, q, k, v), want(isnan(*c), "all keys hidden");
    const uint32_t bits[] = { 0x7fffffff, 0xffffffff, 0x7fc00000, 0x7f800001, 0xff80ffff, 0x7f800000, 0xff7fffff, 0x40008000 };
    uint16_t halves[42];
    for (int i = 0; i < 42; i++) b[i] = 0, memcpy(&r[i], &bits[i % 8], 4);
    bf(halves, a, b, NULL, r);
    for (int i = 0; i < 42; i++)
        want(isnan(r[i]) ? (halves[i] & 0x7fff) > 0x7f80 : halves[i] == (uint16_t[]){ 0x7f80, 0xff80, 0x4000 }[i % 8 - 5], "to bf16");
    hf(halves, a, b, NULL, r);
    for (int i = 0; i < 42; i++)
        want(isnan(r[i]) ? (halves[i] & 0x7fff) > 0x7c00 : halves[i] == (uint16_t[]){ 0x7c00, 0xfc00, 0x4004 }[i % 8 - 5], "to f16");
    if (!wrong) puts("right");
    return wrong;
}
C
called
if command -v aarch64-linux-gnu-gcc > /dev/null && command -v qemu-aarch64 > /dev/null; then
    is 'aarch64, too' 'right' bash -c 'aarch64-linux-gnu-gcc -static -O1 -o arm call.c k_.c -lm && qemu-aarch64 ./arm'
fi
cd ..
done_testing
