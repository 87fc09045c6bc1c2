#!/bin/bash
# nested intervals to pieces; the oracle has the cases, here is what surrounds them
. "${0%/*}/tap.sh"
cat > ev.csv <<'D'
proc,tid,kind,cat,start_ns,end_ns,name,link,flag,note
p,1,op,,0,10,outer,,,x
p,1,op,,2,12,inner,,,y
p,2,op,,4,6,other,,,
p,1,cat,Backend,0,9,,,,z
p,1,cat,CUDA,1,2,,,,
D
is 'threads apart, misnested cut, categories and unknown columns kept' 'proc,tid,kind,cat,start_ns,end_ns,name,link,flag,note
p,1,op,,0,2,outer,,,x
p,1,cat,Backend,0,9,,,,z
p,1,cat,CUDA,1,2,,,,
p,1,op,,2,10,inner,,,y
p,2,op,,4,6,other,,,' prof-flat --quiet ev.csv
fails 'the cut is counted' 0 '1 misnested' prof-flat ev.csv
is 'only what was flattened, categories too' 'proc,tid,kind,cat,start_ns,end_ns,name,link,flag,note
p,1,op,,0,2,outer,,,x
p,1,cat,Backend,0,1,,,,z
p,1,cat,CUDA,1,2,,,,
p,1,op,,2,10,inner,,,y
p,1,cat,Backend,2,9,,,,z
p,2,op,,4,6,other,,,' prof-flat --quiet --excl --only ev.csv
done_testing
