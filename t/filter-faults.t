#!/bin/bash
# every write, every read and every piece of memory fails once: the disk is full or broken, a call is interrupted, reads or
# writes one byte, has nothing yet, malloc refuses.  A filter then ends with status 1 (3: bench-compare) and a message, or its output is the undisturbed one;
# a file it was to write is complete or absent; it never crashes.
. "$(dirname "$0")/tap.sh"
shim=$B/t/shim.so
[ -e "$shim" ] || { echo '1..0 # skip the shim is not built (make test builds it)'; exit 0; }
if sanitized; then echo '1..0 # skip address sanitizer has its own malloc'; exit 0; fi

printf 'a,b\n3,2\n1,4\n' > t.csv
printf '(r (a 1) (b 2))\n(r (a 3) (b x))\n' > t.sexp
printf 'x,z,y\n1,2,3\n2,1,4\n3,5,9\n4,3,7\n' > fit.csv
{ echo label,round,wall_seconds,cpu_seconds,kind,base; for i in {1..12}; do echo "a,$i,1.0$i,1.0$i,real,a"; echo "b,$i,0.9$i,0.9$i,real,a"; done; } > runs.csv
printf 'problem\n(mm 8 8 8)\n' > problem.csv
place-net mlp --batch=2 --image=8 > g.sexp 2> /dev/null
place-cost --model=optane g.sexp > p.csv 2> /dev/null
for i in 1 2; do echo "/r/opt_data/initial/0/x,h,$(seq -s, 3 51)"; done > counters.csv
printf 't.csv\nt.csv\n' > list
printf 'id,lower,upper,size\n0,0,2,16\n1,1,3,32\n' > pack.csv
printf 'job,command\nx,cat t.csv\ny,cat t.csv\n' > jobs.csv
jobs-do jobs.csv 2> /dev/null | jobs-log log.csv
fit-ridge -y y -o ridge.sexp fit.csv 2> /dev/null
# a line each: a command; -o OUT among its words is a file that is complete or absent
cat > commands <<'E'
csv-cat t.csv
csv-cat --files-from=list
csv-cut -c b,a t.csv
csv-where -c a --min=2 t.csv
csv-sort -k a:n t.csv
csv-group -g a -c b t.csv
csv-sample --first=1 t.csv
csv-pivot --long -k a --names=n --values=v t.csv
csv-dedupe -k a t.csv
csv-show t.csv
csv-join -k a t.csv t.csv
csv-calc --set=c=a+b t.csv
sexp-from-csv --head=r t.csv
sexp-get -k a t.sexp
sexp-to-csv t.sexp
sexp-show t.sexp
fit-ridge -y y -o OUT fit.csv
fit-lasso -y y -o OUT fit.csv
fit-boost -y y --rounds=2 -o OUT fit.csv
fit-predict -m ridge.sexp fit.csv
fit-pca fit.csv
fit-audit -y y fit.csv
bench-compare --quiet runs.csv
bench-guard --quiet --base=a runs.csv
bench-stat --quiet runs.csv
flambda-counters counters.csv
jobs-merge --log=log.csv jobs.csv
loop-act problem.csv
place-net mlp --batch=2 --image=8
place-stat g.sexp
place-cost --model=optane g.sexp
place-plan --formulation=static --ratio=1:1 --profile=p.csv g.sexp
place-pack pack.csv
E
# thousands of runs: each is one process, what is asked around it asks bash itself
fault() { # WHAT N: the command, then how it ended in rc; OUT and out as they are
    [ ! -e OUT ] || rm OUT
    rc=0
    SHIM_WHAT=$1 SHIM_AT=$2 SHIM_COUNT=${3-} SHIM_SECONDS=60 LD_PRELOAD=$shim "${command[@]}" < /dev/null > out 2> err || rc=$?
}
same() { # two files, and no NUL in them: read would have found the end that it looks for
    local a b
    ! IFS= read -rd '' a < "$1" && ! IFS= read -rd '' b < "$2" && [[ $a == "$b" ]]
}
problem() { echo "$what at $n: $*: $(head -c 200 err)" >> why; }
shopt -s nullglob
while read -ra command; do
    : > why
    fault none 0
    [ $rc = 0 ] || [ "${command[0]}" = bench-compare ] || { echo "undisturbed: exit $rc: $(cat err)" >> why; }
    good_rc=$rc
    cp out good
    [ ! -e OUT ] || cp OUT good.OUT
    for what in enospc eio eintr short malloc read-eio read-eintr read-eagain read-short; do
        rm -f count
        fault $what 0 count
        calls=$(od -An -tu8 count) step=1
        for ((n = 1; n <= calls && n < 200; n += step)); do
            [ $n -lt 24 ] || step=23
            fault $what $n
            [ $rc -lt 128 ] || problem "killed by a signal, exit $rc"
            if [ $rc = $good_rc ]; then
                same out good || problem 'exit 0 and another output'
                [ ! -e good.OUT ] || same OUT good.OUT || problem 'exit 0 and another file'
            else
                [[ $rc == [13] ]] || problem "exit $rc"
                [ -s err ] || problem 'no message'
                [[ $what != *eintr && $what != *short ]] || problem 'an interrupted or short write is no error'
                [ ! -e OUT ] || same OUT good.OUT || problem 'a file that is half written'
            fi
            left=(.millrace-*)
            [ ${#left[@]} = 0 ] || problem 'a temporary file is left'
        done
    done
    rm -f good.OUT
    if [ -s why ]; then fail "${command[*]}"; else pass "${command[*]}"; fi
done < commands
done_testing
