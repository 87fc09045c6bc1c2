#!/bin/bash
# NAME_part: kernels in parts by 1 to 9 threads at once, beside loops over doubles; no part does what another one does
. "$(dirname "$0")/tap.sh"
needs gcc
cat > p.csv <<'P'
problem,name
(mm 45 50 65),mm
(mm_tt 37 40 30),mm_tt
(mm_nt 70 90 1 (type f64)),doubles
(conv 1 5 9 9 20 3 3 1 (then bias relu)),nchw
(conv_nhwc 1 6 13 8 20 3 3 2 (then bias residual relu)),nhwc
(conv_nhwc 1 16 9 9 10 3 3 1 (pad 1)),lines
(conv_nhwc 1 7 16 9 10 5 3 2 (pad 3 0 1 2) (type f64)),far_lines
(mm_tn 33 70 40 (type f16)),halves
(mm_bf16 70 70 40 (then bias layernorm)),norm
(mm_bf16 1 400 40 (then bias)),columns
(mm_u8s8 70 70 44),bytes
(attn 3 20 50 24),attn
(attn_causal 2 40 40 32 (type bf16)),causal
(attn 1 37 33 16),one_head
(mm 40 70 90 (then residual bias relu bf16)),cast
(transp 33 50),transp
(reduce 40 33),reduce
P
n=$(($(wc -l < p.csv) - 1))
ways=(object-gcc-sanitized-parts)
command -v qemu-x86_64 > /dev/null && ways+=(object-Haswell-parts object-Nehalem-parts)
ok "$n problems, by 1 to 9 threads" "$root/t/bench/loop-home.sh" w p.csv "${ways[@]}"
for w in "${ways[@]}"; do is "$w has them all" "$n" bash -c "csv-calc --where='way == \"$w\" && right == 1' w/all.csv | tail -n +2 | wc -l"; done
is 'all but one of them are cut' '/* NAME_part: the last thread does all, weights of a part would be packed otherwise */' \
    grep 'the last thread does all' w/parts/k.h
is 'into units along one variable' '/* NAME_part: 11 units along m */' grep -m1 'NAME_part: ' w/parts/k.h

# the C text: no two threads touch the same
sed -n '1,2p;7p;10p;12,13p' p.csv > few.csv
if echo 'int main(void) { return 0; }' | gcc -fsanitize=thread -x c - -o tsan 2> err && ./tsan 2> err; then
    ok 'no races, by ThreadSanitizer, in the C text' "$root/t/bench/loop-home.sh" v few.csv text-gcc-thread-parts
    is 'and all is right' 5 bash -c "csv-calc --where='right == 1' v/all.csv | tail -n +2 | wc -l"
else
    skip 'no races in the C text' 'no ThreadSanitizer here'
fi

