#!/bin/bash
. "$(dirname "$0")/tap.sh"

printf 'problem\n(mm 32 48 16)\n(conv_nhwc 1 4 8 8 16 3 3 1)\n' > p.csv
loop-peer --lib=ours,ours-any --rounds=1 --runs=1 p.csv > o.csv
is 'ours is checked' '(mm 32 48 16),ours,1,real
(mm 32 48 16),ours-any,1,real
(conv_nhwc 1 4 8 8 16 3 3 1),ours,1,real
(conv_nhwc 1 4 8 8 16 3 3 1),ours-any,1,real' bash -c 'csv-cut -c problem,lib,checked,kind o.csv | tail -n +2'
printf 'problem\n(attn 2 8 16 4)\n"(mm 8 8 8 (then residual bf16))"\n' > a.csv
is 'operations a byte: V and a residual are tensors, what is rounded is short' '2.6666666666666665 1.1428571428571428' \
    bash -c "loop-peer --lib=ours --rounds=1 --runs=1 a.csv | csv-cut -c intensity | sed 1d | paste -sd ' '"
is 'one round has no interval' , bash -c 'csv-cut -c low_ratio,high_ratio o.csv | sed -n 3p'
loop-peer --lib=ours,ours-any --rounds=7 --runs=2 p.csv > i.csv
ok 'seconds are the first one'\''s least, and that times the ratio, which is in its interval' awk -F, 'NR == 1 { next } NR % 2 == 0 {
    s = $4; bad += $9 $10 $11 != 111; next } { n++; bad += !($4 / s / $9 > .999999 && $4 / s / $9 < 1.000001 && $10 <= $9 && $9 <= $11) }
    END { exit !(n == 2 && !bad) }' i.csv
printf 'problem\n"(nest (sizes (m 8) (n 8) (k 8)) (A m k) (B k n) (C m n))"\n(mm_q4 2 8 16 8)\n(conv_nhwc 1 4 8 8 16 3 3 1 (then bias))\n' > n.csv
if /usr/bin/python3 -c 'import numpy' 2> err; then
    is 'a general nest has no sizes, and NumPy an answer' 'only products are written for it' bash -c "
        timeout 60 loop-peer --lib=numpy --rounds=1 --runs=1 <(sed 2q n.csv) | csv-cut -c reason | sed 1d"
    is 'whose result is not looked at' 0, bash -c "loop-peer --lib=numpy --rounds=1 --runs=1 <(sed 2q p.csv) | csv-cut -c checked,reason | sed 1d"
fi
if command -v gcc > /dev/null && [ -e /usr/include/dnnl.h ]; then
    is 'what oneDNN is not asked for is not its wrong result' 'weights of 4 bits are not written for it,nothing follows its sums' bash -c "
        loop-peer --lib=onednn --rounds=1 --runs=1 <(sed 2d n.csv) | csv-cut -c reason | sed 1d | paste -sd ,"
fi
if command -v gcc > /dev/null && [ -e /usr/lib/x86_64-linux-gnu/libopenblas.so.0 ]; then
    loop-peer --lib=openblas,gcc --rounds=1 --runs=1 p.csv > b.csv
    is 'others are right, or say why not' '1,
1,
1,
0,only products are written for it' bash -c 'csv-cut -c checked,reason b.csv | tail -n +2'
    # TMPDIR is no part of what a shell reads; our own C text is a peer too
    mkdir 'x y; touch ran'
    is 'in any folder' '1,,1,' bash -c 'TMPDIR="$PWD/x y; touch ran" loop-peer --lib=openblas,ours-gcc --rounds=1 --runs=1 <(sed -n 1,2p p.csv) |
        csv-cut -c checked,reason | tail -n +2 | paste -sd,'
    ok 'and its name is not run' eval '[ ! -e ran ] && ! ls -A x* | grep -v measure.lock'
else
    skip 'others' 'no OpenBLAS or gcc here'
fi
# a library that maps its buffers anew in its first eight runs: the clock starts after them
if command -v gcc > /dev/null && [ -e /usr/lib/x86_64-linux-gnu/libopenblas.so.0 ]; then
    mkdir -p cold
    gcc -shared -fPIC -O1 -o cold/libopenblas.so.0 -x c - << 'end'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
