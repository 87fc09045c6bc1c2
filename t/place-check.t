#!/bin/bash
source "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

place-net mlp --batch=4 > good
ok "a sound graph" place-check good
# fault SENTENCE SED WANT: after the edit the one fault WANT is reported, status 1
faulty() {
    sed "$1" good > bad
    ! cmp -s good bad || echo "the edit changed nothing"
    place-check bad
    [ $? = 1 ] || echo "exit is not 1"
}
fault() { is "$1" "$3" faulty "$2"; }
fault "bytes that are not those of the shape" '/(tensor 14 labels/s/160/164/; s/(flops 40) (bytes 324)/(flops 40) (bytes 328)/; s/(flops 80) (bytes 480)/(flops 80) (bytes 484)/' \
    "tensor 14 'labels': 164 bytes, but its shape makes 160"
fault "a type that does not exist" '/(tensor 8 relu2/s/f32/f64/' "tensor 8 'relu2': type 'f64' is neither f32 nor i32"
fault "a tensor read before it is written" '/(node 1 relu1/s/(in 3)/(in 7)/' "node 1 'relu1' reads tensor 7 'dense2', which no earlier node writes"
fault "a tensor written twice" '/(node 3 relu2/s/(out 8)/(out 4)/' \
    "node 3 'relu2' writes tensor 4 'relu1', which node 1 has written
node 4 'dense3' reads tensor 8 'relu2', which no earlier node writes
node 8 'dense3.grad_weight' reads tensor 8 'relu2', which no earlier node writes
node 13 'relu2.grad_relu' reads tensor 8 'relu2', which no earlier node writes
no node writes tensor 8 'relu2'"
fault "operands of the wrong size" '/(node 19 relu1/{s/(in 4 24)/(in 4 18)/}; /(tensor 18 /s/16384 f32 (4 1024)/16380 f32 (4095)/; s/(in 9 15) (out 18) (attr (grad_data 1)) (flops 81920) (bytes 57504)/(in 9 15) (out 18)/; s/(in 8 18) (out 21) (flops 4096) (bytes 49152)/(in 8 24) (out 21)/; s/(in 4 18) (out 27) (flops 4096) (bytes 49152)/(in 4 18) (out 27)/' \
    "node 13 'relu2.grad_relu' reads tensor 24 'dense2.grad_data', which no earlier node writes
node 19 'relu1.grad_relu': operands 'relu1' and 'dense3.grad_data' of ReluBackprop differ in size
node 19 'relu1.grad_relu': operands 'dense3.grad_data' and 'relu1.grad_relu' of ReluBackprop differ in size"
fault "too few operands" '/(node 3 relu2/s/Relu/Softmax_/; /(node 5 softmax/s/Softmax (in 11)/Softmax (in 11 11)/; s/(flops 200) (bytes 320)/(flops 200) (bytes 480)/' \
    "node 5 'softmax': Softmax has 2 inputs and 1 outputs"
fault "an update of something else" '/(tensor 19 /s/updates 9/updates 3/' "tensor 19 'dense3.weight.next': updates 3, which is not an arg of the same size"
next() { printf '(graph (name n) (batch 1) (tensor 0 w arg 4 f32 (1)) (tensor 1 a arg 4 f32 (1) (updates 0))
    (tensor 2 b arg 4 f32 (1) (updates %d)) (node 0 a Foo (in 0) (out 1)) (node 1 b Foo (in 1) (out 2)))' $1 > next; place-check next; }
is "two next values of one" "tensors 1 and 2 are both the next value of tensor 0 'w'" eval 'next 0 || true'
is "the next value of a next value" "tensor 2 'b': updates 1, which is a next value itself" eval 'next 1 || true'
printf '(graph (name f) (batch 2) (tensor 0 x arg 32 f32 (2 4)) (tensor 1 y inter 32 f32 (2 4))
    (node 0 y Concat (in 0) (out 1) (attr (plus 1) (mask 1))))' > extras
