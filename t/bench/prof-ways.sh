#!/bin/bash
# prof-ways.sh DIR [ROUNDS] - function-heavy programs under each way of profiling, in turn: the factor of their CPU time over
# that of the bare run of the same round, and that factor over cProfile's; DIR/ways.csv, and the runs in DIR/runs.csv.
# PYTHONS: interpreters; SIZE: units of work.  yappi and sys.monitoring where they are there.
set -euo pipefail
here=$(cd "${0%/*}/../.." && pwd)
export PATH=${BIN:-$here/bin}:/usr/bin:$PATH LC_ALL=C
mkdir -p "$1"
cd "$1"
program=$here/t/bench/prof-ways.py size=${SIZE:-400}
echo python,round,program,way,ns > runs.csv
for python in ${PYTHONS:-/usr/bin/python3}; do
    version=$("$python" -c 'import sys; print("py%d.%d" % sys.version_info[:2])')
    ways='bare record tree cprofile'
    ! "$python" -c 'import yappi' 2> /dev/null || ways+=' yappi'
    ! "$python" -c 'import sys; sys.monitoring' 2> /dev/null || ways+=' monitoring'
    for ((round = 1; round <= ${2:-5}; round++)); do
        for name in $("$python" "$program" --programs); do
            for way in $ways; do
                case $way in
                record) run="prof-record --quiet --force -o log --python=$python" ;;
                tree) run="prof-record --quiet --force --tree -o log --python=$python" ;;
                *) run=$python ;;
                esac
                echo "$version,$round,$name,$way,$($run "$program" $name $size $way)"
            done
        done
    done >> runs.csv
done
rm -rf log
base() { csv-calc --where="way == \"$1\"" --set="${1}_ns=ns" runs.csv | csv-cut -c "python,round,program,${1}_ns"; }
csv-join -k python,round,program runs.csv <(base bare) | csv-join -k python,round,program - <(base cprofile) |
    csv-calc --set='factor=ns / bare_ns' --set='of_cprofile=ns / cprofile_ns' |
    csv-group -g python,program,way -c factor,of_cprofile --stat=median,min,max |
    csv-calc --where='way != "bare"' > ways.csv
csv-show ways.csv
