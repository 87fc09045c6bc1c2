#!/bin/bash
# "nothing is less": thirty small sources with functions that call themselves, each other, or in the tail, and seven
# without, beside every set of decisions about their calls, by clang itself: an attribute at each call of its own
# intermediate code.  Nothing of millrace builds or decides what is compared with, nor counts its bytes.
. "$(dirname "$0")/tap.sh"
need_llvm readelf
mkdir p
# each source: one of these, a helper, a caller; K varies constants and what is called how often
shape() { # KIND NAME HELPER K
    case $1 in
    self) echo "static int $2(int n) { return n < 2 ? n + $4 : $2(n - 1) * $3(n, $4) + n; }" ;;
    tail) echo "static int $2(int n) { return n < 2 ? $3(n, $4) : $2(n - 2); }" ;;
    mutual) echo "static int $2_b(int n); static int $2(int n) { return n == 0 ? $4 : $2_b(n - 1); }
        static int $2_b(int n) { return n == 0 ? 0 : $2(n - 1) + $4; }" ;;
    three) echo "static int $2_b(int n), $2_c(int n); static int $2(int n) { return n < 1 ? $4 : $2_b(n - 1); }
        static int $2_b(int n) { return $2_c(n) ^ $4; } static int $2_c(int n) { return n > $4 ? 1 : $2(n); }" ;;
    plain) echo "static int $2(int n) { for (int i = 0; i < $4; i++) n = $3(n, i); return n; }" ;;
    esac
}
kinds=(self tail mutual three plain)
for ((k = 0; k < 37; k++)); do
    {   echo "static int help$k(int a, int b) { return a * b + (a ^ $((k + 3))); }"
        shape "${kinds[k % 5]}" "f$k" "help$k" $((k % 7 + 1))
        echo "int entry$k(int n) { return f$k(n)$([ $((k % 4)) != 1 ] || echo " - f$k(n + $k)")$(
            [ $((k % 3)) = 1 ] || echo " + help$k(n, 7)"); }"
    } > p/s$k.c
done
{   for ((k = 0; k < 37; k++)); do echo "int entry$k(int);"; done
    echo 'int main(int argc, char **argv) { (void)argv; int s = 0;'
    for ((k = 0; k < 37; k++)); do echo "s += entry$k(argc);"; done
    echo 'return s & 1; }'
} > p/main.c
printf 'build *.c\nsearch 1\nconfirm 2\n' > p/program
ok 'taken apart' inline-module --per-file --out=w p
ok 'what is proven' inline-optimal --most=64 --builds=200 -o proven.csv w
# every set of a source's calls as a file: call number i of a function defined here says alwaysinline or noinline; most
# five calls, those of a function to itself aside, which no compiler inlines there
mark() { awk '
    { line[NR] = $0 }
    /^define / { match($0, /@[a-z0-9_]+/); now = substr($0, RSTART, RLENGTH); own[now] = 1 }
    / call [^@]*@[a-z0-9_]+\(/ { match($0, /@[a-z0-9_]+/); to[NR] = substr($0, RSTART, RLENGTH); if (to[NR] == now) delete to[NR] }
    END {
        for (i = 1; i <= NR; i++) if (i in to && to[i] in own) at[n++] = i
        for (set = 0; n <= 5 && set < 2 ^ n; set++) {
            for (k = 0; k < n; k++) { l = line[at[k]]; sub(/\([^()]*\)/, (int(set / 2 ^ k) % 2 ? "& alwaysinline" : "& noinline"), l); say[at[k]] = l }
            for (i = 1; i <= NR; i++) print (i in say ? say[i] : line[i]) > "set" set ".ll"
            close("set" set ".ll")
        } }' "$1"; }
least() { readelf -SW "$@" | awk 'function hex(t, i, n) { for (i = 1; i <= length(t); i++) n = 16 * n + index("123456789abcdef", substr(t, i, 1)); return n + 0 }
    /^File:/ { if (NR > 1 && s) print s; s = 0 }
    match($0, /PROGBITS +[0-9a-f]+ +[0-9a-f]+ +[0-9a-f]+ +[0-9a-f]+ +[A-Z]*X/) { split(substr($0, RSTART), f, / +/); s += hex(f[4]) }
    END { if (s) print s }' | sort -n | head -1; }
# the compiler itself as its driver calls it, but for all sets of a source at once: a process each takes ten times as long
cp p/s0.c set.ll
eval "compiler=($(clang-$llvm -'###' -Oz -w -c set.ll 2>&1 | sed -n '$ { s/"-o" "set.o"//; s/"-main-file-name" "[^"]*"//; s/ "set.ll"$//; p }'))"
echo module,brute > brute.csv
for ((k = 0; k < 37; k++)); do
    rm -f set*
    clang-$llvm -Oz -w -Xclang -disable-llvm-passes -S -emit-llvm p/s$k.c -o x.ll
    mark x.ll
    ls set*.ll > /dev/null 2>&1 || continue
    "${compiler[@]}" set*.ll 2> refused || true             # a set that LLVM cannot do leaves no object
    echo "s$k.c,$(least set*.o)"
done >> brute.csv
csv-join -k module proven.csv brute.csv > both.csv
ok 'thirty of them and more have few enough calls to be tried out' test "$(csv-calc --where='brute > 0' --print=module both.csv | wc -l)" -ge 30
none() { csv-calc --where="$1" --print=module both.csv | xargs; }
is 'no bound lies above what clang reaches' '' none 'lower_bytes > brute'
is 'nor above its own level' '' none 'lower_bytes > heuristic_bytes'
is 'an optimum is what clang finds' '' none "state == 'optimum' && best_bytes != brute"
is 'what calls itself has no bound, and that is said' '' none "recursive_functions > 0 && state == 'optimum'"
ok 'where nothing does there are proofs' test "$(csv-where -c state --is=optimum proven.csv | wc -l)" -gt 2
csv-cut -c module,heuristic_bytes,best_bytes,lower_bytes,brute,state both.csv | csv-show > "${SHOW:-/dev/null}"
done_testing
