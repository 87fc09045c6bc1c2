#!/bin/bash
. "$(dirname "$0")/tap.sh"
mkdir -p r/kb/valid r/fft/valid r/fft/other
echo 'w1,/tmp/x,/run/1,1.5s,2m,250ms' > r/kb/valid/plugin_a.csv
printf 'w1,/tmp/x,/run/1,1.25m\r\nw2,/tmp/x,/run/1,0.001h\n' > r/fft/valid/b.csv
: > r/fft/valid/c.csv
echo 'w,o,r,1s' > r/fft/other/d.csv
is 'units, empty files, CRLF; by name' 'benchmark,experiment,policy,worker,rundir,repeat,seconds,kind
fft,valid,b,w1,/run/1,1,75,real
fft,valid,b,w2,/run/1,1,3.6,real
fft,valid,c,,,,,real
kb,valid,a,w1,/run/1,1,1.5,real
kb,valid,a,w1,/run/1,2,120,real
kb,valid,a,w1,/run/1,3,0.25,real' flambda-results --experiment=valid r
bad() { printf '%s\n' "$3" > r/kb/valid/plugin_a.csv; fails "$1" 1 "plugin_a.csv:$2" flambda-results r; }
bad 'a time without unit is refused' "1: timing 1: '1.5'" 'w1,x,r,1.5'
bad 'a line without timings is refused' '1: .*3 fields' 'w1,x,r'
bad 'a negative time is refused' "1: timing 2: '-1s'" 'w1,x,r,1s,-1s'
bad 'nor is one that is no second any more' "1: timing 1: '5e-324us'" 'w1,x,r,5e-324us'
bad 'nor one beyond all numbers' "1: timing 1: '1e308h'" 'w1,x,r,1e308h'
bad 'a git-LFS pointer is refused' '1: a git-LFS pointer' 'version https://git-lfs.github.com/spec/v1'
fails 'a missing directory is refused' 1 'nowhere' flambda-results nowhere
need_data inline/results
is 'the published results are all there: 567 files, 18 timings each' '10206 21 27' bash -c "flambda-results --experiment=plugins-valid '$DATA/inline/results' | awk -F, 'NR > 1 { n++; b[\$1]; p[\$3] } END { print n, length(b), length(p) }'"
done_testing
