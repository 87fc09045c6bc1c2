#!/bin/bash
# the model for exact solvers, by hand and solved by CBC; plans and bounds that were published
source "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

cat > tiny <<'G'
(graph (name tiny) (batch 1)
  (tensor 0 x arg 400 f32 (100)) (tensor 1 a inter 4096000 f32 (1024000)) (tensor 2 y arg 400 f32 (100))
  (node 0 n0 Foo (in 0) (out 1)) (node 1 n1 Bar (in 1) (out 2)))
G
cat > p.csv <<'C'
key,op,shapes,in_tiers,out_tiers,mode,staging_bytes,time_seconds,runs,method,kind
Foo 100>1024000,Foo,100>1024000,D,D,direct,0,1,1,model,simulated
Foo 100>1024000,Foo,100>1024000,D,P,direct,0,3,1,model,simulated
Bar 1024000>100,Bar,1024000>100,D,D,direct,0,1,1,model,simulated
Bar 1024000>100,Bar,1024000>100,P,D,direct,0,2,1,model,simulated
C
is "the static model, by hand" "Minimize
 obj: + 1000000 y0_0 + 3000000 y0_1 + 1000000 y1_0 + 2000000 y1_1
Subject To
 + 1 y0_0 + 1 y0_1 = 1
 + 1 y0_0 - 1 x0 = 0
 + 4.096 x0 <= 5
 + 1 y1_0 + 1 y1_1 = 1
 + 1 y1_0 - 1 x0 = 0
 + 4.096 x0 <= 5
Bounds
 one = 1
Binaries
 x0
End" place-plan --lp -f static --limit=5M -p p.csv tiny
fails "sync needs the times of copies" 1 "no Move row" place-plan --lp -f sync --limit=5M -p p.csv tiny
fails "no limit" 2 "how much fast memory" place-plan --lp -f sync -p p.csv tiny
fails "no choice" 2 "--lp is for static, sync and async" place-plan --lp -f numa --limit=5M -p p.csv tiny
fails "nothing is planned" 2 "--lp writes no plan" place-plan --lp -f sync --limit=5M --times=t -p p.csv tiny
if command -v cbc > why; then
    place-net resnet50 --batch=8 --image=64 > g.sexp
    place-cost g.sexp > q.csv
    place-net mlp --batch=512 > async.sexp
    place-cost async.sexp > async.csv
    for f in static sync async; do
        if [ $f = async ]; then set -- --limit=33% -p async.csv async.sexp; else set -- --ratio=4:1 -p q.csv g.sexp; fi
        place-plan --lp -f $f "$@" > m.lp
        plan=$(place-plan -f $f "$@" | sed -n 's/.*(objective_seconds \([^)]*\)) (bound_seconds \([^)]*\)).*/\1 \2/p')
        exact=$(cbc m.lp -ratioGap 0.0005 -seconds 60 -solve -quit | awk '/Objective value:/ { v = $3 } END { print v / 1e6 }')
        is "$f: CBC's optimum lies between our bound and our plan" "yes" awk -v p="$plan" -v e="$exact" 'BEGIN { split(p, v, " ")
            print (v[2] <= e * 1.0001 && v[1] >= e * 0.9994 && v[1] <= e * 1.01) ? "yes" : p " against " e }'
    done
else skip "CBC's optimum" "cbc is not installed"; fi
# published: plans and bounds of all time; neither of ours may contradict them
place-net vgg19 --batch=16 --study > v.sexp
place-cost --model=optane v.sexp > v.csv
while IFS=, read -r _ _ f limit plan bound; do
    place-plan -f "$f" --limit="$limit" -p v.csv v.sexp > v.plan
    is "$f $limit: our bound is below the published plan, our plan above the published bound" '1 1' \
        awk -v p="$(sexp-get -k objective_seconds v.plan)" -v b="$(sexp-get -k bound_seconds v.plan)" \
        -v plan="$plan" -v bound="$bound" 'BEGIN { print (b <= plan * (1 + 1e-9)), (p >= bound * (1 - 1e-9)) }'
done < <(grep '^vgg19,16,s' "$root/data/place-instances.csv")
done_testing
