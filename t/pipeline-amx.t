#!/bin/bash
# what loop-emit writes for AMX, called from C: on a machine without it under the emulator of amx.h, told that it is there
. "$(dirname "$0")/tap.sh"

printf 'problem,name\n(mm_bf16 37 45 50),half\n(mm_u8s8 40 3 300 (then bias relu)),byte\n(mm_s8s8 40 3 300),both\n(attn_causal 2 37 50 26 (type bf16)),seen\n' > t.csv
loop-emit --object=t.o --c=t_.c --header=t.h t.csv > e.csv
is 'each has code for AMX and for vectors' 'avx512_bf16 amx avx512_vnni amx avx2 avx512 amx' \
    bash -c "csv-cut -c isa e.csv | tail -n +2 | uniq | paste -sd ' '"
cat > t.c <<'C'
#define _GNU_SOURCE
#include "amx.h"
#ifdef TEXT
#include "t_.c"
#endif
#include "t.h"
#include <math.h>
#include <stdlib.h>

enum { M = 37, N = 45, K = 50, BM = 40, BN = 3, BK = 300, ALL = 1 | 2 | 4 | 8 | 32 | 64 };

static void pretend(const char *f)                       /* the kernels' state: what is here, once it was asked */
{
#ifdef TEXT
    (void)f;
    carry_all.cpu = ALL | 1 << 30;
#else                                                    /* lea rcx, [kernel]; lea r8, [state]; jmp */
    int32_t far;
    memcpy(&far, f + 10, 4);
    *(int32_t *)(uintptr_t)(f + 14 + far) = ALL | 1 << 30;
#endif
}

static uint16_t half_of(int n)
{
    float f = (float)n;
    uint32_t u;
    memcpy(&u, &f, 4);
    return u >> 16;
}

/* rows of a triangle: what a query sees, weighted; scores rounded to bf16 at most */
static int attention(void)
{
    enum { H = 2, Q = 37, R = 50, D = 26 };
    static uint16_t a[H * Q * D], b[H * R * D], v[H * R * D];
    static float c[H * Q * D];
    static double x[H * Q * D], y[H * R * D], z[H * R * D], s[R];
    int bad = 0;
    for (int i = 0; i < H * Q * D; i++) a[i] = half_of(x[i] = rand() % 9 - 4);
    for (int i = 0; i < H * R * D; i++) b[i] = half_of(y[i] = rand() % 9 - 4), v[i] = half_of(z[i] = rand() % 9 - 4);
    seen(c, a, b, v);
    for (int i = 0; i < H * Q; i++) {
        const int h = i / Q, see = i % Q + 1 + R - Q;
        double most = -1e9, sum = 0;
        for (int j = 0; j < see; j++) {
            s[j] = 0;
            for (int d = 0; d < D; d++) s[j] += x[i * D + d] * y[(h * R + j) * D + d] / sqrt(D);
            most = fmax(most, s[j]);
        }
        for (int j = 0; j < see; j++) sum += s[j] = exp(s[j] - most);
        for (int d = 0; d < D; d++) {
            double want = 0;
            for (int j = 0; j < see; j++) want += s[j] / sum * z[(h * R + j) * D + d];
            bad |= !(fabs(c[i * D + d] - want) < 0.02);
        }
    }
    return bad;
}

int main(int argc, char **argv)
{
    static uint16_t a[M * K], b[K * N], p[half_packed];
    static uint8_t u[BM * BK];
    static int8_t s[BK * BN], q[byte_packed], r[both_packed];
    static float c[M * N], d[BM * BN], bias[BN];
    static int x[M * K], y[K * N], e[BM * BN];
    int bad = 0, own = half_isa() & 32;
    if (argc > 1 && !own) amx_emulate(), pretend((const char *)(uintptr_t)half);
    (void)argv;
    for (int i = 0; i < M * K; i++) a[i] = half_of(x[i] = rand() % 200 - 100);
    for (int i = 0; i < K * N; i++) b[i] = half_of(y[i] = rand() % 200 - 100);
    for (int i = 0; i < BM * BK; i++) u[i] = rand();
    for (int i = 0; i < BK * BN; i++) s[i] = rand();
    for (int i = 0; i < BN; i++) bias[i] = rand() % 1000;
    bad |= half_test() | byte_test() | both_test() | seen_test() | 32 * attention();
    half_pack(p, b), half(c, a, p);
    byte_pack(q, s), byte(d, u, q, bias, NULL), both_pack(r, s), both(e, (int8_t *)u, r);
    for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) {
        double want = 0;
        for (int k = 0; k < K; k++) want += (double)x[i * K + k] * y[k * N + j];
        bad |= 2 * (c[i * N + j] != want);
    }
    for (int i = 0; i < BM; i++) for (int j = 0; j < BN; j++) {
        int want = 0, signs = 0;
        for (int k = 0; k < BK; k++) want += u[i * BK + k] * s[k * BN + j], signs += (int8_t)u[i * BK + k] * s[k * BN + j];
        bad |= 16 * (e[i * BN + j] != signs);
        bad |= 4 * (d[i * BN + j] != (want + bias[j] > 0 ? want + bias[j] : 0));
    }
    const char *with = !own && amx_multiplied == 0 ? "vectors" : "tiles";
    if (!amx_multiplied != (argc < 2 || own) || (argc > 1 && (half_isa() & 32) == 0)) bad |= 8;
    printf("%s %d\n", own ? "right" : with, bad);
    return 0;
}
C
for cc in gcc clang; do
    command -v $cc > /dev/null || continue
    for text in '' -DTEXT; do
        $cc -O1 -w $text -I "$root/t" -o t t.c $([ $text ] || echo t.o) -lm 2> err || cat err
        what="$cc, $([ $text ] && echo C text || echo object)"
        if grep -q -w amx_tile /proc/cpuinfo; then
            is "$what: natively" 'right 0' ./t
        else
            is "$what: without AMX" 'vectors 0' ./t
            is "$what: with AMX, emulated" 'tiles 0' ./t emulated
        fi
    done
