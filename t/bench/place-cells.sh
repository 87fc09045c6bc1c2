#!/bin/bash
# place-cells.sh OUT.csv [FOLDER]...: how far from its bound the planner is, and in how many seconds of CPU, for each
# network, ratio and formulation.  FOLDERs have a graph.sexp and a profile.csv each, as make figure7 leaves them; without
# any, eleven networks by the machine model of a disk.  Every plan is checked by place-check.
# Columns: network, formulation, ratio, objective_seconds, bound_seconds, gap_percent, cpu_seconds, checked.
# RATIOS, FORMS choose.
set -euo pipefail
out=$1
shift
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
value() { sexp-get -k "$1" "$work/plan"; }
TIMEFORMAT=%U
cells() { # NAME GRAPH PROFILE
    local form ratio cpu good
    for form in ${FORMS:-sync async}; do
        for ratio in ${RATIOS:-1:3 1:1 2:1 4:1 8:1 16:1}; do
            if ! cpu=$({ time place-plan -f "$form" --ratio="$ratio" -p "$3" "$2" > "$work/plan" 2> "$work/why"; } 2>&1); then
                echo "$1,$form,$ratio,,,,$cpu,no" >> "$out.new"
                continue
            fi
            place-check --plan="$work/plan" -p "$3" "$2" > "$work/faults" && good=yes || good=no
            echo "$1,$form,$ratio,$(value objective_seconds),$(value bound_seconds),$(csv-calc \
                --print="round(100 * $(value gap_ratio), 2)" <<< x$'\n'1),$cpu,$good" >> "$out.new"
        done
    done
}
echo network,formulation,ratio,objective_seconds,bound_seconds,gap_percent,cpu_seconds,checked > "$out.new"
for folder; do cells "$(basename "$folder")" "$folder/graph.sexp" "$folder/profile.csv"; done
[ $# -gt 0 ] || for net in mobilenetv2:4 resnet50:4 resnet101:2 resnet18:4 vgg16:4 vgg19:2 unet:1 vit:4 inception4:2 resnet200:2 \
    densenet264:4; do
    place-net "${net%:*}" --batch="${net#*:}" > "$work/g"
    place-cost --model=disk "$work/g" > "$work/p.csv"
    cells "${net%:*}" "$work/g" "$work/p.csv"
done
"${0%/*}/../../pipelines/keep" "$out.new" "$out"
