#!/bin/bash
# events in foreign formats, and back
. "${0%/*}/tap.sh"
cat > ev.csv <<'D'
proc,tid,kind,cat,start_ns,end_ns,name,link,flag
p1,71,op,,1000,90000,train,,
p1,71,cat,Python,1000,80000,f.py:3.main,,
p1,71,cat,Backend,20000,60000,"a;b ""q""",,
p1,71,cat,CUDA,30000,40001,cudaLaunchKernel,17,
p1,d0.s7,gpu,GPU,35000,70000,gemm,17,est
p1,71,cat,Backend,70000,85000,crosses,,open
p2,71,cat,Python,-5000,5000,,,
D
prof-emit --to=chrome -o t.json ev.csv
is 'Chrome and back: the same rows' "$(cat ev.csv)" prof-import --from=chrome t.json
back() { prof-import --from=chrome t.json.gz; }
gzip -k t.json
is 'through gzip' "$(cat ev.csv)" back
if [ -x /usr/bin/python3 ]; then
cat > check.py <<'D'
import json, sys
t = json.load(open("t.json"))["traceEvents"]
assert all(type(e["pid"]) is int and type(e.get("tid", 0)) is int for e in t)
stacks = {}
for e in sorted((e for e in t if e["ph"] == "X"), key=lambda e: (e["ts"], -e["dur"])):
    s = stacks.setdefault((e["pid"], e["tid"]), [])
    while s and s[-1] <= e["ts"] + 1e-9: s.pop()
    assert not s or e["ts"] + e["dur"] <= s[-1] + 1e-3, e
    s.append(e["ts"] + e["dur"])
d = json.load(open("t.speedscope.json"))
assert d["$schema"] == "https://www.speedscope.app/file-format-schema.json"
frames = d["shared"]["frames"]
for p in d["profiles"]:
    assert p["type"] == "evented" and p["unit"] == "nanoseconds" and p["startValue"] <= p["endValue"]
    stack, at = [], p["startValue"]
    for e in p["events"]:
        assert at <= e["at"] <= p["endValue"] and 0 <= e["frame"] < len(frames)
        at = e["at"]
        if e["type"] == "O": stack.append(e["frame"])
        else: assert e["type"] == "C" and stack.pop() == e["frame"]
    assert not stack
import pstats
s = pstats.Stats("t.prof").stats
assert s[("f.py", 3, "main")][:2] == (1, 1), s
assert abs(s[("f.py", 3, "main")][2] - 29e-6) < 1e-12 and abs(s[("f.py", 3, "main")][3] - 79e-6) < 1e-12
assert s[("~", 0, "cudaLaunchKernel")][4] == {("~", 0, 'a;b "q"'): (1, 1, 10001 / 1e9, 10001 / 1e9)}
print("sound")
D
prof-emit --quiet --to=speedscope -o t.speedscope.json ev.csv
prof-emit --quiet --to=prof -o t.prof ev.csv
is 'lanes nest, speedscope is balanced, pstats reads the profile' sound /usr/bin/python3 check.py
fi
fails 'what outlives its caller is cut and counted' 0 '1 misnested' prof-emit --to=folded ev.csv
is 'folded' 'Python 10
f.py:3.main 29
f.py:3.main;a:b "q" 30
f.py:3.main;a:b "q";cudaLaunchKernel 10
f.py:3.main;crosses 10
gemm 35' prof-emit --quiet --to=folded ev.csv
is 'folded, threads apart' 'P1;T71;f 1' eval 'printf "%s\n" proc,tid,kind,cat,start_ns,end_ns,name 1,71,cat,C,0,1000,f | prof-emit --to=folded --threads'
is 'flame: a rectangle a frame, inner ones first, depth from the outermost' 'proc,tid,depth,start_us,end_us,name
p,1,2,0,5,b
p,1,2,5,8,c
p,1,1,0,10.5,a
p,1,1,11,12,cat' eval 'printf "%s\n" proc,tid,kind,cat,start_ns,end_ns,name p,1,cat,C,7000,17500,a p,1,cat,C,7000,12000,b \
    p,1,gpu,C,12000,15000,c p,1,cat,cat,18000,19000, p,1,op,,7000,19000,op | prof-emit --to=flame'
