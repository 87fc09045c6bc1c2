#!/bin/bash
. "$(dirname "$0")/tap.sh"
command -v clang-14 opt-14 llvm-link-14 > /dev/null || { echo '1..0 # skip clang-14 and llvm-14 are not here'; exit 0; }
mkdir p
cat > p/main.c <<'X'
#include <stdio.h>
static unsigned mix(unsigned x) { x ^= x >> 7; x *= 2654435761u; return x ^ x >> 11; }
static unsigned never(unsigned x) { return x * x + 1; }
unsigned other(unsigned);
int main(int argc, char **argv)
{
    unsigned x = (unsigned)argc;
    for (int i = 0; i < 100; i++) x += other(mix(x));
    if (argc > 3) x = never(x);
    printf("%u %s\n", x, argv[0] ? "" : "none");
    return 0;
}
X
cat > p/other.c <<'X'
static unsigned mix(unsigned n) { return n > 1 ? n - 2 : n; }        /* main.c has another one */
unsigned other(unsigned n) { return mix(n + 1); }
X
printf 'build *.c\nsearch x ; x y\nconfirm x\n' > p/program
inline-module --per-file --out=w p
inline-executed --exhaustive=64 --chance=1 w > best.csv
get() { csv-cut -c "$1" best.csv | tail -1; }
is 'state' ok get state
is 'all calls of both sources have a choice' 8 get sets
is 'the fewest instructions of all sets' "$(get exhaustive_instructions)" get best_instructions
is 'proven' "$(get best_instructions)" get lower_instructions
is 'the tables said so' "$(get best_instructions)" get table_instructions
ok 'inlining gains something here' [ "$(get best_instructions)" -lt "$(get none_instructions)" ]
ok 'functions that no run executes need no table' [ "$(get idle_functions)" -ge 1 ]
is 'costs of functions add up' 0 get sums_unequal
is 'libraries execute the same in all builds' 0 get other_differs
inline-executed --count w > counted.csv
is 'a count without a search is of the same build' "$(get heuristic_instructions)" \
    bash -c 'csv-cut -c heuristic_instructions counted.csv | tail -1'
ok 'two at once do not meet, and their paths are of one length' bash -c '
    inline-executed --count w > one.csv & inline-executed --count w > two.csv && wait $! &&
    cmp <(csv-cut --drop=seconds one.csv) <(csv-cut --drop=seconds counted.csv) &&
    cmp <(csv-cut --drop=seconds two.csv) <(csv-cut --drop=seconds counted.csv)'
inline-executed --count --search=40 --calls=calls.csv w > found.csv
chosen() { csv-cut -c chosen_instructions "$1" | tail -1; }
ok 'a search finds no fewer than there are' [ "$(chosen found.csv)" -ge "$(get exhaustive_instructions)" ]
ok 'and no more than the compiler' [ "$(chosen found.csv)" -le "$(get heuristic_instructions)" ]
is 'a row a call with a choice' 3 bash -c 'tail -n +2 calls.csv | wc -l'
csv-calc --set="predicted='no'" calls.csv > no.csv
inline-executed --count --verdicts=no.csv w > no.out
is 'verdicts that inline nothing' "$(get none_instructions)" chosen no.out
inline-executed --exhaustive=0 --chance=0 --calls=best.calls w > again.csv
inline-executed --count --verdicts=best.calls -c optimal w > given.csv
is 'the optimum, given as verdicts' "$(get best_instructions)" chosen given.csv
fails 'verdicts beside a search' 2 'goes with --count' inline-executed --verdicts=no.csv w
inline-executed --most=1 --builds=1 --chance=0 w > open.csv
ok 'open tables: a bound that holds' bash -c \
    "[ \"\$(csv-cut -c lower_instructions open.csv | tail -1)\" -le $(get best_instructions) ]"
# the count is the program's: half the rounds of the loop, and what it executes in its functions is about half
sed 's/i < 100/i < 50/' p/main.c > main.c && mv main.c p/main.c
inline-module --per-file --out=half p
inline-executed --count half > half.csv
ok 'half the rounds, half the instructions' bash -c "
    n=\$(csv-cut -c heuristic_instructions half.csv | tail -1)
    [ \$((n * 10)) -gt \$(($(get heuristic_instructions) * 5)) ] &&
    [ \$((n * 10)) -lt \$(($(get heuristic_instructions) * 6)) ]"
inline-module --out=whole p
fails 'one module' 1 'not laid out --per-file' inline-executed whole
fails 'no work directory' 1 'made by inline-module' inline-executed p
fails 'a threshold without --count' 2 'goes with --count' inline-executed --threshold=3 w
done_testing
