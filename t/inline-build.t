#!/bin/bash
. "$(dirname "$0")/tap.sh"
. "$root/t/inline-live.sh"
inline-build --out=plain --complete=default.sexp w > plain.csv
./plain sort < demo/main.c > reference.txt
inline-build --decisions=default.sexp --out=again w > again.csv
is 'the default, replayed, is obeyed' 0 awk -F, 'NR > 1 && $3 == "yes" && $4 == "no" && $5 !~ /^illegal/ { n++ } END { print n + 0 }' again.csv
is 'and nothing else is inlined' 0 awk -F, 'NR > 1 && $3 == "no" { n++ } END { print n + 0 }' again.csv
echo '(decisions)' > none.sexp
inline-build --decisions=none.sexp --sites --out=none w > none.csv
is 'an empty set inlines nothing' 0 awk -F, '$4 == "yes" { n++ } END { print n + 0 }' none.csv
is 'the program does the same' "$(cat reference.txt)" ./none sort < demo/main.c
# the stock build is what the compiler makes of the sources by itself, and what modules of each file give
inline-build --stock=O2 --out=stock w > stock.csv
is 'the stock build does the same' "$(cat reference.txt)" ./stock sort < demo/main.c
is 'and tells nothing' 'callee,chain,asked,inlined,reason' cat stock.csv
(cd demo && clang-$llvm -O2 -no-pie *.c -o ../by-hand)
text() { size -A "$1" | sed -n 's/^\.text *\([0-9]*\).*/\1/p'; }
code() { objdump -d --no-show-raw-insn "$1" | sed '1,3d'; }
is 'it is a plain compilation, byte for byte' "$(code by-hand)" code stock
# in clang's own -flto: both stages are decided, and the default, replayed, is the default
if have ld.lld-$llvm llvm-profdata-$llvm && inline-module --lto --profile=irn --out=l demo 2> why.lto; then
    inline-build --out=lto --complete=lto.sexp l > lto.csv
    inline-build --out=lto2 --decisions=lto.sexp l > lto2.csv
    is 'with -flto and a profile, the default replayed is the same code' "$(code lto)" code lto2
    is 'every decision is obeyed' yes,yes bash -c 'csv-cut -c asked,inlined lto2.csv | tail -n +2 | sort -u'
    ok 'some in the sources, some in the linker' bash -c 'grep -q "@ compile,yes,yes" lto2.csv && grep -q "@ link,yes,yes" lto2.csv'
    inline-build --decisions=none.sexp --sites --out=none l > none.csv
    is 'an empty set inlines nothing there' 0 awk -F, '$4 == "yes" && $1 !~ /getchar|vprintf|tolower/ { n++ } END { print n + 0 }' none.csv
    is 'the program does the same' "$(cat reference.txt)" ./none sort < demo/main.c
    inline-build --cold-small --decisions=lto.sexp --out=cold l > cold.csv
    is 'cold code made small: every decision is obeyed' yes,yes bash -c 'csv-cut -c asked,inlined cold.csv | tail -n +2 | sort -u'
    ok 'less code' test "$(text cold)" -lt "$(text lto)"
    is 'the same program' "$(cat reference.txt)" ./cold sort < demo/main.c
    for row in thinlto lto pgo lto-pgo lto-pgo-size gcc-pgo gcc-lto-pgo; do
        [[ $row != gcc* ]] || command -v gcc > /dev/null || continue
        inline-build --stock=$row --out=row l > /dev/null
        is "stock $row does the same" "$(cat reference.txt)" ./row sort < demo/main.c
    done
    if compgen -c llvm-bolt- > /dev/null; then           # a folder's name is no part of what a shell reads
        mkdir "it's; touch ran; '"
        inline-build --stock=bolt --out="it's; touch ran; '/row" l > /dev/null
        is 'stock bolt does the same, in any folder' "$(cat reference.txt)" "./it's; touch ran; '/row" sort < demo/main.c
        ok 'and no name is run' [ ! -e ran ]
    else skip 'stock bolt' 'llvm-bolt is not here'
    fi
    # a compiler that is killed leaves nothing in the store of objects
    mkdir slow
    printf '#!/bin/bash\nfor a; do [ "$last" != -o ] || touch "$a" "%s"; last=$a; done\nsleep 60\n' "$PWD/began" > slow/clang-$llvm
    chmod +x slow/clang-$llvm
    PATH=$PWD/slow:$PATH setsid inline-build --out=x --decisions=none.sexp l > slow.log 2>&1 &
    until [ -e began ]; do sleep 0.05; done
    { kill -9 -- -$!; wait $!; } 2> /dev/null
    inline-build --out=x --decisions=none.sexp l > x.csv
    is 'a compiler that was killed leaves nothing behind' '' eval 'find l \( -name ".millrace*" -o -name "*.o.[0-9]*" \); echo'
