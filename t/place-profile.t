#!/bin/bash
. "$(dirname "$0")/tap.sh"
place-net mlp --batch=4 --image=16 > g.sexp 2> /dev/null || place-net mlp --batch=4 > g.sexp
profile() { place-profile --runs=3 --tier=dram "$@"; }
keys() { cut -d, -f1,4-6 "$1" | sort; }

profile -o a.csv g.sexp
plans() { for f in slow fast; do place-plan -f $f --profile="$1" g.sexp > $f.plan || return; done; }
ok 'plans can be made of it' plans a.csv
is 'the columns' 'key,op,shapes,in_tiers,out_tiers,mode,staging_bytes,time_seconds,runs,method,kind,threads,tier,machine' head -1 a.csv
is 'no time is missing or negative' '0' awk -F, 'NR > 1 && !($8 > 0) && $1 != "Interference" { n++ } END { print n + 0 }' a.csv
share() { csv-calc --where="op == 'Interference'" --print='time_seconds >= 0' a.csv | paste -sd' '; }
is 'what kernels lose beside copies, either way' '1 1' share
empty() { [ -z "$("$@")" ]; }
twice() { keys a.csv | uniq -d; }
ok 'no key, tiers and mode twice' empty twice
is 'every kernel is there' "$(place-stat g.sexp | tail -1 | cut -d, -f8)" eval 'grep -vE "^(Move|Interference)" a.csv | sed 1d | cut -d, -f1 | sort -u | wc -l'
cp a.csv b.csv
profile -o b.csv g.sexp
ok 'what is there is not measured again' cmp a.csv b.csv
head -c $(($(stat -c %s a.csv) / 2)) a.csv > b.csv
half=$(($(wc -l < b.csv)))
cp b.csv half.csv
profile -o b.csv g.sexp 2> torn
ok 'a killed run keeps its whole rows' cmp <(head -n $half half.csv) <(head -n $half b.csv)
is 'and has the same rows in the end' "$(keys a.csv)" keys b.csv
profile --full g.sexp > full.csv
more() { [ "$(wc -l < full.csv)" -ge "$(wc -l < a.csv)" ]; }
ok 'all combinations are more' more
profile --plan=slow.plan g.sexp > used.csv
used() { [ "$(keys used.csv | sed '/^key/d' | wc -l)" = "$(keys used.csv | sed '/^key/d' | sort -u | wc -l)" ] && [ "$(wc -l < used.csv)" -gt 5 ]; }
ok 'those of a plan, each once' used
fails 'another setting needs another file' 1 "a.csv:2: measured with threads '1', not '2'" profile --threads=2 -o a.csv g.sexp
fails 'no tier' 2 'no tier given' place-profile g.sexp
fails 'a tier that is not there' 1 'No such file' place-profile --tier=file:none g.sexp
fails 'unknown kernels' 2 "no kernels 'mmx'" profile --isa=mmx g.sexp
fails 'a truncated graph' 1 'opened' eval 'head -c 900 g.sexp | profile'
# an operand that is there twice is slow twice; more operands than there are kernels for are named
cat > square.sexp <<'G'
(graph (name square) (batch 1) (tensor 0 x arg 262144 f32 (65536)) (tensor 1 a inter 262144 f32 (65536))
  (tensor 2 b inter 262144 f32 (65536)) (tensor 3 y arg 262144 f32 (65536))
  (node 0 a NdUnary (in 0) (out 1) (attr (kind 0))) (node 1 b NdBinary (in 1 1) (out 2) (attr (kind 2)))
  (node 2 y NdUnary (in 2) (out 3) (attr (kind 0))))
G
profile square.sexp > square.csv
is 'a square of what is slow' 'DD D,PP D,DD P' eval 'grep "^NdBinary" square.csv | cut -d, -f4,5 | tr , " " | paste -sd,'
ok 'and a plan for it' eval 'place-plan -f slow -p square.csv square.sexp > plan && place-check --plan=plan -p square.csv square.sexp'
{ echo '(graph (name many) (batch 1) (tensor 0 x arg 4 f32 (1)) (tensor 1 y arg 12000 f32 (3000))'
  echo "(node 0 y NdConcat (in $(yes 0 | head -n 3000 | paste -sd' ')) (out 1) (attr (axis 0))))"; } > many.sexp
fails 'three thousand operands' 1 "node 'y': more than 32 operands" profile many.sexp
sed 's/ReluBackprop/Gelu/' g.sexp > odd.sexp
fails 'an operator without a kernel' 1 "no kernel for operator 'Gelu'" profile odd.sexp
done_testing
