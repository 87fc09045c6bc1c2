#!/bin/bash
# what make inline-cost times: every build as several copies of its file; a copy's median is one value of the build
. "$(dirname "$0")/tap.sh"
. "$root/t/inline-live.sh"
command -v ld.lld-14 llvm-profdata-14 > /dev/null || { echo '1..0 # skip ld.lld-14 or llvm-profdata-14 is not here'; exit 0; }
home=$T/out/inline-home
pipeline() {
    make -s -C "$root" SCALE=ci OUT="$T/out" BIN="$BIN" B="$B" INLINE_HOME_ROWS='O2 lto-pgo' INLINE_HOME_GOALS= \
        INLINE_COST_COPIES="${copies-3}" "${@/#/$home/}" > log 2>&1
}
ok 'three builds without a search' pipeline demo/copies-times.csv copies-levels.csv
runs=$home/demo/copies.csv
is 'two runs of each copy on the shortest input, all with the same output' $'demo.1,O2,ok,6\ndemo.1,lto-irn,ok,6
demo.1,lto-pgo,ok,6' bash -c "csv-where -c phase --is=measure '$runs' | csv-group -g benchmark,label,status |
    csv-cut -c benchmark,label,status,n_rows | sed '1d; s/demo.2/demo.1/' | sort"
is 'of three, over a base that has no copy in its name' '0 1 2 O2' bash -c "csv-where -c phase --is=measure '$runs' > own
    echo \$(csv-calc --print=copy own | sort -un) \$(csv-calc --print=base own | sort -u)"
is 'a copy is a round: the median of its runs' yes bash -c "csv-where -c phase --is=measure '$runs' |
    csv-where -c copy --is=1 | csv-where -c label --is=lto-irn |
    csv-group -c cpu_seconds --stat=mean | csv-calc --print=mean_cpu_seconds > two
    csv-where -c round --is=1 '$home/demo/copies-times.csv' |
    csv-calc --let=m=\$(cat two) --where=\"label == 'lto-irn'\" --print='abs(cpu_seconds / number(m) - 1) < 1e-9 ? \"yes\" : \"no\"'"
is 'how builds, copies and runs differ' 3 csv-calc --print=builds "$home/copies-levels.csv"
is 'three deviations, none below nothing' yes csv-calc --print="builds_deviation >= 0 && copies_deviation >= 0 &&
    runs_deviation >= 0 ? 'yes' : 'no'" "$home/copies-levels.csv"
copies=2
ok 'another number of copies is asked for' pipeline demo/copies.csv
is 'and is another measurement' '0 1' bash -c "csv-where -c phase --is=measure '$runs' | csv-calc --print=copy | sort -un | xargs"
done_testing
