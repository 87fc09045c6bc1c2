#!/bin/bash
# place-bits.sh DIR [NETWORK-BATCH-IMAGE[-RATIO]]... - the losses of two steps and one before them under every
# formulation, tier and number of threads: network, formulation, ratio, tier, threads, runs' losses, same (1: to the
# last bit those of all in fast memory).  DIR: on a disk.  RATIO: 1:1 if not said; small images leave no room for less
# than one kernel needs.  Exit 1 if any differ.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
PATH=$here/bin:$PATH
disk=$1
shift
[ $# != 0 ] || set -- resnet18-2-32-2:1 resnet50-2-32-2:1 resnet101-2-64 densenet264-2-64 \
    inception4-1-107 mobilenetv2-2-64 unet-1-32 vit-2-64-4:1 vgg16-4-64 vgg19-4-64-2:1 resnet200-2-32
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cd "$T"
differ=0
losses() { # PLAN TIER THREADS GRAPH
    place-run --quiet --steps=2 --again=0 --plan="$1" --tier="$2" --threads="$3" "$4" | csv-cut -c step,loss |
        csv-calc --print='concat(step, " ", loss)' | tr '\n' ' '
}
echo network,formulation,ratio,tier,threads,losses,same
for net in "$@"; do
    IFS=- read -r name batch image ratio <<< "$net"
    ratio=${ratio:-1:1}
    place-net "$name" --batch="$batch" --image="$image" > g.sexp
    place-profile --quiet --runs=3 --tier=dram -o "$net.csv" g.sexp
    for form in fast slow numa static sync async async+recompute; do
        graph=g.sexp
        [ "$form" = async+recompute ] || place-plan -f "$form" --ratio=$ratio --profile="$net.csv" g.sexp > "$form.plan"
        if [ "$form" = async+recompute ]; then
            place-recompute --formulation=async --ratio=$ratio --profile="$net.csv" --base=async.plan \
                --plan="$form.plan" g.sexp > again.sexp
            graph=again.sexp
        fi
        for tier in dram "file:$disk" emu:4G,2G; do
            for threads in 1 2; do
                got=$(losses "$form.plan" "$tier" "$threads" "$graph")
                [ "$form" != fast ] || [ "$tier$threads" != dram1 ] || want=$got
                same=1
                [ "$got" = "$want" ] || same=0 differ=1
                echo "$name,$form,$ratio,\"$tier\",$threads,$got,$same"
            done
        done
    done
done
exit "$differ"
