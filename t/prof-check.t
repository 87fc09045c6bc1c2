#!/bin/bash
# sound and unsound profiles
. "${0%/*}/tap.sh"
cat > ev.csv <<'D'
proc,tid,kind,cat,start_ns,end_ns,name,link,flag
p,1,proc,,0,10000000,p,,
p,1,op,,0,9000000,a,,
p,1,op,,1000,2000,b,,
p,1,cat,Python,0,5000000,,,
p,1,cat,CUDA,5000000,10000000,,,
p,d0,gpu,GPU,5000000,9500000,,,
D
is 'a sound one' 'proc,check,status,value,limit
p,union,pass,10000000,10000000
p,wall,pass,10000000,10000000
p,gpu,pass,4500000,10000000
p,async,pass,5000000,4500000
p,dropped,pass,0,0
p,operation,pass,3,3' prof-check ev.csv
is 'from a pipe as from a file' "$(prof-check ev.csv)" eval 'cat ev.csv | prof-check -'
is 'and from a substituted process' "$(prof-check ev.csv)" eval 'prof-check <(cat ev.csv)'
status() { local rc=0; prof-check "$1" > out || rc=$?; grep -v ,pass, out; echo $rc; }
{ cat ev.csv; echo p,1,ovh,dropped,7,7,100,,; echo p,1,cat,Python,9,8,,,; } > lost.csv
is 'lost records fail, repairs are told' 'proc,check,status,value,limit
p,dropped,fail,1,0
,repaired,warn,2,0
1' status lost.csv
grep -v CUDA ev.csv | grep -v GPU | grep -v ,op, > gap.csv
is 'time that nothing accounts for' 'proc,check,status,value,limit
p,wall,fail,5000000,10000000
1' status gap.csv
# wrong in every way at once: misnested, never closed, reversed, empty, overlapping itself, 70 keys, times at the limits
{ echo proc,tid,kind,cat,start_ns,end_ns,name,link,flag
  echo p,1,op,,0,100,outer,,
  echo p,1,op,,50,150,crosses,,
  echo p,1,op,,120,130,inside,,
  echo p,1,cat,Python,10,150,never,,open
  echo p,1,cat,Python,60,50,reversed,,
  echo p,1,cat,Python,70,70,empty,,
  for i in {1..5}; do echo "p,1,cat,C,$((20 + i)),$((60 + i * 7)),self,,"; done
  for i in {1..70}; do echo "p,$i,cat,k$i,200,$((300 + (i == 70))),,,"; done
  echo 'q,1,cat,"a+b, ""c"" \",-2305843009213693951,-2305843009213693950,far,,'
  echo q,1,cat,C,2305843009213693950,2305843009213693951,far,,
} > hostile.csv
is 'the rest is sound, and every repair is counted' 'proc,check,status,value,limit
p,repaired,warn,1,0
,repaired,warn,3,0
0' status hostile.csv
fails 'prof-sweep counts them' 0 '1 misnested' prof-sweep hostile.csv
fails 'prof-sweep counts them' 0 '1 empty and 1 reversed' prof-sweep hostile.csv
union() { prof-sweep --quiet "$@" | awk -F, '{ n += $(NF - 3) } END { printf "%.0f\n", n }'; }
is 'its cells add up to the union of all rows' 253 union hostile.csv
is 'a set of 70 keys is one cell' 70 eval "prof-sweep --quiet hostile.csv | awk -F, '\$5 == 100 && \$4 ~ /k70/ { print split(\$4, x, \"+\") }'"
through() { prof-op --quiet hostile.csv | prof-sweep --quiet > /dev/null &&
    for f in chrome speedscope folded prof; do prof-emit --quiet --to=$f -o out.$f hostile.csv || return 1; done &&
    for f in chrome prof; do prof-import --quiet --from=$f out.$f > back.$f || return 1; done && [ "$(wc -l < back.chrome)" = "$(($(wc -l < hostile.csv) - 1))" ]; }
