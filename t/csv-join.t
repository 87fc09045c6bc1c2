#!/bin/bash
. "$(dirname "$0")/tap.sh"
printf 'k,v\na,1\nb,2\na,3\nc,4\n' > l
printf 'v,k,w\nx,a,7\ny,b,8\nz,a,9\nu,d,0\n' > r
is "matches in the order of both" $'k,v,v_right,w\na,1,x,7\na,1,z,9\nb,2,y,8\na,3,x,7\na,3,z,9' csv-join --quiet -k k l r
is "all of the left" $'k,v,v_right,w\na,1,x,7\na,1,z,9\nb,2,y,8\na,3,x,7\na,3,z,9\nc,4,,' csv-join -k k --keep=left l r
is "all of both: rows only on the right come last, with their key" $'k,v,v_right,w\na,1,x,7\na,1,z,9\nb,2,y,8\na,3,x,7\na,3,z,9\nc,4,,\nd,,u,0' \
    csv-join -k k --keep=all l r
is "rows that match nothing" $'k,v\nc,4' csv-join -k k --keep=unmatched l r
is "another suffix, and left from standard input" $'k,v,v2,w\nb,2,y,8' eval 'printf "k,v\nb,2\n" | csv-join -k k --suffix=2 - r'
printf 'a,b\nx,yz\nxy,z\n' > p
printf 'a,b,n\nxy,z,1\nx,yz,2\n' > q
is "two keys are not run together" $'a,b,n\nx,yz,2\nxy,z,1' csv-join -k a,b p q
printf 'a,b,n\nxy,z,1\nx,yz,2\n' > q
fails "a key twice on the right, with --unique" 1 'r:4: a row with this key came before, on line 2' csv-join -k k --unique l r
fails "no such key" 1 "r:1: no column 'q'" csv-join -k q l r
fails "names that clash in spite of the suffix" 1 "would be called 'v_right'" eval 'printf "k,v,v_right\n" | csv-join -k k - r'
fails "one table only" 2 'two tables' csv-join -k k l
fails "no key" 2 'no key' csv-join l r
seq 500 | awk 'BEGIN{print "k,i"}{print $1*37%101 "," $1}' > n
seq 500 | awk 'BEGIN{print "k,j"}{print $1*53%103 "," $1}' > m
is "the same as a loop over all pairs" "$(awk -F, 'FNR==1{f++} f==1{if(FNR>1){rk[++n]=$1; rj[n]=$2}} f==2{if(FNR==1) print "k,i,j"; else for(x=1;x<=n;x++) if(rk[x]==$1) print $0 "," rj[x]}' m n)" csv-join -k k n m
done_testing
