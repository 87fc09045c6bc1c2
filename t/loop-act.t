#!/bin/bash
. "$(dirname "$0")/tap.sh"

printf 'problem\n(mm 112 208 256)\n' > p.csv
cut_tree() { sed -n '2s/.*\((tree.*)\),\([0-9]*\),.*/\1 \2/p'; }
walk() { loop-act --do="$1" p.csv | cut_tree; }
is 'the published list of this problem' \
    '(tree (for n 1 80 (for n 8 0 (for m 28 0 (for k 256 0 (for m 4 0 (for n 16 0 (mul A B) (acc T))))))) (for m 28 0 (for m 4 0 (for n 208 0 (write C))))) 1' \
    walk split_4,down,swap_down,down,split_16,swap_up,swap_up,swap_up,split_8,swap_down
is 'undo takes back the last action' "$(walk split_4,down)" walk split_4,down,swap_down,undo
is 'undo of everything is the start' "$(walk up)" walk split_4,down,undo,undo
is 'an illegal action changes nothing and is named' '1,1,up: the cursor is on the outermost loop' \
    bash -c 'loop-act --do=up,down p.csv | sed -n "2s/.*down,\([01],[01],up.*\)/\1/p"'
is 'undo of what was done to a given tree is that tree' "$(walk split_4,down | sed 's/ .$//')" \
    bash -c 'loop-act --do=split_4,down p.csv | csv-cut -c problem,tree | loop-act --do=down,undo | csv-cut -c tree | tail -1'
is 'undo works across calls' "$(walk split_4)" bash -c 'loop-act --do=split_4,down p.csv | loop-act --do=undo | sed -n "2s/.*\((tree.*)\),\([0-9]*\),.*/\1 \2/p"'
is 'a column is there once' "$(loop-act p.csv | head -1)" bash -c 'loop-act p.csv | loop-act --do=split_4 | loop-act --do=undo | head -1'
is 'without actions: the untiled nest, and what may be done' '(tree (for m 112 0 (for k 256 0 (for n 208 0 (mul A B) (acc T))) (for n 208 0 (write C)))),0,down' \
    bash -c "loop-act p.csv | csv-cut -c tree,cursor,mask | sed -n '2s/ swap_down split_4.*//p'"
for bad in '(mm 0 1 1)|must be at least 1' '(mm 1 1)|lacks the size k' '(mm 1 1 1 1)|too many sizes' '(foo 1)|unknown kind' \
           '(mm 1 1 x)|not an integer' '(mm 2147483648 1 1)|more than' '(mm 4 4 4 (order m n))|names 2 of 3' 'mm|a problem is' \
           '(nest (sizes (a 2)) (A a) (B a) (C a a))|C must have' '(mm 1 1 1|'; do
    printf 'problem\n"%s"\n' "${bad%%|*}" > bad.csv
    fails "refused: ${bad%%|*}" 1 "${bad#*|}" loop-act bad.csv
done
printf 'x\n1\n' > none.csv
fails 'no column problem' 1 "problem" loop-act none.csv
printf 'problem,action\n(mm 8 8 8),split_4\n(mm 8 8 8),down\n' > a.csv
is 'actions from a column' 'split_4 down' bash -c "loop-act a.csv | csv-cut -c actions | tail -n +2 | paste -sd ' '"
fails 'an unknown action' 1 "unknown action 'fly'" bash -c 'loop-act --do=fly p.csv'
printf 'problem,actions\n(mm 8 8 8),\n(mm 8 8 8),fly\n' > f.csv
for f in 'act --do=down' 'observe --prev5'; do
    fails "loop-$f: an unknown action before" 1 "f.csv:3: column 'actions': unknown action 'fly'.* pack_b" loop-$f f.csv
done
fails 'split_1 is none' 1 "unknown action 'split_1'" bash -c 'loop-act --do=split_1 p.csv'
bad() { printf 'problem,tree,cursor\n(mm 8 8 8),"%s",%s\n' "$1" "${2:-0}" > t.csv; }
good='(tree (for m 2 0 (for k 8 0 (for n 8 0 (mul A B) (acc T)))))'
bad '(tree (for m 1 4 (for m 4 0 (for k 8 0 (for n 8 0 (mul A B) (acc T))) (for n 8 0 (write C)))))'
fails 'a tail as large as the block' 1 'tail 4 of a loop of m is not less than its block of 4' loop-act --do=up t.csv
bad '(tree (for m 8 9 (for k 8 0 (for n 8 0 (mul A B) (acc T) (write C)))))'
fails 'a tail larger than the loop' 1 'tail 9' loop-act --do=up t.csv
bad '(tree (for m 9 0 (for k 8 0 (for n 8 0 (mul A B) (acc T))) (for n 8 0 (write C))))'
fails 'a wrong extent' 1 'the loops of m make 9, its size is 8' loop-act --do=up t.csv
bad '(tree (for m 8 0 (for k 8 0 (for n 8 0 (mul A B) (acc T)))))'
fails 'no write' 1 'no .write C.' loop-act --do=up t.csv
bad '(tree (for m 8 0 (for k 8 0 (for n 8 0 (mul A B) (acc T))) (for n 8 0 (write C))))' 7
fails 'a cursor beyond the loops' 1 'cursor 7 is on no loop' loop-act --do=up t.csv
bad '(tree (for q 8 0 (write C)))'
fails 'an unknown variable' 1 "no variable 'q'" loop-act --do=up t.csv
done_testing
