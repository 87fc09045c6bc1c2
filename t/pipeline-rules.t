#!/bin/bash
# what every pipeline stands on: files made aside, leftovers swept, settings refused before anything is made
. "$(dirname "$0")/tap.sh"
# a Makefile with nothing of ours but the rules, in front of a rule that is killed or fails in the middle
mkdir -p lab/pipelines lab/mk
cp "$root/pipelines/keep" "$root/pipelines/sweep" "$root/pipelines/here" lab/pipelines
here=$("$root/pipelines/here")
cp "$root/mk/pipelines.mk" lab/mk
{ sed '/^CFLAGS/,$d' "$root/Makefile"; echo 'include mk/pipelines.mk'; } > lab/Makefile
cat >> lab/Makefile <<'E'
all: $(OUT)/one $(OUT)/a.svg $(OUT)/two
$(OUT):
	mkdir -p $@
$(OUT)/one: | $(OUT)
	{ echo first; $(DO); echo second; } $(aside)
$(OUT)/a.svg: | $(OUT)
	echo $(suffix $(new)) > $(new)
	$(call keep,$@)
$(OUT)/two: $(OUT)/one | $(OUT)
	false || true
	cat $< | $(PIPED) $(aside)
E
lab() { (cd lab && make -s "$@"); }
: "${DO:=true}"
left() { find lab/out -type f | LC_ALL=C sort | sed "s/-[0-9]*-$here-/-PID-/"; }
ok 'a file is made' lab DO=true PIPED=cat
is 'as its recipe says' $'first\nsecond' cat lab/out/two
is 'what is written aside keeps its ending' .svg cat lab/out/a.svg
is 'nothing else is there' $'lab/out/a.svg\nlab/out/one\nlab/out/two' left
rm -r lab/out
fails 'a recipe that fails' 2 . lab DO=false PIPED=cat
ok 'makes no file' eval '[ ! -e lab/out/one ]'
ok 'and again works, and sweeps' lab DO=true PIPED=cat
is 'what it left' $'lab/out/a.svg\nlab/out/one\nlab/out/two' left
rm lab/out/two
fails 'the end of a pipe that fails' 2 . lab PIPED='tee /dev/null | false'
fails 'its beginning too' 2 . lab PIPED='head -c 3 | exit 3 |'
ok 'no file' eval '[ ! -e lab/out/two ]'
# the whole group of make is killed while a recipe writes
rm -rf lab/out
setsid make -s -C lab DO='sleep 60' > log 2>&1 &
pid=$!
for i in {1..100}; do ls lab/out/.millrace-*-one > /dev/null 2>&1 && break; sleep 0.1; done
{ kill -9 -- -$pid; wait $pid; } 2> /dev/null
is 'make killed in the middle of a recipe: no file' $'lab/out/.millrace-PID-one' left
ok 'again' lab DO=true PIPED=cat
is 'it goes on, and nothing is left' $'lab/out/a.svg\nlab/out/one\nlab/out/two' left
# what is not ours is not swept; neither is what a living process writes
touch lab/out/report.2024.new lab/out/.millrace-notes lab/out/.millrace-$$-$here-x
mkdir -p lab/out/.millrace-4194303-$here-folder/x
ok 'sweep' lab DO=true PIPED=cat
is 'leaves the files of users and of living processes' 3 eval 'ls -A lab/out | grep -c "new$\|notes$\|-x$"'
ok 'removes folders too' eval '[ ! -e lab/out/.millrace-4194303-$here-folder ]'
mkdir -p tmp/.millrace-4194303-$here-x tmp/deep/.millrace-4194303-$here-x
ok 'sweep where temporary files are' eval 'TMPDIR=$PWD/tmp lab DO=true PIPED=cat'
is 'right there only, the rest is not ours' tmp/deep/.millrace-4194303-$here-x eval 'find tmp -name ".millrace*"'

