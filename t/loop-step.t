#!/bin/bash
. "$(dirname "$0")/tap.sh"

step() { printf '%s\n' "$@" | loop-step --eval=model --problem='(mm 16 32 8)' --save=nest.csv > out; }
step split_4 down save quit
is 'the view shows the cursor' ' for m_1'"'"' in 4 : L1  <<<<<< cursor' grep -m1 "L1  <<<" out
is 'what was saved goes on' '(mm 16 32 8),(tree (for m 4 0 (for m 4 0 (for k 8 0 (for n 32 0 (mul A B) (acc T))) (for n 32 0 (write C))))),1,split_4 down' sed -n 2p nest.csv
step up
ok 'a refused action says why' grep -q 'the cursor is on the outermost loop' out
step split_4 undo undo
ok 'undo ends at the untiled nest' grep -q 'nothing to undo' out
fails 'an unknown action' 1 "unknown action 'jump'" bash -c 'echo jump | loop-step --eval=model'
fails 'a bad problem' 1 'problem: m is 0' loop-step --problem='(mm 0 1 1)'
done_testing
