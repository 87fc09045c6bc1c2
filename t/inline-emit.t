#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > d <<'S'
(decisions (site (path {camlA__h__3} <camlA__Apply[1]/camlB__Over[2]>) (callee camlB__g__7) (inline true)))
S
is 'V1: innermost first, parents from the path, five fields' '(
  (0 ((At_call_site (((() () ((A camlA) h 3) () ())) ((B camlB) (Over_application 2) (((A camlA) (Plain_apply 1) ()))) (() () ((B camlB) g 7) () ()))) (Enter_decl (() (() () ((A camlA) h 3) () ())))) ((B camlB) (Over_application 2) (((A camlA) (Plain_apply 1) ()))) Inline (() () ((B camlB) g 7) () ())))' inline-emit --form=v1 d
is 'V1 reads back' "$(flambda-import d | sed 's/decisions/& (form v1)/')" bash -c 'inline-emit --form=v1 d | flambda-import'
is 'another round' '2' bash -c 'inline-emit --form=v1 --round=2 d | sed -n "s/^  (\([0-9]*\) .*/\1/p"'
is 'simple overrides' '(
  (0 () ((Decl (camlA h)) (Apply (camlB (2)))) Inline))' inline-emit --form=simple d
fails 'what V0 cannot say is refused by name' 1 "camlB__Over.2.' cannot be written as V0" inline-emit --form=v0 d
fails 'live sites are no V1' 1 "'f:1:2' cannot be written as V1" bash -c "echo '(decisions (site (path f:1:2) (inline true)))' | inline-emit --form=v1"
fails 'the form must be said' 2 'see --form' inline-emit d
fails 'home wants a place' 2 '--out=DIR' inline-emit --to=replay d
# The user's own build, by make with nothing of ours but the flags, is the measured program: its code byte for byte.
code() { objcopy -O binary --only-section=.text "$1" code.out && cksum < code.out; }
for v in 14 16 19; do
    have clang-$v ld.lld-$v opt-$v llvm-link-$v llvm-profdata-$v || { skip "home with clang-$v" 'it is not here'; continue; }
    [ -d demo ] || cp -r "$root/data/demo" demo
    profile=irn
    inline-module --lto --profile=irn --compiler=clang-$v --out=w$v demo 2> /dev/null || { profile=none; inline-module --lto --compiler=clang-$v --out=w$v demo; }
    cat > some.sexp <<'S'
(decisions (site (path compile quicksort:5:37.3) (callee before) (inline true))
  (site (path compile quicksort:5:37.2) (callee before) (inline true))
  (site (path compile quicksort:3:5) (callee swap) (inline true))
  (site (path link main:5:18) (callee table_list) (inline true)))
S
    is "clang-$v: cold code made small" yes bash -c "inline-emit --to=replay --cold-small --decisions=some.sexp --out=cold$v w$v 2> /dev/null |
        csv-cut -c same_text | tail -n +2"
    [ $profile = none ] || ok 'by words for both stages' bash -c "grep -q 'CFLAGS.*pgso' cold$v/flags.mk && grep -q 'LDFLAGS.*pgso' cold$v/flags.mk"
    for set in $([ $v != 14 ] || echo default) some; do
        given=
        [ $set = default ] || given=--decisions=some.sexp
        inline-build $given --out=measured w$v > measured.csv
        is "clang-$v, $set, profile $profile: the open files make the same program" yes bash -c "inline-emit --to=replay $given --out=home w$v 2> /dev/null | csv-cut -c same_text | tail -n +2"
        rm -rf own
        cp -r demo own
        printf 'include ../home/flags.mk\ntable: main.o table.o\n\t$(CC) $(LDFLAGS) -o $@ $^\n' > own/Makefile
        ok "clang-$v, $set: a Makefile of one's own" make -s -C own table
        is "clang-$v, $set: is the measured program" "$(code measured)" code own/table
        # moved down by ten lines, another function before: every decision is still found
        { yes '' | head -10; cat demo/table.c; } > own/table.c
        make -s -C own table
        is "clang-$v, $set: and after an edit elsewhere" "$(code measured)" code own/table
    done
