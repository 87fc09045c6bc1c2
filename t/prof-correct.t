#!/bin/bash
# overhead taken out; placed intervals are in prof-oracle.t
. "${0%/*}/tap.sh"
cat > cal.sexp <<'D'
(calibration (host h) (cost (hook c_wrap) (mean_ns 10) (std_ns 3) (inside_ns 4) (n 10)))
D
cat > cells.csv <<'D'
proc,phase,op,cats,total_ns,lo_ns,hi_ns,runs
p,,a,C,1000,0,9,1
p,,a,Python,5000,0,9,1
p,,a,GPU+Python,700,0,9,1
p,,b,Python,50,0,9,1
D
cat > hooks.csv <<'D'
proc,phase,op,cats,hook,before,begun
p,,a,Python,c_wrap,100,0
p,,a,C,c_wrap,0,300
p,,a,GPU+Python,c_wrap,90,90
p,,b,Python,c_wrap,20,0
D
is 'counts: inside the call and around it, carried on within the operation, clipped without room, nothing beside the GPU' \
'proc,phase,op,cats,total_ns,lo_ns,hi_ns,runs,raw_ns,removed_ns,clipped_ns,error_ns
p,,a,C,0,0,9,1,1000,1000,0,120
p,,a,Python,4200,0,9,1,5000,800,0,60
p,,a,GPU+Python,700,0,9,1,700,0,0,0
p,,b,Python,0,0,9,1,50,50,70,12' prof-correct --calibration=cal.sexp --hooks=hooks.csv cells.csv
sed -i 's/c_wrap/other/' hooks.csv
fails 'a hook that is not calibrated is told' 0 'hook other is not calibrated' prof-correct --calibration=cal.sexp --hooks=hooks.csv cells.csv
fails 'one way or the other' 2 'give --calibration' prof-correct cells.csv

cat > one.csv <<'D'
proc,phase,op,cats,total_ns,lo_ns,hi_ns,runs
p,,a,Python,10000,0,9,1
D
printf '%s\n' proc,phase,op,cats,hook,before,begun p,,a,Python,c_wrap,100,100 > hooks.csv
all() { prof-correct --total --calibration=cal.sexp --hooks=hooks.csv "$@" one.csv; }
is 'the total of 100 calls at 10 ns, error 1 ns with 9 degrees of freedom: 2.262 times 100' \
'raw_ns,removed_ns,clipped_ns,corrected_ns,low_ns,high_ns
10000,1000,0,9000,8774,9226' all
is 'of 90 %: 1.833 times 100' 8817,9183 bash -c "$(declare -f all); all --confidence=0.9 | tail -1 | cut -d, -f5-"
printf '%s\n' total_ns 10000 10100 9900 > runs.csv
printf '%s\n' total_ns 8800 9000 9080 > bare.csv
# by hand: variances 100^2 (9) and 57.7^2 (2), 10.67 degrees of freedom, 2.21 times 115.5
is 'repeats enter with their error (Welch)' '10000,1000,0,9000,8745,9255' eval 'all --repeats=runs.csv | tail -1'
is 'and so do the runs that were not recorded' 1 eval "all --repeats=runs.csv --against=bare.csv | awk -F, 'NR == 2 { print (\$7 == 8960 && \$8 > 1.0044 && \$8 < 1.0045 && \$9 < 0.97 && \$10 > 1.03 && \$11 == 1) }'"
printf '%s\n' hook,calls,uninstrumented_ns,instrumented_ns c_wrap,100,1000,2000 c_wrap,100,1000,2100 c_wrap,100,1000,1900 > pairs.csv
printf '%s\n' total_ns 9000 9000 9000 > bare.csv
is 'in rounds, what each round shares cancels' '9000,1,1,1,1' eval 'all --repeats=runs.csv --against=bare.csv --pairs=pairs.csv | tail -1 | cut -d, -f7-'
fails 'rounds must be the same' 1 '3 rows, but 2 repeats' all --repeats=<(head -3 runs.csv) --pairs=pairs.csv
echo '(calibration (cost (hook op) (mean_ns -9223372036854775808)))' > absurd.sexp
printf '%s\n' proc,phase,op,cats,hook,before,begun 1,,,Python,op,1,1 > absurd-hooks.csv
fails 'a hook that costs no time that can be' 1 'absurd.sexp:1: .*no time of less than a second' \
    prof-correct --calibration=absurd.sexp --hooks=absurd-hooks.csv <(printf '%s\n' proc,cats,total_ns 1,Python,5)