done
grep -q -w amx_tile /proc/cpuinfo || fails 'on a machine without it, it is not run' 1 'this machine has no amx' loop-run --isa=amx t.csv
is 'but its model is asked' '4 0' bash -c 'loop-run --isa=amx --eval=model t.csv > m.csv &&
    echo $(csv-where -c kind --is=simulated m.csv | tail -n +2 | wc -l) $(csv-calc --where="!(gflops > 0)" m.csv | tail -n +2 | wc -l)'
loop-gen --kind=mm_bf16 --m=512 --n=512 --k=512 --test=0 > m.csv
# as measured on one that has it, rows of A 4 KB apart: two by two tiles 1450 GFLOPS, one by four 1240, four by one 770
{ echo problem,tree
  for t in '2 2 32 32' '1 4 16 64' '4 1 64 16'; do
      set -- $t
      echo "(mm_bf16 128 256 2048),(tree (for n $((256 / $4)) 0 (for m $((128 / $3)) 0 (for k 1024 0 (for m $3 0" \
           "(for n $4 0 (mul A B) (acc T)))))) (for m 128 0 (for n 256 0 (write C))))"
  done; } > far.csv
is 'whose rows may be far apart' 'true' bash -c "loop-run --isa=amx --eval=model far.csv | csv-cut -c gflops | tail -n +2 |
    paste -sd ' ' | awk '{ print (\$1 > \$2 && \$2 > 1.2 * \$3) ? \"true\" : \$0 }'"
# measured 1270 GFLOPS there, two by two tiles 1360; its second cache has 2 MB
printf 'machine,what,level,value\n' > xeon.csv
for fact in cache_bytes,2,1677721 way_bytes,2,131072; do echo "$(loop-machine | tail -n 1 | cut -d, -f1),$fact"; done >> xeon.csv
is 'which knows a blocking within a tenth of the best' '(for k 128 0 (for m 16 0 (for n 64 0 (mul' env MILLRACE_LOOP_MACHINE=xeon.csv \
    bash -c "loop-search --algo=heuristic --isa=amx --eval=model m.csv | tail -n 1 | grep -o '(for k 128 0 (for m 16 0 (for n 64 0 (mul'"
# AMX where it gives a number here, else the widest vectors
i=amx
loop-run --isa=amx m.csv > can.csv 2> no && [ "$(csv-calc --print='gflops > 0' can.csv)" = 1 ] || i=avx512
[ $i = amx ] || loop-run --isa=avx512 m.csv > can.csv 2> no || i=avx2
is "what is best here for a problem ($i) is asked for when nothing is said" \
    "$(loop-search --algo=heuristic --eval=model --isa=$i m.csv)" loop-search --algo=heuristic --eval=model m.csv
printf 'problem\n(mm_u8s8 1 64 64)\n' > one.csv
[ $i = avx2 ] || is 'and vectors for one row of bytes' \
    "$(loop-search --algo=heuristic --eval=model --isa=avx512 one.csv)" loop-search --algo=heuristic --eval=model one.csv
printf 'problem,tree\n(attn 2 64 64 64 (type bf16)),\n' > at.csv
is "attention stored as bf16 is by $i, too" "$(loop-search --algo=heuristic --eval=model --isa=$i at.csv)" \
    loop-search --algo=heuristic --eval=model at.csv
printf 'problem\n(mm 8 8 8)\n' > f.csv
is 'float has no tiles' 1 bash -c 'loop-run --isa=amx --eval=model f.csv | grep -c "tiles of AMX are for bf16 and bytes alone"'
done_testing
