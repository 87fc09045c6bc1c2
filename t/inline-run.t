#!/bin/bash
. "$(dirname "$0")/tap.sh"
. "$root/t/inline-live.sh"
needs qemu-x86_64
inline-run --default --none --threshold=0 --store=s --history=h.csv --jobs=2 w
is 'all ran well' 3 grep -c ',ok,' h.csv
is 'with the same output' 1 bash -c "awk -F, 'NR > 1 { print \$15 }' h.csv | sort -u | wc -l"
cp h.csv before.csv
inline-run --default --none --threshold=0 --store=s --history=h.csv w
ok 'nothing is measured twice' cmp before.csv h.csv
inline-build --out=x --complete=d.sexp w > /dev/null
inline-run --store=s --history=h.csv d.sexp w
is 'the default as a list costs what the default costs' "$(awk -F, '$2 == "default" { print $9 }' h.csv)" awk -F, 'END { print $9 }' h.csv
cp h.csv stock.csv
inline-run --stock=O2 --store=s --history=stock.csv w
is 'a stock build is a row to compare with' O2,stock,ok bash -c "csv-where -c decisions --is=O2 stock.csv | csv-cut -c decisions,chain,state | tail -n 1"
is 'which no search takes for its best' "$(inline-search --best --store=s --work=w h.csv | cksum)" bash -c 'inline-search --best --store=s --work=w stock.csv | cksum'
fails 'a limit that is no row' 1 "no row .O3. in the history" inline-search --best --within=O3 --store=s --work=w stock.csv
printf 'demo,torn' >> h.csv
inline-run --store=s --history=h.csv d.sexp w 2> err
ok 'a torn row is dropped' cmp <(tail -n 1 h.csv | cut -d, -f1) <(echo demo)
is 'every function has its share: bytes and instructions add up' yes awk -F, '
    FNR == 1 { next } FILENAME ~ /parts/ { bytes += $2; run += $3; if ($1 == "main") main = $3 }
    FILENAME !~ /parts/ && $2 == "default" { split($17, r, " "); ok = bytes > 1000 && run > 0.1 * r[1] && run <= r[1] && main > 0 }
    END { print ok ? "yes" : "no: " bytes " " run " " r[1] }' s/default.parts.csv h.csv
if command -v valgrind > /dev/null; then
    mkdir plain && printf '#!/bin/sh\necho usage\n' > plain/qemu-x86_64 && chmod +x plain/qemu-x86_64
    PATH=$T/plain:$PATH inline-run --default --store=s9 --history=h9.csv w
    ok 'without plugins of qemu callgrind counts the same in every function' cmp s/default.parts.csv s9/default.parts.csv
else
    skip 'counts by callgrind' 'no valgrind'
