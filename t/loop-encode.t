#!/bin/bash
. "$(dirname "$0")/tap.sh"

printf 'problem\n(mm 64 64 64)\n(point 8 8)\n' > p.csv
loop-reset p.csv | loop-act --do=split_8,down,swap_down,down,split_32,swap_up,swap_up,swap_up > n.csv
loop-encode --isa=avx512 n.csv > e.csv
is 'a tile of 8 rows and 2 vectors' '8,2,n,1,' bash -c 'csv-cut -c tile_rows,tile_vectors,vector,threads,reason e.csv | sed -n 2p'
is 'a reason where there is no code' ',only sums of products have code' bash -c 'csv-cut -c bytes,reason e.csv | sed -n 3p'
printf 'problem\n(mm 30 20 10)\n' > q.csv
is 'code is written' '53 55' bash -c "loop-encode --code=code q.csv > x; head -c 2 code | od -An -tx1 | sed 's/^ //'"
printf 'problem\n(mm_nt 30 20 10)\n' > nt.csv
fails 'raw code that needs more than its arguments' 1 'in another layout; loop-emit writes that' loop-encode --code=code nt.csv
is 'the bytes are as many as the column says' "$(wc -c < code)" bash -c 'csv-cut -c bytes x | tail -1'
if command -v cc > /dev/null; then
    loop-encode --c=nest.c q.csv > /dev/null
    ok 'the C text compiles' cc -c -O1 -w -o nest.o nest.c
fi
# 3 x 3 pixels, windows of 3 x 3 with zeros around: 7 x 7 of 9 x 9 products have no zero; strided: 5 x 5 of 6 x 6
for s in '1 3 3 16 3 3 1 (pad 1))" 49' '1 4 4 16 3 3 2 (pad 1))" 25' '1 5 5 16 3 3 2 (pad 1))" 49'; do
    printf 'problem\n"(conv_nhwc 1 %s\n' "${s% *}" > pad.csv
    loop-encode --isa=avx512 --c=pad.c pad.csv > /dev/null
    is "zeros are left out of ${s%)*})" "${s##* }" bash -c "grep -c 'MULTIPLY(c\|= MULTIPLY(' pad.c"
done
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
fails 'no code to write' 1 'no code to write: only sums' loop-encode --code=code n.csv
# a problem is quoted in C text: nothing in it may end the comment, or stand in a second (sizes ..)
printf '%s\n' problem '"(nest (sizes (m 8) (n 8) (k 8)) (A m k) (B k n) (C m n) (sizes ""*/ int x; /*""))"' > evil.csv
fails 'a second (sizes ..) with C in it' 1 'evil.csv:2' loop-encode --c=evil.c evil.csv
printf '%s\n' problem '"(nest (sizes (m 8) (n 8) (""*/x"" 8)) (A m ""*/x"") (B ""*/x"" n) (C m n))"' > evil.csv
fails 'a variable called so' 1 'evil.csv:2' loop-encode --c=evil.c evil.csv
ok 'no C text was written' [ ! -e evil.c ]
{ echo problem; printf '"(nest (sizes (m 8) (n 8) (k 8)) (A '; for i in {1..20000}; do printf '(* 1 '; done; printf m; for i in {1..20000}; do printf ')'; done; echo ' k) (B k n) (C m n))"'; } > deep.csv
fails 'factors inside each other 20000 deep' 1 'deep.csv:2' loop-encode deep.csv
printf '%s\n' problem '"(nest (sizes (m 65537) (n 8) (k 8)) (A (* 16777216 (* 16777216 m)) k) (B k n) (C m n))"' > far.csv
fails 'a stride beyond 64 bits' 1 'far.csv:2' loop-encode far.csv
done_testing
