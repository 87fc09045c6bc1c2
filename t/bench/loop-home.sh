#!/bin/bash
# loop-home.sh - kernels that loop-emit made of problems of all kinds and types, called on every way that one takes home,
# each compared with loops over doubles (C callers) or NumPy's own operations on doubles (Python)
#   loop-home.sh DIR [PROBLEMS.csv [WAY ...]]
# Ways are an object or the C text, by a compiler, perhaps with AddressSanitizer and UBSan of the caller and the C text;
# on processors without AVX-512 (Haswell) or AVX2 (Nehalem), by qemu-user; text-avx2 is told that there is no AVX-512;
# python is on the shared library.  A way that ends in -parts has NAME_part too, called by 1 to 9 threads.  In DIR a file of rows for each, and ways.csv, a row a way, which is printed: an error
# is a share of what is allowed, isa as NAME_isa() says.  Exit 1 when anything is wrong.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd) dir=$1 problems=$(realpath "${2:-$(dirname "$0")/../home/problems.csv}")
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- object-gcc object-clang shared-gcc text-gcc text-clang object-gcc-sanitized object-clang-sanitized \
    text-gcc-sanitized text-clang-sanitized text-avx2 \
    object-Haswell object-Nehalem python object-gcc-parts object-Haswell-parts object-Nehalem-parts
PATH=$top/bin:$PATH
mkdir -p "$dir" && cd "$dir"
mkdir -p parts
loop-emit --object=k.o --shared=libk.so --c=k.c --header=k.h "$problems" > emitted.csv
"$top/t/home/caller.sh" k.h > main.c
if [[ " $* " = *-parts* ]]; then
    loop-emit --parts --object=parts/k.o --c=parts/k.c --header=parts/k.h "$problems" > parts/emitted.csv
    "$top/t/home/caller.sh" parts/k.h > parts/main.c
fi
way() {
    local what=${1%%-*} cc flags='-O1 -w' with run=./$1 from=.
    case $1 in *clang*) cc=clang ;; *) cc=gcc ;; esac
    [[ $1 = *-parts ]] && from=parts
    case $what in object) with=$from/k.o ;; shared) with='-L. -lk -Wl,-rpath,.' ;; text) with=$from/k.c ;; esac
    case ${1%-parts} in
    text-*-sanitized) flags='-O0 -w -fsanitize=address,undefined -fno-sanitize-recover=undefined' ;;      # takes minutes
    *-sanitized) flags='-O1 -w -fsanitize=address,undefined -fno-sanitize-recover=undefined' ;;
    *-thread) flags='-O1 -w -fsanitize=thread' ;;
    *-Haswell | *-Nehalem) flags='-O1 -w -static -DLOOSE' run="qemu-x86_64 -cpu $(cut -d- -f2 <<< "$1") ./$1" ;;
    *-avx2) flags="-O1 -w -include $top/t/home/avx2.h" ;;
    python) PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$top/t/home/home.py" k.h ./libk.so && return; return 1 ;;
    esac
    # shellcheck disable=SC2086    # lists of words
    $cc $flags -I "$top/t/home" -I $from -o "$1" $from/main.c $with -lm -lpthread
    # shellcheck disable=SC2086
    ASAN_OPTIONS=detect_leaks=0 $run 2> "$1.err"
}
wrong=0
for w in "$@"; do way "$w" > "$w.rows" || wrong=1; done
csv-cat --source=way "${@/%/.rows}" | csv-calc --set='way=part(way, ".", 1)' > all.csv
csv-group -g way -c right,error,ld_error,part_error,isa --stat=n,sum,max --missing=skip all.csv |
csv-cut -c way,n_right,sum_right,max_error,max_ld_error,max_part_error,max_isa > ways.csv
csv-show ways.csv
exit $wrong
