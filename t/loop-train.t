#!/bin/bash
. "$(dirname "$0")/tap.sh"

loop-gen --kind=mm --m=64,128 --n=64,128 --k=64,128 --test=0.25 > p.csv
train() { loop-train --quiet --eval=model --seed=3 "$@" p.csv; }
train --steps=2500 -o a > a.csv
train --steps=2500 -o b > b.csv
ok 'the same seed, the same curve' cmp a.csv b.csv
ok 'and the same policy' cmp a b
is 'columns' 'episode,steps,updates,return,explore,loss,states,kind' head -1 a.csv
ok 'states are remembered' awk -F, 'END { exit !($7 < $2) }' a.csv
ok 'seven actions as published' bash -c 'loop-train --quiet --eval=model --actions=published --steps=1100 -o s p.csv > s.csv && grep -q "(actions up down swap_up swap_down split_4 split_8 split_16)" s'

# killed as soon as there is a checkpoint, and started again
train --steps=8000 -o whole > whole.csv
ok 'it learns: the last return is well above the first' awk -F, 'NR == 2 { a = $4 } END { exit !(NR == 9 && $4 > a + 0.05) }' whole.csv
train --steps=8000 --checkpoint=c -o part > part.csv &
pid=$!
for ((i = 0; i < 2000; i++)); do [ ! -e c ] || break; sleep 0.01; done
kill -9 $pid
wait $pid 2> /dev/null
is 'no policy is left by a training that was killed' 1 bash -c '[ -e part ]; echo $?'
train --steps=8000 --checkpoint=c -o part > part2.csv
ok 'it goes on and ends with the same policy' cmp whole part
is 'the rest of the curve follows' "$(tail -1 whole.csv | cut -d, -f1-6)" bash -c 'tail -1 part2.csv | cut -d, -f1-6'
fails 'a checkpoint of another seed' 1 'another training' loop-train --eval=model --seed=4 --steps=8000 --checkpoint=c -o x p.csv
head -c 300 a > cut
fails 'a file that is no checkpoint' 1 'not a checkpoint' train --checkpoint=cut -o x
fails 'no place for the policy' 2 'output' loop-train p.csv
printf 'problem,split\n(mm 64 64 64),test\n' > none.csv
fails 'nothing to learn from' 1 'no problem' loop-train -o x none.csv
fails 'a size of 0' 1 'none.csv:2' bash -c 'printf "problem\n(mm 64 0 64)\n" > none.csv; loop-train -o x none.csv'
done_testing
