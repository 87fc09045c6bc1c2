#!/bin/bash
. "$(dirname "$0")/tap.sh"
printf 'k,v\na,1\nb,2\na,3\nb,2\nc,4\n' > t
is "the first of each key" $'k,v\na,1\nb,2\nc,4' csv-dedupe -k k t
is "the last of each key, in its place" $'k,v\na,3\nb,2\nc,4' csv-dedupe -k k --keep=last t
is "whole rows" $'k,v\na,1\nb,2\na,3\nc,4' csv-dedupe t
is "whole rows, the last" $'k,v\na,1\na,3\nb,2\nc,4' csv-dedupe --keep=last t
is "keys are not run together" $'a,b\nx,yz\nxy,z' eval 'printf "a,b\nx,yz\nxy,z\nx,yz\n" | csv-dedupe -k a,b'
is "once is enough" "$(csv-dedupe -k k t)" eval 'csv-dedupe -k k t | csv-dedupe -k k'
fails "no such column" 1 "no column 'q'" csv-dedupe -k q t
seq 3000 | awk 'BEGIN{print "x"}{print $1*7919%113}' > n
is "the same as awk" "$(awk '!seen[$1]++' n)" csv-dedupe n
done_testing