is 'from the begin of all threads, the first in the file or not' 4,0 eval "printf '%s\n' proc,tid,kind,cat,start_ns,end_ns,name p,1,cat,C,5000,9000,a p,2,cat,C,1000,3000,b |
    prof-emit --to=flame | csv-cut -c start_us | sed 1d | paste -sd,"
prof-emit --quiet --to=folded -o a.folded ev.csv
again() { prof-import --from=folded a.folded | prof-emit --to=folded; }
is 'folded, read, folded: the same' "$(cat a.folded)" again
is 'also where a caller has no time of its own' $'b;a 2\nb;a;c;d 3' eval 'printf "b;a 2\nb;a;c;d 3\n" | prof-import --from=folded | prof-emit --to=folded'
is 'nor anything else to call' 'd;e;c 7' eval 'echo "d;e;c 7" | prof-import --from=folded | prof-emit --to=folded'
copied() { csv-cat ev.csv; }
is 'CSV, read, written: the same bytes' "$(cat ev.csv)" copied
prof-import --from=prof t.prof > prof.csv
twice() { prof-emit --to=prof prof.csv | prof-import --from=prof -; }
is 'prof, written, read: the same' "$(cat prof.csv)" twice
events() { awk -v seed="$1" 'BEGIN { srand(seed); print "proc,tid,kind,cat,start_ns,end_ns,name,link,flag"
    split("cat gpu op ovh phase proc", k, " ")
    for (i = 0; i < 200; i++) { s = int(rand() * 1e15) - 5e14; printf "p%d,t%d,%s,%s,%.0f,%.0f,%s,%s,%s\n", rand() * 3, rand() * 4, k[1 + int(rand() * 6)],
        (rand() < .5 ? "" : "c,x" ~ /y/ ? "" : "cat" int(rand() * 3)), s, s + int(rand() * 1e12), (rand() < .2 ? "" : "n" int(rand() * 9) "\303\251"),
        (rand() < .5 ? "" : int(rand() * 1e9)), (rand() < .8 ? "" : "open") } }'; }
for seed in 1 2 3; do
    events $seed > r.csv
    is "200 random rows through Chrome, seed $seed" "$(cat r.csv)" eval 'prof-emit --quiet --to=chrome r.csv | prof-import --from=chrome -'
done
{ sed 1q ev.csv; sed 1d ev.csv | tac; } > backwards.csv
fails 'rows out of order are told: their lanes cannot be right' 0 '3 rows begin before' prof-emit --to=chrome -o b.json backwards.csv
fails 'no format' 2 'no --to' prof-emit ev.csv
fails 'a full disk' 1 'write' prof-emit --to=chrome -o /dev/full ev.csv
cat > tree.csv <<'D'
proc,tid,kind,cat,start_ns,end_ns,name,link,flag
1,1,cat,Python,0,1000,a.py:3.main,,
1,1,cat,C,100,400,math.sqrt,,
1,1,cat,Python,500,900,a.py:9.f,,
1,1,cat,Python,600,700,a.py:9.f,,
1,2,cat,C,5,20,math.sqrt,,
D
# filters beside this one that fail in the middle
mkdir beside log && cp "$BIN/prof-emit" beside && touch log/ev.1.0.1.log
printf '#!/bin/sh\nexit 0\n' > beside/prof-log
printf '#!/bin/sh\nprintf "kind,cat,start_ns,end_ns\\ncat,C,0,9\\n"\nexit 1\n' > beside/prof-op
chmod +x beside/*
fails 'a folder that could not be read to its end' 1 'could not be read' beside/prof-emit --to=chrome -o half.json log
ok 'leaves no file' test ! -e half.json
printf '%s\n' proc,tid,kind,cat,start_ns,end_ns,name p,{1,2},cat,C,-4611686018427387903,4611686018427387903,a > long.csv
fails 'more ns than there are numbers' 1 'number too large' prof-emit --to=folded long.csv
done_testing
