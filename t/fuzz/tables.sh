#!/bin/bash
# tables.sh DIR - one sound input of each kind; the first byte says which reader
d=$1
printf '0{"results":[{"command":"a","times":[0.1,0.2],"user":0.1,"system":0.01,"parameters":{"n":"1"}}]}' > "$d/hyperfine"
printf '1{"context":{},"benchmarks":[{"name":"a","run_type":"iteration","iterations":3,"real_time":1e3,"cpu_time":9e2,"time_unit":"ns"}]}' > "$d/google"
printf '2{"benchmarks":[{"runs":[{"values":[1,2],"warmups":[[1,0.5]]}]}],"metadata":{"name":"a"},"version":"1.0"}' > "$d/pyperf"
printf '3pkg: x\nBenchmarkA-2\t2000\t119 ns/op\t208 B/op\t1 allocs/op\n' > "$d/gobench"
printf '410.11,msec,task-clock,10109402,100.00,0.628,CPUs utilized\n' > "$d/perf"
printf '5benchmark,step,seconds,static_instructions,n_x,kind\na,initial,1,10,2,real\na,s,0.5,9,1,real\n' > "$d/counters"
printf '6program,decisions,parent,chain,step,level,state,reason,instructions,text_bytes,asked,obeyed,inlined,build_seconds,output_hash,kind,run_instructions\np,abc,default,local,1,-O2,ok,,1e9,2000,1,1,1,0.5,00ff,real,1 2\n' > "$d/history"
printf '7function,bytes,run1,run2\nmain,100,5,6\nf,32,1,0\n' > "$d/parts"