else skip 'with -flto' "$(cat why.lto)"; fi
# what the line build says to the linker is said to it
mkdir link link/lib
cat > link/main.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
void *__real_malloc(size_t);
int far(void);
static int wrapped;
int twice(int x) { return 2 * x; }
void *__wrap_malloc(size_t n) { wrapped = 1; return __real_malloc(n); }
int main(int argc, char **argv)
{
    int (*found)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "twice");
    void *volatile p = malloc((size_t)argc);
    (void)argv;
    free(p);
    printf("%d %d %d\n", found ? found(21) : 0, wrapped, far());
    return 0;
}
C
echo 'int far(void) { return 7; }' > far.c
clang-$llvm -shared -fPIC far.c -o link/lib/libfar.so
printf 'build main.c -rdynamic -ldl -Wl,--wrap=malloc -L lib -l far -Xlinker -rpath -Xlinker %s -pie\nsearch x\nconfirm y\n' \
    "$PWD/link/lib" > link/program
kinds='program file'
have ld.lld-$llvm && kinds+=' lto'
for kind in $kinds; do
    declare -A how=([program]= [file]=--per-file [lto]=--lto)
    inline-module ${how[$kind]} --out=link.$kind link
    inline-build --decisions=none.sexp --out=linked link.$kind > /dev/null
    is "options of the linker, scope $kind: all hold" '42 1 7 DYN' bash -c \
        'echo "$(./linked) $(readelf -h linked | sed -n "s/^ *Type: *\([A-Z]*\).*/\1/p")"'
done
inline-build --stock=O2 --out=linked link.program > /dev/null
is 'and of a stock build' '42 1 7' ./linked
ok 'calls are counted with them' inline-sites link.program
cp -r demo still
sed -i '/^build/s/$/ -static/' still/program
inline-module --out=still.w still
inline-build --out=still.exe still.w > /dev/null
is '-static' '' bash -c 'readelf -d still.exe | grep NEEDED; echo'
# a stock build that the program cannot have is left out; what goes wrong on the machine is not that
mkdir inline-only
printf 'build *.c\nsearch\nconfirm x\n' > inline-only/program
cat > inline-only/main.c <<'C'
#include <stdio.h>
inline int big(int x)
{
    for (int i = 0; i < x; i++) x += printf("%d", i) + printf("%d", x) + printf("%d", x ^ i);
    return x + printf("end");
}
int main(int argc, char **argv) { (void)argv; return big(argc) + big(argc + 1) < 0; }
C
if inline-module --out=only inline-only 2> only.err; then
    fails 'a program that does not link at -Oz' 1 'undefined reference to .big' inline-build --stock=Oz --out=tiny only
    touch tiny
    is 'may be left out' 'callee,chain,asked,inlined,reason' bash -c 'inline-build --optional --stock=Oz --out=tiny only 2> /dev/null; echo callee,chain,asked,inlined,reason; [ ! -e tiny ]'
    fails 'and that is said' 0 'no Oz: .*undefined reference' inline-build --optional --stock=Oz --out=tiny only
