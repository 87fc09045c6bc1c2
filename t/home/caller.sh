#!/bin/bash
# caller.sh - a C program that calls every kernel of a header by loop-emit and compares it: caller.sh k.h > main.c
# It knows what stands in the header: the text of a problem, a declaration for each way to call it.
cat <<'C'
#include "k.h"
#include "home.h"
C
ways='
s/^[a-z]* ([a-z0-9_]+)_pack\(.*/static void pack_\1(void *p, const void *b) { \1_pack(p, b); }/p
/^[a-z]* .*_part\(/ {
    s/^[a-z]* ([a-z0-9_]+)\(.*residual\);/\1(i, n, x[0], x[1], x[2], x[3], x[4])/
    s/^[a-z]* ([a-z0-9_]+)\(.* \*v\);/\1(i, n, x[0], x[1], x[2], x[3])/
    s/^[a-z]* ([a-z0-9_]+)\(.* \*b\);/\1(i, n, x[0], x[1], x[2])/
    s/^([a-z0-9_]+)_part\(.*/static void part_\1(int i, int n, void **x) { &; }/p
    d
}
/^[a-z]* .*_ld\(/ {
    s/^[a-z]* ([a-z0-9_]+)\(.*residual\);/\1(x[0], l[0], x[1], l[1], x[2], l[2], x[3], x[4])/
    s/^[a-z]* ([a-z0-9_]+)\(.*ldv\);/\1(x[0], l[0], x[1], l[1], x[2], l[2], x[3], l[3])/
    s/^[a-z]* ([a-z0-9_]+)\(.*ldb\);/\1(x[0], l[0], x[1], l[1], x[2], l[2])/
    s/^([a-z0-9_]+)_ld.*/static void ld_\1(void **x, const int64_t *l) { &; }/p
}
s/^[a-z]* ([a-z0-9_]+)\(.*residual\);/static void run_\1(void **x) { \1(x[0], x[1], x[2], x[3], x[4]); }/p
s/^[a-z]* ([a-z0-9_]+)\(.* \*v\);/static void run_\1(void **x) { \1(x[0], x[1], x[2], x[3]); }/p
s/^[a-z]* ([a-z0-9_]+)\(.* \*b\);/static void run_\1(void **x) { \1(x[0], x[1], x[2]); }/p
'
sed -n -E "$ways" "$1"
echo 'int main(void)'
echo '{'
echo '    int wrong = 0;'
echo '    puts("name,isa,error,ld_error,part_error,test,right");'
while read -r name; do
    text=$(grep -B1 -E "^[a-z]* $name\(" "$1" | sed -n -E 's|^/\* (.*): c is .*|\1|p')
    ld=NULL pack=NULL packed=0 part=NULL biases=1
    grep -q "^[a-z]* ${name}_ld(" "$1" && ld=ld_$name
    grep -q "^[a-z]* ${name}_part(" "$1" && part=part_$name
    grep -q "^[a-z]* ${name}_pack(" "$1" && pack=pack_$name packed=${name}_packed
    [[ $text = *rmsnorm* ]] && biases=2
    [[ $text = *layernorm* ]] && biases=3
    [[ $text = *scale* ]] && ((biases++))
    echo "    wrong += check(&(struct home){ \"$text\", \"$name\", run_$name, $ld, $pack, $packed,"
    echo "                                   ${name}_test, ${name}_isa, $part }, $biases);"
done < <(sed -n -E 's/^int ([a-z0-9_]+)_test\(void\);/\1/p' "$1")
echo '    return wrong != 0;'
echo '}'
