#!/bin/bash
# the samples are what hyperfine 1.15, google/benchmark 1.7.1 and perf 6.1 wrote
. "$(dirname "$0")/tap.sh"
D=$root/t/data/bench
line() { bench-import --from="$1" "$2" | sed -n "$3p"; }
is 'hyperfine: one row per run' 'label,round,wall_seconds,exit,mean_user_seconds,mean_sys_seconds,order,kind
"two, ""x""",0,0.001499207,0,0.0006950000000000001,0,blocks,real' line hyperfine "$D/hyperfine.json" 1,2
is 'hyperfine: all runs of both commands' 10 sh -c "bench-import --from=hyperfine '$D/hyperfine.json' | tail -n +2 | wc -l"
is 'google: repetitions, both times, counters' 'BM_copy/64,0,7.359391131940436e-08,1.0814402131812972e-08,645460,1,ok,blocks,real,5918034045.703714,3' line google "$D/google.json" 2
is 'google: no aggregates' 9 sh -c "bench-import --from=google '$D/google.json' | tail -n +2 | wc -l"
is 'google: microseconds are seconds, too' 1 sh -c "bench-import --from=google '$D/google.json' | awk -F, '/^BM_slow/ { if (\$3 > 1e-5 && \$3 < 1e-2) n++ } END { print n == 3 }'"
is 'perf: a row per event, absent counters stay empty' 'perf,0,cycles,,,not supported,0,100.00,,,real' line perf "$D/perf.txt" 6
is 'perf: repeated runs have a variance' 'perf,0,task-clock,10.11,msec,perf,0.95,10109402,100.00,0.628,CPUs utilized,real' line perf "$D/perf-r.txt" 2
is 'several files are one table' '0 1' sh -c "bench-import --from=perf --label=x '$D/perf.txt' '$D/perf.txt' | tail -n +2 | cut -d, -f2 | sort -u | paste -sd' '"
bench-import --from=hyperfine "$D/hyperfine.json" > h.csv
bench-compare --metric=wall h.csv > out.csv 2> notes
ok 'comparing blocks is possible, and said' grep -q 'made in blocks' notes
echo '{"results": [{"command": "x"}]}' > bad.json
fails 'a result without times' 1 'bad.json:1:[0-9]*: a result without' bench-import --from=hyperfine bad.json
fails 'the wrong format' 1 "no 'benchmarks'" bench-import --from=google "$D/hyperfine.json"
echo '12x,,cycles,1,100.00,,' > bad.perf
fails 'a count that is no number' 1 'bad.perf:1: ' bench-import --from=perf bad.perf
fails 'a truncated file' 1 'cut.json:' sh -c "head -c 300 '$D/google.json' > cut.json; bench-import --from=google cut.json"
fails 'a format is needed' 2 'see --from' bench-import "$D/perf.txt"
# the first thing that people try: no CPU times there, so wall times are compared, and it is said
cat > two.json << 'END'
{"results":[{"command":"a","times":[0.10,0.11,0.12,0.13,0.10,0.10,0.11,0.12]},
 {"command":"b","times":[0.20,0.21,0.22,0.23,0.20,0.20,0.21,0.22]}]}
END
is 'what hyperfine measured can be compared' wall bash -c 'bench-import --from=hyperfine two.json | bench-compare --csv 2> said | csv-calc --print=metric | head -1'
ok 'and says by what' grep -q 'no CPU times: wall times are compared' said
fails 'a parameter that is neither text nor number' 1 "a parameter's text or number" bench-import --from=hyperfine <(echo '{"results":[{"command":"b","times":[1],"parameters":{"x":true}}]}')
is 'an event of perf with commas between its slashes' '"cpu/event=0x3c,umask=0x0/",123,1000' \
    bash -c "echo '123,,cpu/event=0x3c,umask=0x0/,1000,100.00,,' | bench-import --from=perf | csv-cut -c event,value,running_ns | sed 1d"
done_testing
