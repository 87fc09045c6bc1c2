#!/bin/bash
. "$(dirname "$0")/tap.sh"
place-net resnet50 --batch=4 --image=64 > g.sexp
place-cost --model=optane g.sexp > p.csv
place-plan -f sync --ratio=4:1 --profile=p.csv --rounds=100 --steps=300 g.sexp > sync.plan
place-plan -f fast --profile=p.csv g.sexp > fast.plan
place-apply --plan=sync.plan g.sexp > a.sexp
ok 'the graph it makes is sound' place-check a.sexp
column() { place-stat "$1" | tail -1 | cut -d, -f"$2"; }
is 'one node more for each move' "$(($(column g.sexp 3) + $(grep -o '(move ' sync.plan | wc -l)))" column a.sexp 3
is 'a tensor for each stay' "$(grep -oE '\((fast|slow) [0-9]+ [0-9]+ [0-9]+\)' sync.plan | wc -l)" column a.sexp 4
is 'the same parameters and flops' "$(column g.sexp 5),$(column g.sexp 7)" eval 'place-stat a.sexp | tail -1 | cut -d, -f5,7'
is 'without moves the same nodes' "$(column g.sexp 3)" eval 'place-apply --plan=fast.plan g.sexp | place-stat | tail -1 | cut -d, -f3'
ok 'standard input, the same bytes' cmp a.sexp <(place-apply --plan=sync.plan < g.sexp)
fails 'no plan' 2 'no plan given' place-apply g.sexp
sed '0,/(tensor [0-9]* (fast [^)]*))/s///' fast.plan > short.plan
fails 'a tensor without a place' 1 'has no place|tensor' place-apply --plan=short.plan g.sexp
done_testing
