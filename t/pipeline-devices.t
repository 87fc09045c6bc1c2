#!/bin/bash
# nothing of ours renames a file over a device or takes it away: as root that leaves everybody a file in its place
. "$(dirname "$0")/tap.sh"
mkdir dev                                                # a device of our own, alone in its folder
mknod -m 666 dev/null c 1 3 2> /dev/null && : > dev/null || { echo '1..0 # skip no devices may be made here (not root)'; exit 0; }
printf 'x,y\n1,2\n2,4.1\n3,6\n4,8\n' > xy.csv
printf 'problem,name\n(mm 8 8 8),mm\n' > p.csv
printf 'int main(void) { return 0; }\n' > main.c
stays() { # NAME STATUS COMMAND...: ends so, the device stays, and nothing comes to lie beside it
    local name=$1 want=$2 status=0
    shift 2
    "$@" > stays.out 2> stays.err || status=$?
    [ $status = "$want" ] && [ -c dev/null ] && [ "$(ls -A dev)" = null ] && { pass "$name"; return; }
    fail "$name"
    { echo "exit $status; there is: $(ls -lA dev)"; head -n 3 stays.err; } | sed 's/^/# /'
    rm -rf dev/* dev/.m*
    mknod -m 666 dev/null c 1 3
}
stays 'a model' 0 fit-ridge --quiet -y y -o dev/null xy.csv
stays 'a picture' 0 csv-plot -x x -y y -o dev/null xy.csv
stays 'a source package' 1 "$root/pipelines/fetch-source" hello dev/null "$root/data"
echo new > new
stays 'what a recipe keeps' 1 "$root/pipelines/keep" new dev/null
is 'says so' 'keep: dev/null: no file, and not replaced by one' cat stays.err
if have gcc; then stays 'kernels' 0 loop-emit --object=dev/null --header=dev/null p.csv; fi
if have clang objcopy; then
    stays 'an object of inline-cc' 0 inline-cc -c -o dev/null main.c
    stays 'a program of inline-cc' 0 inline-cc -o dev/null main.c
fi
if have_llvm; then
    cp -r "$root/data/demo" demo
    inline-module --out=w demo
    stays 'a build' 0 inline-build --out=dev/null w
    for row in O2 bolt; do stays "a stock build, $row" 1 inline-build --stock=$row --optional --out=dev/null w; done
    is 'which says so' 1 grep -c 'dev/null: no file' stays.err
    stays 'a stock build without its compiler' 1 inline-build --compiler=clang-98 --stock=O2 --optional --out=dev/null w
fi
stays 'a table of a study' 1 env NETS=' ' "$root/t/bench/place-solver.sh" dev/null
done_testing
