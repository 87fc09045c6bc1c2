#!/bin/bash
. "$(dirname "$0")/tap.sh"

printf 'problem\n(mm 33 47 21)\n(mm_nt 16 40 8)\n(conv 1 3 9 9 5 3 3 2)\n(reduce 4 4)\n' > p.csv
loop-act --do=split_8,down,swap_down p.csv > n.csv
loop-run --cache=cache.csv n.csv > r.csv
is 'measured and checked, or a reason' '1,real,
1,real,
1,real,
0,real,only sums of products have code' bash -c 'csv-cut -c checked,kind,reason r.csv | tail -n +2'
ok 'gflops is operations over seconds' awk -F, 'NR == 2 { exit !($(NF-6) > 0) }' r.csv
# of a quotient of doubles the lower half may be a NaN, as a float
printf 'problem\n"(mm 16 16 8 (then (over 305) bias) (type f64))"\n' > over.csv
is 'doubles are compared as doubles' 1 bash -c 'loop-run over.csv | csv-cut -c checked | tail -n +2'
if command -v strace > /dev/null; then
    printf 'problem\n(mm 64 64 64)\n' > one.csv
    # each call of the system may leave no translation of an address behind: once before the check, after it, begin, end
    ok 'the system is not asked between runs' \
        bash -c 'strace -f -e trace=clock_gettime loop-run one.csv 2>&1 | grep -c THREAD_CPU | { read -r n; [ "$n" -gt 0 ] && [ "$n" -le 4 ]; }'
fi
loop-run --cache=cache.csv n.csv > s.csv
ok 'what the cache knows is not measured again' cmp r.csv s.csv
is 'one row for each nest with code' 4 bash -c 'wc -l < cache.csv'
printf 'torn' >> cache.csv
loop-run --cache=cache.csv n.csv > s.csv
ok 'a torn last row is dropped' cmp r.csv s.csv
printf 'a,b\n1,2\n' > foreign.csv
if [ -e "$B/t/shim.so" ] && ! sanitized; then
    fails 'a cache that cannot be read is not an empty one' 1 'cache.csv: Input/output error' env LD_PRELOAD="$B/t/shim.so" SHIM_WHAT=read-eio \
        SHIM_AT=1 SHIM_UNDER="$PWD/cache.csv" loop-run --cache="$PWD/cache.csv" n.csv
else skip 'a cache that cannot be read' 'no shim'; fi
fails 'a foreign cache' 1 'foreign.csv:1: not a store' loop-run --cache=foreign.csv n.csv
is 'and it is left alone' 'a,b
1,2' cat foreign.csv
printf 'precious' > raw
fails 'not even a file without lines' 1 'raw:1: not a store' loop-run --cache=raw n.csv
is 'is touched' 'precious' bash -c 'cat raw; echo'
loop-run --eval=model n.csv > m1.csv
loop-run --eval=model n.csv > m2.csv
ok 'the model says the same every time' cmp m1.csv m2.csv
if command -v cc > /dev/null; then
    loop-run --backend=c n.csv > c.csv
    is 'the emitted C is right, also where there is no code' 4 bash -c "csv-cut -c checked c.csv | grep -c 1"
    # what a folder for temporary files mounted noexec is seen as: a compiler that succeeds, a library that cannot be loaded
    printf '#!/bin/bash\nwhile [ $# -gt 0 ]; do [ "$1" = -o ] && : > "$2"; shift; done\n' > hollow && chmod +x hollow
    fails 'a library that cannot be loaded is an error, not 0 GFLOPS' 1 'cannot be loaded' env CC=./hollow loop-run --backend=c n.csv
fi
# as many places in its windows as A has elements, and still they overlap: 3 x 3 x 5 x 64 of 5 x 9 x 64
printf '%s\n' problem,tree '(nest (sizes (y 3) (x 5) (g 32) (m 2) (c 2) (p 3)) (A (+ y p) (* 2 x) g c) (B p c g m) (C y x g m)),(tree (for y 3 0 (for x 5 0 (for m 2 0 (for g 32 0 vectorize (for c 2 0 (for p 3 0 (mul A B) (acc T))) (write C))))))' > over.csv
is 'windows that overlap are not transposed' '0,"the vector variable is not in C and an input or in both inputs, or strides over a window"' \
    bash -c 'loop-run over.csv | csv-cut -c checked,reason | tail -n 1'
