#!/bin/bash
# kill-all.sh [NAME]... - t/kill-pipeline.sh for every pipeline that promises to go on, as a table; half an hour and more
#   KILLS=   of each way (100);  MS= mean time to a kill (3000)
#   WAYS=    'chain random' (the default), every, moment (a fresh start each), once (at all places; PLACES=sites for fewer, names for fewest), states
#            (t/kill-states.sh: each write, gone on from by its recipe; LIMIT= seconds each; IN=
#            and TIER= folders that are kept for going on later, TIER on a disk)
set -uo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
tier=${TIER:-$(mktemp -d /var/tmp/kill-tier.XXXXXX)}
trap '[ -n "${TIER-}" ] || rm -rf "$tier"' EXIT
kills=${KILLS:-100} ms=${MS:-3000} bad=0
# two packages of the small program, for `inline` of what is fetched; the mirror is slow, so that kills fall into it,
# and breaks off now and then
[ -e "$tier/mirror" ] || {
    "$here/fake-mirror" "$tier/mirror" hello "$here/../data/demo" other "$here/../data/demo"
    echo 0.5 > "$tier/mirror/slow"
    echo 4 > "$tier/mirror/breaks"
    { echo name,set,package,build,search,confirm
      for name in hello other; do echo "$name,train,$name,*.c,sort <main.c,sort <table.c ; words <main.c"; done; } \
        > "$tier/programs.csv"
}
# few variants of a program for pca-data, and a small program for the call tree of prof; those of a kept TIER are older
# than what was made of them
[ -e "$tier/tree.py" ] || {
    printf 'step,flags\ninitial/0,-O2\n1/0,-O1\n2/0,-O2 -fno-inline\n3/0,-O0\n' > "$tier/variants.csv"
    printf 'def main():\n    print(sum(len(str(i)) for i in range(200)))\n\nmain()\n' > "$tier/tree.py"
}
# name, points between two kills, target with the settings that make it small: each recipe is walked once or twice
pipelines() {
    cat << E
figure7 150 figure7 SCALE=test PLACE_NETS=mlp PLACE_RATIOS=1:1 PLACE_AGAIN=0 PLACE_TIER=file:$tier
figure8 40 figure8 SCALE=test PLACE_NETS=mlp PLACE_LARGE=vgg19-32-224 PLACE_PAGED_STEPS=1 PLACE_TIER=file:$tier
pca-data 150 pca-data SCALE=test PCA_ROUNDS=1 PCA_PROGRAMS=$here/../data/pca/life.c PCA_VARIANTS=$tier/variants.csv
inline 400 inline SCALE=ci INLINE_EVALS=4 INLINE_SIZE=2 INLINE_ROUNDS=6
fetched 400 inline SCALE=ci INLINE_EVALS=2 INLINE_SIZE=1 INLINE_ROUNDS=6 INLINE_ROWS=O2,lto-pgo INLINE_GOALS=learned,small INLINE_TABLE=$tier/programs.csv INLINE_NAMES=hello,other
loop 400 loop SCALE=ci LOOP_EVAL=model LOOP_SETS=ragged LOOP_STEP=192 LOOP_SEARCHES=greedy1 LOOP_BROKEN=greedy1 LOOP_PEERS=openblas LOOP_ALL=gcc
prof 400 prof SCALE=test PROF_STEPS=1050 PROF_ROUND_STEPS=1050 PROF_TREE=$tier/tree.py
E
}
[ $# -gt 0 ] || set -- figure7 figure8 pca-data inline fetched loop prof
echo target,mode,points,kills,ends,same
# what is measured here is no figure: it waits for nobody, and nobody for it
export MILLRACE_MEASURE_LOCK=${MILLRACE_MEASURE_LOCK-$tier/measure.lock}
export PATH=$tier/mirror/bin:$PATH
while read -r name step words; do
    IFS=' ' read -ra words <<< "$words"                  # a comma is a blank in a setting
    words=("${words[@]//,/ }")
    [[ " $* " = *" $name "* ]] || continue
    for way in ${WAYS:-chain random}; do
        case $way in
        states)
            IN=${IN:+$IN/$name} "$here/kill-states.sh" "${words[@]}" || bad=1
            continue ;;
        chain) how=--chain=${STEP:-$step} ;;
        random) how=--random=$ms ;;
        once) how=--once=${PLACES:-all} ;;
        moment) how=--moment ;;
        *) how=--every=${STEP:-$step} ;;
        esac
        [ $way = once ] || how+=" --kills=$kills"
        "$here/kill-pipeline.sh" $how "${words[@]}" || bad=1
    done
done < <(pipelines)
exit $bad
