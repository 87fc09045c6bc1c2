#!/bin/bash
. "$(dirname "$0")/tap.sh"
is 'three columns' 'fingerprint,fact,value' sh -c 'bench-machine | head -n 1'
is 'one fingerprint of 16 digits' 1 sh -c "bench-machine | tail -n +2 | cut -d, -f1 | grep -E '^[0-9a-f]{16}\$' | sort -u | wc -l"
is 'the same every time' "$(bench-machine | tail -n 1 | cut -d, -f1)" sh -c 'X=1 bench-machine | tail -n 1 | cut -d, -f1'
is 'it says whether there are hardware counters' 1 sh -c "bench-machine | grep -cE ',hardware_counters,(yes|none)'"
fails 'no operand' 2 'no operand' bench-machine x
ok "one line for the foot of a picture" eval 'bench-machine --line | grep -Eqx "[0-9]+ cores? of .*, [0-9]+ GB(, virtual)?, machine [0-9a-f]{16}"'
# where memory is refused it says so, and does not leave a row empty
if [ -e "$B/t/shim.so" ] && ! sanitized; then
    facts() { csv-where -c fact --is=environment_bytes --not "$1"; }
    rm -f count
    SHIM_WHAT=none SHIM_COUNT=count LD_PRELOAD=$B/t/shim.so bench-machine > whole.csv
    facts whole.csv > whole
    for ((n = 1, rc = 1; n < 400; n++)); do
        rm -f count
        SHIM_WHAT=malloc SHIM_AT=$n SHIM_ONLY=bench-machine SHIM_COUNT=count LD_PRELOAD=$B/t/shim.so bench-machine > part.csv \
            2> err && rc=0 || rc=$?
        case $rc in
        0)  facts part.csv | cmp - whole || echo "at $n" ;;
        1)  [ -s err ] || echo "at $n: no message" ;;
        *)  echo "at $n: exit $rc" ;;
        esac
        [ "$(od -An -tu8 count)" -ge $n ] || break
    done > wrong 2>&1
    ok 'no memory: said' [ ! -s wrong ]
fi
done_testing
