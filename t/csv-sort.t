#!/bin/bash
. "$(dirname "$0")/tap.sh"
printf 'k,v\nb,10\na,9\nb,\na,nan\nb,-1e2\na,inf\nb,10\n' > t
is "by bytes; ties stay in input order" $'k,v\na,9\na,nan\na,inf\nb,10\nb,\nb,-1e2\nb,10' csv-sort -k k t
is "reverse keeps ties in input order" $'k,v\nb,10\nb,\nb,-1e2\nb,10\na,9\na,nan\na,inf' csv-sort -k k -r t
is "numbers: empty first, nan last" $'k,v\nb,\nb,-1e2\na,9\nb,10\nb,10\na,inf\na,nan' csv-sort -k v:n t
is "numbers reversed" $'k,v\na,nan\na,inf\nb,10\nb,10\na,9\nb,-1e2\nb,' csv-sort -k v:nr t
is "two keys" $'k,v\na,9\na,inf\na,nan\nb,\nb,-1e2\nb,10\nb,10' csv-sort -k k,v:n t
is "header only" 'k,v' eval 'head -1 t | csv-sort -k k'
fails "a wrong ending" 2 ':n, :r nor :nr' csv-sort -k v:x t
fails "an empty ending" 2 ':n, :r nor :nr' csv-sort -k v: t
fails "no such column" 1 "no column 'q'" csv-sort -k q t
fails "no number" 1 "t:2: column 'k': 'b' is not a number" csv-sort -k k:n t
fails "no key" 2 'no key' csv-sort t
seq 3000 | awk 'BEGIN{print "x,y"}{print $1*7919%100 "," $1}' > n
is "the same as a stable sort(1)" "$(echo x,y; tail -n +2 n | sort -s -t, -k1,1n)" csv-sort -k x:n n
is "and reversed" "$(echo x,y; tail -n +2 n | sort -s -t, -k1,1nr)" csv-sort -k x:nr n
is "sorting twice changes nothing" "$(csv-sort -k x n)" eval 'csv-sort -k x n | csv-sort -k x'
printf 'x\n"a\nb"\n"a,"\na\n' > q
is "quoted fields" $'x\na\n"a\nb"\n"a,"' csv-sort -k x q
printf 'x\n1\n1e999\n' > q
fails 'what is too large for a double is no infinity' 1 "q:3: column 'x': '1e999' is not a finite number" csv-sort -k x:n q
done_testing
