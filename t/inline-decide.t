#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > s.csv <<'X'
program,callee,chain,legal,heat,verdict
p,f,main:1:2,yes,10,yes
p,g,f:3:4 @ main:1:2,yes,5,0.9
p,h,f:4:4,yes,5,0.1
p,va,f:5:4,no,5,yes
p,i,f:6:4,yes,5,
X
is 'yes, no and numbers, from the outside in' '(decisions (program p)
  (site (path main:1:2) (callee f) (inline true))
  (site (path main:1:2 f:3:4) (callee g) (inline true))
  (site (path f:4:4) (callee h) (inline false)))' inline-decide -c verdict s.csv
is 'another bound' 1 bash -c 'inline-decide -c verdict --over=0.95 s.csv | grep -c "inline true"'
is 'hot calls only' 1 bash -c 'inline-decide -c verdict --heat=6 s.csv | grep -c "inline true"'
cat > h.csv <<'X'
callee,chain,legal,log_heat_ratio,predicted,inlined
f,main:1:2,yes,0,yes,no
g,main:2:2,yes,-20,yes,no
h,main:3:2,yes,-20,no,yes
X
is 'what is not hot goes by another column' 'true false true' bash -c "inline-decide --hot=-10 --otherwise=inlined h.csv | grep -o 'inline [a-z]*' | cut -c8- | paste -sd ' '"
is 'or is not inlined' 'true false false' bash -c "inline-decide --hot=-10 h.csv | grep -o 'inline [a-z]*' | cut -c8- | paste -sd ' '"
cat > calls.sexp <<'X'
(decisions (site (path main:1:2) (callee f) (inline false)) (site (path g:9:9 main:1:2) (callee f) (inline false))
  (site (path x:1:1 main:1:2) (callee f) (inline true)) (site (path main:3:2) (callee h) (inline false)))
X
is 'copies are decided as the call they are copies of' '(decisions (program "")
  (site (path main:1:2) (callee f) (inline true))
  (site (path g:9:9 main:1:2) (callee f) (inline true))
  (site (path x:1:1 main:1:2) (callee f) (inline true))
  (site (path main:3:2) (callee h) (inline false)))' inline-decide --calls=calls.sexp h.csv
fails 'neither word nor number' 1 "s.csv:2: column 'program': 'p' is not yes, no or a number" inline-decide -c program s.csv
fails 'no verdict' 1 "no column 'predicted'" inline-decide s.csv
done_testing
