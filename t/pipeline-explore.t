#!/bin/bash
# pipelines/explore, killed after each of its steps and gone on with: the same sets as one that nobody killed
. "$(dirname "$0")/tap.sh"
need_llvm qemu-x86_64
mkdir program killing
cat > program/main.c << 'E2'
#include <stdio.h>
#include <stdlib.h>
static int tiny(int x) { return x + 3; }
static int loop(int x) { int s = 0; for (int i = 0; i < 5; i++) s += x * i ^ (s << 1); return s; }
int rare(int x) { return loop(tiny(x)) + tiny(x * 2); }
int often(int x) { return loop(x) + tiny(x); }
int main(int argc, char **argv)
{
    unsigned sum = 0;
    int n = argc > 1 ? atoi(argv[1]) : 10;
    for (int i = 0; i < n; i++) sum += often(i) ^ tiny(i);
    if (argc > 2) sum += rare(argc) + rare(n);
    printf("%u\n", sum);
    return 0;
}
E2
printf 'build main.c\nsearch 30000\nconfirm 40000\n' > program/program
inline-module --compiler=clang --lto --profile=irn --out=w program || { echo '1..0 # skip it does not compile'; exit 0; }
explore() { GOAL=home STARTS='--none --threshold=0' setsid --wait "$root/pipelines/explore" w "$1" "$2" 1 1 --text-weight=0.05; }
# a wrapper of each program: once it has done its work as the n-th of this run, everything dies
for name in inline-search inline-run; do
    printf '#!/bin/bash\n%q "$@" || exit\necho >> steps\n[ "$(wc -l < steps)" -ne "$AT" ] || kill -9 0\n' \
        "$BIN/$name" > killing/$name
    chmod +x killing/$name
done
killed() { : > steps; AT=$1 PATH=$PWD/killing:$PATH explore cut "$2" > /dev/null 2>&1; }
sets() { csv-cut -c decisions,chain,step,instructions,text_bytes "$1/history.csv"; }
# 3 evaluations are fewer than the heuristics take: one set is begun with, of more that could be; 12: some of each phase
for evaluations in 3 12; do
    rm -rf whole cut
    mkdir whole cut
    ok "$evaluations: undisturbed" explore whole $evaluations
    n=1
    while [ $n -lt 60 ] && ! killed $n $evaluations; do n=$((n + 1)); done
    ok "$evaluations: killed again and again it comes to its end" test $n -gt 4 -a $n -lt 60
    is "$evaluations: with the same sets in the same order" "$(sets whole)" sets cut
    ok "$evaluations: again" explore cut $evaluations
    is "$evaluations: nothing more is tried" "$(sets whole)" sets cut
done
done_testing