fi
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
inline-run --timeout=0.5 --store=s --history=h.csv two.sexp w
is 'a program that runs forever is a row' run awk -F, 'END { print $7 }' h.csv
# accidents of compilers are rows: a compiler that is a script of ours, in front of the real one
cp "$root"/data/demo/* demo
inline-module --out=w demo
mkdir fake; real=$(command -v clang-$llvm)
PATH=$T/fake:$PATH
fake() { printf '#!/bin/bash\n%s\nexec %s "$@"\n' "$1" "$real" > fake/clang-$llvm; chmod +x fake/clang-$llvm; }
last() { awk -F, 'END { print $7 "," $8 "," $9 "," $10 }' h2.csv; }
fake ''
inline-run --default --store=s2 --history=h2.csv w
fake 'case " $* " in *cgscc-inline-replay*) echo "x.c:1:1: error: no such luck" >&2; exit 7 ;; esac'
inline-run --store=s2 --history=h2.csv one.sexp w
is 'a program that does not build under some decisions' "build,clang-$llvm exit 7: error: no such luck,," last
fake 'case " $* " in *cgscc-inline-replay*) kill -SEGV $$ ;; esac'
inline-run --store=s2 --history=h2.csv two.sexp w
is 'a compiler that crashes' "build,clang-$llvm: signal 11,," last
echo '(decisions (site (path table_find:2:29) (callee hash) (inline true)))' > three.sexp
# the program itself: crashes, or exits with another status, under some decisions only
fake 'case " $* " in *cgscc-inline-replay*) out=${*: -1}; printf "int main(void) { __builtin_trap(); }" | '"$real"' -x c - -o "$out"; exit ;; esac'
inline-run --store=s2 --history=h2.csv three.sexp w
is 'a program that crashes under some decisions' 'run,signal,,' last
echo '(decisions (site (path table_find:3:51) (callee same) (inline true)))' > four.sexp
fake 'case " $* " in *cgscc-inline-replay*) out=${*: -1}; printf "int main(void) { for (;;) continue; }" | '"$real"' -x c - -o "$out"; exit ;; esac'
inline-run --timeout=0.5 --store=s2 --history=h2.csv four.sexp w
is 'a program that runs forever under some decisions, by its CPU time or on a busy machine by the clock' 'run,too long,,' bash -c "tail -n 1 h2.csv | cut -d, -f7-10 | sed 's/cpu_limit/too long/; s/timeout/too long/'"
echo '(decisions (site (path table_find:4:12) (callee fresh) (inline true)))' > five.sexp
fake 'case " $* " in *cgscc-inline-replay*) out=${*: -1}; printf "int main(void) { return 1; }" | '"$real"' -x c - -o "$out"; exit ;; esac'
inline-run --store=s2 --history=h2.csv five.sexp w
is 'a program that does something else' "output,output differs from that of the default,," last
rm -r fake
cp h2.csv before.csv
inline-run --store=s2 --history=h2.csv one.sexp two.sexp three.sexp four.sexp five.sexp w
ok 'accidents are not repeated' cmp before.csv h2.csv
is 'none of them is ever the best' default bash -c 'inline-search --best --store=s2 --work=w h2.csv > /dev/null && inline-search --best --store=s2 --work=w h2.csv | cmp -s - s2/default.sexp && echo default'
# a default that fails: nothing to compare with, so no search
mkdir bad
echo 'int main(int c, char **v) { if (c > 2) __builtin_trap(); return c > 1 && *v[1] == 121; }' > bad/main.c
bad() { printf 'build *.c\nsearch %s\nconfirm x\n' "$1" > bad/program; rm -rf bw; inline-module --out=bw bad; }
bad 'x ; y'
fails 'a run of the default that ends badly is no cost' 1 'run 2 ends with exit status 1.*nothing to compare' \
    inline-run --default --none --store=s5 --history=h5.csv bw
is 'the others are not tried' default,run bash -c 'csv-cut -c decisions,state h5.csv | tail -n +2'
fails 'nor later' 1 'run 2 ends with exit status 1' inline-run --none --store=s5 --history=h5.csv bw
fails 'nor by jobs' 1 'run 2 ends with exit status 1' "$root/pipelines/trials" s6 h6.csv bw --default --none
fails 'nor again' 1 'h6.csv: the compiler' "$root/pipelines/trials" s6 h6.csv bw --default --none
bad 'x ; y y'
fails 'nor one that crashes' 1 'failed .signal.' inline-run --default --store=s7 --history=h7.csv bw
bad x
inline-run --default --store=s8 --history=h8.csv bw
is 'status 0 is fine' ok bash -c 'csv-cut -c state h8.csv | tail -n +2'
# a missing compiler: asked for directly, a message; in a row of trials, a row
inline-run --compiler=clang-98 --default --store=s3 --history=h3.csv w
is 'a missing compiler is a row' $'decisions,state,reason\ndefault,missing,"clang-98, opt-98 or llvm-link-98 not found (apt install clang-98 llvm-98)"' csv-cut -c decisions,state,reason h3.csv
inline-run --compiler=clang-98 --default --store=s3 --history=h3.csv w
is 'once' 2 bash -c 'wc -l < h3.csv'
sed -i "s/clang-$llvm/clang-97/" w/program.csv
inline-run --default --store=s3 --history=h4.csv w
is 'also where the one that made the directory is gone' 'missing' awk -F, 'END { print $7 }' h4.csv
sed -i "s/clang-97/clang-$llvm/" w/program.csv
inline-run --default --store=s3 --history=h4.csv w
is 'and tried when it is back' 'ok' awk -F, 'END { print $7 }' h4.csv
for c in clang-19 gcc; do
    if [ $c = gcc ]; then have_gcc_plugin; else have $c opt-19 llvm-link-19; fi || { skip "$c" 'it is not here'; continue; }
    inline-run --compiler=$c --default --none --threshold=100 --store=s-$c --history=h-$c.csv w
    is "$c: all ran well" 3 grep -c ',ok,' h-$c.csv
    is "$c: with the same output as clang-$llvm" 1 bash -c "awk -F, '\$7 == \"ok\" { print \$15 }' h2.csv h-$c.csv | sort -u | wc -l"
    inline-sites --compiler=$c -o sites.csv w
    inline-search --algo=flip -n 3 --store=s-$c --work=w --sites=sites.csv h-$c.csv > next.csv
    inline-run --compiler=$c --list=next.csv --store=s-$c --history=h-$c.csv w
    is "$c: the search goes its way" 6 grep -c ',ok,' h-$c.csv
done
sed -i '/^search/s/$/ ; 7/' demo/program
inline-module --out=w-more demo
fails 'rows of other inputs are not gone on with' 1 'its rows are of .* runs, the program has .* to search on' \
    inline-run --default --store=s --history=h.csv w-more
# a solver's exit status is an answer: said in `program`, demanded everywhere
mkdir solver
printf '#include <stdlib.h>\nstatic int twice(int x) { return 2 * x; }\nint main(int c, char **v) { return c > 1 ? twice(atoi(v[1])) : 1; }\n' > solver/s.c
printf 'build *.c\nsearch 5\nconfirm 10 ; 5\n' > solver/program
inline-module --out=ws solver
fails 'a status that nobody announced' 1 'run 1 ends with exit status 10, not 0; where that is well a line .status. says so' \
    inline-run --default --store=ss --history=sh.csv ws
printf 'status 10 20 10\n' >> solver/program
inline-module --out=ws solver
rm -f sh.csv
ok 'one that is announced' inline-run --default --store=ss --history=sh.csv ws
is 'is well, and counted' ok csv-calc --print=state sh.csv
ok 'a run this short tells little, and that is said' bash -c "rm sh.csv; inline-run --default --store=ss --history=sh.csv ws 2>&1 |
    grep -q 'search run 1 executes [0-9]* instructions of the program.s own, fewer than 100000'"
is 'each run has its own' '--exit=20 --exit=10' bash -c "inline-jobs ws a=/bin/true | grep -o -e '--exit=[0-9]*' | xargs"
inline-build --out=s.exe ws > /dev/null
is 'a count of a run that goes wrong has no value' "exit status 20, not 10" bash -c "bench-count --quiet --runs=1 --metric=instructions \
    --exit=10 './s.exe 10' | csv-calc --print=status"
for bad in 'status 256' 'status x' 'status 1 2'; do
    printf 'build *.c\nsearch 5\nconfirm 10 ; 5\n%s\n' "$bad" > solver/program
    fails "$bad" 1 'program:[0-9]*: status: ' inline-module --out=wb solver
done
fails 'no history' 2 'needed' inline-run --default w
done_testing