fails "fewer operands than the attributes add" 1 "^node 0 'y': Concat has 1 inputs" eval 'place-check extras >&2'
place-cost --model=disk good > p.csv
place-plan --formulation=sync --ratio=1:1 --profile=p.csv good > plan
ok "a sound plan" place-check --plan=plan --profile=p.csv good
sed 's/(limit_bytes [0-9]*)/(limit_bytes 4096)/' plan > small
broken() { place-check --plan="$1" --profile=p.csv good > said && return 1; cut -d: -f1 said | sort -u | paste -sd' '; }
is "a plan above its limit" capacity eval 'broken small | grep -o capacity'
fails "a plan without the profile it was made from" 2 "belong together" place-check --plan=plan good
fails "a truncated graph cannot be judged" 2 "opened" bash -c 'head -c 500 good | place-check'
fails "not a graph" 2 "not a .graph" bash -c 'echo "(plan)" | place-check'

# the mutations by the thousand are in lib-verify.c; here every rule once, through the files
place-net vgg19 --batch=8 --image=64 --study > g.sexp
place-cost --model=optane g.sexp > p.csv
place-plan --formulation=sync --limit=20% --profile=p.csv --rounds=100 --steps=300 g.sexp > plan.sexp
verify() { place-check --profile=p.csv --plan="$1" g.sexp; }
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
ok "said of the node, too" grep -q '^capacity: node [0-9]* has [0-9]* bytes in fast memory, the limit is 100000' got
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
# what the checker proves from a plan's prices is the bound that its solver, which shares no code with it, claims: to nine
# digits, whatever is claimed
number() { sed -nE "s/.*$1 ([0-9.e-]+).*/\1/p" | head -1; }
proves() { # GRAPH PROFILE PLAN
    place-check --profile=$2 --plan=$3 $1 || return
    sed -E 's/bound_seconds [0-9.e-]+/bound_seconds 1e6/' $3 > more.plan
    awk -v want="$(number bound_seconds < $3)" -v got="$(place-check --profile=$2 --plan=more.plan $1 | number 'the prices prove')" \
        'BEGIN { d = got / want - 1; if (d > 1e-9 || d < -1e-9) { print "claimed " want ", proved " got; exit 1 } }'
}
place-net resnet50 --batch=8 --image=64 --study > n.sexp
place-cost --model=optane n.sexp > n.csv
for f in sync async; do
    place-plan --quiet --formulation=$f --ratio=4:1 --profile=n.csv --rounds=4 --steps=5 n.sexp > n.plan
    ok "the bound is proved: $f" proves n.sexp n.csv n.plan
done
if command -v python3 > /dev/null; then
    random_bounds() { local seed f limit plans=0; for seed in {1..40}; do
        limit=$(python3 "$root/t/data/place-random.py" $seed .) || return 1
        for f in static sync async; do
            place-plan --quiet --formulation=$f --limit=$limit --rounds=3 --steps=5 --profile=p.csv g.sexp > r.plan 2> err ||
                { grep -q 'is too small' err && continue; cat err; return 1; }
            proves g.sexp p.csv r.plan || { echo "seed $seed, $f"; return 1; }
            plans=$((plans + 1))
        done
    done; [ $plans -ge 90 ] || echo "$plans plans"; }
    mkdir random && cd random
    ok 'and those of small graphs with times by chance' random_bounds
    cd ..
fi
# one tensor as two operands of a node: in one tier
cat > twice.sexp <<'D'
(graph (name twice) (batch 1)
  (tensor 0 a arg 4 f32 (1))
  (tensor 1 x inter 65536 f32 (16384))
  (tensor 2 y inter 65536 f32 (16384))
  (tensor 3 z arg 4 f32 (1))
  (node 0 n0 Op0 (in 0) (out 1) (attr (piece 0)) (flops 0) (bytes 65540))
  (node 1 n1 Op1 (in 1 1 0) (out 2) (attr (piece 1)) (flops 0) (bytes 196612))
  (node 2 n2 Op2 (in 2) (out 3) (attr (piece 2)) (flops 0) (bytes 65540)))
