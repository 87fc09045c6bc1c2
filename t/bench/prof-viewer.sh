#!/bin/bash
# prof-viewer.sh - what prof-emit writes, opened in real viewers: t/bench/prof-viewer.sh DIR [APP].  Needs chromium,
# python3-websocket, python3-jsonschema; APP is the unpacked npm package speedscope, fetched where npm is.
set -euo pipefail
here=$(cd "${0%/*}" && pwd)
mkdir -p "$1"
cd "$1"
app=${2:-}
if [ -z "$app" ] && command -v npm > /dev/null; then
    [ -d package ] || { npm pack --silent speedscope > /dev/null && tar xzf speedscope-*.tgz; } || true
    [ -d package ] && app=package
fi
# three threads and a GPU stream of two processes: trees four deep, one row that crosses another
awk 'function tree(s, e, depth,    n, w, i) { w = (e - s) / 4
        printf "p%d,%d,cat,%s,%.0f,%.0f,f%d,,\n", p, t, depth % 2 ? "Backend" : "Python", s, e, depth * 3 + int(rand() * 3)
        if (depth < 4) for (i = 0; i < 4; i++) if (rand() < .7) tree(s + i * w + 10, s + (i + 1) * w - 10, depth + 1) }
    BEGIN { srand(1); print "proc,tid,kind,cat,start_ns,end_ns,name,link,flag"
        for (p = 1; p < 3; p++) { for (t = 71; t < 74; t++) for (k = 0; k < 5; k++) tree(1e9 + k * 1e6, 1e9 + (k + 1) * 1e6 - 1e4, 0)
            for (k = 0; k < 20; k++) printf "p%d,d0.s7,gpu,GPU,%.0f,%.0f,gemm,%d,\n", p, 1e9 + k * 2e5, 1e9 + k * 2e5 + 1e5, k }
        print "p2,71,cat,C,1000500000,1001500000,crosses,," }' > unsorted.csv
{ head -n 1 unsorted.csv; tail -n +2 unsorted.csv | sort -s -t, -k5,5n -k6,6nr; } > events.csv
prof-emit --quiet --to=chrome -o trace.json events.csv
prof-emit --quiet --to=speedscope -o trace.speedscope.json events.csv
/usr/bin/python3 "$here/prof-viewer.py" trace.json trace.speedscope.json events.csv . $app
