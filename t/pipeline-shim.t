#!/bin/bash
# the shim itself: it kills at each write once, and a command that is run again and again ends
. "$(dirname "$0")/tap.sh"
shim=${B:-$root/build}/t/shim.so
[ -e "$shim" ] || { echo '1..0 # skip the shim is not built'; exit 0; }
cat > job <<'E'
for i in 1 2 3; do
    [ -e "$PWD/out/$i" ] || { echo part > "$PWD/out/.millrace-$$-$i"; mv "$PWD/out/.millrace-$$-$i" "$PWD/out/$i"; }
done
E
# PLACES: run it until it ends by itself; how often it died, and what is there then
killed() {
    rm -rf out places trace
    mkdir out
    for ((n = 1; n < 100; n++)); do
        setsid --wait bash -c 'export SHIM_GROUP=$$ SHIM_WHAT=kill SHIM_UNDER=$PWD/out SHIM_ONCE=$PWD/places
            export SHIM_TRACE=$PWD/trace SHIM_PLACES=$1 SHIM_RUN=$2 LD_PRELOAD=$3; exec bash job' x "$1" $n "$shim" \
            > run.log 2>&1
        [ $? = 137 ] || break
    done
    echo $((n - 1)) $(cat out/[123])
}
all=$(killed all)
is 'what was run again is whole' 'part part part' echo "${all#* }"
is 'it died at each place' "$(wc -l < trace)" echo "${all%% *}"
ok 'once' [ -z "$(sort trace | uniq -d)" ]
ok 'open, what is written, and rename' eval 'grep -qP "\topen\t" trace && grep -qP "\trename\t" trace &&
    grep -qP "bash\t(write|fflush|fclose)\t" trace'
is 'each of the three files' 3 eval 'grep -cP "\trename\t" trace'
sites=$(killed sites)
ok 'sites are fewer' [ "${sites%% *}" -lt "${all%% *}" ]
is 'and it is whole' 'part part part' echo "${sites#* }"
done_testing
