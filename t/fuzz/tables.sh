#!/bin/bash
# tables.sh DIR - one sound input of each kind; the first byte says which reader
d=$1 k=0
put() { { printf "\\x$(printf %x $k)"; printf "$2"; } > "$d/$1"; k=$((k + 1)); }
put hyperfine '{"results":[{"command":"a","times":[0.1,0.2],"user":0.1,"system":0.01,"parameters":{"n":"1"}}]}'
put google '{"context":{},"benchmarks":[{"name":"a","run_type":"iteration","iterations":3,"real_time":1e3,"cpu_time":9e2,"time_unit":"ns"}]}'
put pyperf '{"benchmarks":[{"runs":[{"values":[1,2],"warmups":[[1,0.5]]}]}],"metadata":{"name":"a"},"version":"1.0"}'
put gobench 'pkg: x\nBenchmarkA-2\t2000\t119 ns/op\t208 B/op\t1 allocs/op\n'
put perf '10.11,msec,task-clock,10109402,100.00,0.628,CPUs utilized\n'
put counters 'benchmark,step,seconds,static_instructions,n_x,kind\na,initial,1,10,2,real\na,s,0.5,9,1,real\n'
put history 'program,decisions,parent,chain,step,level,state,reason,instructions,text_bytes,asked,obeyed,inlined,build_seconds,output_hash,kind,run_instructions\np,abc,default,local,1,-O2,ok,,1e9,2000,1,1,1,0.5,00ff,real,1 2\n'
put parts 'function,bytes,run1,run2\nmain,100,5,6\nf,32,1,0\n'
put program 'name,set,package,build,search,confirm\np,train,,*.c !b.c -DX -lm,-c 1 ; <a.c,-d\n'
put cost 'op,inshapes,outshapes,in_tiers,out_tiers,usec\nRelu,2x3;3,2x3,DP,D,12.5\nRelu,,2x3,,P,1e3\n'
put kernels 'key,op,shapes,in_tiers,out_tiers,mode,staging_bytes,time_seconds,runs,method,kind,threads,tier\nMove 64,Move,64,D,P,direct,0,1e-5,5,m,real,1,t\nMove 64,Move,64,P,D,direct,0,1e-5,5,m,real,1,t\nMove 128,Move,128,P,D,direct,0,2e-5,5,m,real,1,t\nRelu 2>2,Relu,2>2,D,D,direct,0,1e-6,5,m,real,1,t\n'
put cells 'proc,phase,op,cats,total_ns,lo_ns,hi_ns,runs\n1,,,Python,725399,1,9,2\n1,,f,CPU+GPU,22574,1,9,1\n1,p,f,ovh:x,-3,1,9,1\n'
put hooks 'proc,phase,op,cats,hook,before,begun\n1,,,Python,c_wrap,0,113\n1,,f,CPU,op,5,9\n'
put entries 'run,node,kind,factor\na,x,root,1\na,y,apply,0.9\nb,x,root,1\n\frun,time_seconds\na,2\nb,3e-3\n'
put examples 'g,y,a,b\np,1,0.5,true\nq,2,nan,false\n'
put traces 'problem,algo,step,action,tree,gflops,seconds,kind\n(mm 6 6 2),greedy1,0,,,24.5,0.5,real\n(mm 6 6 2),greedy1,1,up,,25,0.4,real\n'
put rows 'problem,tree,cursor\n(mm 64 64 208),(tree (for m 64 0 (for k 208 0 (for n 64 0 (mul A B) (acc T))) (for n 64 0 (write C)))),0\n(mm 6 4 2),,\n'
put rundir '((raw_execution_time (2s 8.5s))(worker_hostname h)(gc_stats "minor_collections: 5\\nheap_words: 9\\n")(parsed_gc_stats ((minor_words 64)(compactions 1)))(perf_stats ((((name branches)(value 17)(measured_ns 5)(scaled_from 100)))(((name cpu-cycles)(value 2))((name L1-dcache-loads:u)(value 3))))))'
