#!/bin/bash
source "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# the mutations by the thousand are in lib-verify.c; here every rule once, through the files
place-net vgg19 --batch=8 --image=64 --study > g.sexp
place-cost --model=optane g.sexp > p.csv
place-plan --formulation=sync --ratio=4:1 --profile=p.csv --rounds=100 --steps=300 g.sexp > plan.sexp
verify() { place-verify --profile=p.csv --graph=g.sexp "$@"; }
ok "a plan of the solver is accepted" verify plan.sexp
for f in static numa slow fast; do
    place-plan --formulation=$f --ratio=4:1 --profile=p.csv --rounds=100 --steps=300 g.sexp > other.sexp
    ok "so is one of $f" verify other.sexp
done
# breaks SENTENCE RULE SED
breaks() {
    sed -E "$3" plan.sexp > bad.sexp
    ! cmp -s plan.sexp bad.sexp || { echo "the edit changed nothing" > why; fail "$1"; return; }
    verify bad.sexp > got 2> err
    { [ $? = 1 ] || echo "exit is not 1"; cat err; grep -q "^$2: " got || { echo "no rule '$2' in:"; head got; }; } > why
    if [ -s why ]; then fail "$1"; else pass "$1"; fi
}
breaks "a move that is not there" moves '0,/\(move /{/\(move /d}'
breaks "a move the other way" moves '0,/to_slow/s/to_slow/to_fast/'
breaks "an operand in the other tier" residence '0,/\(node 3 DDD P/s/\(node 3 DDD P/(node 3 DDD D/;0,/\(node 3 DDD D d/s/\(node 3 DDD D d/(node 3 DDD P d/'
breaks "a time that is not the profile's" times 's/(\(node 7 [DP]* [DP]* [a-z]*) [0-9.e-]*/\1 0.5/'
breaks "a better objective" objective 's/objective_seconds [0-9.e-]*/objective_seconds 0.001/'
breaks "a better bound" bound 's/bound_seconds 0/bound_seconds 1/'
breaks "a smaller gap" bound 's/gap_ratio [0-9.e-]*/gap_ratio 0/'
breaks "a smaller limit" capacity 's/limit_bytes [0-9]*/limit_bytes 100000/'
breaks "everything at one offset" layout 's/\(fast ([0-9]+) ([0-9]+) [0-9]+\)/(fast \1 \2 0)/g'
breaks "another formulation" formulation 's/formulation sync/formulation static/'
breaks "another kind" formulation 's/kind simulated/kind real/'
breaks "no prices" bound 's/ \(price [^)]*\)//'
cp plan.sexp sync.sexp
place-plan --formulation=async --ratio=4:1 --profile=p.csv --rounds=100 --steps=300 g.sexp > plan.sexp
ok "a plan with moves beside kernels is accepted" verify plan.sexp
breaks "the channel as dear as standing still" bound '/\(price /s/ [0-9.e-]+\)\)$/ 1))/'
sed -E '/\(price /s/ [0-9.e-]+\)\)$/ 1.5))/' plan.sexp > bad.sexp
fails "a channel dearer than standing still" 2 "a price of the channel that is not between 0 and 1" verify bad.sexp
mv sync.sexp plan.sexp
sed 's/(batch 8)/(batch 9)/' plan.sexp > bad.sexp
fails "a plan for another batch" 2 "this plan is for vgg19, batch 9, not for vgg19, batch 8" verify bad.sexp
head -c 3000 plan.sexp > bad.sexp
fails "a truncated plan" 2 "bad.sexp" verify bad.sexp
sed 's/(node 5 /(node 4 /' plan.sexp > bad.sexp
fails "a node twice" 2 "node 4 a second time" verify bad.sexp
fails "no graph" 2 "no graph given" place-verify --profile=p.csv plan.sexp
fails "no profile" 2 "no profile given" place-verify --graph=g.sexp plan.sexp
grep -v "^Relu 8x4096" p.csv > less.csv
fails "a profile without the kernel" 2 "no row for kernel 'Relu 8x4096>8x4096'" place-verify --profile=less.csv --graph=g.sexp plan.sexp
done_testing
