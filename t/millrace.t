#!/bin/bash
# millrace: topics, the list, filters and pipelines by their name, the short ways
. "$(dirname "$0")/tap.sh"
# said by itself, from another folder, with nothing of ours on PATH
bare() { env PATH=/usr/bin:/bin "$BIN/millrace" "$@"; }
questions() { bare "$@" | grep -c '^  millrace \(compare\|profile\|inline\|kernel\|memory\) '; }
is 'alone: five questions' 5 questions
is 'and with help' 5 questions help
for topic in compare profile inline kernel memory tables pipelines; do ok "help $topic" eval "bare help $topic | grep -q ."; done
is 'help of a filter' "$("$BIN/csv-cut" --help)" bare help csv-cut
fails 'no such topic' 2 "no topic 'nothing'" bare help nothing
fails 'no such word' 2 "no 'nothing'" bare nothing
listed() { bare list | sed -n 's/^  \([a-z-]*\) .*/\1/p' | sort; }
is 'the list has every filter once' "$(cd "$root/bin" && ls *.c | sed 's/\.c$//' | grep -v '^millrace$' | sort)" listed
printf 'a,b\n1,2\n' > t.csv
is 'a filter by its name' $'b\n2' bare csv-cut -c b t.csv
fails 'its status is that of the filter' 1 'csv-cut: t.csv:1: ' bare csv-cut -c c t.csv
ok 'a pipeline by its name' eval 'bare bench-demo -n > /dev/null'
for word in or build data SCALE=ci ''; do fails "'$word' is none, though its help has the word" 2 "no '$word'" bare "$word"; done
ok 'one that is called as a filter' eval 'bare place-sweep OUT=o SCALE=test -n | grep -q "place-sweep --jobs-table"'
fails 'and as one of the questions' 2 'no file nowhere/program' bare inline PROGRAM=nowhere OUT=o
# every word of `help pipelines` that looks like a target is one
targets() { sed -n 's/^  \([a-z][a-z0-9 -]*[a-z0-9]\)   .*/\1/p' "$root/share/help/pipelines.txt" | tr ' ' '\n'; }
for t in $(targets); do
    make -s -C "$root" -n "$t" DATA="$PWD" DIR="$PWD" > /dev/null 2> err || ! grep -q 'No rule to make target' err || echo "$t"
done > absent
ok 'help pipelines names targets' eval '! grep . absent'
fails 'what is no pipeline is not made where the programs are' 2 'clean: no pipeline' make -s -f "$root/Makefile" clean
is 'compare, in filters' "bench-run --rounds=20 -o out/runs.csv --output-rule=same '--label=sleep 1' 'sleep 1' '--label=sleep 2' 'sleep 2'" \
    eval "bare compare -n -o out 'sleep 1' 'sleep 2' | sed -n 4p"
is 'where nobody named a folder, one that can be typed' 'mkdir -p compare' eval "bare compare -n 'sleep 1' 'sleep 2' | head -n 1"
ok 'a filter that fails leaves no half of a file' \
    bash -c '. "$0/pipelines/ways/common"; ! into half sh -c "echo x; exit 1" && [ ! -e half ]' "$root"
