#!/bin/bash
# a program of one's own: three lines beside it, and make inline-study PROGRAM=DIR ends in tables and figures
. "$(dirname "$0")/tap.sh"
need_llvm qemu-x86_64 valgrind gnuplot
mkdir rpn
cat > rpn/rpn.c <<'E'
/* a calculator in reverse Polish: 1 2 + 3 * prints 9 */
#include "stack.h"
#include <stdio.h>
#include <stdlib.h>

static double apply(int op, double a, double b)
{
    return op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : b ? a / b : 0;
}

static int blank(int c)
{
    return c == ' ' || c == '\n';
}

int main(void)
{
    char word[32];
    int c, n = 0;
    while ((c = getchar()) != EOF) {
        if (!blank(c)) {
            if (n < 31) word[n++] = (char)c;
            continue;
        }
        word[n] = 0;
        if (n == 1 && (word[0] < '0' || word[0] > '9')) {
            double b = pop(), a = pop();
            push(apply(word[0], a, b));
        } else if (n) push(strtod(word, NULL));
        n = 0;
        if (c == '\n') printf("%g\n", pop());
    }
    return 0;
}
E
printf 'void push(double);\ndouble pop(void);\n' > rpn/stack.h
cat > rpn/stack.c <<'E'
#include "stack.h"
#include <stdlib.h>
static double v[64];
static int top;
void push(double x)
{
    if (top == 64) exit(3);
    v[top++] = x;
}
double pop(void)
{
    return top ? v[--top] : 0;
}
E
for i in $(seq 60); do echo "$i 2 + $((i * 3)) * 7 - 3 /"; done > rpn/a.txt
for i in $(seq 40); do echo "$i $i * $((i + 1)) 5 / -"; done > rpn/b.txt
printf 'build *.c\nsearch <a.txt\nconfirm <b.txt ; <a.txt\n' > rpn/program
pipeline() {
    make -s -C "$root" inline-study PROGRAM="$T/rpn" SCALE=ci OUT="$T/out" BIN="$BIN" B="$B" INLINE_STUDY_EVALS=8 INLINE_STUDY_SIZE=6 INLINE_STUDY_ROUNDS=2 > log 2>&1 ||
        { cat log; return 1; }
}
ok 'from three lines to tables and figures' pipeline
live=out/inline-study
for f in trace frontier compare rewards; do
    ok "figure $f" test -s $live/figure-$f.svg -a -s $live/figure-$f.png
    ok "and the table it was drawn from" test "$(wc -l < $live/figure-$f.csv)" -gt 1
done
is 'exact counts of every build' $'O2\nO3\nOs\nOz\nfiles\nlearned\nsmall\nthreshold' bash -c "csv-cut -c label $live/exact.csv | tail -n +2 | sort -u"
is 'every decision was obeyed, or says why not' 0 awk -F, 'NR > 1 && /,yes,no,$/ { n++ } END { print n + 0 }' $live/obeyed.csv
is 'all builds do what the program does' 0 bash -c "csv-where -c status --is=ok --not $live/rpn/runs.csv | tail -n +2 | wc -l"
printf '1 2 + 3 *\n' > one.txt
is 'the learned program is a program' 9 bash -c "$live/rpn/learned < one.txt"
is 'two rounds keep nothing, and that is said' 'rpn: too few rounds to keep anything: keep your flags' tail -n 1 log
ok 'no policy: it knows no other programs' test ! -e out/inline-study/policy
# what the search tried, built again and measured by counters: the study's table and picture of its own programs
counters() {
    make -s -C "$root" pca-data PCA_LOGS="$T/out/inline-study/rpn" PCA_STEPS=4 PCA_ROUNDS=1 OUT="$T/out" BIN="$BIN" B="$B" \
        > log 2>&1 || { cat log; return 1; }
}
ok 'the log of a search is what pca-data reads' counters
is 'so many steps, the default the first' $'4\nrpn/initial/0' bash -c "
    csv-calc --print=step out/pca-data.csv | tee steps | wc -l; grep initial steps"
is 'instructions are those of the log' 4 bash -c "
    csv-calc --set=\"decisions=part(step, '/', -1)\" --set=\"decisions=decisions == '0' ? 'default' : decisions\" \
        out/pca-data.csv | csv-cut -c decisions,instructions --rename=instructions=now |
    csv-join -k decisions - <(csv-dedupe -k decisions $live/rpn/history.csv) | csv-calc --where='abs(now / instructions - 1) < 1e-4' |
    tail -n +2 | wc -l"
is 'calls inlined, predicted branches, static instructions: all known' 4 bash -c "
    csv-calc --where='inlined >= 0 && mispredictions > 0 && static_instructions > 0' out/pca-data.csv | tail -n +2 | wc -l"
ok 'its picture' test -s out/pca-data.png -a -s out/pca-data/rpn/z.svg
done_testing
