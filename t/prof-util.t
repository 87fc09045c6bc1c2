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
fails 'two others' 2 'two questions' prof-util --strip=5 --join=5 ev.csv
fails 'a strip that nobody asked for begins' 2 'need --strip' prof-util --from=5 ev.csv
fails 'or ends' 2 'need --strip' prof-util --poll=5 --to=5 ev.csv
fails 'too many bins' 1 'more than' prof-util --poll=1 <(echo kind,cat,start_ns,end_ns; echo gpu,GPU,0,1; echo gpu,GPU,4000000000000000000,4000000000000000001)
is 'a category is a device, on whatever thread' 'device,start_ns,end_ns,busy_ratio,smooth_ratio
A,0,10,1,1
A,10,15,1,1
B,0,5,1,1' prof-util --strip=10 --kind=cat --by-cat <(printf '%s\n' proc,tid,kind,cat,start_ns,end_ns 1,1,cat,A,0,9 1,2,cat,A,5,15 1,1,cat,B,0,5; echo 1,1,gpu,A,0,90)
printf '%s\n' proc,tid,kind,cat,start_ns,end_ns 1,1,cat,nn.a,0,9 1,1,cat,nn.b,20,30 1,0,gpu,GPU,1700000000123456789,1700000000123456799 > e.csv
is 'categories with a dot are two' 'nn.a nn.b' eval 'prof-util --kind=cat --by-cat e.csv | csv-cut -c device | sed 1d | xargs'
is 'a strip begins at the ns that was asked for' 0,1700000000123456789,1700000000123456794,1,1 eval \
    'prof-util --strip=5 --from=1700000000123456789 --to=1700000000123456794 e.csv | sed 1d'
is 'and a cell that is longer than all time left is one' 0,1700000000123456789,1700000000123456799,1,1 eval \
    'prof-util --strip=4000000000000000000 e.csv | sed 1d'
fails 'rows to be joined that are not in order' 1 ':3:.*in order' prof-util --join=1 <(printf '%s\n' kind,cat,start_ns,end_ns cat,A,100,200 cat,A,0,50)
cat > rows.py <<'D'
import random
random.seed(1); t = 0
print("proc,tid,kind,cat,start_ns,end_ns")
for _ in range(300):
    t += random.randint(0, 9)
    print(*("1", random.choice("12"), random.choice(("cat", "cat", "gpu", "op")), random.choice("AB"), t, t + random.randint(0, 30)), sep=",")
D
cat > joined.py <<'D'
import csv, itertools
rows = [r for r in csv.DictReader(open("rows.csv")) if r["kind"] != "op"]
key = lambda r: (r["tid"] + " of 1" if r["kind"] == "gpu" else "process 1" if r["tid"] == "1" else "thread 2", r["cat"])
for k, of in itertools.groupby(sorted(rows, key=key), key):
    covered = set()
    for r in of: covered |= set(range(int(r["start_ns"]), int(r["end_ns"]) + 6))
    for i in sorted(covered):
        if i - 1 not in covered: begin = i
        if i + 1 not in covered: print(*k, begin, i - 5, sep=",")
D
python3 rows.py > rows.csv
is 'pieces no further apart than that are one, by lane and category' "$(python3 joined.py)" \
    eval 'prof-util --join=6 rows.csv | csv-sort -k lane,cat,start_ns:n | sed 1d'
done_testing
