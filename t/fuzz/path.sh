#!/bin/bash
# path.sh DIR - a table in which two threads wait for each other and for a kernel, and the same as rows of bytes
{
    echo proc,tid,kind,cat,start_ns,end_ns,name,link,flag
    sed 's/^/p,/' <<- 'END'
	1,cat,Python,0,50,f,,
	1,cat,Waiting,50,90,get,7,
	2,cat,C,10,80,g,,
	2,cat,C,80,85,put,7,
	1,cat,CUDA,90,95,cudaLaunchKernel,9,
	s,gpu,GPU,96,120,k,9,
	u,after,s,91,92,wait,9,
	1,cat,CUDA,93,94,cudaLaunchKernel,8,
	u,gpu,GPU,121,123,m,8,
	1,cat,CUDA,95,125,cudaDeviceSynchronize,,
	END
} > "$1/table"
printf '\0\0\0\0\62\0\0\0\207\62\50\4\7\4\0\12\74\10\0\4\207\106\5\10\7\0\211\132\5\14\4\0\211\140\30\2\0\0\0\137\36\14\2' > "$1/rows"
