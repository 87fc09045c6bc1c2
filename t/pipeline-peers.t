#!/bin/bash
# make loop-peers: which problems it asks about, and what it makes of the passes, which are written here, not measured
. "${0%/*}/tap.sh"
out=$PWD/out
run() { make -s -C "$root" OUT="$out" B="$B" BIN="$BIN" LOOP_MACHINE=built-in LOOP_PEER_PASSES='1 2 3' "$@"; }
peers=$out/loop/peers
ok 'problems of the sets over a layout that is not ours' run "$peers"/{padded,packed,dilated,grouped,depthwise}.f32.0.problems
lines() { sed 1d "$peers/$1.f32.0.problems" | sort -u | grep -c "$2"; }
is 'those of ResNet-50 with zeros around, their weights packed or not' '8 8 8' \
    eval 'echo $(lines padded "(pad [13])),") $(lines packed "(pad [13]) (weights packed)),") $(sort -u "$peers"/p*.problems | grep -c conv | sed "s/16/8/")'
is 'dilated by 6, in groups, a filter a channel' '2 4 10' eval 'echo $(lines dilated "(\* 6 p)") $(lines grouped "(g 32)") $(lines depthwise "(B p q c)")'
# three passes: the best peer is that of the medians (y: 1.15), not the best of each pass (1.0, 1.3, 1.1)
mkdir -p "$peers"/pass{1,2,3}
touch "$peers"/{rows,padded}.f32.0.{problems,nests}
judged() { { echo problem,lib,ratio,kind; printf '%s,real\n' "${@:2}"; } > "$peers/$1.times"; }
judged pass1/rows.f32.0 p,ours,1 p,x,1.2 p,y,1.0 q,ours,1 q,x,.9 q,y,
judged pass2/rows.f32.0 p,ours,1 p,x,1.3 p,y,2.0 q,ours,1 q,x,.8 q,y,
judged pass3/rows.f32.0 p,ours,1 p,x,1.1 p,y,1.15 q,ours,1 q,x,1.5 q,y,
for i in 1 2 3; do judged pass$i/padded.f32.0 r,ours,1 r,onednn-any,1.$i; done
ok 'tables are made of what was measured' run loop-peers LOOP_PEER_SETS='rows.f32.0 padded.f32.0'
is 'each problem, its best peer, the median and the range of the passes, worst first' 'set,type,tokens,then,problem,over,passes,ratio,low_ratio,high_ratio,kind
rows,f32,0,,q,x,3,0.9,0.8,1.5,real
rows,f32,0,,p,y,3,1.15,1,2,real
padded,f32,0,,r,onednn-any,3,1.2,1.1,1.3,real' cat out/loop/peers-each.csv
is 'a row for a set' 'rows best 2 3 1.0173 0.9 q
padded onednn-any 1 3 1.2 1.2 r' eval "csv-calc --print=\"concat(set, ' ', over, ' ', problems, ' ', passes, ' ', round(ratio, 4), ' ',
    round(least_ratio, 4), ' ', least_problem)\" out/loop/peers.csv"
is 'every set is judged before the next pass begins' '1 1 2 2 3 3' eval "rm out/loop/peers*.csv out/loop/peers/*.{row,each,times} out/loop/peers/pass?/*; run -n loop-peers \
    LOOP_PEER_SETS='rows.f32.0 padded.f32.0' | grep '^loop-peer ' | grep -o 'pass[0-9]/[a-z]' | uniq | tr -dc '0-9\n' | paste -sd' '"
done_testing
