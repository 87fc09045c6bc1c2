#!/bin/bash
# path.sh DIR - two threads, one of which waits for the other, and a kernel
printf 'proc,tid,cat,name,start_ns,end_ns,link\np,1,Python,f,0,50,\np,1,Waiting,w,50,90,7\np,2,C,g,10,80,\np,2,C,put,80,85,7\np,1,CUDA,cudaLaunchKernel,90,95,9\np,1,GPU,k,96,120,9\np,1,CUDA,cudaDeviceSynchronize,95,125,\n' > "$1/waits"