# a repository is only read: to ask whether something changed writes nothing into it, so a kill then locks nothing
if command -v git > /dev/null; then
    repository() { git -C lab -c user.name=x -c user.email=x@x "$@"; }
    cp "$root/VERSION" lab
    repository init -q && repository add Makefile && repository commit -qm x
    touch -d '2 days ago' lab/Makefile
    before=$(stat -c '%i %Y' lab/.git/index)
    ok 'make in a repository' lab DO=true PIPED=cat
    ok 'and bench-machine there' eval '(cd lab && bench-machine) | grep -q "git,"'
    is 'leave its index as it is' "$before" stat -c '%i %Y' lab/.git/index
    # a second user, of whom git says "dubious ownership": another version, which cannot be noted where only the first writes
    { sed -n '/^\$B\/version:/,+2p' "$root/Makefile"; echo force:; } > version.mk
    second() { setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/ git -C "$T/lab" -c safe.directory= status; }
    if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null && chmod 755 "$T" && { second 2>&1 | grep -q dubious; }; then
        cp lab/Makefile saved.mk
        cat version.mk >> lab/Makefile
        ok 'the version of what was built' lab B=build build/version
        was=$(cat lab/build/version)
        ok 'a second user runs it' setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/ \
            make -s -C "$T/lab" B=build OUT=/nonexistent build/version
        is 'as it is' "$was" cat lab/build/version
        mv saved.mk lab/Makefile
    else skip 'a second user' 'not root, or no setpriv'; fi
fi

# two makes of one folder build one after the other: who holds build/ready.lock is waited for
sed -n '/^\$B\/ready:/,/^endif/p' "$root/mk/pipelines.mk" | sed '$d; s/\$(MAKE)/echo built; :/' > ready.mk
mkdir -p lab/build && cp lab/Makefile saved.mk && { cat ready.mk; echo 'force:'; } >> lab/Makefile
flock -o lab/build/ready.lock sh -c 'touch held; sleep 1; echo first > order' &
until [ -e held ]; do sleep 0.05; done
lab B=build build/ready >> order
wait
is 'one builds after the other' $'first\nbuilt' cat order
mv saved.mk lab/Makefile
# and two makes of one family into one OUT make it one after the other: alone holds a file as long as a make lives
sleep 1.5 & held=$!
"$root/pipelines/alone" one.lock $held
ok 'who makes has it' eval 'grep -q "^process $held on ." one.lock && ! flock -n one.lock true'
ok 'another waits for its end' timeout 20 "$root/pipelines/alone" one.lock $$
is 'and says for whom' "make: one is being made by process $held on $(hostname): waiting for its end" cat why
ok 'until then' eval '! kill -0 $held 2> /dev/null'
family() { sed -n '/^family_of/p' "$root/mk/pipelines.mk" > f.mk; echo 'all: ; echo $(sort $(call family_of,$(G)))' >> f.mk; make -s -f f.mk OUT=o G="$1"; }
is 'of families' 'inline loop place prof' family 'figure7 o/place/x/graph.sexp inline inline-list loop-table prof figure9'
refused() { fails "$1" 2 "$2" make -s -C "$root" "${@:3}"; [ ! -e "$T/made" ] || fail "$1: made something"; }
refused 'OUT with a blank' 'OUT=.*no blank' OUT="$T/made here" help
refused 'OUT with a shell sign' "OUT=.*has no ';'" OUT="$T/made;true" help
refused 'OUT with nothing' 'OUT=' OUT= help
refused 'a SCALE that is none' "SCALE='tiny': one of default ci test full large" OUT="$T/made" SCALE=tiny help
refused 'two of them' "SCALE='ci test'" OUT="$T/made" SCALE='ci test' help
for s in default ci test full large; do ok "SCALE=$s" make -s -C "$root" OUT="$T/made" SCALE=$s help; done
# the folder that the clone lies in, before any shell sees its name
for name in 'a b' '$(shell touch pwned)' '$(touch${IFS}pwned)' 'a;touch pwned' "a'b" 'a&b' 'a:b' 'a%b' 'a#b' '(a)' 'a\b' '`id`'; do
    mkdir -p "where/$name" && cp "$root/Makefile" "where/$name"
    fails "a clone in $name" 2 "^Makefile:[0-9]+: \*\*\* make cannot work in a folder whose name has a" make -s -C "where/$name" help
    [ "$(wc -l < "$T/err")" = 1 ] || fail "a clone in $name: more is said than that"
