#!/bin/bash
# kill-all.sh [NAME]... - t/kill-pipeline.sh for every pipeline that promises to go on, as a table; half an hour and more
#   KILLS=   of each way (100);  MS= mean time to a kill (3000);  WAYS='chain random', every or once (at all places; PLACES=sites for fewer)
set -uo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
tier=$(mktemp -d /var/tmp/kill-tier.XXXXXX)
trap 'rm -rf "$tier"' EXIT
kills=${KILLS:-100} ms=${MS:-3000} bad=0
# name, points between two kills, target with the settings that make it small
pipelines() {
    cat << E
figure7 150 figure7 SCALE=test PLACE_TIER=file:$tier
figure8 40 figure8 PLACE_LARGE=vgg19-32-224
pca-data 150 pca-data SCALE=test PCA_ROUNDS=1
inline 400 inline SCALE=ci
loop 400 loop SCALE=ci LOOP_SETS=ragged LOOP_LEARN_STEPS=400 LOOP_STEP=192
prof 400 prof SCALE=test
E
}
[ $# -gt 0 ] || set -- figure7 figure8 pca-data inline loop prof
echo target,mode,points,kills,ends,same
while read -r name step words; do
    [[ " $* " = *" $name "* ]] || continue
    for way in ${WAYS:-chain random}; do
        case $way in
        chain) how=--chain=${STEP:-$step} ;;
        random) how=--random=$ms ;;
        once) how=--once=${PLACES:-all} ;;
        *) how=--every=${STEP:-$step} ;;
        esac
        [ $way = once ] || how+=" --kills=$kills"
        "$here/kill-pipeline.sh" $how $words || bad=1
    done
done < <(pipelines)
exit $bad
