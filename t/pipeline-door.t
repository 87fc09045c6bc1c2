#!/bin/bash
# the lines of README's first screen, as a newcomer types them, on small inputs of their own
. "$(dirname "$0")/tap.sh"
# those that measure for minutes, or want torch, are typed by t/bench/bare.sh
awk '/^    \$ /{ skip = / (inline|memory) / } /^[^ ]|^$/{ skip = 0 } !skip' "$root/README.md" > page.md
is 'README has these lines' 'seq compare profile inline kernel memory csv-plot' eval \
    '"$root/t/readme-lines" "$root/README.md" | sed "s/^millrace //" | cut -d" " -f1 | xargs'
ln -s "$root/examples" examples
[ -e "$(recorder)" ] || sed -i '/^    \$ millrace profile/,/^$/d' page.md
"$root/t/readme-lines" page.md 'bash -c' > typed
while read -r how seconds s line; do
    case $how in
    ok) pass "$line" ;;
    not) fail "${line#s: }" ;;
    '#') echo "# $seconds $s $line" >&2 ;;
    esac
done < typed
ok 'compare leaves runs, table, picture and JSON' eval 'grep -q "</svg>" sorted/compare.svg && [ -s sorted/runs.csv ] && [ -s sorted/compare.csv ]'
ok 'kernel leaves object, header and C' test -s mm_96_250_61.o -a -s mm_96_250_61.h -a -s mm_96_250_61.c
ok 'csv-plot a picture' grep -q '</svg>' walls.svg
millrace kernel mm 96 250 61 > out.txt
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
# files of the same names stay
mkdir -p mine/log
echo mine | tee mine/mm_8_9_7.nest.csv > mine/log/mine
millrace kernel -o mine mm 8 9 7 > out.txt
is 'a table beside the kernel stays' mine cat mine/mm_8_9_7.nest.csv
is 'and nothing is added but the kernel' 'log mm_8_9_7.c mm_8_9_7.h mm_8_9_7.nest.csv mm_8_9_7.o' eval 'ls mine | xargs'
# what is somebody's own stays, and weights that are packed are said to be
echo 'int f(void);' | tee mine/f.c > mine/g.h
for name in f g; do fails "a file of one's own: $name" 2 'is there, and not by loop-emit' millrace kernel -o mine --name=$name mm 8 9 7; done
is 'stays' 'int f(void);' cat mine/f.c
millrace kernel --name=bytes mm_u8s8 4 8 8 > out.txt
ok 'the lines to paste say that b is packed' eval 'grep -q "bytes_pack makes of it" out.txt && grep -q "void bytes_pack(" out.txt && grep -q bytes_packed out.txt'
fails 'no size' 2 'size 0 is not' millrace kernel -o bad mm 0 9 7
is 'leaves nothing' 0 eval 'ls bad | wc -l'
rm mine/mm_8_9_7.* mine/f.c mine/g.h
[ ! -e "$(recorder)" ] || for turn in 1 2; do millrace profile -o mine /usr/bin/python3 -c 'print(1)' > out.txt 2> err.txt; done
is 'a folder log beside the profile stays' mine cat mine/log/mine
mkdir -p built/sums some/sums
echo mine > built/sums/mine
printf 'build make\nsearch ./sums 1\nconfirm ./sums 2\n' > some/sums/program
fails 'a folder built that is not ours' 2 'built is not of an earlier run' millrace inline -o . some/sums
is 'stays' mine cat built/sums/mine
done_testing
