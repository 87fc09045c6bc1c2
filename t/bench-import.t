#!/bin/bash
# the samples are what hyperfine 1.15 and google/benchmark 1.7.1 wrote
. "$(dirname "$0")/tap.sh"
D=$root/t/data/bench
line() { bench-import --from="$1" "$2" | sed -n "$3p"; }
is 'hyperfine: one row per run' 'label,round,wall_seconds,exit,mean_user_seconds,mean_sys_seconds,order,kind
"two, ""x""",0,0.001499207,0,0.0006950000000000001,0,blocks,real' line hyperfine "$D/hyperfine.json" 1,2
is 'hyperfine: all runs of both commands' 10 sh -c "bench-import --from=hyperfine '$D/hyperfine.json' | tail -n +2 | wc -l"
is 'google: repetitions, both times, counters' 'BM_copy/64,0,7.359391131940436e-08,1.0814402131812972e-08,645460,1,ok,blocks,real,5918034045.703714,3' line google "$D/google.json" 2
is 'google: no aggregates' 9 sh -c "bench-import --from=google '$D/google.json' | tail -n +2 | wc -l"
is 'google: microseconds are seconds, too' 1 sh -c "bench-import --from=google '$D/google.json' | awk -F, '/^BM_slow/ { if (\$3 > 1e-5 && \$3 < 1e-2) n++ } END { print n == 3 }'"
bench-import --from=hyperfine "$D/hyperfine.json" > h.csv
bench-compare --metric=wall h.csv > out.csv 2> notes
ok 'comparing blocks is possible, and said' grep -q 'made in blocks' notes
echo '{"results": [{"command": "x"}]}' > bad.json
fails 'a result without times' 1 'bad.json:1:[0-9]*: a result without' bench-import --from=hyperfine bad.json
fails 'the wrong format' 1 "no 'benchmarks'" bench-import --from=google "$D/hyperfine.json"
fails 'a truncated file' 1 'cut.json:' sh -c "head -c 300 '$D/google.json' > cut.json; bench-import --from=google cut.json"
is 'several files are one table' 19 sh -c "bench-import --from=google '$D/google.json' '$D/google.json' | wc -l"
fails 'a format is needed' 2 'see --from' bench-import "$D/google.json"
# the first thing that people try: no CPU times there, so wall times are compared, and it is said
cat > two.json << 'END'
{"results":[{"command":"a","times":[0.10,0.11,0.12,0.13,0.10,0.10,0.11,0.12]},
 {"command":"b","times":[0.20,0.21,0.22,0.23,0.20,0.20,0.21,0.22]}]}
END
is 'what hyperfine measured can be compared' wall bash -c 'bench-import --from=hyperfine two.json | bench-compare --csv 2> said | csv-calc --print=metric | head -1'
ok 'and says by what' grep -q 'no CPU times: wall times are compared' said
fails 'a parameter that is neither text nor number' 1 "a parameter's text or number" bench-import --from=hyperfine <(echo '{"results":[{"command":"b","times":[1],"parameters":{"x":true}}]}')
done_testing
