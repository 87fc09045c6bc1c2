#!/bin/bash
# prof-truth.sh DIR [MODE]... - does the recorder see every thread and process?  For each way to start one, under each
# Python of PYTHONS, time in C, in Python and waiting as recorded, beside two clocks of the program itself: DIR/truth.csv;
# how many times of a way were right and how far off, in DIR/ways.csv; exit 1 if one lies outside by more than 2 % and 5 ms.
set -euo pipefail
here=$(cd "${0%/*}/../.." && pwd)
export PATH=${BIN:-$here/bin}:/usr/bin:$PATH LC_ALL=C
mkdir -p "$1"
cd "$1"
shift
[ $# -gt 0 ] || set -- plain threads _thread os.fork fork spawn forkserver exec asyncio generator generators venv module \
    pipes vector subprocess
program=$here/t/bench/prof-truth.py
cp "$program" prof_truth_module.py
echo python,mode,process,part,low_seconds,recorded_seconds,wall_seconds,near,good > truth.csv.part
for python in ${PYTHONS:-/usr/bin/python3}; do
    version=$("$python" -c 'import sys; print("py%d.%d" % sys.version_info[:2])')
    for mode; do
        rm -rf clocks log
        mkdir clocks
        record="prof-record --quiet --force ${OPTIONS:-} -o log"
        case $mode in
        venv)
            [ -d venv$version ] || "$python" -m venv --without-pip venv$version
            VIRTUAL_ENV=$PWD/venv$version $record "$program" plain clocks ;;
        module) $record --python="$python" -m prof_truth_module plain clocks ;;
        *) $record --python="$python" "$program" $mode clocks ;;
        esac
        prof-log --quiet log | prof-op --quiet | python3 "$program" $mode clocks --compare | sed "s/^/$version,/" >> truth.csv.part
    done
done
mv truth.csv.part truth.csv
rm -r clocks log
csv-calc --set='off_ms=1000 * max(low_seconds - recorded_seconds, recorded_seconds - wall_seconds, 0)' truth.csv |
    csv-group -g mode,python -c off_ms,near,good --stat=n,sum,max | csv-cut -c mode,python,n_rows,sum_good,sum_near,max_off_ms > ways.csv
csv-show ways.csv
! csv-cut -c good truth.csv | grep -q '^0$'
