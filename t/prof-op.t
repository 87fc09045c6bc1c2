#!/bin/bash
# rows charged to operations
. "${0%/*}/tap.sh"
cat > ev.csv <<'D'
proc,tid,kind,cat,start_ns,end_ns,name,link,flag
p,1,op,,0,10,a,,
p,1,op,,2,4,b,,
p,1,op,,20,30,c,,
p,1,cat,Python,0,25,,,
p,1,cat,CUDA,3,5,launch,7,
p,d0,gpu,GPU,8,28,gemm,7,
p,d0,gpu,GPU,1,2,lost,9,
D
is 'rows are cut where the operation changes; a kernel belongs to its launch' 'proc,tid,kind,cat,start_ns,end_ns,name,link,flag,op
p,1,op,,0,10,a,,,
p,1,cat,Python,0,2,,,,a
p,d0,gpu,GPU,1,2,lost,9,,
p,1,op,,2,4,b,,,
p,1,cat,Python,2,4,,,,b
p,1,cat,CUDA,3,4,launch,7,,b
p,1,cat,Python,4,10,,,,a
p,1,cat,CUDA,4,5,launch,7,,a
p,d0,gpu,GPU,8,28,gemm,7,,b
p,1,cat,Python,10,20,,,,
p,1,op,,20,30,c,,,
p,1,cat,Python,20,25,,,,c' prof-op --quiet ev.csv
gpu() { prof-op --quiet --at=time ev.csv | grep gpu; }
is 'or to what is open when it runs' 'p,d0,gpu,GPU,1,2,lost,9,,a
p,d0,gpu,GPU,8,10,gemm,7,,a
p,d0,gpu,GPU,10,20,gemm,7,,
p,d0,gpu,GPU,20,28,gemm,7,,c' gpu
fails 'a kernel without a launch is counted' 0 '1 GPU rows without' prof-op ev.csv
done_testing
