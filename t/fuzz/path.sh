#!/bin/bash
# path.sh DIR - two threads, one of which waits for the other, and a kernel
{
    echo proc,tid,kind,cat,start_ns,end_ns,name,link,flag
    sed 's/^/p,/' <<- 'END'
	1,cat,Python,0,50,f,,
	1,cat,Waiting,50,90,w,7,
	2,cat,C,10,80,g,,
	2,cat,C,80,85,put,7,
	1,cat,CUDA,90,95,cudaLaunchKernel,9,
	7,gpu,GPU,96,120,k,9,
	1,cat,CUDA,95,125,cudaDeviceSynchronize,,
	END
} > "$1/waits"