echo '(calibration (cost (hook op) (mean_ns 50)))' > sane.sexp
printf '%s\n' proc,phase,op,cats,hook,before,begun 1,,,Python,op,1e300,1 > absurd-hooks.csv
fails 'nor one that was called more often than there is time' 1 'number too large' \
    prof-correct --calibration=sane.sexp --hooks=absurd-hooks.csv <(printf '%s\n' proc,cats,total_ns 1,Python,5)
# random problems against the formulas, written apart
if command -v python3 > /dev/null; then
    as_told() { local seed how; for seed in {1..40}; do
        python3 "$root/t/data/prof-correct.py" $seed told && cd told || return 1
        c=(prof-correct --calibration=cal.sexp --hooks=hooks.csv)
        "${c[@]}" cells.csv 2> err | csv-cut -c total_ns,removed_ns,clipped_ns,error_ns > got.csv
        csv-diff --tolerance=1e-9 want.csv got.csv > diff || { echo "seed $seed: $(head -3 diff)"; return 1; }
        {   echo what,low,high
            for how in alone repeated against rounds; do
                case $how in
                repeated) c+=(--repeats=runs.csv) ;;
                against) c+=(--against=bare.csv) ;;
                rounds) c+=(--pairs=pairs.csv) ;;
                esac
                "${c[@]}" --total cells.csv 2> err |
                    case $how in alone | repeated) csv-cut -c low_ns,high_ns ;; *) csv-cut -c low_ratio,high_ratio ;; esac |
                    sed "1d; s/^/$how,/"
            done; } > got.csv
        csv-calc --set="low=abs(low) > 9 ? floor(low + 0.5) : low" --set="high=abs(high) > 9 ? floor(high + 0.5) : high" totals.csv > want.csv
        csv-diff --tolerance=1e-6 want.csv got.csv > diff || { echo "seed $seed: $(head -3 diff)"; return 1; }
        cd ..
    done; }
    ok 'forty random problems, beside the formulas' as_told
fi
# a hook without a cost is free for others, too: prof-top takes nothing for it; one run has no error of its own
printf '%s\n' total_ns 10000 > single.csv
is 'a single repeat adds no error' '10000,1000,0,9000,8774,9226' eval 'printf "%s\n" proc,phase,op,cats,hook,before,begun p,,a,Python,c_wrap,100,100 > hooks.csv; all --repeats=single.csv | tail -1'
# placed: overhead goes, with the CPU beside it; the GPU and operations stay, and cells that become equal are one
cat > placed.csv <<'D'
proc,phase,op,cats,total_ns,lo_ns,hi_ns,runs
p,,a,GPU+Python+ovh:hook,10,0,40,1
p,,a,GPU,5,50,60,2
p,,a,Python+ovh:hook,7,0,9,1
p,,a,op:step+ovh:hook,3,0,9,1
p,,a,op:+ovh:hook,2,0,9,1
p,,a,GPU+op:step+ovh:hook,4,0,9,1
p,,a,Python,100,0,99,1
D
is 'placed intervals' 'cats,total_ns,lo_ns,hi_ns,runs
GPU,15,0,60,3
GPU+op:step,4,0,9,1
Python,100,0,99,1' bash -c 'prof-correct --placed placed.csv | csv-cut -c cats,total_ns,lo_ns,hi_ns,runs'
many() { seq 12000 | sed "s/.*/1,&,act,C,$1\n1,&,act,Python,$1\n1,&,act,GPU,$1\n1,&,train,C,$1\n1,&,train,Python,$1\n1,&,train,Backend,$1\n1,&,train,GPU,$1/"; }
{ echo proc,phase,op,cats,total_ns; many 9999; } > many.csv
{ echo proc,phase,op,cats,hook,before,begun; many any,0,3; } > hooks-many.csv
echo '(calibration (cost (hook any) (mean_ns 100) (inside_ns 100)))' > cost.sexp
is 'cells of 12000 iterations, in no time that grows with their square' '9999 24000 9699 60000' eval \
    '(ulimit -t 10; prof-correct --calibration=cost.sexp --hooks=hooks-many.csv many.csv) | csv-cut -c total_ns | sed 1d | sort | uniq -c | awk "{ print \$2, \$1 }" | sort -r | xargs'
done_testing
