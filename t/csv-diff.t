#!/bin/bash
. "$(dirname "$0")/tap.sh"
h=key,column,left,right,error,what
status() { "$@" > /dev/null 2>&1; echo $?; }
printf 'k,x,host\na,1,h1\nb,2,h1\nc,nan,h1\n' > l
printf 'x,k,host\n2.0002,b,h2\n1.0,a,h2\nnan,c,h2\n' > r
is "the same table" $h csv-diff l l
is "status 0 when the same" 0 status csv-diff l l
is "columns in another order, rows by key, within a tolerance" 0 status csv-diff -k k --tolerance=1e-3 --ignore=host l r
is "outside of it: one row per difference, status 1" $h$'\nb,x,2,2.0002,0.000099990000999889,changed\n1' eval 'csv-diff -k k --ignore=host l r; echo $?'
is "equal numbers in other words are the same, and so is nan with nan" 0 status csv-diff --abs=0.001 -k k --ignore=host l r
printf 'k,x,host\na,nan,h1\nd,2,h1\n' > n
is "nan is never within a tolerance; rows on one side only" $h$'\na,x,1,nan,,changed\nb,,,,,left_only\nc,,,,,left_only\nd,,,,,right_only' \
    eval 'csv-diff -k k --tolerance=1e9 l n; true'
is "rows paired by number" $h$'\n2,x,2,3,0.3333333333333333,changed\n3,,,,,left_only' eval 'csv-diff <(printf "x\n1\n2\n3\n") <(printf "x\n1\n3\n"); true'
is "infinities differ from all else at any tolerance" 1 status csv-diff --tolerance=1 <(printf 'x\ninf\n') <(printf 'x\n5\n')
is "and are equal to themselves" 0 status csv-diff <(printf 'x\ninf\n') <(printf 'x\n+inf\n')
is "text within no tolerance" 1 status csv-diff --tolerance=9 <(printf 'x\na\n') <(printf 'x\nb\n')
is "an empty field is not 0" 1 status csv-diff --abs=1 <(printf 'x,y\n0,1\n') <(printf 'x,y\n,1\n')
is "of a measured column any number equals any other" 0 status csv-diff --present=s,t <(printf 'x,s,t\n1,2e-3,\n1,7,a b\n') <(printf 'x,s,t\n1,5,\n1,0,c\n')
is "but not an empty field, a nan or a word; and what is not measured is compared" $h$'\n1,s,2,,,changed\n2,s,2,nan,,changed\n3,s,2,x,,changed\n4,x,1,2,0.5,changed\n5,s,,3,,changed' \
    eval 'csv-diff --present=s <(printf "x,s\n1,2\n1,2\n1,2\n1,2\n1,\n") <(printf "x,s\n1,\n1,nan\n1,x\n2,9\n1,3\n"); true'
fails "a missing column is trouble" 2 "no column 'x'" csv-diff <(printf 'x\n1\n') <(printf 'y\n1\n')
fails "also on the left" 2 "no column 'y'" csv-diff <(printf 'x\n1\n') <(printf 'x,y\n1,2\n')
fails "a key twice is trouble" 2 'l2:3: a row with this key came before, on line 2' eval 'printf "k\na\na\n" > l2; csv-diff -k k l2 l2'
fails "a missing file is trouble" 2 'No such file' csv-diff l nothing
fails "one operand" 2 'two tables' csv-diff l
fails "a tolerance of nan" 2 'nan' csv-diff --tolerance=nan l l
is "hashes that look like huge numbers are texts" 1 status csv-diff <(printf 'x\n12e4567\n') <(printf 'x\n98e7654\n')
is "and are no infinities" 1 status csv-diff <(printf 'x\n1e400\n') <(printf 'x\ninf\n')
is "integers differ to the last of any number of digits" 1 status csv-diff <(printf 'x\n1234567890123456789012345678901234567890\n') <(printf 'x\n1234567890123456789012345678901234567891\n')
is "but for zeros before them, or within a tolerance" 0 status csv-diff --tolerance=1e-9 <(printf 'x\n01234567890123456789012345678901234567890\n7\n') <(printf 'x\n1234567890123456789012345678901234567891\n007\n')
is "negative ones, too" 1 status csv-diff <(printf 'x\n-1234567890123456789012345678901234567890\n') <(printf 'x\n-1234567890123456789012345678901234567891\n')
done_testing