printf 'problem\n(mm 1 1 1)\n(mm 1 17 1)\n(conv 1 1 1 1 1 1 1 1)\n(mm_tt 1 1 300)\n' > ones.csv
is 'sizes of 1' '1 1 1 1' bash -c "loop-run ones.csv | csv-cut -c checked | tail -n +2 | paste -sd ' '"
printf 'problem,tree,cursor\n(mm 8 8 8),"(tree (for m 8 9 (for k 8 0 (for n 8 0 (mul A B) (acc T) (write C)))))",0\n' > tail.csv
fails 'a tail larger than the loop' 1 "tail.csv:2: column 'tree'.*tail 9" loop-run tail.csv
for bad in '0|must be at least 1' '2147483648|more than 16777216' '-1|must be at least 1' '99999999999999999999|not an integer'; do
    printf 'problem\n(mm 8 %s 8)\n' "${bad%%|*}" > size.csv
    fails "a size of ${bad%%|*}" 1 "size.csv:2: column 'problem'.*${bad#*|}" loop-run size.csv
done
printf 'problem\n(mm 16777216 16777216 16777216)\n' > size.csv
fails 'a tensor beyond all memory' 1 'more than 268435456 elements' loop-run size.csv
for size in '16384 16384 16777216 16777216' '1 1 16 16777216'; do
    printf 'problem\n(conv %s 1 1 1 16777216)\n' "$size" > size.csv
    fails "a convolution that reads one pixel of $size" 1 'size.csv:2.*268435456 elements' loop-run size.csv
done
fails 'a bad problem is named with its line' 1 'p.csv:2: column' bash -c "sed -i '2s/33/0/' p.csv; loop-run p.csv"
printf 'problem,tree\n(mm 64 64 64),\n(mm 64 64 64),\n' > twice
is 'as many fresh runs as asked for' '3 3' bash -c "loop-run --again=3 twice | awk -F, 'NR > 1 { print \$6 }' | paste -sd ' '"
printf "problem\n(mm 33 47 21)\n(mm_nt 16 40 8)\n" > two.csv
loop-search --algo=greedy1 --eval=model --seconds=0.01 --actions=published two.csv > trace
loop-run --rewrite --again=1 --rounds=1 trace > rewritten
is 'rewritten rows are the rows' "$(csv-cut -c problem,algo,step,tree trace)" csv-cut -c problem,algo,step,tree rewritten
is 'of kind real' 'real' bash -c "csv-cut -c kind rewritten | tail -n +2 | sort -u"
loop-run --rewrite --last --again=1 --rounds=1 trace > ends
is 'or only the last of each' "$(csv-cut -c problem trace | tail -n +2 | uniq | sort)" \
    bash -c "csv-where -c gflops --known ends | csv-cut -c problem | tail -n +2 | sort"
fails '--last alone' 2 'is for --rewrite' loop-run --last p.csv
# by the model: rows of B that lie half a way and a little apart crowd the first cache, rows of 2112 bytes do not; a long
# sum whose C leaves the second cache with each of twelve blocks is slower than one of four with B packed; of 2048 rows
# 2 KiB apart a panel does not stay in the second cache, 2112 bytes apart it does
tree() { echo "(tree (for k $1 (for n $2 (for m $3 (for k $4 0 (for m $5 0 (for n $6 0 (mul A B) (acc T)))))))$7"; }
cat > far.csv <<X
problem,tree
(mm 512 513 516),$(tree '4 0' '10 33' '64 0' 129 8 48 ' (for n 10 33 (for m 64 0 (for m 8 0 (for n 48 0 (write C))))))')
(mm 512 528 516),$(tree '4 0' '11 0' '64 0' 129 8 48 ' (for n 11 0 (for m 64 0 (for m 8 0 (for n 48 0 (write C))))))')
(mm 32 512 2048),$(tree '1 0' '10 32' '4 0' 2048 8 48 ' (for n 10 32 (for m 4 0 (for m 8 0 (for n 48 0 (write C))))))')
(mm 32 528 2048),$(tree '1 0' '11 0' '4 0' 2048 8 48 ' (for n 11 0 (for m 4 0 (for m 8 0 (for n 48 0 (write C))))))')
(mm 1500 384 1536),$(tree '12 0' '12 0' '125 0' 128 12 32 ' (for n 12 0 (for m 125 0 (for m 12 0 (for n 32 0 (write C))))))')
(mm 1500 384 1536),$(tree '4 0 pack_b' '12 0' '125 0' 384 12 32 ' (for n 12 0 (for m 125 0 (for m 12 0 (for n 32 0 (write C))))))')
X
if loop-run --isa=avx512 --eval=model far.csv > w.out 2> err; then
    is 'the model knows rows that crowd a cache, and sums that are written too often' 3 \
        bash -c "csv-calc --set='first=lag(gflops, 1)' w.out | sed -n '1p;3p;5p;7p' | csv-calc --where='1.033*first < gflops' | sed 1d | wc -l"
