#!/bin/bash
# utilisation; numbers are in prof-oracle.t
. "${0%/*}/tap.sh"
printf '%s\n' proc,tid,kind,cat,start_ns,end_ns p,d0.s1,gpu,GPU,0,10 p,d0.s2,gpu,GPU,5,20 p,d1.s1,gpu,GPU,0,10 p,d1.s1,gpu,GPU,90,100 > ev.csv
is 'streams of a device are one device' 'device,start_ns,end_ns,busy_ns,true_ratio,bins,polled_ratio
d0,0,20,20,1,,
d1,0,100,20,0.2,,' prof-util ev.csv
is 'the mean of the bins strictly before' 'device,start_ns,bin,polled_ratio
d0,0,1,
d1,0,1,
d1,50,1,1' prof-util --poll=50 --window=2 ev.csv
fails 'two questions at once' 2 'two questions' prof-util --poll=5 --strip=5 ev.csv
fails 'too many bins' 1 'more than' prof-util --poll=1 <(echo kind,cat,start_ns,end_ns; echo gpu,GPU,0,1; echo gpu,GPU,4000000000000000000,4000000000000000001)
done_testing
