#!/bin/bash
# prof-seen.sh DIR [ROUNDS [SCALE]] - ten programs: is their C seen, what does recording cost, does torch.profiler agree?
# SCALE 1: about a second of work each, four for the samples; ROUNDS of recorded and not recorded in turn.  DIR/seen.csv: samples (of them in
# extensions, and of these inside a recorded call), share of C by samples with half a 95 % interval, and as recorded.
# PROGRAMS: a pattern on their names; OPTIONS: of prof-record.  DIR/costs.csv: CPU time recorded over not recorded, of the work and of the whole process with its imports.  DIR/dqn.csv
set -euo pipefail
here=$(cd "${0%/*}/../.." && pwd)
export PATH=${BIN:-$here/bin}:/usr/bin:$PATH LC_ALL=C OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONHASHSEED=0
mkdir -p "$1"
cd "$1"
rounds=${2:-3} scale=${3:-1} python=/usr/bin/python3 program=$here/t/bench/prof-seen.py
recorded() { prof-record --quiet --force --wait ${OPTIONS:-} -o log "$@"; }
rm -f runs
echo program,samples,in_extensions,of_them_seen,seen,c_by_samples,plus_minus,c_recorded,recorded_over_samples > seen.csv
"$python" "$program" list | grep -E "${PROGRAMS:-.}" > names
while read -r name; do
    recorded --judge=250 "$program" run "$name" "$(python3 -c "print(4 * $scale)")" > out   # a sample more every 4 ms
    prof-log --quiet log > events.csv
    "$python" "$program" judge "$name" events.csv log/judge.*.csv >> seen.csv
    for ((i = 0; i < rounds; i++)); do
        first=bare second=recorded
        if ((i % 2)); then first=recorded second=bare; fi
        for way in $first $second; do
            case $way in
            bare) "$python" "$program" run "$name" $scale > out ;;
            recorded) recorded "$program" run "$name" $scale > out ;;
            esac
            echo "$name,$way,$(csv-cut -c cpu,whole,faults <(echo cpu,wall,whole,faults; cat out) | sed 1d)" >> runs
        done
    done
done < names
[ ! -s runs ] || "$python" "$program" costs runs > costs.csv
if grep -q DQN names; then                                # both at once, and each for itself
    recorded "$program" run 'torch DQN' $scale > out
    prof-log --quiet log | csv-where -c kind --is=cat | csv-calc --set='ns=end_ns - start_ns' |
        csv-group -g cat -c ns --stat=sum > dqn.csv
    echo "torch.profiler: $("$python" "$program" torch $scale 2> /dev/null | tail -1) of the loop in its operators" > torch.txt
    recorded "${program%-seen.py}-torch.py" run $scale . > out 2>&1
    prof-log --quiet log > events.csv
    "$python" "${program%-seen.py}-torch.py" compare . events.csv > both.csv
fi
rm -rf log out names events.csv torch.json times
csv-show seen.csv
[ ! -s runs ] || csv-show costs.csv
if [ -s dqn.csv ]; then csv-show dqn.csv; cat torch.txt; csv-show both.csv; fi
