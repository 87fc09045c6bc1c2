#!/bin/bash
# loop-library.sh - the library of kernels: what a look-up takes, beside libxsmm's dispatch; the first kernel of each
# problem; 8 threads under ThreadSanitizer
#   loop-library.sh DIR BUILD [TSAN-BUILD]
# BUILD has libmillrace-loop.a; TSAN-BUILD one that was made with -fsanitize=thread.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd) dir=$1 build=$(realpath "$2") tsan=${3:+$(realpath "$3")}
PATH=$top/bin:$PATH
mkdir -p "$dir" && cd "$dir"
xsmm=() with=()
if printf '#include <libxsmm.h>\nint main(void) { libxsmm_init(); }\n' |
   gcc -xc - -o probe -lxsmm -lxsmmnoblas -lpthread -ldl -lm 2> /dev/null; then
    xsmm=(-DXSMM) with=(-lxsmm -lxsmmnoblas)
fi
gcc -O2 "${xsmm[@]}" -I "$top/lib/loop" -o use "$top/t/bench/loop-library.c" "$build/libmillrace-loop.a" "${with[@]}" \
    -lcsv -lm -lpthread -ldl
./use lookup
problems() { loop-gen --test=0 "$@" | csv-cut -c problem | tail -n +2 | tr -d '"'; }
{
    for net in resnet50 mobilenet2; do
        for layout in nchw nhwc; do problems --set=$net --layout=$layout; done
    done
    for set in bert llama attention thin large; do problems --set=$set; done
    echo '(conv_nhwc 1 257 28 28 65 5 5 2 (pad 2))'       # sizes that nothing divides, many zeros around images
    echo '(conv_nhwc 8 223 15 29 289 7 3 2 (pad 3 1))'
} | sort -u > problems
./use cold < problems > cold.csv
sort -t, -k2,2 -g cold.csv | tail -n 4
echo "$(wc -l < problems) problems"
./use threads
[ "$tsan" ] || exit 0
gcc -O1 -g -fsanitize=thread -I "$top/lib/loop" -o raced "$top/t/bench/loop-library.c" "$tsan/libmillrace-loop.a" \
    -lcsv -lm -lpthread -ldl
TSAN_OPTIONS=halt_on_error=1 ./raced threads && echo 'no race'
