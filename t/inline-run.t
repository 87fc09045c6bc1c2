#!/bin/bash
. "$(dirname "$0")/tap.sh"
. "$root/t/inline-live.sh"
command -v qemu-x86_64 > /dev/null || { echo "1..0 # skip qemu-x86_64 is not here"; exit 0; }
inline-run --default --none --threshold=0 --store=s --history=h.csv --jobs=2 w
is 'all ran well' 3 grep -c ',ok,' h.csv
is 'with the same output' 1 bash -c "awk -F, 'NR > 1 { print \$15 }' h.csv | sort -u | wc -l"
cp h.csv before.csv
inline-run --default --none --threshold=0 --store=s --history=h.csv w
ok 'nothing is measured twice' cmp before.csv h.csv
inline-build --out=x --complete=d.sexp w > /dev/null
inline-run --store=s --history=h.csv d.sexp w
is 'the default as a list costs what the default costs' "$(awk -F, '$2 == "default" { print $9 }' h.csv)" awk -F, 'END { print $9 }' h.csv
printf 'demo,torn' >> h.csv
inline-run --store=s --history=h.csv d.sexp w 2> err
ok 'a torn row is dropped' cmp <(tail -n 1 h.csv | cut -d, -f1) <(echo demo)
is 'every function has its share: bytes and instructions add up' yes awk -F, '
    FNR == 1 { next } FILENAME ~ /parts/ { bytes += $2; run += $3; if ($1 == "main") main = $3 }
    FILENAME !~ /parts/ && $2 == "default" { split($17, r, " "); ok = bytes > 1000 && run > 0.1 * r[1] && run <= r[1] && main > 0 }
    END { print ok ? "yes" : "no: " bytes " " run " " r[1] }' s/default.parts.csv h.csv
# another program in the same place: wrong output is a row without a cost
sed -i 's/total, n)/total + 1, n)/' demo/main.c
inline-module --out=w demo
sed -i 's/total + 1, n)/total, n)/' demo/main.c
echo '(decisions (site (path hash:3:20) (callee hash_step) (inline true)))' > one.sexp
inline-run --store=s --history=h.csv one.sexp w
is 'wrong output is never a cost' 'output,,' awk -F, 'END { print $7 "," $9 "," $10 }' h.csv
echo '(decisions (site (path main:4:12) (callee get_word) (inline true)))' > two.sexp
sed -i 's/total = 0;/total = 0; for (;;) get_word(w, 1);/' demo/main.c
inline-module --out=w demo
inline-run --limit=0.5 --store=s --history=h.csv two.sexp w
is 'a program that runs forever is a row' run awk -F, 'END { print $7 }' h.csv
fails 'no history' 2 'needed' inline-run --default w
done_testing