# added to, each element once, whatever the number of threads; who is no thread does nothing
printf 'problem,name\n(mm 37 20 30),more\n(mm 3 20 30),few\n(mm_u8s8 30 20 32),int8\n' > add.csv
loop-emit --add --parts --object=a.o --header=a.h add.csv > e.csv
cat > add.c <<'C'
#include "a.h"
#include <stdio.h>
static float c[37 * 20], a[37 * 30], b[30 * 20];
static uint8_t x[30 * 32];
static int8_t y[32 * 20], packed[int8_packed];
static int32_t z[30 * 20];
static int wrong(int rows)
{
    int bad = 0;
    for (int i = 0; i < rows; i++) for (int j = 0; j < 20; j++) {
        float s = 1;
        for (int k = 0; k < 30; k++) s += a[i * 30 + k] * b[k * 20 + j];
        bad += c[i * 20 + j] != s;
    }
    return bad;
}
int main(void)
{
    int bad = 0;
    for (int i = 0; i < 37 * 30; i++) a[i] = (float)(i % 7 - 3);
    for (int i = 0; i < 30 * 20; i++) b[i] = (float)(i % 5 - 2);
    for (int i = 0; i < 30 * 32; i++) x[i] = (uint8_t)(i % 11);
    for (int i = 0; i < 32 * 20; i++) y[i] = (int8_t)(i % 13 - 6);
    int8_pack(packed, y);
    for (int n = 1; n <= 50; n++) {
        for (int i = 0; i < 37 * 20; i++) c[i] = 1;
        for (int i = -1; i <= n; i++) more_part(i, n, c, a, b);
        bad += wrong(37);
        for (int i = 0; i < 3 * 20; i++) c[i] = 1;
        for (int i = n; i >= 0; i--) few_part(i, n, c, a, b);
        bad += wrong(3);
        for (int i = 0; i < 30 * 20; i++) z[i] = 5;
        for (int i = 0; i < n; i++) int8_part(i, n, z, x, packed);
        for (int i = 0; i < 30; i++) for (int j = 0; j < 20; j++) {
            int32_t s = 5;
            for (int k = 0; k < 32; k++) s += x[i * 32 + k] * y[k * 20 + j];
            bad += z[i * 20 + j] != s;
        }
    }
    printf("%d\n", bad);
    return bad != 0;
}
C
is '1 to 50 threads add each element once' 0 bash -c 'gcc -O1 -Wall -Wextra -o add add.c a.o && ./add'
# packed weights of few columns, whose parts would have them in another order: with the tiles of AMX and, where the system
# gives no leave for them (a filter of calls says so), without
cat > refuse.c <<'C'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int argc, char **argv)      /* arch_prctl(0x1023, ..) is EINVAL in the program that is the argument */
{
    struct sock_filter f[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 158, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x1023, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog p = { sizeof f / sizeof *f, f };
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &p)) return 9;
    execvp(argv[1], argv + 1);
    return 9;
}
C
gcc -o refuse refuse.c
printf 'problem,name\n' > thin.csv
for s in '1 2 52' '1 5 72' '16 2 64' '23 3 176' '26 2 100' '23 1 8'; do
    echo "(mm_bf16 $s),b${s// /_}"
    echo "(mm_u8s8 $s),u${s// /_}"
done >> thin.csv
loop-emit --parts --object=thin.o --header=thin.h thin.csv > e.csv
{
    printf '#include "thin.h"\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n'
    printf '#define ONE(K, T, U, V, C, M, N, D, A, B) { static U a[M * D]; static V b[D * N], *q; static C c[M * N]; '
    printf 'q = malloc(sizeof *q * K##_packed); for (int i = 0; i < M * D; i++) a[i] = A; for (int i = 0; i < D * N; i++) '
    printf 'b[i] = B; K##_pack(q, b); for (int t = 1; t < 8; t++) { memset(c, 0xff, sizeof c); for (int i = 0; i < t; i++) '
    printf 'K##_part(i, t, c, a, q); for (int i = 0; i < M * N; i++) { C s = 0; for (int k = 0; k < D; k++) '
    printf 's += (C)(T(a[i / N * D + k]) * T(b[k * N + i %% N])); if (c[i] != s) bad++; } } }\n'
    printf 'static float half(uint16_t u) { union { uint32_t i; float f; } x = { (uint32_t)u << 16 }; return x.f; }\n'
    printf 'int main(void) { int bad = 0;\n'
    sed 1d thin.csv | sed -E 's/.*mm_bf16 ([0-9]+) ([0-9]+) ([0-9]+)\),(.*)/ONE(\4, half, uint16_t, uint16_t, float, \1, \2, \3, (i % 7 ? 0x3f80 : 0xc000), (i % 5 ? 0x4000 : 0x3f80))/
        s/.*mm_u8s8 ([0-9]+) ([0-9]+) ([0-9]+)\),(.*)/ONE(\4, , uint8_t, int8_t, int32_t, \1, \2, \3, i % 251, i % 249 - 124)/'
    printf 'printf("%%d\\n", bad); return bad != 0; }\n'
} > thin.c
is 'packed weights of few columns, by 1 to 7 threads' 0 eval 'gcc -O1 -w -o thin thin.c thin.o && ./thin'
is 'and without AMX' 0 ./refuse ./thin
done_testing
