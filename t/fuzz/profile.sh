#!/bin/bash
# profile.sh - first inputs of the fuzz target profile: t/fuzz/profile.sh DIR makes a small sound file of each format
# there, the byte that chooses the format before it (see profile.c)
set -euo pipefail
dir=$1
seed() { { printf "\\x0$1"; cat; } > "$dir/seed-$2"; }
chrome='{"displayTimeUnit":"ns","baseTimeNanoseconds":5,"traceEvents":[{"ph":"X","name":"f","cat":"kernel","pid":1,"tid":7,"ts":1.5,"dur":2,"args":{"device":0,"stream":7,"correlation":9,"kind":"gpu"}},{"ph":"B","name":"g","pid":1,"tid":7,"ts":2},{"ph":"E","pid":1,"tid":7,"ts":3},{"ph":"M","name":"thread_name","pid":1,"tid":7,"args":{"name":"x","id":"y"}}]}'
seed 0 chrome <<< "$chrome"
seed 0 chrome.gz < <(gzip -n <<< "$chrome")
seed 1 kineto <<< "$chrome"
seed 1 kineto.gz < <(gzip -n <<< "$chrome")
printf '%s\n' '==1== x' '"Start","Duration","Device","Stream","Name","Correlation_ID"' ms,us,,,, '1.5,2.25,"T (0)","7","g<a, b>",17' | seed 3 nvprof.csv
printf '%s\n' '   ncalls  tottime  percall  cumtime  percall filename:lineno(function)' '     10/2    0.001    0.000    0.003    0.000 a.py:3(f)' | seed 5 pstats
printf '%s\n' 'a;b;c 3' 'a;b 2.5' 'x y;z 1' | seed 6 folded
printf 'x 1/2 1.5: 25 cpu-clock: \n\t4 f+0x1 (y)\n\t5 g (z)\n\n' | seed 8 perf
printf '\x0a\x1c\x0a\x06Python\x12\x12\x0a\x10\x08\x07\x10\xe8\x07\x18\x05\x22\x07forward\x12\x01p' | { printf '\x00'; cat; } | seed 7 rlscope
printf '\x0a\x04\x08\x01\x10\x02\x12\x08\x0a\x02\x01\x02\x12\x02\xe8\x07\x22\x06\x08\x01\x22\x02\x08\x01\x22\x04\x08\x02\x18\x10\x2a\x04\x08\x01\x10\x03\x32\x00\x32\x03cpu\x32\x0bnanoseconds\x32\x01f' | seed 9 pprof
if command -v python3 > /dev/null; then
    python3 -c 'import marshal, sys; sys.stdout.buffer.write(marshal.dumps({("a.py", 3, "f"): (1, 2, .5, 1.5, {("~", 0, "g"): (1, 1, .5, .5)})}, 2))' | seed 4 prof
fi
command -v sqlite3 > /dev/null || exit 0
rm -f "$dir"/db
sqlite3 "$dir/db" <<'D'
PRAGMA page_size = 512;
CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'gemm');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId, globalPid, shortName);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50, 90, 0, 7, 17, 4711 << 24, 1), (95, 99, 0, 7, 18, 4711 << 24, 1);
CREATE TABLE NVTX_EVENTS(start, end, eventType, globalTid, text, textId);
INSERT INTO NVTX_EVENTS VALUES (0, 100, 59, 4712, NULL, 1);
D
seed 2 nsys < "$dir/db"
rm -f "$dir/db"
sqlite3 "$dir/db" <<'D'
PRAGMA page_size = 512;
CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringTable VALUES (1, 'gemm');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(_id_ INTEGER PRIMARY KEY, start, end, deviceId, streamId, correlationId, name);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 50, 90, 0, 7, 17, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(_id_ INTEGER PRIMARY KEY, cbid, start, end, processId, threadId, correlationId);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 13, 40, 45, 4711, -2, 17);
D
seed 3 nvprof < "$dir/db"
rm -f "$dir/db"