D
cat > twice.csv <<'D'
key,op,shapes,in_tiers,out_tiers,mode,staging_bytes,time_seconds,runs,method,kind
Op0 1>16384 piece=0,Op0,1>16384,D,D,direct,0,1,1,model,simulated
Op0 1>16384 piece=0,Op0,1>16384,D,P,direct,0,2,1,model,simulated
Op1 16384;=0;1>16384 piece=1,Op1,16384;16384;1>16384,DDD,D,direct,0,1,1,model,simulated
Op1 16384;=0;1>16384 piece=1,Op1,16384;16384;1>16384,PPD,D,direct,0,3,1,model,simulated
Op1 16384;=0;1>16384 piece=1,Op1,16384;16384;1>16384,DDD,P,direct,0,2,1,model,simulated
Op1 16384;=0;1>16384 piece=1,Op1,16384;16384;1>16384,PPD,P,direct,0,5,1,model,simulated
Op2 16384>1 piece=2,Op2,16384>1,D,D,direct,0,1,1,model,simulated
Op2 16384>1 piece=2,Op2,16384>1,P,D,direct,0,2,1,model,simulated
Move 65536,Move,65536,P,D,direct,0,1,1,model,simulated
Move 65536,Move,65536,D,P,direct,0,1,1,model,simulated
D
place-plan --quiet --formulation=sync --limit=65536 --profile=twice.csv twice.sexp > twice.plan
ok "a tensor read twice" place-check --profile=twice.csv --plan=twice.plan twice.sexp
for letters in DPD PDD; do
    sed -E "s/\(node 1 ..D/(node 1 $letters/" twice.plan > bad.sexp
    is "in two tiers at once, $letters" "residence: node 1 uses 'x' in both tiers" \
        bash -c "place-check --profile=twice.csv --plan=bad.sexp twice.sexp | grep both"
done
# what the other formulations allow
sed 's/formulation sync/formulation static/' plan.sexp > bad.sexp
ok "static: a tensor that moves" eval 'verify bad.sexp | grep -q "^formulation: static: .* does not stay where it is for life"'
place-plan --quiet --formulation=fast --ratio=4:1 --profile=p.csv g.sexp | sed 's/formulation fast/formulation slow/' > bad.sexp
ok "all slow: a tensor in fast memory" eval 'verify bad.sexp | grep -q "^formulation: slow: .* is in the other tier"'
# two moves in the wrong order
swapped() { # CONDITION: of the first two lines after each other, x[2] kind and x[3] node of one, y of the next
    awk '{ line[NR] = $0 } END { for (i = 1; i < NR && !done; i++) {
        if (split(line[i], x) < 4 || split(line[i + 1], y) < 4 || x[1] y[1] != "(move(move" || !('"$1"')) continue
        t = line[i]; line[i] = line[i + 1]; line[i + 1] = t; done = 1 }
        for (i = 1; i <= NR; i++) print line[i]; exit !done }' plan.sexp > bad.sexp && verify bad.sexp | grep "^moves: the move of .* is out of order" | wc -l
}
is "moves of two nodes the wrong way round" 1 swapped 'x[4] + 0 < y[4] + 0'
refused() { sed -E "$1" plan.sexp > bad.sexp; verify bad.sexp; }
for what in objective_seconds bound_seconds gap_ratio; do
    fails "$what that is no number" 2 "bad.sexp:1: objective, bound or gap is not a finite number" refused "s/$what [0-9.e-]*/$what nan/"
done
fails "a mode that is none" 2 "the mode is none of direct, streamed, staged" refused '0,/ direct /s// other /'
fails "a price too few" 2 "[(]price ..[)] with [0-9]* numbers is expected" refused '0,/\(price [^ ]+ /s//(price /'
sed 's/(batch 8)/(batch 9)/' plan.sexp > bad.sexp
fails "a plan for another batch" 2 "this plan is for vgg19, batch 9, not for vgg19, batch 8" verify bad.sexp
head -c 3000 plan.sexp > bad.sexp
fails "a truncated plan" 2 "bad.sexp" verify bad.sexp
sed 's/(node 5 /(node 4 /' plan.sexp > bad.sexp
fails "a node twice" 2 "node 4 a second time" verify bad.sexp
grep -v "^Relu 8x4096" p.csv > less.csv
fails "a profile without the kernel" 2 "no row for kernel 'Relu 8x4096>8x4096'" place-check --profile=less.csv --plan=plan.sexp g.sexp
done_testing
