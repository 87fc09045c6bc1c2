#!/bin/bash
. "$(dirname "$0")/tap.sh"
printf 'host,n,flag,cc,y\nb,1,true,gcc,10\na,2,false,clang,20\nb,,true,,30\n' > t.csv
is 'words become columns in their place, numbers and flags stay' 'host_a,host_b,n,flag,cc_clang,cc_gcc,y
0,1,1,true,0,1,10
1,0,2,false,1,0,20
0,1,,true,0,0,30' fit-encode t.csv
is 'columns may be named' 'host,n_1,n_2,flag,cc,y
b,1,0,true,gcc,10
a,0,1,false,clang,20
b,0,0,true,,30' fit-encode -c n t.csv
fit-encode --codes=codes.csv t.csv > first.csv
is 'the codes are a table' $'column,value\nhost,a\nhost,b\ncc,clang\ncc,gcc' cat codes.csv
is 'other rows get the same columns, a new value none' $'host_a,host_b,cc_clang,cc_gcc\n0,0,0,1' bash -c "printf 'host,cc\nc,gcc\n' | fit-encode --quiet --codes=codes.csv"
fails 'and it is told' 0 '1 fields hold a value that codes.csv does not know' bash -c "printf 'host,cc\nc,gcc\n' | fit-encode --codes=codes.csv"
is 'the order of the rows does not matter' "$(sed 1d first.csv | sort)" bash -c "(head -1 t.csv; sed 1d t.csv | tac) | fit-encode | sed 1d | sort"
fails 'a column that the codes name is missing' 1 "codes.csv:4: column 'column': 'cc' is not a column of the table" \
    bash -c "printf 'host\na\n' | fit-encode --codes=codes.csv"
fails 'codes and columns contradict' 2 'codes.csv has decided' fit-encode -c host --codes=codes.csv t.csv
fails 'too many values' 1 "column 'host' has more than 1 values" fit-encode --max=1 t.csv
fails 'names that meet' 1 "two columns would be called 'a_b'" bash -c "printf 'a,a_b\nb,1\n' | fit-encode"
printf 'column,value\nhost,a\nhost,a\n' > twice.csv
fails 'a value twice' 1 "column 'host' has 'a' twice" fit-encode --codes=twice.csv t.csv
# against a second implementation on random tables
if command -v python3 > /dev/null; then
    python3 - <<'END'
import csv, random
r = random.Random(2)
rows = [[r.choice(["x", "y,1", 'q"', "", "Z"]), str(r.randrange(9)), r.choice("abc")] for _ in range(200)]
out = lambda name, head, rows: csv.writer(open(name, "w", newline=""), lineterminator="\n").writerows([head] + rows)
out("in.csv", ["u", "v", "w"], rows)
us = sorted({a[0] for a in rows} - {""}, key=str.encode)
out("want.csv", ["u_" + u for u in us] + ["v", "w_a", "w_b", "w_c"],
    [[int(a[0] == u) for u in us] + [a[1]] + [int(a[2] == w) for w in "abc"] for a in rows])
END
    is 'as a few lines of Python say' "$(<want.csv)" fit-encode in.csv
else
    skip 'as a few lines of Python say' 'python3 is not here'
fi
awk 'BEGIN { print "host,y"; for (i = 0; i < 60; i++) print (i % 3 == 0 ? "a,1" : i % 3 == 1 ? "b,5" : "c,2") }' > means.csv
is 'a fit finds the mean of each category' '1.00 5.00 2.00' bash -c "fit-encode means.csv | fit-ridge --quiet -y y --lambda=1e-9 > m.sexp
    fit-encode means.csv | fit-predict -m m.sexp | csv-cut -c predicted | sed -n 2,4p | xargs printf '%.2f %.2f %.2f\n'"
done_testing