done
ok 'and none of them ran' eval '[ -z "$(find . -name pwned)" ]'
# names of programs, from a table, that a shell or make would run
for name in 'x;touch${IFS}pwned;' 'x`touch${IFS}pwned`' '$(shell touch pwned)' '../x' '"a b"' '-x'; do
    printf 'name,set,package,build,search,confirm\nplain,test,,*.c,1,2\n%s,train,,*.c,1,2\n' "$name" > live.csv
    refused "a program called $name" "live.csv: .* is not a plain name" OUT="$T/made" INLINE_TABLE="$PWD/live.csv" help
done
ok 'none of them was run' eval '[ ! -e pwned ] && [ ! -e "$root/pwned" ]'
# flags of compiled variants say how to translate, never what to load, read or write
for flags in -fplugin=x.so '-o /tmp/x' '-include x.h' @x '-O2;touch pwned' -wrapper=x; do
    printf 'step,flags\na/0,-O2 %s\n' "$flags" > variants.csv
    fails "a variant with $flags" 1 'is none of -O' "$root/pipelines/variants" variants.csv
done
mkdir bare
for p in bash make env sed git cat nproc find dirname ls seq awk python3 printf tr cut; do ln -s "$(command -v $p)" bare/$p 2> /dev/null; done
for goal in figure7 inline loop-table prof pca-data; do
    fails "no gnuplot: make $goal says so first" 2 "gnuplot is not here, and $goal draws" env PATH="$PWD/bare" make -s -C "$root" OUT="$T/made" $goal
done
ok 'nothing was made' eval '[ ! -e "$T/made" ]'

# from another folder, as where it is installed: the filters are there, nothing is built
mkdir else
ok 'a pipeline from another folder' make -s -C else -f "$root/Makefile" out/inline/asked
is 'writes there' 'else/out/inline/asked' find else -type f ! -name '*.lock'
# whatever a pipeline's recipes and scripts use is built before the first of them runs: here by a compiler that cannot
phony() { make -s -C "$root" "$@" -pq 2> /dev/null | sed -n 's/^\.PHONY: //p' | tr ' ' '\n' | sort -u; }
comm -23 <(phony) <(sed -n 's/^\.PHONY: //p' "$root"/Makefile "$root"/mk/*.mk "$root"/lib/*/*.mk | tr ' ' '\n' | sort -u) |
    grep -vE '^(force|.*-(force|again))$' > pipelines
ok 'there are pipelines' eval '[ "$(wc -l < pipelines)" -gt 40 ]'
: > "$T/d.sexp"
while read -r goal; do
    make -C "$root" B="$T/b" BIN="$T/b/bin" OUT="$T/made" CC=false HOST=h NAME=demo DECISIONS="$T/d.sexp" DIR="$T" "$goal" > unbuilt 2>&1 || :
    grep -q 'Error' unbuilt && [ -z "$(find "$T/made" ! -type d ! -name '*.lock' 2> /dev/null)" ] || { echo "$goal"; cat unbuilt; } >> early
    rm -rf "$T/made"
done < pipelines
ok 'none begins without its filters' eval '! [ -s early ] || { sed "s/^/# /" early; false; }'
# a folder's name is not run, by no shell and not by make
for name in 'a&touch pwned&b' 'a`touch pwned`' 'a;touch pwned' 'a$(shell touch pwned)' 'a=b'; do
    fails "PROGRAM=$name" 2 "a folder whose name has no" make -s -f "$root/Makefile" -n inline "PROGRAM=$PWD/$name" "OUT=$PWD/o" SCALE=ci
    fails "DATA=$name" 2 "a folder whose name has no" make -s -f "$root/Makefile" -n flambda-decisions "DATA=$PWD/$name" "OUT=$PWD/o"
done
ok 'nothing of it ran' test ! -e pwned -a ! -e "$root/pwned"
done_testing
