#!/bin/bash
# prof-whatif.sh DIR - thirty recorded programs in which a part really is made 3 times faster: what prof-whatif says of
# recordings of the unchanged program (the median of three), beside what happened without a recorder (the median of five
# runs each, in turn; from the first line of the program, since no recorder sees the interpreter's start), and the naive
# prediction (the part's share of the time removed).  DIR/whatif.csv, and the runs in DIR/runs.csv; three minutes.
# PROGRAMS: some of `prof-whatif.py --list`; SPEED.
set -euo pipefail
here=$(cd "${0%/*}/../.." && pwd)
export PATH=${BIN:-$here/bin}:/usr/bin:$PATH LC_ALL=C PYTHONPATH=${B:-$here/build}/prof
[ -e "$PYTHONPATH/millrace_prof.py" ] || { echo "prof-whatif.sh: no recorder in $PYTHONPATH" >&2; exit 1; }
mkdir -p "$1"
cd "$1"
python=/usr/bin/python3 program=$here/t/bench/prof-whatif.py speed=${SPEED:-3}
run() { "$python" "$program" "$name" "$1"; }              # ns
echo program,shape,part,speed,round,base_ns,fast_ns > runs.csv
echo program,predicted,low,high,naive,unexplained > said.csv
while IFS=, read -r name shape part; do
    [[ -z ${PROGRAMS:-} || " $PROGRAMS " == *" $name "* ]] || continue
    for round in 1 2 3 4 5; do echo "$name,$shape,$part,$speed,$round,$(run 1),$(run "$speed")"; done >> runs.csv
    said=$(for round in 1 2 3; do
        prof-record --quiet --force --python=$python -o "$name" "$program" "$name" 1 > "$name.out"
        prof-whatif --unexplained=1 --quiet --speed="op=$part:$speed" "$name" |
            csv-cut -c speedup,low_ratio,high_ratio,naive_speedup,unexplained_share | sed 1d
    done | sort -n | sed -n 2p)
    echo "$name,$said" >> said.csv
done < <("$python" "$program" --list)
csv-group -g program,shape,part,speed -c base_ns,fast_ns --stat=median runs.csv | csv-join -k program - said.csv |
    csv-calc --set='achieved=round(median_base_ns / median_fast_ns, 4)' --set='off=round(predicted / achieved - 1, 4)' \
        --set=kind="'real'" --set='naive_off=round(naive / achieved - 1, 4)' --set='base_seconds=fixed(median_base_ns / 1e9, 3)' \
        --set='excluded=low != "" && (achieved < 0.9 * low || achieved > 1.1 * high)' |
    csv-cut -c kind,program,shape,part,base_seconds,achieved,predicted,low,high,off,naive,naive_off,unexplained,excluded > whatif.csv
csv-show whatif.csv
n=$(sed 1d whatif.csv | wc -l)
within() { csv-calc --where="$1" whatif.csv | sed 1d | wc -l; }
echo "within 10 %: $(within 'abs(off) <= 0.1') of $n, naive $(within 'abs(naive_off) <= 0.1'); more than 5 % of the path" \
    "unexplained in $(within 'unexplained > 0.05'); intervals that exclude what happened by more than 10 %:" \
    "$(within 'excluded > 0')"
