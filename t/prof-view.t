#!/bin/bash
# views; venn and raw metrics are in prof-oracle.t
. "${0%/*}/tap.sh"
cat > c.csv <<'D'
proc,phase,op,cats,total_ns,lo_ns,hi_ns,runs
p,,train,,10000,80000,90000,1
p,,train,Backend,20000,20000,80000,2
p,,train,Backend+CUDA,5000,30000,35000,1
p,,train,Backend+CUDA+GPU,5000,35000,40000,1
p,,train,Backend+GPU,30000,40000,70000,1
p,,train,Python,19000,1000,20000,1
p,,,GPU,700,90000,90700,1
p,,train,Python+ovh:annot,300,0,0,1
D
is 'resources' 'proc,resources,total_ns
p,CPU,44300
p,CPU+GPU,35000' prof-view --view=resource c.csv
is 'resources, without operation too' 'proc,resources,total_ns
p,,10000
p,CPU,44300
p,CPU+GPU,35000
p,GPU,700' prof-view --view=resource --noop c.csv
grep -v train c.csv > none.csv
fails 'nothing under an operation is said, and what shows it' 0 'nothing ran under an operation; --noop' prof-view --view=category none.csv
is 'which does' 'proc,op,resources,cats,total_ns
p,,GPU,GPU,700' prof-view --view=category --noop none.csv
is 'subplot is inclusive' 'proc,resource,total_ns
p,CPU,79300
p,GPU,35000
p,Total,79000' prof-view --view=subplot c.csv
is 'operations' 'proc,op,resources,total_ns
p,train,CPU,44300
p,train,CPU+GPU,35000' prof-view --view=operation c.csv
is 'overhead' 'proc,overhead,total_ns
p,corrected,79000
p,ovh:annot,300' prof-view --view=overhead c.csv
metric() { prof-view --view=metrics "$@" c.csv | awk -F, -v OFS=, '{ print $3, $4 }' | grep -E '^(Total|Cpp|CppAnd|Framework|CudaCpp|GPU|Python)TimeSec|^(CppAndGPU|FrameworkCpp|GPUAndCudaCpp)TimeSec'; }
is 'metrics from cells' 'TotalTimeSec,0.0000793
CppAndGPUTimeSec,0.00006
CppTimeSec,0.000025
FrameworkCppTimeSec,0.00002
CudaCppTimeSec,5e-06
GPUTimeSec,0.0000357
GPUAndCudaCppTimeSec,0.00001
PythonTimeSec,0.0000193' metric
printf '%s\n' proc,op,from,to,count p,a,Python,Backend,5 p,a,Backend,Backend+CUDA,3 p,a,Backend,Python,5 p,,Python,Backend+op:b,9 p,a,Python,Simulator,2 p,Simulation,Python,Simulator,4 > t.csv
is 'transitions into a category, the operation the same' 'proc,op,category,count,per_pass
p,Simulation,Simulator,4,2
p,a,Backend,5,2.5
p,a,CUDA,3,1.5' prof-view --view=transitions --passes=2 t.csv
fails 'no view' 2 'no --view' prof-view c.csv
done_testing
