#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > d.sexp <<'X'
(decisions (site (path main:1:2) (callee f) (inline false)) (site (path main:9:2 g:3:4) (callee f) (inline true))
  (site (path main:5:2) (callee h) (inline true)))
X
printf 'callee,chain,x\nf,main:1:2,1\nf,g:3:4,2\nh,main:5:2,3\nk,main:6:6,4\n' > s.csv
is 'by its own key, else by its copies, else not known' 'callee,chain,x,verdict
f,main:1:2,1,no
f,g:3:4,2,yes
h,main:5:2,3,yes
k,main:6:6,4,' inline-verdict --decisions=d.sexp s.csv
fails 'no decisions' 2 'no decisions' inline-verdict s.csv
fails 'a column that is there already' 1 "two columns would be called 'x'" inline-verdict --decisions=d.sexp -c x s.csv
done_testing