else skip 'a program that does not link at -Oz' "$(cat only.err)"; fi
mkdir less && echo 'int main(void) { return 0; }' > less/less.c
printf 'build *.c -lnosuchlibrary\nsearch 1\nconfirm 2\n' > less/program
inline-module --out=lessw less
fails 'what the linker does not find is said' 1 'find .*nosuchlibrary' inline-build --stock=Oz --out=tiny lessw
fails 'no room for the file is not that' 1 'inline-build: ' bash -c 'ulimit -f 1; exec inline-build --optional --stock=Oz --out=tiny w'
sanitized || fails 'nor no memory' 1 'shared libraries' bash -c 'ulimit -v 100000; exec inline-build --optional --stock=Oz --out=tiny w'
fails 'only a stock build is optional' 2 'of --stock' inline-build --optional --out=tiny w
fails 'the stock build takes no decisions' 2 'stock' inline-build --stock=O2 --threshold=5 --out=x w
cat > one.sexp <<X
(decisions (program demo) (compiler clang-$llvm)
  (site (path hash:3:20) (callee hash_step) (inline true))
  (site (path main:7:48) (callee say) (inline true))
  (site (path quicksort:7:5) (callee quicksort) (inline true))
  (site (path main:9:9) (callee table_find) (inline true)))
X
is 'what is not obeyed is listed with the reason' $'callee,chain,asked,inlined,reason
hash_step,hash:3:20,yes,yes,
quicksort,quicksort:7:5,yes,no,illegal: recursive
say,main:7:48,yes,no,illegal: varargs
table_find,main:9:9,yes,no,no such call: not in the source' inline-build --decisions=one.sexp --out=one w
is 'an inlined call is gone from the code' 0 bash -c 'objdump -d one | grep -c "call.*<hash_step>" || true'
# A second opinion on what was obeyed: the calls in the machine code.  Pairs of the function that a call ends up in and its
# callee, as the report has them (the outermost element of the chain), against objdump; jumps are calls too.
reported() { awk -F, 'NR > 1 && $4 == "no" && $5 !~ /^no such/ && $1 !~ /getchar|vprintf|tolower/ { n = split($2, e, " @ "); sub(/:.*/, "", e[n]); print e[n], $1 }' "$1" | sort -u; }
own=' (before|fresh|get_word|hash|hash_step|letter|quicksort|same|say|swap|table_find|table_list)$'
in_code() {
    objdump -d --no-show-raw-insn "$1" | awk '/^[0-9a-f]+ <.*>:$/ { f = $2; gsub(/[<>:]/, "", f) }
        $2 ~ /^(call|jmp)/ && $NF ~ /^<[a-z_.0-9]*>$/ { gsub(/[<>]/, "", $NF); sub(/[.].*/, "", $NF); g = f; sub(/[.].*/, "", g); print g, $NF }' |
        grep -E "$own" | sort -u
}
draw() { awk -F, -v seed="$1" 'BEGIN { srand(seed); print "(decisions" } NR > 1 && !($1 in never) && rand() < .5 {
    n = split($3, e, " @ "); printf "(site (path"; for (i = n; i; i--) printf " %s", e[i]; printf ") (callee %s) (inline true))\n", $1 } END { print ")" }' "$2/calls.csv"; }
