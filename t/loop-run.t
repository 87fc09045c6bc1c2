#!/bin/bash
. "$(dirname "$0")/tap.sh"

printf 'problem\n(mm 33 47 21)\n(mm_nt 16 40 8)\n(conv 1 3 9 9 5 3 3 2)\n(reduce 4 4)\n' > p.csv
loop-reset p.csv | loop-act --do=split_8,down,swap_down > n.csv
loop-run --cache=cache.csv n.csv > r.csv
is 'measured and checked, or a reason' '1,real,
1,real,
1,real,
0,real,only sums of products have code' bash -c 'csv-cut -c checked,kind,reason r.csv | tail -n +2'
ok 'gflops is operations over seconds' awk -F, 'NR == 2 { exit !($(NF-6) > 0) }' r.csv
loop-run --cache=cache.csv n.csv > s.csv
ok 'what the cache knows is not measured again' cmp r.csv s.csv
is 'one row for each nest with code' 4 bash -c 'wc -l < cache.csv'
printf 'torn' >> cache.csv
loop-run --cache=cache.csv n.csv > s.csv
ok 'a torn last row is dropped' cmp r.csv s.csv
printf 'a,b\n1,2\n' > foreign.csv
fails 'a foreign cache' 1 'foreign.csv:1: not a store' loop-run --cache=foreign.csv n.csv
is 'and it is left alone' 'a,b
1,2' cat foreign.csv
printf 'precious' > raw
fails 'not even a file without lines' 1 'raw:1: not a store' loop-run --cache=raw n.csv
is 'is touched' 'precious' bash -c 'cat raw; echo'
loop-run --eval=model n.csv > m1.csv
loop-run --eval=model n.csv > m2.csv
ok 'the model says the same every time' cmp m1.csv m2.csv
if command -v cc > /dev/null; then
    loop-run --backend=c n.csv > c.csv
    is 'the emitted C is right, also where there is no code' 4 bash -c "csv-cut -c checked c.csv | grep -c 1"
fi
fails 'a bad problem is named with its line' 1 'p.csv:2: column' bash -c "sed -i '2s/33/0/' p.csv; loop-run p.csv"
done_testing
