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
# What is renamed into place is on the disk before it has the name, and the name before anything builds on it: the
# same trace, of a filter's -o and of the pipelines' keep.
mkdir -p files
printf 'x,y\n1,2\n2,1\n3,5\n' > files/t
printf 'a\n' > files/new
calls() { # COMMAND: what it does below files, in turn
    rm -f places trace
    for ((n = 1; n < 40; n++)); do
        [ -e files/new ] || { printf 'a\n' > files/new; rm -f files/kept; }
        setsid --wait bash -c 'export SHIM_GROUP=$$ SHIM_WHAT=kill SHIM_UNDER=$PWD/files SHIM_ONCE=$PWD/places
            export SHIM_TRACE=$PWD/trace SHIM_PLACES=all SHIM_RUN=$2 LD_PRELOAD=$3; exec bash -c "$1"' x "$1" $n "$shim" \
            > run.log 2>&1
        [ $? = 137 ] || break
    done
    cut -f2,3 trace | grep -E '^(fsync|rename)' | sed 's,/[.]millrace-#-#-,/new ,; s/\t$/\tfolder/' | paste -sd' '
}
is 'a filter syncs, renames, syncs the folder' $'fsync\t/new made rename\t/new made fsync\tfolder' \
    eval 'calls "exec fit-ridge -y y -o $PWD/files/made files/t" 2> /dev/null'
is 'keep does as well' $'fsync\t/new rename\t/new fsync\tfolder' \
    eval 'calls "exec $root/pipelines/keep $PWD/files/new $PWD/files/kept" 2> /dev/null'
# what t/kill-pipeline.sh compares with: two undisturbed runs say what is exact and what was measured
for r in 1 2 3; do
    mkdir -p $r/loop/set $r/prof/forks
    printf 'problem,lib,gflops\n(mm 1 1 1),ours,%s\n(mm 1 1 1),gcc,%s\n' $r.5 $r.25 > $r/loop/set/x.peers
    printf 'exact\n' > $r/loop/set/x.problems
    # of few rounds, p values of two runs may be the same by chance
    printf 'label,seconds,p_value\nc,0.%s,%s\n' $r 0.$((r / 3)) > $r/loop/set/x.csv
    # which input is the slowest is measured, though two runs may agree
    printf 'label,worst,worst_ratio\na,in.%s,1.%s\n' $((r / 3 + 1)) $r > $r/guard.csv
    printf 'label,round,update_seconds\npython,1,%s\nc,1,%s\n' 0.$r 0.0$r > $r/prof/rounds.csv
    printf 'proc,op,total_ns\n%s,c,%s\n' 10$r 7$r > $r/prof/forks/cells.csv
    [ $r = 2 ] || printf '%s,c+gpu,5\n' 10$r >> $r/prof/forks/cells.csv
    # names are those of the largest of this run
    printf 'part,after_ns\ncat=C,%s\nname=f,%s\n' 5$r 6$r > $r/prof/forks/whatif.csv
    touch $r/prof/forks/gpu.10$r.csv $r/prof/forks/gpu.20$r.csv
done
same() { BIN=$BIN "$root/t/same-results" 1 2 3; }
sed -i s/=f/=g/ 3/prof/forks/whatif.csv
ok 'a third run has the same results' same
differ() { # NAME MESSAGE COMMAND: something is changed, found, and put back
    cp -r 3 kept
    eval "$3"
    fails "$1" 1 "$2" eval 'same >&2'
    rm -r 3
    mv kept 3
}
differ 'a row that is lost' 'set/x.peers' 'sed -i 2d 3/loop/set/x.peers'
differ 'what is not measured' 'other bytes' 'echo more >> 3/loop/set/x.problems'
differ 'a row twice' 'rows twice' 'echo c,1,0.03 >> 3/prof/rounds.csv'
differ 'an operation that is not there' 'cells.csv: op' 'sed -i s/,c,/,d,/ 3/prof/forks/cells.csv'
differ 'a category that is not there' 'whatif.csv: part' 'sed -i s/cat=C/cat=D/ 3/prof/forks/whatif.csv'
differ 'a log less' 'gpu.%.csv%2: is missing' 'rm 3/prof/forks/gpu.203.csv'
differ 'a file more' 'should not be there' 'touch 3/prof/forks/gpu.303.csv'
ok 'and the same again' same
# t/kill-states.sh: what lies there before each write of a pipeline is what a kill leaves; all of it is gone on from
if ! command -v rsync > /dev/null; then
    skip 'a kill at each write' 'no rsync'
    done_testing
    exit
fi
mkdir toy
cat > toy/Makefile << 'E'
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
$(shell $(TOP)/pipelines/sweep $(OUT))
beside = $(@D)/.millrace-$$$$-$(@F)
all: $(OUT)/c
$(OUT)/c: $(OUT)/b
	cp $< $(beside)
	$(TOP)/pipelines/keep $(beside) $@
$(OUT)/b: $(OUT)/a
	for i in 1 2; do cat $<; done $(if $(INTO),$(INTO) $@,> $(beside); mv $(beside) $@)
$(OUT)/a:
	: > $(@D)/log
	for i in 1 2; do echo $$i >> $(@D)/log; done
	sort -u $(@D)/log > $(beside)
	mv $(beside) $@
E
toy() { # ARGUMENT: all of toy
    MAKE_IN=$PWD/toy "$root/t/kill-states.sh" all TOP="$root" "$@" > row
    local status=$?
    grep -o '[^,]*$' row
    return $status
}
is 'a pipeline that keeps its promise' yes toy
fails 'a target that is written in place' 1 'cat.*/b[^/]*$' toy INTO='>'
fails 'one that is appended to' 1 'cat.*/b[^/]*$' toy INTO='>>'
like() { cut -d, -f5 row; }
if command -v strace > /dev/null; then
    sed 's/^\t: > .*/\t[ ! -e $(@D)\/log ] || cat $(@D)\/log > \/dev\/null\n&/' toy/Makefile > looks
    cp toy/Makefile blind
    is 'states that differ in what is emptied unseen' yes toy
    is 'are alike' 2 like
    cp looks toy/Makefile
    is 'where it is looked at first' yes toy
    is 'none is' 0 like
    cp blind toy/Makefile
else skip 'states that are alike' 'no strace'; fi
w=$PWD/copies
IN=$w toy > kept
writes=$(($(wc -l < "$w/whole.tsv") - 1))
look() { (cd "$1" && find . -name '.millrace-*' -prune -o -type f -print | sort | xargs -r md5sum); }
killed_at() { # N: is what a kill leaves what was copied?
    rm -rf "$w/live" count
    mkdir -p "$w/live/out" "$w/live/tmp"
    setsid --wait bash -c 'export SHIM_GROUP=$$ SHIM_WHAT=kill SHIM_AT=$1 SHIM_COUNT=$PWD/count SHIM_UNDER=$2/out
        export LD_PRELOAD=$3; exec make -s -C toy TOP="$4" OUT="$2/out" all' x "$1" "$w/live" "$shim" "$root" \
        > run.log 2>&1
    [ $? = 137 ] && diff <(look "$w/live") <(look "$w/whole/$(sed -n "$1p" "$w/whole.tsv" | cut -f1)")
}
wrong=0
for ((n = 1; n <= writes; n += 3)); do killed_at $n >> differs || wrong=$((wrong + 1)); done
is "a kill leaves what was copied, at each third of $writes" 0 echo $wrong
done_testing
