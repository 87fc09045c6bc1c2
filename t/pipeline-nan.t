#!/bin/bash
# relu of a NaN is 0, whatever the instructions, in the object and in the C text
. "$(dirname "$0")/tap.sh"
command -v gcc > /dev/null || { echo '1..0 # skip no gcc here'; exit 0; }
. "$root/t/loop-emitted.sh"
cat > p.csv <<'P'
problem,name
(mm 20 33 16 (then relu)),one
(mm 20 33 16 (then bias relu)),biased
(mm_nt 20 33 16 (then relu)),transposed
(mm 20 33 16 (then relu bf16)),rounded
(mm 20 33 16 (then relu) (type f64)),doubles
P
cat > main.c <<'C'
#include "k.h"
#include <math.h>
#include <string.h>
static float a[20 * 16], b[16 * 33], bias[3 * 33], c[20 * 33];
static double da[20 * 16], db[16 * 33], dc[20 * 33];
static uint16_t h[20 * 33];
static int bad;
#define ALL_ZERO(x) for (int i = 0; i < 20 * 33; i++) bad += !((x)[i] == 0)
int main(void)
{
    for (int i = 0; i < 20 * 16; i++) a[i] = da[i] = i % 3 ? 1 : NAN;
    for (int i = 0; i < 16 * 33; i++) b[i] = db[i] = 1;
    memset(c, 0xff, sizeof c), one(c, a, b, bias, c);
    ALL_ZERO(c);
    memset(c, 0xff, sizeof c), biased(c, a, b, bias, c);
    ALL_ZERO(c);
    memset(c, 0xff, sizeof c), transposed(c, a, b, bias, c);
    ALL_ZERO(c);
    rounded(h, a, b, bias, c);
    ALL_ZERO(h);
    doubles(dc, da, db, dc, dc);
    ALL_ZERO(dc);
    return bad != 0;
}
C
loop-emit --object=k.o --c=k.c --header=k.h p.csv > /dev/null
emitted -O1
done_testing