ok 'the other filters take it, there and back; Chrome loses but the reversed row' through
# rows of a recorder: each rule is broken alone, with how often, and no other notices
cat > rows.in <<'D'
proc,tid,kind,cat,start_ns,end_ns,name,link,flag,hook
p,1,proc,,0,1000,,,,
p,1,proc,on,0,1000,,,,
p,1,op,,0,900,a,,,
p,1,op,,100,200,b,,,
p,1,cat,Python,0,300,,,,
p,1,cat,C,300,500,f,,,c_wrap
p,1,cat,Python,500,700,,,,
p,1,cat,C,700,1000,g,,,c_wrap
p,d0,gpu,GPU,500,950,k,,,
D
broken() {
    sed "$1" rows.in > broken.csv
    local rc=0
    prof-check broken.csv > out || rc=$?
    [ $rc = "$(grep -q ,fail, out && echo 1 || echo 0)" ] || echo "exit $rc"
    grep -E '^[^,]*,[a-z]+,fail,' out | cut -d, -f2,4 | paste -sd' '
}
is 'as they are' '' broken ''
while IFS='|' read -r what change want; do is "$what" "$want" broken "$change"; done <<'RULES'
an operation that ends after the one it began in|s/^p,1,op,,100,200/p,1,op,,100,950/|nesting,1
operations that end at once nest|s/^p,1,op,,100,200/p,1,op,,100,900/|
one that begins where the other ends|s/^p,1,op,,100,200/p,1,op,,900,950/|
a call that ends after the one it began in|s/^p,1,cat,C,700.*/&\np,1,cat,C,800,1000,g,,,c_wrap\np,1,cat,C,750,900,f,,,c_wrap/|nesting,1
a gap at the end of Python|s/500,700,,/500,650,,/|missing,1
a gap at its beginning|s/500,700,,/510,700,,/|missing,1
a gap while profiling is off|s/500,700,,/500,650,,/;s/^p,1,proc,on,.*/p,1,proc,on,0,650,,,,\np,1,proc,on,700,1000,,,,/|
a gap that is partly off|s/500,700,,/500,650,,/;s/^p,1,proc,on,.*/p,1,proc,on,0,651,,,,\np,1,proc,on,700,1000,,,,/|missing,1
a call that begins before Python ends|s/300,500,f/290,500,f/|exclusive,1
Python that begins before the call ends|s/500,700,,/490,700,,/|exclusive,1
a row twice|s/^p,1,cat,Python,500.*/&\n&/|exclusive,1 twice,1
a call twice|s/^p,1,cat,C,700.*/&\n&/|twice,1
an empty call twice|s/^p,1,cat,C,700.*/&\np,1,cat,C,800,800,h,,,c_wrap\np,1,cat,C,800,800,h,,,c_wrap/|
a thread that begins with Python, and has a gap|s/^p,d0.*/&\np,2,cat,Python,0,100,,,,\np,2,cat,C,200,300,x,,,c_wrap/|missing,1
an operation twice|s/^p,1,op,,100.*/&\n&/|twice,1
another end is another row|s/^p,1,op,,100.*/&\np,1,op,,100,150,b,,,/|
another name is another row|s/^p,1,op,,100.*/&\np,1,op,,100,200,c,,,/|
a process that ends before its rows|s/^p,1,proc,,0,1000/p,1,proc,,0,999/|life,2
one that begins after them|s/^p,1,proc,,0,1000/p,1,proc,,1,1000/|life,3
a GPU may work on|s/^p,d0,gpu,GPU,500,950/p,d0,gpu,GPU,500,1200/|
no process at all|/^p,1,proc,,/d|life,8
a process begun twice|s/^p,1,proc,,.*/&\n&/|twice,2
a row that ends before it begins|s/700,1000,g/1000,700,g/|reversed,1
an empty row does not|s/^p,1,op,,100,200/p,1,op,,100,100/|
a name of two categories|s/C,700,1000,g/D,700,1000,f/|category,1
RULES
is 'every rule has a row, in order' 'exclusive missing nesting twice life reversed category' \
    eval 'broken "" > /dev/null; tail -n 7 out | cut -d, -f2 | paste -sd" "'
is 'a check that passes has value and limit' 'p,category,pass,0,0' tail -n 1 out
is 'a missing file is trouble' '2' eval 'prof-check none.csv 2> /dev/null; echo $?'
if [ -e "$(recorder)" ] && ! ldd "$(recorder)" | grep -q libasan; then
prof-record -o log "$root/t/data/prof-threads.py"
prof-log --quiet log > rows.csv
refused() { grep -c ",$1,fail" out; }
cat > later.py <<'D'
import asyncio
async def main():
    t = asyncio.create_task(asyncio.sleep(9))
    await asyncio.sleep(0)
    t.cancel()
asyncio.run(main())
D
is 'a timer that was set for after the end is within the life of its process' 1,0 eval \
    'prof-record -o later later.py && prof-log later > later.csv; echo $(grep -c ,timer, later.csv),$(prof-check later.csv | grep -c ,life,fail)'
prof-check --log=log rows.csv > out
# wall: on a busy machine the process may wait between the start of profiling and its first row
is 'rows as they were recorded pass every check' 0 eval 'grep ,fail, out | grep -vc ,wall, || true'
/usr/bin/python3 "$root/t/bench/prof-mutate.py" rows.csv 88 1 changed
mutations() { for f in changed/*.csv; do prof-check $1 "$f" > out 2>&1; [ $? = 1 ] && grep -q "$2" out && echo; done | wc -l; }
is 'with the logs, each of 88 changes that leave rows well-formed is noticed' 88 mutations --log=log ',log,fail'
# what only the log can tell: how many rows, a call's start alone, a process
log_rows() { # the exit status is that of the rows: on a busy machine wall may be among those that fail
    local rc=0
    prof-check --log=log "$1" > out || rc=$?
    [ "$rc" = "$(grep -q ,fail, out && echo 1 || echo 0)" ] || echo "exit $rc"
    grep ',log,' out | cut -d, -f3- | sort | paste -sd' '
}
want=$(sed 1d rows.csv | cut -d, -f1 | sort | uniq -c | awk '{ print "pass," $1 "," $1 }' | sort | paste -sd' ')
is 'as many rows as in the log' "$want" log_rows rows.csv
at=$(csv-calc --where="kind == 'cat' && end_ns - start_ns > 1000" --print='row()' rows.csv | head -1)
csv-calc --set="start_ns=row() == $at ? start_ns + 1 : start_ns" rows.csv > moved.csv
is 'a start that is one ns later' 1 bash -c "prof-check --log=log moved.csv | grep -c ',log,fail,'"
{ cat rows.csv; sed -n '2s/^[^,]*/stranger/p' rows.csv; } > more.csv
is 'a process that the log does not know' "fail,1,0 $want" log_rows more.csv
cp -r log other
cut=$(ls other/ev.*.1.log | sed -n 1p)
head -c 4300 "$cut" > cut && cp cut "$cut"
fails 'a log that was cut is said' 1 'missing or not as they were written' prof-log --quiet other
else
skip 'rows of the recorder' 'it was not built'
fi
done_testing
