#!/bin/bash
. "$(dirname "$0")/tap.sh"

printf 'problem\n(mm 112 208 256)\n' > p.csv
loop-act --do=down p.csv > n.csv
obs() { loop-observe "$@" n.csv > o.csv; }
obs --loops
is '200 numbers' 200 bash -c "head -1 o.csv | tr , '\n' | grep -c '^f'"
is 'loop k: the cursor, 256, half of the strides in bucket 0 and half in 8' '1,256,0,1,0.5,0.5' bash -c "csv-cut -c f20,f21,f22,f23,f24,f32 o.csv | tail -1"
obs --stride
is 'strides: how often 1 and 256' '6015744,28784,0' bash -c "csv-cut -c s0,s8,s31 o.csv | tail -1"
obs --prev5
is 'the last action, one-hot' '0,1,0' bash -c "csv-cut -c p0,p1,p8 o.csv | tail -1"
obs --tree
ok 'the cursor is marked in the tree' grep -q 'for k_1 in 256 : L1  <<<<<< cursor' o.csv
obs --ir-tree
ok 'the tree as a graph' grep -q '(node L1 (type 1) (name k) (size 256) (tail 0) (vectorize 0) (unroll 0) (cursor 1))' o.csv
obs --ir-graph
ok 'with the strides of the data' grep -q '(edge L0 D0 (type 4) (stride 256))' o.csv
obs --ir-graph --form=dot
ok 'as dot' grep -q 'digraph nest' o.csv
obs --ir
ok 'the nodes with their orders' grep -q '(write C m n (order (m 112 0) (n 208 0)))' o.csv
obs --loops --scale=log
is '320 scaled numbers, all small' 'ok' awk -F, 'NR == 2 { for (i = NF - 319; i <= NF; i++) if ($i < 0 || $i > 3) bad = 1; print bad ? "bad" : "ok" }' o.csv
obs --runtime --flops
ok 'runtime and GFLOPS belong together' awk -F, 'NR == 2 { r = $(NF-1) * $NF * 1e9 / (2 * 112 * 208 * 256); exit !(r > 0.999 && r < 1.001) }' o.csv
done_testing
