#!/bin/bash
# programs made by chance, every set of decisions of each built: MANY=20 prove t/inline-optimal-oracle.t
. "$(dirname "$0")/tap.sh"
need_llvm
below() { echo $((RANDOM % $1)); }
body() { # NUMBER: some statements over x, and calls of functions of lower numbers
    local i n=$1 lines=$(($(below 6) + 1)) constant
    for ((i = 0; i < lines; i++)); do
        constant=$(below 1000)
        case $(below 4) in
            0) echo "    x = x * ${constant}u + (x >> $(below 7));" ;;
            1) echo "    if (x % $((constant + 2))u == 1) x ^= ${constant}u; else x += sink;" ;;
            2) echo "    for (unsigned i = 0; i < x % 5u; i++) x += i ^ ${constant}u;" ;;
            3) echo "    sink = x + ${constant}u;" ;;
        esac
    done
    if [ "$n" -gt 0 ]; then echo "    x += f$(below "$n")(x + $(below 3)u);"; fi
}
for ((seed = 1; seed <= ${MANY:-1}; seed++)); do
    RANDOM=$seed functions=$(($(below 3) + 3))
    mkdir "p$seed"
    {
        echo 'unsigned sink;'
        for ((n = 0; n < functions; n++)); do
            [ "$(below 4)" = 0 ] || echo static
            echo "unsigned f$n(unsigned x)" && echo '{' && body $n && echo '    return x;' && echo '}'
        done
        echo "int main(int argc, char **argv) { (void)argv; return (int)(f$((functions - 1))((unsigned)argc) +" \
            "f$(below "$functions")(3) & 1); }"
    } > "p$seed/main.c"
    printf 'build main.c\nsearch x\nconfirm x\n' > "p$seed/program"
    inline-module --per-file --out="w$seed" "p$seed"
    inline-optimal --most=4096 --chance=1 "w$seed" | csv-where -c module --is='(all)' > best.csv
    inline-size --exhaustive --most=256 "w$seed" | csv-where -c module --is='(all)' > all.csv
    least=$(csv-cut -c code_bytes all.csv | tail -1)
    is "program $seed: the least of $(csv-cut -c sets all.csv | tail -1) sets (sums with one for all) is found, proven" \
        "$least,$least" bash -c 'csv-cut -c best_bytes,lower_bytes best.csv | tail -1'
done
done_testing
