#!/bin/bash
# every line of the brute-force oracle (t/golden/prof/oracle.txt) made again by the filters
. "${0%/*}/tap.sh"
golden=$root/t/golden/prof
head=proc,tid,kind,cat,start_ns,end_ns,name,link,flag

events() { # KIND CASE INTERVAL...: rows of one thread
    local kind=$1 i
    shift
    echo $head
    for i; do
        IFS=, read -r s e k <<< "$i"
        case $kind in op) echo "p,1,op,,$s,$e,$k,," ;; *) echo "p,1,$kind,$k,$s,$e,$k,," ;; esac
    done
}
overlap() { # CASE [trans]: lines of the events on stdin
    prof-sweep --quiet --transitions=tr.csv | tee cells.csv |
        awk -F, -v c="$1" 'NR > 1 { printf "%s|overlap|%s total=%s lo=%s hi=%s runs=%s\n", c, $4, $5, $6, $7, $8 }'
    [ -z "${2:-}" ] || awk -F, -v c="$1" 'NR > 1 { printf "%s|trans|{%s}->{%s} %s\n", c, $3, $4, $5 }' tr.csv
}
flat() { # CASE KIND OPTION...
    local c=$1 k=$2
    shift 2
    "$B/t/lib-flat.t" "$@" | awk -F, -v c="$c" -v k="$k" 'NR > 1 { printf "%s|flat|%s,%s,%s\n", c, $5, $6, k == "op" ? $7 : $4 }'
}
sums() { awk -F, -v c="$1" -v w="$2" -v n="$3" 'NR > 1 { printf "%s|%s|%s = %s\n", c, w, $n, $(n + 1) }'; }
while read -r c args; do
    set -- $args
    case $c in
    O9|O10|O14|O1) events cat "$@" | overlap "$c" trans ;;
    O*) events cat "$@" | overlap "$c" ;;
    F*) events op "$@" | flat "$c" op --rows ;;
    V*) { echo cats,total_ns; for i; do echo "${i%:*},${i#*:}"; done; } > v.csv
        prof-view --view=venn v.csv | tee inclusive.csv | sums "$c" V 2 | sed 's/|V|\(.*\) =/|V|\1\t=/' | sort -t'|' -k3,3 | tr '\t' ' ' > v.txt
        cat v.txt
        prof-view --view=venn --exclusive inclusive.csv | sums "$c" back 2 ;;
    M*) events cat "$@" | prof-util --kind=cat --strip=1 > strip.csv
        awk -F, -v c="$c" 'function put() { o = o (o ? ", " : "") "(" s ", " e ")" }
            NR > 1 && $4 == 1 { if (k && e == $2) e = $3; else { if (k++) put(); s = $2; e = $3 } }
            END { put(); print c "|merge| [" o "]" }' strip.csv ;;
    C*) events cat "$@" | overlap "$c"
        prof-correct --placed cells.csv > fixed.csv
        sums "$c" corrected 4 < fixed.csv
        [ "$c" = C2 ] && echo 'C2|note|everything removed: empty result'
        [ "$c" != C1 ] || awk -F, 'NR == FNR { if (FNR > 1) raw += $5; next } FNR > 1 { ok += $5 }
            END { printf "C1|sum|raw %d corrected %d removed %d\n", raw, ok, raw - ok }' cells.csv fixed.csv ;;
    S*) { echo PythonTimeSec,CppAndGPUTimeSec,GPUTimeSec,GPUAndCudaCppTimeSec; echo "$1,$2,$3,$4"; } | prof-view --view=metrics --raw |
        awk -F, -v c="$c" 'NR > 1 { v[$3] = $4 } END { n = split("CppTimeSec CudaCppTimeSec FrameworkCppTimeSec TotalTimeSec SanityTotalTimeSec PercentTimeInGPU PercentTimeInPython PythonOverheadPercent TheoreticalSpeedup", f, " ")
            for (i = 1; i <= n; i++) printf "%s|metric|%s = %.9g\n", c, f[i], v[f[i]] }' ;;
    U1) events gpu "$@" > u.csv
        bins=$(prof-util --poll=1000 --window=10 u.csv | awk -F, 'NR > 1 { printf "%s%s", (NR > 2 ? ", " : ""), $3 }')
        prof-util --poll=1000 u.csv | awk -F, -v b="$bins" 'NR == 2 { printf "U1|bins|[%s] busy=%d polled=%.3f true=%.6f\n", b, $4, $7, $5 }' ;;
    K*) parts=$1; shift
        { echo $head; t=0; for d; do echo "p,1,cat,C,$t,$((t + d)),f,,"; t=$((t + d)); done; } | prof-split --iterations="$parts" |
        awk -F, -v c="$c" -v even=$(($# % parts)) 'NR > 1 { o = o (o ? ", " : "") (even ? sprintf("%.1f", $5) : $5) } END { print c "|split|[" o "]" }' ;;
    X1) events cat "$@" > x.csv
        flat X1 cat --exclusive < x.csv
        "$B/t/lib-flat.t" --exclusive x.csv | prof-sweep | awk -F, '{ t[$4] = $5 } END { printf "X1|excl|Python %d C %d\n", t["Python"], t["C"] }' ;;
    H1) events gpu "$@" | prof-util --strip=10 --from=0 --to=35 | awk -F, 'NR > 1 { o = o (o ? ", " : "") sprintf("'\''%.3f'\''", $4) } END { print "H1|strip|[" o "]" }' ;;
    esac
done < "$golden/cases.txt" > got.txt
while IFS='|' read -r c _ args; do
    echo "$c|input|$args"
    events cat $args | overlap "$c"