done
# Edits inside functions: a head that takes two lines more moves all of a function, a line in its middle the rest; what
# is gone is gone, and that is said.
if [ -d w14 ]; then
    inline-build --complete=all.sexp --out=measured w14 > measured.csv
    inline-emit --to=replay --decisions=all.sexp --out=home w14 > same.csv 2> same.err
    is 'in the same source all decisions are found, and nothing is said' "$(csv-cut -c asked same.csv | tail -n 1)" \
        bash -c 'cat same.err >&2; csv-cut -c applied same.csv | tail -n 1; cat same.err'
    rm -rf edited; cp -r demo edited
    for f in edited/*.c; do sed -i 's/^{$/{\n    \/* a line *\/\n    ;/' "$f"; done
    inline-module --lto --profile=irn --compiler=clang-14 --out=wedit edited
    inline-emit --to=replay --decisions=all.sexp --out=home wedit > moved.csv 2> moved.err
    is 'all moved by two lines: all are found' "$(csv-cut -c asked,applied same.csv | tail -n 1)" \
        bash -c 'csv-cut -c asked,applied moved.csv | tail -n 1'
    ok 'and it is said' grep -q 'calls stand on other lines' moved.err
    sed 's/callee [a-z_]*)/callee gone)/; s/path compile [a-z_]*:/path compile elsewhere:/' all.sexp > gone.sexp
    inline-emit --to=replay --decisions=gone.sexp --out=home w14 > gone.csv 2> gone.err
    ok 'decisions of another source are stale' grep -q 'stale: of [1-9][0-9]* calls .* has 0; search again' gone.err
fi
# A build with an archive: the linker takes members when they are asked for, not in the order of their names, and numbers
# static functions of one name in the order it meets them; flags of its own go along.
if [ -d w14 ] && command -v objcopy > /dev/null; then
    mkdir -p lib/x
    cat > lib/main.c <<'C'
#include <stdio.h>
int zeta(int), alpha(int);
static int step(int i) { return i * 3 + 1 + (int)fread(&i, 0, 0, stdin); }
int main(int argc, char **argv)
{
    int s = 0;
    for (int i = 0; i < FIRST * argc; i++) s += zeta(step(i)) ^ step(s);
    (void)argv;
    return printf("%d\n", s + alpha(s)) < 0;
}
C
    for f in alpha zeta middle; do
        cat > lib/x/$f.c <<C
#include <stdio.h>
$([ $f != zeta ] || echo 'int middle(int);')
static int step(int i) { return i * 7 - ${#f} + (int)fread(&i, 0, 0, stdin); }
int $f(int n)
{
    for (int i = 0; i < 9; i++) n += step(i) - step(n + i);
    return n$([ $f != zeta ] || echo ' + middle(n)');
}
C
    done
    cat > lib/Makefile <<'M'
CFLAGS = -O1 -DFIRST=40
prog: main.o libx.a
	$(CC) $(LDFLAGS) -o $@ main.o -L. -lx
libx.a: x/middle.o x/zeta.o x/alpha.o
	$(AR) rcs $@ $^
%.o: %.c
	$(CC) $(CFLAGS) -c -o $@ $<
M
    sed -i 's/^CFLAGS.*/CFLAGS = -O1 -w -D FIRST=40 -mllvm -disable-symbolication/' lib/Makefile
    printf 'search x\nconfirm y\n' > lib/program
    make -s -C lib CC=inline-cc AR=ar
    inline-module --lto --from-build=lib --program=prog --compiler=clang-14 --out=wlib lib
    inline-build --complete=lib.sexp --out=measured wlib > measured.csv
    sed -i '/callee step/s/(inline true)/(inline false)/' lib.sexp
    inline-build --decisions=lib.sexp --out=measured wlib > measured.csv
    inline-emit --to=replay --decisions=lib.sexp --out=lib.home wlib > lib.csv
    ok "the build's own flags go along, none without its value" grep -q '^CFLAGS = -DFIRST=40 -O2 ' lib.home/flags.mk
    rm -f lib/*.o lib/x/*.o lib/*.a lib/prog
    sed -i 's,^CFLAGS.*,include ../lib.home/flags.mk,' lib/Makefile
    make -s -C lib
    is 'a build with an archive is the measured program' "$(code measured)" code lib/prog
fi
# as attributes: a patch that applies, after which an ordinary compiler does what it says, and never says both
if [ -d w14 ]; then
    inline-emit --to=attributes --decisions=some.sexp --out=attr w14 > attr.csv
    ok 'a part of the calls can be said so' test "$(csv-where -c share --min=0.1 attr.csv | csv-where -c share --max=1 | wc -l)" = 2
    rm -rf patched; cp -r demo patched
    ok 'the patch applies' patch -s -p1 -d patched -i ../attr/attributes.patch
    is 'and adds nothing but attributes' "$(cat demo/*.c | cksum)" bash -c "cat patched/*.c | sed 's/__attribute__((always_inline)) //; s/__attribute__((noinline)) //' | cksum"
    ok 'it compiles, with gcc too' bash -c 'cd patched && gcc -w -O2 main.c table.c -o x && clang-14 -w -O2 main.c table.c -o y'
    is 'as many attributes as it says' "$(($(csv-cut -c always_inline,noinline attr.csv | tail -n 1 | tr , +)))" bash -c 'grep -c "^+[^+]" attr/attributes.patch'
fi
if have_gcc_plugin; then
    cp -r demo gdemo
    sed -i 's/^build.*/& -DOWN=1/' gdemo/program
    inline-module --compiler=gcc-$gcc --out=wg gdemo
    inline-build --complete=g.sexp --out=gcc.default wg > /dev/null
    sed '0,/(inline false)/s//(inline true)/' g.sexp > g2.sexp
    inline-build --decisions=g2.sexp --out=measured wg > /dev/null
    inline-emit --to=gcc --decisions=g2.sexp --out=ghome wg > /dev/null
    ok "gcc: the build's own flags go along" grep -q '^CFLAGS = -DOWN=1 ' ghome/flags.mk
    rm -rf own; cp -r demo own
    printf 'include ../ghome/flags.mk\ntable: main.o table.o\n\t$(CC) $(LDFLAGS) -o $@ $^\n' > own/Makefile
    ok 'gcc: a Makefile of one'"'"'s own' make -s -C own table
    is 'gcc: is the measured program' "$(stat -c %s measured > /dev/null; size measured | tail -n 1 | cut -f1 | tr -d ' ')" bash -c "size own/table | tail -n 1 | cut -f1 | tr -d ' '"
fi
if [ -n "${MILLRACE_DATA:-}" ] || [ -d "$root/../shared/data" ]; then
    need_data inline/decisions-v1
    flat() { tr -s ' \n' '  ' < "$1" | sed 's/( /(/g; s/ )/)/g; s/ (/(/g; s/) /)/g; s/ $//'; }
    for f in kb-1 lens-1; do
        flat "$DATA/inline/decisions-v1/$f.sexp" > want.flat
        inline-emit --form=v1 "$DATA/inline/decisions-v1/$f.sexp" > $f.out
        flat $f.out > got.flat
        ok "the published $f comes out as it went in" cmp want.flat got.flat
    done
fi
done_testing
