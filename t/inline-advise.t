#!/bin/bash
. "$(dirname "$0")/tap.sh"
export TMPDIR=$T
# a compiler of ours that asks three questions and prints the answers
cat > compiler <<'X'
#!/usr/bin/perl
my ($base) = map { /-inliner-interactive-channel-base=(.*)/ ? $1 : () } @ARGV;
open my $in, '<:raw', "$base.in" or die;
open my $out, '>:raw', "$base.out" or die;
select((select($out), $| = 1)[0]);
my $mode = $ARGV[0];
exit 3 if $mode eq 'dies';
if ($mode eq 'garbage') { print $out "hello\n"; sleep 5 }
if ($mode eq 'names') { print $out '{"features":[{', join(',', ('"name":"x"') x 3000), "}]}\n"; sleep 5 }
if ($mode eq 'endless') { print $out 'x' x 3_000_000; sleep 5 }
print $out '{"features":[{"name":"cost_estimate","type":"int64_t","port":0,"shape":[1]},{"name":"users","type":"int64_t"}],"advice":{"name":"d"}}', "\n{\"context\":\"\"}\n";
my @cost = (100, 300, -5);
for my $k (0 .. 2) {
    print $out "{\"observation\":$k}\n", pack('q2', $cost[$k], 10 * $k), "\n";
    exit 4 if $mode eq 'stops' && $k == 1;
    read($in, my $a, 8) == 8 or die;
    print unpack('q', $a), "\n";
}
exit($mode eq 'fails' ? 7 : 0);
X
chmod +x compiler
is 'a threshold' $'1\n0\n1' inline-advise --threshold=225 -- ./compiler ok
is 'a negative one' $'0\n0\n1' inline-advise --threshold=-4 -- ./compiler ok
is 'nothing by default' $'0\n0\n0' inline-advise -- ./compiler ok
inline-advise --threshold=225 --log=q.csv -- ./compiler ok > /dev/null
is 'the log is a table of features' $'query,inline,cost_estimate,users\n0,yes,100,0\n1,no,300,10\n2,yes,-5,20' cat q.csv
printf 'users,inline\n0,yes\n1,yes\n19,no\n20,no\n' | fit-boost -y inline --rounds=20 --least=0 -o m.sexp
is 'a model decides by the names of its features' $'1\n1\n0' inline-advise --model=m.sexp -- ./compiler ok
status() { "$@" > /dev/null 2>&1; echo $?; }
is "the compiler's status is ours" 7 status inline-advise -- ./compiler fails
is 'a compiler that dies before it asks' 3 status inline-advise -- ./compiler dies
is 'a compiler that stops in the middle' 4 status inline-advise -- ./compiler stops
fails 'another protocol' 1 'sent no list of features' inline-advise -- ./compiler garbage
fails 'more names than there is room for, all in one feature' 1 'sent no list of features' inline-advise -- ./compiler names
fails 'a line without an end' 1 'a line without an end' timeout 20 inline-advise -- ./compiler endless
sed 's/users/nope/' m.sexp > n.sexp
fails 'a feature that is not there' 1 "no feature 'nope'" timeout 20 inline-advise --model=n.sexp -- ./compiler ok
if [ -e "$B/t/shim.so" ] && ! sanitized; then
    fails 'questions that cannot be read' 1 'cannot be read' timeout 20 env LD_PRELOAD="$B/t/shim.so" SHIM_WHAT=read-eio SHIM_AT=3 \
        SHIM_ONLY=inline-advise inline-advise --threshold=225 -- ./compiler ok
else skip 'questions that cannot be read' 'no shim'; fi
fails 'no compiler' 1 'nosuch: no such program; clang 17' inline-advise -- nosuch
fails 'no command' 2 'no compiler command' inline-advise
is 'nothing is left behind' 0 bash -c 'ls -d millrace-advise.* 2> /dev/null | wc -l'
if command -v clang-19 > /dev/null; then
    cp -r "$root/data/demo" demo
    ok 'clang-19 asks and obeys' bash -c 'cd demo && inline-advise --threshold=225 --log=../r.csv -- clang-19 -O2 main.c table.c -o ../a.out'
    ok 'about every call it may inline' test "$(wc -l < r.csv)" -gt 5
    ok 'the model that ships knows its features' bash -c "cd demo && inline-advise \
        --model='$root/share/policies/advise.model' --log=../s.csv -- clang-19 -Oz main.c table.c -o ../b.out"
    is 'and tells calls apart' $'no\nyes' bash -c 'csv-cut -c inline s.csv | tail -n +2 | sort -u'
    ok 'that program works' bash -c './b.out sort < demo/main.c | grep -q "words, .* distinct"'
    ok 'and the program works' bash -c './a.out sort < demo/main.c | grep -q "words, .* distinct"'
else
    skip 'clang-19 asks and obeys' 'clang-19 is not here'
fi
done_testing
