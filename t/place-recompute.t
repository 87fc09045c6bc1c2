#!/bin/bash
# Nodes run twice where that is cheaper than keeping or moving: planned, checked by what does not know the solver, and
# executed with losses equal to the last bit.
source "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
mkdir -p "$B/recompute-test"
disk="file:$B/recompute-test"
place-net resnet50 --batch=2 --image=64 | sed 's/\(conv1.weight arg [^)]*)\))/\1 (trained 1))/' > g.sexp
# staging as measured; times as in a machine whose moves are slow, so that plans do not depend on this one
place-profile --runs=3 --tier=dram g.sexp |
    csv-calc --set="time_seconds=op == 'Move' ? 0.01 : 1e-4 + staging_bytes * 1e-8" > p.csv
again() { place-recompute --profile=p.csv --rounds=200 --steps=500 "$@" g.sexp; }
again -f sync --ratio=4:1 --plan=again.plan > again.sexp
place-plan -f sync --limit=20% --profile=p.csv --rounds=200 --steps=500 g.sexp > plain.plan
ok 'nodes are repeated' grep -q '(node [0-9]* [a-z0-9.]*[.]again ' again.sexp
ok 'it computes what the graph computes' place-check --original=g.sexp again.sexp
is 'what is trained stays so' "1 $(grep -c '(trained 1)' g.sexp)" echo 1 "$(grep -c '(trained 1)' again.sexp)"
ok 'the plan keeps all rules' place-check --plan=again.plan --profile=p.csv again.sexp
seconds() { sexp-get -k objective_seconds "$1"; }
faster() { [ "$(csv-calc --print="$(seconds $1) < $(seconds $2)" <<< x$'\n'1)" = 1 ]; }
ok 'and is faster than without' faster again.plan plain.plan
is 'the same limit' "$(sexp-get -k limit_bytes plain.plan)" sexp-get -k limit_bytes again.plan
losses() { csv-cut -c loss "$1" | sed 1d; }
place-plan -f fast --profile=p.csv g.sexp > fast.plan
place-run --steps=2 --warm=1 --again=0 --plan=fast.plan --tier="$disk" g.sexp > fast.csv
place-run --steps=2 --warm=1 --again=0 --plan=again.plan --tier="$disk" again.sexp > again.csv
is 'the same losses to the last bit' "$(losses fast.csv)" losses again.csv
place-plan -f async --limit="$(sexp-get -k limit_bytes again.plan)" --profile=p.csv again.sexp > async.plan
place-run --steps=2 --warm=1 --again=0 --plan=async.plan --tier="$disk" again.sexp > async.csv
is 'and with moves beside the kernels' "$(losses fast.csv)" losses async.csv
again -f sync --limit=1G --plan=roomy.plan > roomy.sexp
ok 'nothing is repeated where all fits' cmp -s g.sexp roomy.sexp
is 'the same bytes again' "$(cat again.sexp | sha256sum)" eval 'again -f sync --ratio=4:1 | sha256sum'
ok 'deeper: sound too' eval 'again -f sync --ratio=4:1 --levels=6 > deep.sexp && place-check --original=g.sexp deep.sexp'
# what is not a repetition is named
sed 's/[(]name resnet50[)]/(name other)/' again.sexp > other.sexp
is 'says so' 1 eval 'place-check --original=g.sexp other.sexp | grep -c "no graph of .resnet50"'
is 'a missing repetition of the name' 1 eval 'sed "s/[.]again /.twice /" again.sexp | place-check --original=g.sexp - | grep -c "neither one of"'
fails 'no formulation' 2 'no formulation' place-recompute --ratio=4:1 --profile=p.csv g.sexp
fails 'no limit' 2 'how much fast memory' place-recompute -f sync --profile=p.csv g.sexp
fails 'all of it' 2 'leaves no choice' place-recompute -f sync --ratio=0:1 --profile=p.csv g.sexp
rmdir "$B/recompute-test"
done_testing
