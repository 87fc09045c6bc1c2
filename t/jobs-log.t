#!/bin/bash
. "$(dirname "$0")/tap.sh"
printf 'job,command\na,echo 1\nb,echo 2\nc,echo 3\n' > jobs.csv
jobs-do jobs.csv > a.csv
ok 'appends' jobs-log log.csv a.csv
is 'what jobs-do wrote, header once' "$(cksum < a.csv)" bash -c 'cksum < log.csv'
is 'from many tables below each other' 4 bash -c 'cat a.csv a.csv | jobs-log two.csv 2> /dev/null; wc -l < two.csv'
ok 'a second answer is noticed' bash -c "jobs-log log.csv a.csv 2>&1 | grep '3 jobs were answered twice'"
is 'and not kept' 4 bash -c 'wc -l < log.csv'
# every cut and every flipped byte: never a wrong answer, never a lost one that was whole
cut_anywhere() {
    local n size
    size=$(wc -c < a.csv)
    for ((n = 1; n < size; n += 3)); do
        rm -f cut.csv
        head -c $n a.csv | jobs-log --quiet cut.csv 2> /dev/null
        [ "$(head -c $n a.csv | grep -c '\n$\|^[abc],.*n$')" -ge "$(($(wc -l < cut.csv) - 1))" ] || { echo "cut at $n"; return 1; }
        cmp -s <(sed 1d cut.csv) <(head -c $n a.csv | sed -n '1!p' | head -$(($(wc -l < cut.csv) - 1))) || { echo "other bytes at $n"; return 1; }
    done
}
ok 'cut anywhere, only whole lines are answers' cut_anywhere
flip() {
    local i n=0
    for ((i = 60; i < $(wc -c < a.csv) - 1; i += 2)); do
        rm -f f.csv
        { head -c $i a.csv; printf '\001'; tail -c +$((i + 2)) a.csv; } | jobs-log --quiet f.csv 2> /dev/null
        [ "$(wc -l < f.csv)" -le 3 ] || { echo "byte $i changed and not noticed"; return 1; }
    done
}
ok 'a changed byte makes a line no answer' flip
(head -2 a.csv; head -3 a.csv | tail -1 | head -c 30; tail -1 a.csv) > mixed.csv
is 'a line mixed into another costs both, no more' a bash -c "jobs-log --quiet m.csv mixed.csv 2> /dev/null; sed 1d m.csv | cut -d, -f1"
# a torn log: what kill -9 left of the last line
head -c -9 log.csv > torn.csv
is 'a torn last line is written again' 4 bash -c "jobs-log --quiet torn.csv a.csv 2> /dev/null; wc -l < torn.csv"
ok 'with the same bytes' cmp torn.csv log.csv
printf 'job,command\na,sh -c "date +%%N"\n' | sed 's/"date/""date/; s/N"/N""/; s/,sh/,"sh/; s/$/"/; 1s/"//' > clock.csv
fails 'another answer to the same job is an error' 1 'different answers' bash -c "for i in 1 2; do jobs-do clock.csv; done | jobs-log clock.log"
is 'of which the first stays' 2 bash -c 'wc -l < clock.log'
fails 'no answers at all' 1 'empty input' jobs-log log.csv /dev/null
fails 'no log' 2 'no log given' jobs-log
fails 'a log that is another table' 1 'header' bash -c "echo x,y > other.csv; jobs-log other.csv a.csv"
mkdir folder
fails 'a folder' 1 'folder: Is a directory' jobs-log log.csv folder
done_testing