done < <(grep '^R[0-9]*|input' "$golden/oracle.txt") >> got.txt
{ echo $head; for k in {0..69}; do echo "p,1,cat,k$k,0,$((10 + (k == 69))),,,"; done; } | prof-sweep |
    awk -F, 'NR > 1 { o = o sprintf(" n=%d total=%d", split($4, x, "+"), $5) } END { print "O15|overlap|" substr(o, 2) }' >> got.txt
printf '%s\n' hook,calls,uninstrumented_ns,instrumented_ns D1,100,1000,1200 D1,100,1000,1300 D2,50,1000,900 | "$B/t/lib-calibrate.t" --pairs 2> err > cal.sexp
sed -n 's/.*(hook \(D.\)) (mean_ns \([^)]*\)) (std_ns \([^)]*\)).*/\1 \2 \3/p' cal.sexp | while read -r c mean std; do
    case $c in
    D1) echo "D1|delta|($mean, $std, $mean)" ;;
    D2) raw=$(sed -n 's/.*came out as \([^ ]*\) ns, taken as 0/\1/p' err)
        echo "D2|delta|($raw.0, $std.0, $mean)" ;;
    esac
done >> got.txt
{ echo cats,total_ns; echo a,21000; } > d3a.csv
{ echo cats,total_ns; echo a,23000; } > d3b.csv
prof-diff d3a.csv d3b.csv | awk -F, 'NR == 2 { printf "D3|bias|corrected %d uninstrumented %d -> %.3f%%\n", $5, $4, 100 * ($7 - 1) }' >> got.txt
{ echo $head; echo p,1,op,,0,10,a,,; echo p,2,op,,5,15,b,,; echo p,1,cat,Python,0,10,,,; echo p,2,cat,Python,0,15,,,; } | prof-op |
    awk -F, '$3 == "cat" { o = $10 == "" ? "-" : $10; t[o] += $6 - $5 } END { for (o in t) printf "Y1|perop|op=%s cat=Python %d\n", o, t[o] }' | LC_ALL=C sort >> got.txt
"$B/t/lib-logread.t" --oracle >> got.txt 2> /dev/null

for c in O F V M C R D S U K B X Y H; do
    ok "every line of the oracle's group $c" diff <(grep "^$c[0-9]" "$golden/oracle.txt" | sort) <(grep "^$c[0-9]" got.txt | sort)
done
for c in O R F X; do
    ok "the same order in group $c" diff <(grep "^$c[0-9]*|[of]" "$golden/oracle.txt" | grep -v '^O15') <(grep "^$c[0-9]*|[of]" got.txt | grep -v '^O15')
done

# the oracle itself, where it is, on 320 seeds that are not in its file: each seed is a process of one table
oracle=${MILLRACE_DATA:-$root/../shared/data}/../golden/prof_oracle.py
if [ -e "$oracle" ] && [ -x /usr/bin/python3 ]; then
    cat > new.py <<'D'
import contextlib, io, random, sys
with contextlib.redirect_stdout(io.StringIO()): exec(open(sys.argv[1]).read())
def nested(r, lo, hi, depth, out):
    while lo < hi and r.random() < .8:
        s = r.randint(lo, hi)
        e = r.randint(s, hi)
        out.append((s, e, "op%d" % r.randrange(4)))
        if depth: nested(r, s, e, depth - 1, out)
        lo = e
cats, ops, cells, changes, pieces = [], [], [], [], []
for seed in range(1000, 1320):
    r = random.Random(seed)
    n, keys, span, most = r.randint(0, 60), r.randint(1, 9), r.choice((20, 200, 10**6)), r.choice((0, 5, 30, 300))
    v = [(s, s + r.randint(-1, most), "k%d" % r.randrange(keys)) for s in (r.randint(-span, span) for _ in range(n))]
    cats += ["%d,%d,cat,%s,%d,%d," % (seed, r.randrange(3), k, s, e) for s, e, k in v]
    cells += ["%d,,,%s,%d,%d,%d,%d" % (seed, "+".join(k), *x) for k, x in overlap(v).items()]
    changes += ["%d,,%s,%s,%d" % (seed, "+".join(a), "+".join(b), x) for (a, b), x in transitions(v).items()]
    v = []
    nested(r, -50, 50, 4, v)
    r.shuffle(v)
    ops += ["%d,1,op,,%d,%d,%s" % (seed, *x) for x in v]
    pieces += ["%d,%d,%d,%s" % (seed, *x) for x in flatten(v)]
random.Random(1).shuffle(cats)
for name in "cats", "ops": open(name + ".csv", "w").write("\n".join(["proc,tid,kind,cat,start_ns,end_ns,name"] + globals()[name]) + "\n")
for name in "cells", "changes", "pieces": open(name + ".want", "w").write("\n".join(sorted(globals()[name])) + "\n")
D
    /usr/bin/python3 new.py "$oracle"
    prof-sweep --quiet --transitions=new.csv cats.csv | tail -n +2 | sort > cells.got
    ok "320 new seeds: $(wc -l < cells.want) cells" diff cells.want cells.got
    ok "and $(wc -l < changes.want) transitions" diff changes.want <(tail -n +2 new.csv | sort)
    ok "and $(wc -l < pieces.want) flat pieces" diff pieces.want <("$B/t/lib-flat.t" --rows ops.csv | awk -F, 'NR > 1 { print $1 "," $5 "," $6 "," $7 }' | sort)
else
    skip 'new seeds' 'the oracle is not here'
fi
done_testing
