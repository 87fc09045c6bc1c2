#!/bin/bash
. "$(dirname "$0")/tap.sh"
grid() { bench-jobs --vary='n=1 2' --vary='s=x y' "$@"; }
is 'all combinations, the last varies fastest' 'job,n,s
1,1,x
2,1,y
3,2,x
4,2,y' grid
is 'patterns are filled' 'job,n,s,out,command
1,1,x,o/1-x.csv,run 1 x > o/1-x.csv
2,1,y,o/1-y.csv,run 1 y > o/1-y.csv
3,2,x,o/2-x.csv,run 2 x > o/2-x.csv
4,2,y,o/2-y.csv,run 2 y > o/2-y.csv' grid --out='o/{n}-{s}.csv' --command='run {n} {s} > {out}'
mkdir o
echo done > o/1-y.csv
: > o/2-x.csv
is 'what has its output is left out, an empty one has not' 'run o/1-x.csv
run o/2-x.csv
run o/2-y.csv' grid --out='o/{n}-{s}.csv' --command='run {out}' --missing --lines
is 'values are quoted for sh' "echo '\$HOME' 1" bench-jobs --vary='v=$HOME' --command='echo {v} {#}' --lines
fails 'a setting that is not there' 2 "'{z}'" grid --command='{z}'
fails 'nothing varies' 2 'see --vary' bench-jobs
fails 'no values' 2 'no values' bench-jobs --vary=n=
fails 'no name' 2 'NAME=VALUES' bench-jobs --vary=n
fails 'an output that jobs would share' 2 "'{n}.csv' is '[0-9]*.csv' for two jobs: they would write over each other" grid --out='{n}.csv'
fails 'one that two of them make of different values' 2 "is 'r111' for two jobs" bench-jobs --vary='a=1 11' --vary='b=11 1' --out='r{a}{b}'
fails 'a setting given twice' 1 "two columns would be called 'n'" bench-jobs --vary='n=1 2' --vary='n=3 4'
ok 'the number of the job is enough' grid --out='{#}.csv'
ok 'a setting of one value need not be in it' bench-jobs --vary='n=1 2' --vary='s=x' --out='{n}.csv'
done_testing
