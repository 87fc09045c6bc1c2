#!/bin/bash
# The same call decided differently by its inline stack: left in the function that it stands in, inlined in one of its
# copies.  What became of it is read from the machine code, and from a build by hand under the files that go out.
. "$(dirname "$0")/tap.sh"
command -v clang-14 ld.lld-14 opt-14 llvm-link-14 objdump objcopy > /dev/null || { echo "1..0 # skip clang-14 or lld-14 is not here"; exit 0; }
mkdir own
cat > own/main.c <<'C'
#include <stdio.h>
int mid(int x), far(int x);
static int leaf(int x)
{
    for (int i = 0; i < x % 7; i++) x = x * 33 ^ (x >> 5) ^ i;
    return x + printf("%s", x == 12345 ? "!" : "");
}
static int near(int x)
{
    return leaf(x) * 3;
}
__attribute__((noinline)) int hot(int x)
{
    x = near(x);
    return x ^ mid(x);
}
__attribute__((noinline)) int cold(int x)
{
    x = near(x);
    return x + mid(x);
}
int main(int argc, char **argv)
{
    int x = argc;
    for (int i = 0; i < 5000; i++) x = hot(x + i);
    if (argv[1][0] == 'x') x ^= cold(x) ^ cold(argv[1][0]) ^ leaf(x) ^ far(x);
    return printf("%d\n", x) < 0;
}
C
cat > own/far.c <<'C'
#include <stdio.h>
int far(int x)
{
    for (int i = 0; i < x % 5; i++) x = x * 31 ^ (x >> 7) ^ i;
    return x + printf("%s", x == 54321 ? "?" : "");
}
int mid(int x)
{
    return far(x) * 5;
}
C
printf 'build *.c\nsearch a ; b\nconfirm x\n' > own/program
# near and mid are inlined in both; what they call only where it is hot: before the link, and in it
cat > context.sexp <<'S'
(decisions (site (path compile hot:2:9) (callee near) (inline true))
  (site (path compile cold:2:9) (callee near) (inline true))
  (site (path compile hot:2:9 near:2:12) (callee leaf) (inline true))
  (site (path link hot:3:16) (callee mid) (inline true))
  (site (path link cold:3:16) (callee mid) (inline true))
  (site (path link hot:3:16 mid:2:12) (callee far) (inline true)))
S
sed '/callee \(leaf\|far\))/s/true/false/' context.sexp > plain.sexp
sed 's/hot:2:9 near/near/; s/hot:3:16 mid/mid/' context.sexp > everywhere.sexp
# calls that are left, of the functions in question
left() {
    objdump -d --no-show-raw-insn "$1" | awk '/^[0-9a-f]+ <.*>:$/ { f = $2; gsub(/[<>:]/, "", f) }
        $2 ~ /^(call|jmp)/ && $NF ~ /^<(leaf|near|mid|far)>$/ { gsub(/[<>]/, "", $NF); print f, $NF }' | sort -u | paste -sd,
}
code() { objcopy -O binary --only-section=.text "$1" code.out && cksum < code.out; }
for v in 14 16 19; do
    command -v clang-$v ld.lld-$v opt-$v llvm-link-$v > /dev/null || { skip "clang-$v" 'it is not here'; continue; }
    inline-module --lto --compiler=clang-$v --out=w$v own
    if [ $v = 14 ]; then
        inline-build --decisions=plain.sexp --out=plain w$v > plain.csv
        is 'no context: the calls are left in both copies' 'cold far,cold leaf,hot far,hot leaf,main far,main leaf' left plain
        inline-build --decisions=everywhere.sexp --out=everywhere w$v > everywhere.csv
        is 'decided in the function itself: they are left in none' 'main far,main leaf' left everywhere
    fi
    inline-build --decisions=context.sexp --out=context w$v > context.csv
    is "clang-$v: decided in one context: left in the other" 'cold far,cold leaf,main far,main leaf' left context
    is "clang-$v: the compiler says so too" yes,yes bash -c 'csv-cut -c asked,inlined context.csv | tail -n +2 | sort -u'
    is "clang-$v: the same output" "$(./plain x)" ./context x
    inline-emit --to=replay --decisions=context.sexp --out=home w$v > home.csv
    ok "clang-$v: the file says no and yes to one call" bash -c "
        grep -q \"'leaf' will not be inlined into 'x' at callsite near:2:12$\" home/compile.replay &&
        grep -q \"'leaf' inlined into 'x' at callsite near:2:12 @ hot:2:9$\" home/compile.replay &&
        grep -q \"'far' will not be inlined into 'x' at callsite mid:2:12$\" home/link.replay &&
        grep -q \"'far' inlined into 'x' at callsite mid:2:12 @ hot:3:16$\" home/link.replay"
    printf 'include ../home/flags.mk\nprog: far.o main.o\n\t$(CC) $(LDFLAGS) -o $@ $^\n' > own/Makefile
    rm -f own/*.o own/prog
    ok "clang-$v: a Makefile of one's own" make -s -C own prog
    is "clang-$v: makes the same code" "$(code context)" code own/prog
    rm -f own/*.o own/prog
done
# The search: from decisions that inline everywhere it leaves the calls where the runs never come by, and only there.
mkdir s
inline-sites -o sites.csv w14
inline-build --decisions=everywhere.sexp --complete=s/default.sexp --out=x w14 > x.csv
printf 'function,bytes,run1,run2\nhot,400,90,90\ncold,400,0,10\nmain,100,5,5\n' > s/default.parts.csv
printf '%s\n%s\n' program,decisions,parent,chain,step,level,state,reason,instructions,text_bytes,asked,obeyed,inlined,build_seconds,output_hash,kind,run_instructions \
    'own,default,,,,-O2,ok,,200,900,0,0,9,0,0,real,95 105' > h.csv
search() { inline-search --algo=contexts --store=s --work=w14 --sites=sites.csv "$@"; }
search -n 1 h.csv > next.csv
set=$(sed -n 2p next.csv | cut -d, -f1)
decided() { inline-build --decisions="$1" --out=y w14 > y.csv && left y; }
is 'a call stays inlined where its stack is hot' 'cold far,cold leaf,main far,main leaf' decided "$set"
is 'the same history, the same proposal' "$(cat next.csv)" search -n 1 h.csv
# what a build says: in cold the calls cost more than they saved, so there they are put back, and only there
name=$(basename "$set" .sexp)
cp "$set" s/
printf 'function,bytes,run1,run2\nhot,400,90,90\ncold,500,0,20\nmain,100,5,5\nleaf,50,0,1\n' > "s/$name.parts.csv"
echo "own,$name,default,contexts,0,-O2,ok,,210,1000,6,6,6,0,0,real,95 115" >> h.csv
search -n 1 h.csv > again.csv
is 'is a step of its own' 'default,contexts,4' bash -c 'sed -n 2p again.csv | cut -d, -f2-4'
is 'where a build shows a loss they are put back' 'main far,main leaf' decided "$(sed -n 2p again.csv | cut -d, -f1)"
inline-sites --no-heat -o cool.csv w14
is 'without a profile nothing is known of stacks' 1 bash -c "inline-search --algo=contexts --store=s --work=w14 --sites=cool.csv h.csv | wc -l"
done_testing
