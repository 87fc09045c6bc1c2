#!/bin/bash
. "$(dirname "$0")/tap.sh"
# two inputs of a, one of b; each round base 1, and what `f LABEL INPUT ROUND` says
runs() {
    echo label,round,cpu_seconds,benchmark
    for ((k = 0; k < ${rounds-24}; k++)); do
        for b in a.1 a.2 b.1; do
            echo "O2,$k,1,$b"
            for l in good mixed slow; do
                case $l$b in
                    gooda.1 | goodb.1 | mixeda.1) v=0.900 ;;
                    gooda.2) v=0.980 ;;
                    mixeda.2) v=1.050 ;;
                    *) v=1.005 ;;
                esac
                echo "$l,$k,$v$((k % 7)),$b"
            done
        done
    done
}
guard() { runs | bench-guard --all-inputs --metric=cpu --base=O2 "$@" | csv-cut -c program,label,decision,reason,inputs,rounds,worst; }
is 'a gain over all inputs goes out, an input that surely loses keeps it back' \
'program,label,decision,reason,inputs,rounds,worst
a,good,good,gain,2,24,a.2
a,mixed,O2,slower on an input,2,24,a.2
a,slow,O2,no sure gain,2,24,a.1
b,good,good,gain,1,24,b.1
b,mixed,O2,no sure gain,1,24,b.1
b,slow,O2,no sure gain,1,24,b.1' guard
# the mean of the inputs: exp((log .9 + log .98) / 2), the last digit varies by less than .01
is 'the mean is over inputs, in logarithms' yes bash -c '
    m=$(csv-where -c program --is=a | csv-where -c label --is=good | csv-cut -c ratio | tail -n 1)
    awk "BEGIN { x = sqrt(0.9003 * 0.9803); print ($m > x - 0.002 && $m < x + 0.002) ? \"yes\" : \"no: $m\" }"' < <(runs | bench-guard --all-inputs --metric=cpu --base=O2)
runs > runs.csv
is 'what loses less than is allowed may go out where it is smaller' 'slow,slow,gain
slow,O2,not smaller' bash -c 'for t in 90 110; do
    printf "run,label,metric,value\nb.1,O2,text_bytes,100\nb.1,slow,text_bytes,$t\n" > exact.csv
    csv-where -c benchmark --is=b.1 runs.csv | bench-guard --all-inputs --metric=cpu --base=O2 --most-loss=0.02 --sizes=exact.csv |
        csv-where -c label --is=slow | csv-cut -c label,decision,reason | tail -n 1; done'
rounds=6
is 'with too few rounds nothing goes out, and that is said' 'too few rounds' bash -c "$(declare -f runs); rounds=6 runs | bench-guard --all-inputs --metric=cpu --base=O2 | csv-where -c label --is=good | csv-cut -c reason | sort -u | grep few"
printf 'run,label,metric,value\nb.1,O2,text_bytes,-1e308\n' > exact.csv
fails 'a size below nothing' 1 "exact.csv:2: column 'value': '-1e308' is not a size in bytes" \
    bench-guard --all-inputs --metric=cpu --base=O2 --most-loss=0.02 --sizes=exact.csv runs.csv
fails 'a base that is not there' 1 "no label 'x'" bash -c "$(declare -f runs); runs | bench-guard --all-inputs --metric=cpu --base=x"
done_testing