void cblas_sgemm(int o, int ta, int tb, int m, int n, int k, float x, const float *a, int lda, const float *b, int ldb,
                 float y, float *c, int ldc)
{
    static int runs;
    FILE *log = fopen(getenv("COLD_LOG"), "a");
    fprintf(log, "%d\n", ++runs);
    fclose(log);
    if (runs <= 8) memset(mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, 1 << 20);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int l = 0; l < k; l++) s += a[i * lda + l] * b[l * ldb + j];
            c[i * ldc + j] = s;
        }
}
void cblas_dgemm(void) {}
end
    COLD_LOG=$PWD/cold/log LD_LIBRARY_PATH=$PWD/cold loop-peer --lib=openblas --rounds=1 --runs=1 <(sed -n 1,2p p.csv) > cold.csv
    ok 'a peer is timed when it needs no new pages' eval '[ "$(wc -l < cold/log)" -ge 10 ] && [ "$(csv-cut -c checked cold.csv | sed 1d)" = 1 ]'
else
    skip 'a cold library' 'no OpenBLAS or gcc here'
fi
# nests that are convolutions: a filter a channel, groups, holes between the taps, images without zeros on some sides
if command -v gcc > /dev/null && [ -e /usr/include/dnnl.h ]; then
    printf '%s\n' problem '(nest (sizes (c 20) (y 5) (x 7) (p 3) (q 3)) (A (pad 1 0 (+ (* 2 y) p)) (pad 1 0 (+ (* 2 x) q)) c) (B p q c) (C y x c))' \
        '(nest (sizes (y 9) (x 7) (g 3) (m 4) (c 5) (p 3) (q 3)) (A (pad 1 1 (+ y p)) (pad 1 1 (+ x q)) g c) (B p q g c m) (C y x g m))' \
        '(nest (sizes (y 9) (x 7) (m 20) (c 5) (p 3) (q 2)) (A (+ (* 2 y) (* 3 p)) (pad 2 1 (+ (* 2 x) (* 3 q))) c) (B p q c m) (C y x m))' \
        '(nest (sizes (y 9) (x 7) (c 20) (p 3) (q 2)) (A c (pad 1 0 (+ (* 2 y) p)) (+ (* 2 x) q)) (B c p q) (C c y x))' > w.csv
    is 'convolutions of nests by oneDNN, as they lie and as it likes' '1 1 1 1 1 1 1 1' eval 'loop-peer --lib=onednn,onednn-any --rounds=1 --runs=1 w.csv |
        csv-cut -c checked | tail -n +2 | paste -sd" "'
else
    skip 'convolutions of nests' 'no oneDNN or gcc here'
fi
# killed while a library is compiled it leaves a folder, which the next removes
mkdir -p tmp bin
printf '#!/bin/sh\ntouch "%s/compiling"\nsleep 60\n' "$PWD" > bin/gcc
chmod +x bin/gcc
export TMPDIR=$PWD/tmp
PATH=$PWD/bin:$PATH setsid loop-peer --lib=gcc --rounds=1 --runs=1 p.csv > /dev/null 2>&1 &
pid=$!
for i in {1..200}; do [ ! -e compiling ] || break; sleep 0.05; done
{ kill -9 -- -$pid; wait $pid; } 2> /dev/null
is 'killed while it compiles' 1 eval 'ls -A tmp | grep -c "^.millrace-.*-peer-"'
loop-peer --lib=ours --rounds=1 --runs=1 p.csv > /dev/null
ok 'what it left is swept' eval '! ls -A tmp | grep -e -peer-'
unset TMPDIR
printf 'problem\n(attn 2 20 30 16)\n' > a.csv
is 'attention is for those that have it' '1,
0,two contractions are not written for it' eval 'loop-peer --lib=ours,gcc --rounds=1 --runs=1 a.csv 2> /dev/null | csv-cut -c checked,reason | tail -n +2'
loop-search --algo=greedy1 --eval=model --seconds=0.01 p.csv | loop-peer --lib=ours --rounds=1 --runs=1 > s.csv
is 'of the rows of a search the last counts' 2 bash -c 'tail -n +2 s.csv | wc -l'
fails 'an unknown library' 1 "unknown peer 'mkl'" loop-peer --lib=mkl p.csv
fails 'none given' 2 'see --lib' loop-peer p.csv
done_testing