second_opinion() {                                       # NAME WORK DRAWS; sets `wrong`
    wrong=
    for k in $(seq "$3"); do
        draw "$k" "$2" > half.sexp
        inline-build --decisions=half.sexp --sites --out=half "$2" > half.csv || { wrong="draw $k does not build"; return; }
        ./half sort < demo/main.c | cmp -s - reference.txt || wrong+=" draw $k: output;"
        awk -F, 'NR > 1 && $3 == "yes" && $4 == "no" && $5 == ""' half.csv | grep -q . && wrong+=" draw $k: disobeyed without a reason;"
        awk -F, 'NR > 1 && $3 == "no" && $4 == "yes"' half.csv | grep -q . && wrong+=" draw $k: inlined what nobody asked for;"
        if [ "$1" = gcc ]; then                          # a call is decided once: callees that remain anywhere
            diff <(awk -F, 'NR > 1 && $4 == "no" && $5 !~ /^no such/ { print $1 }' half.csv | sort -u) <(in_code half | awk '{ print $2 }' | sort -u) > differ || wrong+=" draw $k: $(tr '\n' ' ' < differ);"
        else                                             # per file, calls to the other file are no decisions
            diff <(reported half.csv) <(in_code half | grep -vE "${4:-^-}") > differ || wrong+=" draw $k: $(tr '\n' ' ' < differ);"
        fi
    done
}
for c in clang-14 clang-16 clang-19; do
    have $c opt-${c#*-} llvm-link-${c#*-} || { skip "$c" 'it is not here'; continue; }
    inline-module --compiler=$c --out=$c demo
    second_opinion $c $c 3
    is "$c: half of the calls at random: obeyed, by the machine code too, with the same output" '' echo "$wrong"
    inline-module --compiler=$c --per-file --out=$c.file demo
    second_opinion $c $c.file 1 'main table_'
    is "$c, per file, too" '' echo "$wrong"
done
if have_gcc_plugin; then
    inline-module --compiler=gcc --out=g demo
    second_opinion gcc g 3
    is 'gcc: the same' '' echo "$wrong"
    inline-build --decisions=default.sexp --out=again g > gcc.csv
    ok "clang's decisions are a start for gcc" test "$(grep -c ',yes,yes,$' gcc.csv)" -ge 10
    echo '(decisions (site (path main:4:35 table_find:2:29) (callee hash) (inline true)))' > deep.sexp
    is 'what gcc cannot tell apart is listed' $'callee,chain,asked,inlined,reason\nhash,table_find:2:29 @ main:4:35,yes,no,context: this compiler decides a call once' inline-build --decisions=deep.sexp --out=again g
    is 'gcc under its own heuristic does the same' "$(cat reference.txt)" bash -c 'inline-build --out=x g > /dev/null && ./x sort < demo/main.c'
else skip 'gcc: the same' 'no gcc with g++ and its plugin-dev'; fi
inline-build --compiler=clang-$llvm --decisions=one.sexp --out=one w > same.csv
is 'the compiler of the directory may be named' "$(inline-build --decisions=one.sexp --out=one w)" cat same.csv
fails 'a compiler that is not there' 1 'clang-98, opt-98 or llvm-link-98 not found' inline-build --compiler=clang-98 --out=x w
echo '(decisions (site (path a) (callee b)))' > bad.sexp
fails 'a malformed decision' 1 'bad.sexp:1' inline-build --decisions=bad.sexp --out=x w
printf "(decisions (site (path \"a\\\\nb\") (callee c) (inline true)))" > forged.sexp
fails 'a name that would forge the replay file' 1 'with a line end' inline-build --decisions=forged.sexp --out=x w
# what a killed compiler had begun is gone after the next build
touch stock.stock/0-1234abcd.o.tmp w/.millrace-4194303-$("$root/pipelines/here")-calls.ll w/.millrace-4194303-$("$root/pipelines/here")-calls-1234abcd.ll.tmp
inline-build --stock=O2 --out=stock w > stock.csv
is 'nothing begun is left' 0 eval 'ls -A w stock.stock | grep -c "tmp$\|^[.]millrace"; true'
# killed with its compiler in the middle of a profile
mkdir fake
printf '#!/bin/bash\nfor a; do case $a in *.o) touch "${a%%%%.o}-1234abcd.o.tmp" ;; esac; done\nkill -9 $PPID\n' > fake/clang-$llvm
chmod +x fake/clang-$llvm
{ PATH=$PWD/fake:$PATH inline-build --stock=pgo --out=begun w; } > log 2>&1
is 'a profile was begun' 1 eval 'find begun.stock -name "*.tmp" | wc -l'
"$root/pipelines/sweep" .
is 'and the sweep finds all of it' '' echo "$(find begun.stock -type f)"
# killed when the program is linked and its flags are not written yet
printf '#!/bin/bash\n%s "$@" || exit\n[[ " $* " = *" -c "* ]] || kill -9 $PPID\n' "$(command -v clang-$llvm)" > fake/clang-$llvm
{ PATH=$PWD/fake:$PATH inline-build --stock=O2 --out=linked w; } > log 2>&1
is 'linked, and not done' no eval '[ -e linked ] && [ ! -e linked.stock/flags ] && echo yes || echo no'
"$root/pipelines/sweep" .
inline-build --stock=O2 --out=linked w > /dev/null
is 'made anew it is all there' '0.o 1.o flags make.args' eval 'cmp linked stock; ls -A linked.stock | paste -sd" "'
fails 'both' 2 'threshold' inline-build --decisions=one.sexp --threshold=5 --out=x w
done_testing
