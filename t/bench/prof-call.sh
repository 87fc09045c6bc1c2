#!/bin/bash
# prof-call.sh DIR [ROUNDS [TURNS]] - what recording adds to a call from Python into C: CPU time of loops, recorded and
# not in turn, least of all turns; a loop has 40 000 calls, so that writing the records out is in it.  DIR/calls.csv
set -euo pipefail
here=$(cd "${0%/*}/../.." && pwd)
export PATH=${BIN:-$here/bin}:/usr/bin:$PATH LC_ALL=C OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
mkdir -p "$1"
cd "$1"
rounds=${2:-5} turns=${3:-6} program=$here/t/bench/prof-call.py
rm -f bare recorded
for ((i = 0; i < rounds; i++)); do
    /usr/bin/python3 "$program" calls $turns >> bare
    prof-record --quiet --force -o log "$program" calls $turns >> recorded
done
prof-log --quiet --nested log | prof-op --quiet | csv-where -c kind --is=cat |
    csv-where --not -c cat --is=Profiler --is=Python |
    csv-group -g op -c start_ns --stat=n > counts.csv
python3 "$program" compare $turns bare recorded counts.csv > calls.csv
rm -rf log bare recorded counts.csv
csv-show calls.csv
