#!/bin/bash
# Another order of the kernels: less memory at a time, the same losses to the last bit.
source "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
mkdir -p "$B/order-test"
disk="file:$B/order-test"
place-net resnet18 --batch=2 --image=32 > g.sexp
place-order g.sexp > o.sexp 2> said
peak() { place-stat "$1" | csv-cut -c peak_bytes | sed 1d; }
is 'says both peaks' "place-order: resnet18: peak $(peak o.sexp) bytes, $(peak g.sexp) as it was" cat said
less() { [ "$(csv-calc --print="$1 < $2" <<< x$'\n'1)" = 1 ]; }
ok 'less memory at a time' less "$(peak o.sexp)" "$(peak g.sexp)"
ok 'it computes what the graph computes' place-check --original=g.sexp o.sexp
place-order o.sexp > again.sexp 2> said
ok 'nothing is gained twice' cmp -s o.sexp again.sexp
is 'the same bytes again' "$(sha256sum < o.sexp)" eval 'place-order --quiet g.sexp | sha256sum'
# names may stand twice: those of an imported graph
place-net vit --batch=1 --image=32 > v.sexp
ok 'a graph whose names stand twice' eval 'place-order --quiet v.sexp | place-check --original=v.sexp -'
# of a plan
place-cost --model=disk g.sexp > p.csv
by_plan() { place-order -f sync --ratio=4:1 --profile=p.csv --rounds=100 --steps=300 "$@" g.sexp; }
by_plan --plan=o.plan > planned.sexp 2> said
is 'says both times' 1 grep -c 'resnet18: a step of .* s, .* as it was' said
ok 'the plan keeps all rules' place-check --original=g.sexp --plan=o.plan --profile=p.csv planned.sexp
place-plan -f sync --ratio=4:1 --profile=p.csv --rounds=100 --steps=300 g.sexp > plain.plan
seconds() { sexp-get -k objective_seconds "$1"; }
ok 'and is not slower' less "$(seconds o.plan)" "$(seconds plain.plan) * 1.0000001"
# for real
losses() { csv-cut -c loss "$1" | sed 1d; }
place-profile --quiet --runs=3 --tier=dram -o real.csv g.sexp
run() { place-run --quiet --steps=2 --again=0 --plan="$1" --tier="$disk" "$2"; }
place-plan -f fast --profile=real.csv g.sexp > fast.plan
place-plan -f async --ratio=2:1 --profile=real.csv o.sexp > async.plan
run fast.plan g.sexp > was.csv
run async.plan o.sexp > now.csv
is 'the same losses to the last bit' "$(losses was.csv)" losses now.csv
fails 'a profile without a formulation' 2 'no formulation' place-order --profile=p.csv g.sexp
fails 'no profile' 2 'no profile' place-order -f sync --ratio=4:1 g.sexp
fails 'no limit' 2 'how much fast memory' place-order -f sync --profile=p.csv g.sexp
# what is not an order of it is named
sed 's/[(]name resnet18[)]/(name other)/' o.sexp > other.sexp
is 'says so' 1 eval 'place-check --original=g.sexp other.sexp | grep -c "no graph of .resnet18"'
rmdir "$B/order-test"
done_testing
