#!/bin/bash
. "$(dirname "$0")/tap.sh"

printf 'problem,x\n(mm 16 8 4),1\n' > p.csv
is 'the untiled nest' 'problem,x,tree,cursor,mask,actions
(mm 16 8 4),1,(tree (for m 16 0 (for k 4 0 (for n 8 0 (mul A B) (acc T))) (for n 8 0 (write C)))),0,down swap_down split_4 split_8 split_16 split_2 split_5 unroll vectorize parallel pack_a pack_b,' loop-reset p.csv
printf 'problem\n"(nest (sizes (a 3) (b 4) (c 5)) (A a c) (B c b) (C a b) (order c b a))"\n' > g.csv
is 'a general nest in its own order' '(tree (for c 5 0 (for b 4 0 (for a 3 0 (mul A B) (acc T)))) (for b 4 0 (for a 3 0 (write C))))' \
    bash -c "loop-reset g.csv | sed -n 2p | sed 's/.*\((tree.*)\),0,.*/\1/'"
for bad in '(mm 0 1 1)|must be at least 1' '(mm 1 1)|lacks the size k' '(mm 1 1 1 1)|too many sizes' '(foo 1)|unknown kind' \
           '(mm 1 1 x)|not an integer' '(mm 2147483648 1 1)|more than' '(mm 4 4 4 (order m n))|names 2 of 3' 'mm|a problem is' \
           '(nest (sizes (a 2)) (A a) (B a) (C a a))|C must have' '(mm 1 1 1|'; do
    printf 'problem\n"%s"\n' "${bad%%|*}" > bad.csv
    fails "refused: ${bad%%|*}" 1 "${bad#*|}" loop-reset bad.csv
done
printf 'x\n1\n' > none.csv
fails 'no column problem' 1 "problem" loop-reset none.csv
done_testing
