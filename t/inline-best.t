#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > r.csv <<'C'
site,immediate,no_inline,callee
/,0.5,,
a,1,2,f
a b,4,1,g
a c,,3,h
{m},0,,
{m} d,1,1,
C
# a: 1 + 0.5 (4 + 3) = 4.5 > 2; d is a tie, so it is called; root: 0.5 + 0.5 (4.5 + 0 + 0.5)
is 'the best decisions' '(decisions (program p)
  (site (path a) (callee f) (inline true))
  (site (path a b) (callee g) (inline true))
  (site (path a c) (callee h) (inline false))
  (site (path {m} d) (callee unknown) (inline false)))' inline-best --gamma=0.5 --program=p --report=rep.csv --rewards=rw.csv r.csv
is 'value and counts' 'key,value value,3 n_inlined,2 n_apply,2 n_decl,1 n_ties,1 n_one_sided,1' paste -sd' ' rep.csv
is 'rewards of all nodes' 'site,immediate,long_term,no_inline,margin,decision
/,0.5,3,,,decl
a,1,4.5,2,2.5,inline
a b,4,4,1,3,inline
a c,,,3,,apply
{m},0,0.5,,,decl
{m} d,1,1,1,0,apply' cat rw.csv
# mean: a = 1 + 0.5 * 3.5 = 2.75; root = 0.5 + 0.5 * (2.75 + 0.5) / 2
is 'the mean over children' 1.3125 bash -c "inline-best --gamma=0.5 --children=mean --report=rep.csv r.csv > out; sed -n 's/^value,//p' rep.csv"
is 'a call that is not reached is not written' '(decisions
  (site (path a) (callee unknown) (inline false)))' bash -c "printf 'site,immediate,no_inline\n/,0,\na,0,9\na b,1,0\n' | inline-best"
is 'only calls of which both sides were tried' '2' bash -c "printf 'site,immediate,no_inline\n/,0,\na,9,1\nb,1,\nc,1,2\n' | inline-best --both | grep -c site"
fails 'children after parents' 1 'x.csv:3: .*comes before the one around it' bash -c "printf 'site,immediate,no_inline\n/,0,\na b,1,0\na,0,9\n' > x.csv; inline-best x.csv"
fails 'the root comes first' 1 'the root, /, is the first site' bash -c "printf 'site,immediate,no_inline\na,0,\n' | inline-best"
fails 'a site twice' 1 "site 'a' occurs twice" bash -c "printf 'site,immediate,no_inline\n/,0,\na,0,1\na,0,1\n' | inline-best"
done_testing
