#!/bin/bash
# place-offload.t - plans for what is saved: within the limit, not below the bound, the same every time.
. "$(dirname "$0")/tap.sh"
place-net resnet50 --batch=4 --image=64 > g.sexp
place-cost --model=disk g.sexp > p.csv
plan() { place-offload --profile=p.csv "$@" g.sexp; }
get() { sexp-get -k "$1" "$2"; }
ok 'a graph of place-net is planned' eval 'plan --limit=50% > half.sexp'
ok 'the same every time' eval 'plan --limit=50% | cmp - half.sexp'
ok 'the limit is kept' eval '[ "$(get most_bytes half.sexp)" -le "$(get limit_bytes half.sexp)" ]'
ok 'the bound is below the objective' eval '[[ $(get gap_ratio half.sexp) != -* ]]'
plan --limit=100% > all.sexp
is 'with room for all nothing goes' 0 get away_bytes all.sexp
is 'and the step takes its plain time' "$(get plain_seconds all.sexp)" get objective_seconds all.sexp
fails 'an impossible limit is refused, with the least' 1 \
    'no plan keeps the limit of 1000 bytes; the least found takes [0-9]+' plan --limit=1000
fails 'two limits' 2 'exclude each other' plan --ratio=1:1 --limit=5M
n="(graph (name x) (batch 1) (tensor 0 a inter 4 f32 (1)) (node 0 n Op (in) (out 0) (flops 0) (bytes 4)))"
printf "%s\n" "$n" > n.sexp
fails 'a graph without a backward pass' 1 "none writes a tensor 'loss'" place-offload --limit=50% --profile=p.csv n.sexp
done_testing
