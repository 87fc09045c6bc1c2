#!/bin/bash
# the lines of README's first screen, as a newcomer types them, on small inputs of their own
. "$(dirname "$0")/tap.sh"
lines() { sed -n '/^## One line/,/^## The studies/{s/^    \$ \{0,1\}//p; s/^    \(millrace\|csv-plot\)/\1/p}' "$root/README.md" | sed 's/  *#.*//' | grep '^\(millrace\|csv-plot\)'; }
is 'README has these lines' 6 eval 'lines | wc -l'
seq 200000 | sort -R --random-source="$root/README.md" > big
mkdir home && cp big home && cd home || exit 99
compare=$(lines | sed -n 1p)
ok 'compare: a sentence as on the page' eval '(eval "$compare") 2> err | head -1 | grep -Eq "^second is faster than first: it takes [0-9.]+ % less (cpu|wall) time \([0-9.]+ % less to [0-9.]+ % less, 95 %; 20 rounds\)$" || { cat err; false; }'
ok 'and with -o runs, table, picture and JSON' eval 'millrace compare --rounds=8 -o out "gzip -kc6 big" "gzip -kc1 big" --any-output > /dev/null 2>&1; grep -q "</svg>" out/compare.svg && [ -s out/runs.csv ] && [ -s out/compare.csv ]'
cat > train.py <<'E2'
import json, math
rows = [{'x': i, 'y': math.sin(i)} for i in range(20000)]
for epoch in range(5): text = json.dumps(rows)
print(len(text))
E2
if [ -e "$(recorder)" ]; then
    ok 'profile: the script runs, functions, a page' eval 'millrace profile train.py > out.txt 2> err && head -1 out.txt | grep -qE "^[0-9]+$" && grep -q "_json.Encoder" out.txt && grep -q "</html>" profile/page.html || { cat err; false; }'
else skip 'profile' 'no recorder for /usr/bin/python3'; fi
ok 'kernel: object, header, C' eval 'millrace kernel mm 96 250 61 > out.txt && [ -s mm_96_250_61.o ] && [ -s mm_96_250_61.h ] && [ -s mm_96_250_61.c ]'
cat > use.c <<'E2'
#include "mm_96_250_61.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    float *a = malloc(96 * 61 * 4), *b = malloc(61 * 250 * 4), *c = malloc(96 * 250 * 4);
    for (int i = 0; i < 96 * 61; i++) a[i] = (float)(i % 7) - 3;
    for (int i = 0; i < 61 * 250; i++) b[i] = (float)(i % 11) - 5;
    mm_96_250_61(c, a, b);
    for (int m = 0; m < 96; m++)
        for (int n = 0; n < 250; n++) {
            double sum = 0;
            for (int k = 0; k < 61; k++) sum += (double)a[m * 61 + k] * b[k * 250 + n];
            if (fabs(sum - c[m * 250 + n]) > 1e-3) return printf("%d %d: %g %g\n", m, n, sum, c[m * 250 + n]), 1;
        }
    return 0;
}
E2
ok 'and the lines that call it are right' eval 'grep -q "#include \"mm_96_250_61.h\"" out.txt && cc -o use use.c mm_96_250_61.o -lm && ./use'
printf 'size,tool,seconds\n1,a,1\n2,a,2\n1,b,3\n2,b,5\n' > t.csv
ok 'csv-plot' eval "$(lines | sed -n 6p) && grep -q '</svg>' t.svg"
done_testing
