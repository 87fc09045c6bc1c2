#!/bin/bash
# place-solver.sh OUT.csv: the solver beside CBC on the full-size networks of the study, optane model.
# CBC gets the tight model (place-plan --lp) and stops at a gap of 1 %; its bound is the one it reports when it stops.
# Columns: network, batch, formulation, ratio, tensors, our objective, bound, gap and CPU seconds (whole program, with
# reading and layout), then CBC's objective, bound, gap and CPU seconds.  NETS, RATIOS, FORMS choose; CBC_SECONDS=600.
set -euo pipefail
out=$1
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
batch() { case $1 in vgg19) echo 2048;; inception4) echo 1024;; *) echo 512;; esac; }
value() { sed -n "s/.*($1 \([^)]*\)).*/\1/p" "$2" | head -n1; }
mkdir -p "$(dirname "$out")"
echo network,batch,formulation,ratio,tensors,objective_seconds,bound_seconds,gap_ratio,cpu_seconds,cbc_objective_seconds,cbc_bound_seconds,cbc_gap_ratio,cbc_cpu_seconds,kind > "$out.new"
TIMEFORMAT='%U'
for net in ${NETS:-vgg19 inception4 resnet200 densenet264}; do
    place-net $net --batch="$(batch $net)" > "$work/g"
    place-cost --model=optane "$work/g" > "$work/p.csv"
    tensors=$(place-stat --lives "$work/g" | awk -F, '$NF == 1' | wc -l)
    for form in ${FORMS:-sync static}; do
        for ratio in ${RATIOS:-8:1 4:1 1:1}; do
            cpu=$( { time place-plan -f $form --ratio=$ratio -p "$work/p.csv" "$work/g" > "$work/plan"; } 2>&1 )
            place-check -p "$work/p.csv" --plan="$work/plan" "$work/g"
            row=$net,$(batch $net),$form,$ratio,$tensors,$(value objective_seconds "$work/plan"),$(value bound_seconds "$work/plan"),$(value gap_ratio "$work/plan"),$cpu
            if command -v cbc > "$work/which"; then
                place-plan --lp -f $form --ratio=$ratio -p "$work/p.csv" "$work/g" > "$work/m.lp"
                cpu=$( { time cbc "$work/m.lp" -ratioGap 0.01 -seconds "${CBC_SECONDS:-600}" -solve -quit > "$work/log"; } 2>&1 )
                row=$row,$(awk -v cpu="$cpu" '/^Objective value:/ { o = $3 } /^Lower bound:/ { b = $3 }
                    /^Continuous objective value is/ { root = $5 } /after [0-9]+ nodes, .* best solution, best possible/ { split($0, a, "best possible "); split(a[2], c, " "); best = c[1] }
                    /Search completed - best objective .*, took/ { done = 1 }
                    END { if (b == "") b = best; if (b == "" && done) b = o; if (b == "") b = root
                          if (o == "") print ",,," cpu; else printf "%.10g,%.10g,%.6g,%s\n", o, b, (o - b) / b, cpu }' "$work/log")
            else row=$row,,,,
            fi
            echo "$row,simulated" | tee -a "$out.new"
        done
    done
done
"${0%/*}/../../pipelines/keep" "$out.new" "$out"
