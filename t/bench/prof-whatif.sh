#!/bin/bash
# prof-whatif.sh DIR - thirty programs in which a part really is made 1.5 and 3 times faster: what prof-whatif said of the
# unchanged program beside what happened, with the links of waits and without them (guessed), and the naive prediction
# (the part's share of the time removed).  Of five runs each the shortest: the work is the same, what disturbs only adds.
# DIR/whatif.csv; two minutes.  SHAPES: some of the six kinds of program.
set -euo pipefail
here=$(cd "${0%/*}/../.." && pwd)
export PATH=${BIN:-$here/bin}:$PATH LC_ALL=C
mkdir -p "$1"
cd "$1"
cc -std=gnu11 -D_GNU_SOURCE -O2 -o plant "$here/t/bench/prof-plant.c" -lpthread
shortest() { # FILE ARG..: of five runs
    local out=$1 i
    shift
    for i in 1 2 3 4 5; do
        ./plant "$@" > "$out.$i"
        echo "$(prof-top --table "$out.$i" | sed -n '1s/ s,.*//p') $out.$i"
    done | sort -n | sed -n 1p > "$out.first"
    mv "$(cut -d' ' -f2 "$out.first")" "$out"
}
ns() { prof-whatif --quiet --speed=-:1 "$1" | csv-cut -c before_ns | sed 1d; }
ask() { prof-whatif --quiet --speed="name=$1:$2" "$3" | csv-cut -c "$4" | sed 1d; }
echo shape,seed,part,speed,achieved,predicted,low,high,guessed,naive > rows.csv
for shape in ${SHAPES:-serial queue pool gpu pipe lock}; do
    mapfile -t parts < <(./plant $shape 1 - 1 | sed 1d | sort -u)
    for seed in 1 2 3 4 5; do
        part=${parts[seed % ${#parts[@]}]}
        shortest base $shape $seed none 1
        sed -E 's/,[^,]*,$/,,/; 1s/.*/proc,tid,kind,cat,start_ns,end_ns,name,link,flag/' base > some
        grep -E ',(gpu|cat),(GPU|CUDA),' base > device || true
        { grep -Ev ',(gpu|cat),(GPU|CUDA),' some; cat device; } > unlinked
        for speed in 1.5 3; do
            shortest fast $shape $seed "$part" $speed
            echo "$shape,$seed,$part,$speed,$(ns base)/$(ns fast),$(ask "$part" $speed base speedup,low_ratio,high_ratio),$(ask "$part" $speed unlinked speedup),$(ask "$part" $speed base naive_speedup)"
        done
    done
done >> rows.csv
csv-calc --set="achieved=round(number(part(achieved, '/', 1))/number(part(achieved, '/', 2)), 4)" \
    --set='off=round(predicted/achieved - 1, 4)' --set='guessed_off=round(guessed/achieved - 1, 4)' \
    --set='naive_off=round(naive/achieved - 1, 4)' rows.csv > whatif.csv
within() { csv-calc --where="abs($1) <= 0.1" whatif.csv | sed 1d | wc -l; }
programs() { csv-calc --set="far=abs($1) > 0.1" whatif.csv | csv-group -g shape,seed -c far --stat=max | csv-where -c max_far --max=0 | sed 1d | wc -l; }
for how in off guessed_off naive_off; do
    echo "$how: within 10 % in $(within $how) of $(sed 1d whatif.csv | wc -l) predictions, both speeds in $(programs $how) of $(csv-group -g shape,seed whatif.csv | sed 1d | wc -l) programs"
done