else
    skip 'the model of far rows' "$(head -c 100 err)"
fi
# what follows the sums of a C that is transposed at the end is no gift
cat > then.csv <<'X'
problem,tree
(mm_u8s8 128 768 768 (then bias gelu)),(tree (for k 2 0 pack_a (for n 64 0 (for m 4 0 (for k 96 0 (for n 12 0 (for m 32 0 vectorize (mul A B) (acc T))))))) (for m 4 0 (for m 32 0 (for n 768 0 (write C)))))
(mm_u8s8 128 768 768 (then bias gelu)),(tree (for m 16 0 (for n 16 0 (for k 192 0 (for m 8 0 (for n 48 0 (mul A B) (acc T)))))) (for m 128 0 (for n 768 0 (write C))))
X
if loop-run --isa=avx512 --eval=model then.csv > w.out 2> err; then
    is 'the model counts gelu after a transposition' 1 \
        bash -c "csv-calc --set='first=lag(gflops, 1)' w.out | sed -n '1p;3p' | csv-calc --where='first < gflops' | sed 1d | wc -l"
else
    skip 'the model of gelu' "$(head -c 100 err)"
fi
# weights in panels as wide as registers hold: a block of them touches neighbours, not a line for each column
cat > w.csv <<'X'
problem,tree
"(mm_bf16 1 768 768)","(tree (for n 1 320 (for k 384 0 (for n 448 0 (for m 1 0 (mul A B) (acc T))))) (for m 1 0 (for n 768 0 (write C))))"
"(mm_bf16 1 768 768)","(tree (for n 28 12 (for k 384 0 (for n 27 0 (for m 1 0 (mul A B) (acc T))))) (for m 1 0 (for n 768 0 (write C))))"
X
if loop-run --isa=avx512 --eval=model w.csv > w.out 2> err; then
    is 'the model does not take whole registers of packed weights for slow' 1 \
        bash -c "csv-calc --set='first=lag(gflops, 1)' w.out | csv-calc --where='2*first > gflops' | sed 1d | wc -l"
else
    skip 'the model of packed weights' "$(head -c 100 err)"
fi
# a block of columns that the registers hold but for one: its panels are those of the smaller tile that is used
echo problem,tree > tiles.csv
for m in 5 6 7 9 14; do
    for w in 16 32 48; do
        echo "(mm_u8s8 $m $((4 * w)) 64),(tree (for n 2 0 (for n 2 0 (for m $m 0 (for k 16 0 (for n $w 0 (mul A B) (acc T)))))) (for m $m 0 (for n $((4 * w)) 0 (write C))))"
    done
done >> tiles.csv
if loop-run --isa=avx512 --eval=model tiles.csv > w.out 2> err && loop-run --isa=avx512 tiles.csv > w.out 2> err; then
    is 'tiles of all heights and widths meet their panels' 15 eval 'csv-calc --where="checked == 1 || reason != \"\"" w.out | sed 1d | wc -l'
else
    is 'tiles of all heights and widths' "this machine has no avx512" eval 'sed "s/.*: //" err'
fi
fails 'measured twice over: not a table with two columns of a name' 1 "two columns would be called 'gflops'; csv-cut drops" \
    bash -c 'loop-gen --kind=mm --m=8 --n=8 --k=8 | loop-act | loop-run --quiet | loop-run --quiet'
done_testing
