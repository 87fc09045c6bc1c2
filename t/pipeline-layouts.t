#!/bin/bash
# make inline-layouts: builds compared over orders of their functions; what is timed is a copy of each
. "$(dirname "$0")/tap.sh"
. "$root/t/inline-live.sh"
command -v ld.lld-14 llvm-profdata-14 > /dev/null || { echo '1..0 # skip ld.lld-14 or llvm-profdata-14 is not here'; exit 0; }
home=$T/out/inline-home
pipeline() {
    make -s -C "$root" SCALE=ci OUT="$T/out" BIN="$BIN" B="$B" INLINE_LAYOUT_LABELS='lto-pgo lto-irn' \
        "${@/#/$home/}" > log 2>&1
}
ok 'two builds without a search' pipeline layouts.csv layouts-guard.csv layouts-levels.csv
runs=$home/demo/layouts/runs.csv
is 'two runs of each layout on each input, all with the same output' $'demo.1,lto-irn,ok,12\ndemo.1,lto-pgo,ok,12
demo.2,lto-irn,ok,12\ndemo.2,lto-pgo,ok,12' bash -c "csv-where -c phase --is=measure '$runs' |
    csv-group -g benchmark,label,status | csv-cut -c benchmark,label,status,n_rows | sed 1d | sort"
is 'of six' '1 2 3 4 5 6' bash -c "csv-calc --print=layout '$runs' | sort -un | xargs"
is 'a layout is a round: the median of its runs' yes bash -c "csv-where -c phase --is=measure '$runs' |
    csv-where -c benchmark --is=demo.1 | csv-where -c layout --is=3 | csv-where -c label --is=lto-irn |
    csv-group -c cpu_seconds --stat=mean | csv-calc --print=mean_cpu_seconds > two
    csv-where -c benchmark --is=demo.1 '$home/demo/layouts/times.csv' | csv-where -c round --is=3 |
    csv-calc --let=m=\$(cat two) --where=\"label == 'lto-irn'\" --print='abs(cpu_seconds / number(m) - 1) < 1e-9 ? \"yes\" : \"no\"'"
is 'intervals are over layouts' '6 6 2' bash -c "csv-calc --print=rounds '$home/layouts.csv' | sort -nr | xargs"
is 'so is what goes out, and how times differ between and within' '6 6' bash -c \
    "echo \$(csv-calc --print=rounds '$home/layouts-guard.csv') \$(csv-calc --print=groups '$home/layouts-levels.csv' | sort -u)"
done_testing
