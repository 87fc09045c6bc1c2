#!/bin/bash
# make inline-home INLINE_HOME_FINALISTS=: CPU time over copies chooses among the sets that the search thinks best
. "$(dirname "$0")/tap.sh"
. "$root/t/inline-live.sh"
command -v ld.lld-14 llvm-profdata-14 > /dev/null || { echo '1..0 # skip ld.lld-14 or llvm-profdata-14 is not here'; exit 0; }
home=$T/out/inline-home
make -s -C "$root" SCALE=ci OUT="$T/out" BIN="$BIN" B="$B" INLINE_HOME_ROWS=lto-pgo INLINE_HOME_GOALS=learned \
    INLINE_HOME_EVALS=5 INLINE_HOME_STARTS=--none INLINE_HOME_FINALISTS=3 INLINE_FINAL_COPIES=10 \
    "$home/demo/learned.sexp" > log 2>&1 || { cat log; exit 1; }
f=$home/demo/finalists
is 'the best first, none costs as another' yes bash -c "csv-calc --print='or(cost > lag(cost), 1) ? \"yes\" : \"no\"' '$f/list.csv' | sort -u"
best=$(csv-calc --print=decisions "$f/list.csv" | head -1)
ok 'it is what --best writes' bash -c "inline-search --best --text-weight=0.05 --max-text=1.3 --store='$home/demo/store' \
    --work='$home/demo/w' '$home/demo/history.csv' > best.sexp && cmp '$home/demo/store/$best.sexp' best.sexp"
runs=$f/runs.csv
is 'ten copies of each run on what was searched on' 10 bash -c "csv-where -c phase --is=measure '$runs' |
    csv-calc --print=copy | sort -u | wc -l"
is 'with one output' ok bash -c "csv-where -c phase --is=measure '$runs' | csv-calc --print=status | sort -u"
is 'rivals are judged over the best' "$best" bash -c "csv-calc --print=base '$f/guard.csv' | sort -u"
is 'what goes out is the best, or surely faster' yes bash -c "
    for set in $best \$(csv-where -c reason --is=gain '$f/guard.csv' | csv-calc --print=label); do
        ! cmp -s '$home/demo/store/'\$set.sexp '$home/demo/learned.sexp' || echo yes; done"
done_testing
