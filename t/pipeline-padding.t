#!/bin/bash
# padding: products with a zero are left out, also at borders in loops; texts of problems that would be C, or endless
. "$(dirname "$0")/tap.sh"

# 3 x 3 pixels, windows of 3 x 3 with zeros around: 7 x 7 of 9 x 9 products have no zero; strided: 5 x 5 of 6 x 6
for s in '16 3 3 16 3 3 1 49' '16 4 4 16 3 3 2 25' '16 5 5 16 3 3 2 49'; do
    printf 'problem\n(conv_nhwc 1 %s (pad 1))\n' "${s% *}" > pad.csv
    loop-act pad.csv | loop-emit --plan=plan > /dev/null
    is "zeros are left out of ${s% *}" "$((16 * ${s##* }))" eval "sed -n '/ avx512 /,\$s/.*; macs \([0-9]*\),.*/\1/p' plan"
done
# dilated: rows that read the same zeros are one loop, so that loops are of few kinds; 22, 28 and 22 of 28 rows are read
echo 'problem,tree
"(nest (sizes (y 28) (x 28) (m 16) (p 3) (q 3)) (A (pad 6 6 (+ y (* 6 p))) (pad 6 6 (+ x (* 6 q)))) (B p q m) (C y x m))","(tree
(for y 28 0 (for x 4 4 (for p 3 0 (for q 3 0 (for x 6 0 (for m 16 0 (mul A B) (acc T))))))) (for y 28 0 (for x 28 0 (for m 16 0
(write C)))))"' > apart.csv
loop-emit --plan=plan apart.csv > /dev/null
is 'zeros are left out of windows with holes' $((72 * 72)) eval "sed -n '/ avx512 /,\$s/.*; macs \([0-9]*\),.*/\1/p' plan"
# channels are faster than columns and have no zeros: no image is copied
printf '%s\n' problem '(conv_nhwc 1 64 28 28 64 3 3 1 (pad 1))' \
    '(nest (sizes (c 48) (y 9) (x 9) (p 3) (q 3)) (A (pad 1 0 (+ (* 2 y) p)) (pad 1 0 (+ (* 2 x) q)) c) (B p q c) (C y x c))' \
    '(nest (sizes (y 9) (x 9) (g 4) (m 8) (c 8) (p 3) (q 2)) (A (pad 2 2 (+ y (* 2 p))) (pad 1 1 (+ x q)) g c) (B p q g c m) (C y x g m))' > last.csv
loop-emit --plan=plan last.csv > /dev/null
is 'images with their channels last' 6 grep -c '^A as it lies, zeros left out' plan
is 'are right' 1 eval 'loop-search --algo=heuristic --measure=3 --quiet last.csv | csv-cut -c problem,tree | loop-run --quiet | csv-cut -c checked | tail -n +2 | sort -u'
# windows outside of many channels, in loops: the last row or column leaves out its last steps, but not those before
{ echo problem,tree
  for out in 'ho 3 0' 'ho 2 1'; do
      set -- $out; in=$(( (9 - $3) / $2 ))
      for zeros in 1 '0 1' '0 1 0 1' '1 0 1 0'; do
          case $zeros in 1) size='9 9';; '0 1') size='11 9';; *) size='10 10';; esac
          echo "\"(conv 1 16 $size 24 3 3 1 (pad $zeros))\",\"(tree (for ho $2 $3 (for m 1 8 (for wo 9 0 (for kh 3 0 (for kw 3 0" \
               "(for c 16 0 (for ho $in 0 (for m 16 0 (for n 1 0 (mul A B) (acc T)))))))))) (for n 1 0 (for ho 9 0 (for wo 9 0" \
               "(for m 24 0 (write C))))))\""
      done
  done; } > windows.csv
for isa in avx2 avx512; do
    grep -q "$isa" /proc/cpuinfo || { skip "no $isa" 'loops of windows'; continue; }
    is "loops of windows at borders, $isa" 8 eval "loop-run --quiet --isa=$isa windows.csv | csv-cut -c checked | grep -c 1"
done
# a problem is quoted in C text: nothing in it may end the comment, or stand in a second (sizes ..)
printf '%s\n' problem '"(nest (sizes (m 8) (n 8) (k 8)) (A m k) (B k n) (C m n) (sizes ""*/ int x; /*""))"' > evil.csv
fails 'a second (sizes ..) with C in it' 1 'evil.csv:2' loop-emit --c=evil.c evil.csv
printf '%s\n' problem '"(nest (sizes (m 8) (n 8) (""*/x"" 8)) (A m ""*/x"") (B ""*/x"" n) (C m n))"' > evil.csv
fails 'a variable called so' 1 'evil.csv:2' loop-emit --c=evil.c evil.csv
ok 'no C text was written' [ ! -e evil.c ]
{ echo problem; printf '"(nest (sizes (m 8) (n 8) (k 8)) (A '; for i in {1..20000}; do printf '(* 1 '; done; printf m; for i in {1..20000}; do printf ')'; done; echo ' k) (B k n) (C m n))"'; } > deep.csv
fails 'factors inside each other 20000 deep' 1 'deep.csv:2' loop-emit deep.csv
printf '%s\n' problem '"(nest (sizes (m 65537) (n 8) (k 8)) (A (* 16777216 (* 16777216 m)) k) (B k n) (C m n))"' > far.csv
fails 'a stride beyond 64 bits' 1 'far.csv:2' loop-emit far.csv
done_testing
