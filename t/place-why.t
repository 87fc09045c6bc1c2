#!/bin/bash
# What prices say of a tensor's life: rent where memory is short, and the choice that is cheaper is the plan's.
source "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
place-net resnet50 --batch=8 --image=64 > g.sexp
place-cost --model=disk g.sexp > p.csv
place-plan --formulation=sync --ratio=4:1 --profile=p.csv g.sexp > plan.sexp
why() { place-why --plan=plan.sexp --profile=p.csv "$@" g.sexp; }
uses() { place-stat --lives g.sexp | csv-calc --where="name == 'norm1'" --print='uses'; }
ok "one row for each use" eval '[ "$(why --tensor=norm1 | sed 1d | wc -l)" = "$(uses)" ]'
# over all tensors: the plan mostly does what its prices say
for t in $(place-stat --lives g.sexp | csv-calc --where="movable == 1" --print=name); do why --tensor="$t" | sed 1d; done > all
share() { awk -F, -v kept="$1" '$4 == "fast" && $7 != "" && $7 == kept { n++; k += kept ? $8 <= 1.1 * $9 : $8 >= 0.9 * $9 }
    END { exit !(n >= 20 && k >= 0.7 * n) }' all; }
ok "what leaves mostly would have paid as much for staying" share 0
ok "what stays mostly would have paid as much for leaving" share 1
fails "a tensor that is not there" 1 "no tensor is called 'none'" why --tensor=none
fails "a tensor that never moves" 1 "never moves" why --tensor=norm1.mean
place-plan --formulation=fast --profile=p.csv g.sexp > fast.sexp
fails "a plan without prices" 1 "fast has no prices" place-why --plan=fast.sexp --profile=p.csv --tensor=norm1 g.sexp
fails "no tensor named" 2 "go together" why
is "all stays are those of the plan" "$(grep -oE '\((slow|fast) [0-9]+ [0-9]+ [0-9]+\)' plan.sexp | wc -l)" \
    eval "place-why --plan=plan.sexp g.sexp | sed 1d | wc -l"
is "with the bytes that the graph says" "0 1" eval "{ place-why --plan=plan.sexp g.sexp | csv-cut -c tensor,bytes,place --rename=tensor=name --rename=bytes=own |
    csv-join -k name - <(place-stat --lives g.sexp | csv-cut -c name,bytes) > both.csv
    csv-calc --where='bytes != own' --print=name both.csv | wc -l; csv-group -g place both.csv | csv-calc --where='place == \"slow\"' --print='n_rows > 5'; } | xargs"
done_testing