fails 'compare one' 2 'two commands are compared' bare compare 'sleep 1'
fails 'compare in no rounds' 2 "'0' is not in" bare compare --rounds=0 true true
ok 'no more is said of it' eval '! bare compare --rounds=0 true true 2>&1 | grep "different bytes"'
fails 'compare what prints different bytes' 1 'different bytes' bare compare --rounds=6 'seq 3' 'seq 4'
ok 'a sentence' eval "bare compare --rounds=6 'seq 90000' 'seq 1 90000' 2> /dev/null | head -1 | grep -q 'seq 1 90000 .* seq 90000'"
printf '#!/bin/sh\necho x >> %s/ran\necho "$1"\n' "$PWD" > tell
chmod +x tell
fails 'which is known after a round' 1 'any-output' bare compare --rounds=9 './tell a' './tell b'
is 'of one run each' 2 grep -c x ran
fails 'what fails in both prints no different bytes' 1 'went wrong' bare compare --rounds=3 false 'sh -c "exit 1"'
ok 'and is not told to' eval '! bare compare --rounds=3 false "sh -c \"exit 1\"" 2>&1 | grep any-output'
# a folder holds one comparison
rm ran
bare compare --rounds=3 -o again './tell 1' 'echo 1' > out 2> said
runs=$(grep -c x ran)
cp again/runs.csv first.csv
bare compare --rounds=3 -o again './tell 1' 'echo 1' > out 2> said
ok 'the same line again measures anew' eval '[ "$(grep -c x ran)" -ge $((runs + 4)) ]'      # a round before, three after
ok 'and what was there stays' cmp first.csv again/runs.before.csv
fails 'another comparison is refused' 2 'again holds another comparison: -o another folder' bare compare --rounds=3 -o again 'echo 1' './tell 1'
ok 'blanks before a command' eval "bare compare --rounds=6 ' seq 90000' '  seq 1 90000' 2> no | head -1 | grep -q 'seq 1 90000 .* seq 90000'"
printf 'build *.c\nsearch 1\nconfirm 2\n' > program
fails 'a folder whose name shells would run is refused by make' 2 "a folder whose name has no '&'" eval "mkdir 'a&touch pwned' && cp program 'a&touch pwned' && bare inline 'a&touch pwned'"
ok 'and nothing of it ran' test ! -e pwned
is 'kernel, in filters' 'loop-gen --test=0 --kind=mm --m=9 --n=8 --k=7 > ./mm_9_8_7.problem.csv' eval 'bare kernel -n mm 9 8 7 | sed -n 2p'
fails 'a kernel of too few sizes' 2 'mm takes 3 sizes: m n k' bare kernel mm 9 8
ok 'kernel' bare kernel -o k mm 9 8 7
if command -v gcc > /dev/null; then
    printf '#include "mm_9_8_7.h"\nint main(void) { return mm_9_8_7_test(); }\n' > k/main.c
    ok 'links and is right' eval 'gcc -o k/main k/main.c k/mm_9_8_7.o && k/main'
    ok 'from C too' eval 'gcc -O2 -o k/main k/main.c k/mm_9_8_7.c -lm && k/main'
fi
if command -v gcc > /dev/null; then
    ok 'a network' bare kernel -o net --set=bert --tokens=3
    { printf '#include "bert.h"\nint main(void) { return 0'; sed -n 's/^int \([A-Za-z0-9_]*_test\)(void);/ | \1()/p' net/bert.h; echo '; }'; } > net/main.c
    is 'of as many layers as the set has' "$(bare loop-gen --set=bert --test=0 | sed 1d | wc -l)" grep -c _test net/main.c
    ok 'its library is right' eval 'gcc -o net/main net/main.c -Lnet -lbert -Wl,-rpath,net && net/main'
fi
# a profile: what cannot begin costs nothing, the one before stays, and how the program ended comes last
fails 'profile what is not there' 2 'typo.py: no such script' bare profile typo.py
fails 'or no program' 2 'typo: no such program' bare profile typo
if [ -e "$(recorder)" ]; then
    for n in 1 2 3; do
        echo "raise SystemExit($n - 1)" > ends.py
        bare profile ends.py > out 2> said || echo $? >> statuses
    done
    is 'the program'"'"'s status' '1 2' eval 'xargs < statuses'
    is 'is said last' 'millrace profile: the program failed with status 2' tail -n 1 said
    is 'each profile is of one run' '1 1' eval 'echo $(ls profile/log/ev.* | wc -l) $(ls profile.before/log/ev.* | wc -l)'
    cp -a profile kept
    fails 'a name with a mistake' 2 'edns.py: no such script' bare profile edns.py
    ok 'leaves the profile as it was' diff -r kept profile
    is 'the one before that' 'events.csv log page.html top.csv' eval 'ls profile.before | xargs'
    rm -r kept profile/page.html
    cp -a profile.before kept
    bare profile ends.py > out 2> said
    ok 'one that was cut short does not take the place of a whole one' diff -r kept profile.before
fi
fails 'memory without a limit' 2 'how much memory' bare memory train.py
done_testing
