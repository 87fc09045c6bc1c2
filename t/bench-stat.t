#!/bin/bash
. "$(dirname "$0")/tap.sh"
awk 'BEGIN { print "label,round,wall_seconds,cpu_seconds"; for (i = 1; i <= 10; i++) printf "a,%d,%g,%g\n", i, 10 * i, i }' > ten.csv
field() { bench-stat --metric=cpu "$1" | tail -n 1 | cut -d, -f"$2"; }
is 'n, median and the order statistics x(2) .. x(9)' '10,0,5.5,2,9' field ten.csv 4-8
is 'which cover 97.85 %' 0.978515625 field ten.csv 9
is 'MAD scaled to a standard deviation' 3.706 sh -c "bench-stat --metric=cpu ten.csv | tail -n 1 | cut -d, -f10 | cut -c1-5"
is 'mean, and its least value' '5.5 1' sh -c "bench-stat --metric=cpu ten.csv | tail -n 1 | awk -F, '{ print \$11, \$14 }'"
is 'both times without --metric' 'cpu wall' sh -c "bench-stat ten.csv | tail -n +2 | cut -d, -f3 | paste -sd' '"
sed 's/^a,10,100,10/a,10,100,1000/' ten.csv > out.csv
is 'one severe outlier, and its share of the variance' '0,1,0.999' sh -c "bench-stat --metric=cpu out.csv | tail -n 1 | cut -d, -f15-17 | cut -c1-9"
head -n 4 ten.csv > three.csv
is 'three runs have no interval: empty, not invented' '3,0,2,,,' field three.csv 4-9
awk -F, -v OFS=, 'NR == 1 { print $0, "status"; next } { print $0, NR == 3 ? "exit" : "ok" }' ten.csv > failed.csv
is 'failed runs are counted and left out' '9,1' field failed.csv 4-5
bench-stat ten.csv > 1; bench-stat ten.csv > 2
ok 'same rows and seed, same bytes' cmp 1 2
fails 'no such metric' 1 "column 'joules'|joules" bench-stat --metric=joules ten.csv
fails 'a time that is no number' 1 'x.csv:3: ' sh -c "sed '3s/2\$/2x/' ten.csv > x.csv; bench-stat x.csv"
(echo label,round,wall_seconds,cpu_seconds; for i in 1 2 3; do echo "a,$i,$i,1"; done) > two.csv
is 'several metrics of what comes by a pipe' "$(bench-stat --metric=cpu --metric=wall two.csv)" eval 'cat two.csv | bench-stat --metric=cpu --metric=wall'
(echo label,round,wall_seconds,cpu_seconds,exit; for i in {0..49}; do echo "a,$i,$((i < 30 ? 100 + i % 7 : 200 + i % 5)),1,$((i < 10))"; done) > failed.csv
is 'where a jump is, is a round of the table, failed ones before it or not' 10,30 eval 'bench-stat --metric=wall failed.csv | csv-cut -c failed,change_round | tail -1'
done_testing
