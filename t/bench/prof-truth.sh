#!/bin/bash
# prof-truth.sh DIR [MODE]... - does the recorder see every thread and process?  For each way to start one, time in C, in
# Python and waiting as recorded, beside two clocks of the program itself: DIR/truth.csv, exit 1 if one lies
# outside them by more than 2 % and 5 ms.
set -euo pipefail
here=$(cd "${0%/*}/../.." && pwd)
export PATH=${BIN:-$here/bin}:$PATH LC_ALL=C
mkdir -p "$1"
cd "$1"
shift
[ $# -gt 0 ] || set -- plain threads os.fork fork spawn forkserver exec asyncio generator generators venv module
program=$here/t/bench/prof-truth.py
cp "$program" prof_truth_module.py
echo mode,process,part,cpu_seconds,recorded_seconds,wall_seconds,near,verdict > truth.csv.part
for mode; do
    rm -rf clocks log
    mkdir clocks
    case $mode in
    venv)
        [ -d venv ] || python3 -m venv --without-pip venv
        VIRTUAL_ENV=$PWD/venv prof-record --quiet --force -o log "$program" plain clocks ;;
    module) prof-record --quiet --force -o log python3 -m prof_truth_module plain clocks ;;
    *) prof-record --quiet --force -o log "$program" $mode clocks ;;
    esac
    prof-log --quiet log | prof-op --quiet | python3 "$program" $mode clocks --compare >> truth.csv.part
done
mv truth.csv.part truth.csv
rm -r clocks log
csv-show truth.csv
! grep -q ',fail$' truth.csv
