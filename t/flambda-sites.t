#!/bin/bash
. "$(dirname "$0")/tap.sh"
row() { echo "(((metadata(\"/Apply(camlA__Apply[1])\"))(int_features())(numeric_features((size $1)(b 2)))(bool_features((z $2))))$3)"; }
echo "($(row 3 true '(((inline(((immediate -0)(long_term -0.5E-06))))(no_inline(0.25))))') $(row 4 false '(((inline())(no_inline(1))))') $(row 5 true '()'))" > fft.sexp
want='program,site,size,b,z,immediate,long_term,no_inline
fft,/Apply(camlA__Apply[1]),3,2,1,-0,-5e-07,0.25
fft,/Apply(camlA__Apply[1]),4,2,0,,,1
fft,/Apply(camlA__Apply[1]),5,2,1,,,'
is 'pairs with both, one or no reward' "$want" flambda-sites fft.sexp
echo '(((path())(inline_reward(((immediate 1)(long_term 2))))(no_inline_reward()))
((path((Decl((A camlA) f 3))(Apply(((A camlA)(Plain_apply 1))((B camlB)(Stub))))))(inline_reward())(no_inline_reward(4))))' > r.sexp
is 'reward dumps with paths' 'program,site,immediate,long_term,no_inline
x,/,1,2,
x,{camlA__f__3} <camlA__Apply[1]/camlB__Stub>,,,4' flambda-sites --kind=rewards --program=x r.sexp
cat > log <<'L'
kb,correct = INLINE,predicted = APPLY,0.5,-1e-05,metadata = ['/Decl(L.anon-fn[l.ml:5,2--3]/7)/Apply(camlL__Apply[1])']
kb,correct = APPLY,predicted = APPLY,0.0,0.25,metadata = ["/Decl(L.k'/5)/Apply(camlL__Apply[1])"]
L
is 'logs: commas and primes in the metadata' "program,site,long_term,no_inline,correct,predicted
kb,\"/Decl(L.anon-fn[l.ml:5,2--3]/7)/Apply(camlL__Apply[1])\",0.5,-1e-05,INLINE,APPLY
kb,/Decl(L.k'/5)/Apply(camlL__Apply[1]),0.0,0.25,APPLY,APPLY" flambda-sites --kind=log log
fails 'a reward dump is no list of pairs' 1 'd.sexp:1: a reward dump where' bash -c "echo '(((inline())(no_inline())))' > d.sexp; flambda-sites d.sexp"
{ echo "("; row 3 true '()'; row 1 true '()' | sed 's/(b 2)/(c 2)/'; echo ")"; } > e.sexp
fails 'other features' 1 "e.sexp:3: feature 'c' where the first row has 'b'" flambda-sites e.sexp
fails 'a line that is none' 1 "l2:2: not a line of a training log" bash -c '(head -1 log; echo) > l2; flambda-sites --kind=log l2'
fails 'a git-LFS pointer' 1 'git-lfs pointer' bash -c "echo 'version https://git-lfs.github.com/spec/v1' | flambda-sites -"
if [ -n "${MILLRACE_DATA:-}" ] || [ -d "$root/../shared/data" ]; then
    need_data inline/features-v3
    is 'the published pairs: rows, with both rewards, distinct features of those' '3911 1146 201' bash -c "flambda-sites '$DATA'/inline/features-v3/*.sexp |
        awk -F, 'NR > 1 { n++; if (\$(NF - 1) != \"\" && \$NF != \"\") { both++; k = \$0; sub(/^[^,]*,[^,]*,/, \"\", k); sub(/,[^,]*,[^,]*,[^,]*\$/, \"\", k); seen[k] } } END { print n, both, length(seen) }'"
fi
# --standardise
row() { echo "(((int_features())(numeric_features((size $1)(dead 7)))(bool_features((y $2)(z false))))())"; }
echo "($(row 1 true) $(row 3 false))" > fft.sexp
is 'prepared: dead columns dropped, numeric ones standardised' 'program,site,size,y,immediate,long_term,no_inline
fft,,-1,1,,,
fft,,1,0,,,' flambda-sites --standardise --scale=s.csv fft.sexp
is 'what was kept' 'column,type,kept,mean,deviation
size,numeric,1,2,1
dead,numeric,0,7,0
y,flag,1,0.5,0.5
z,flag,0,0,0' cat s.csv
fails 'a flag that is none' 1 "'maybe' is not true or false" bash -c "sed s/true/maybe/ fft.sexp | flambda-sites -"
if [ -n "${MILLRACE_DATA:-}" ] || [ -d "$root/../shared/data" ]; then
    need_data inline/features-v3
    flambda-sites --standardise --scale=s.csv "$DATA"/inline/features-v3/*.sexp > f.csv
    is 'the published preparation: 64 and 115 columns, 27 and 47 kept' '64 27 115 47' awk -F, 'NR > 1 { n[$2]++; k[$2] += $3 } END { print n["numeric"], k["numeric"], n["flag"], k["flag"] }' s.csv
fi
done_testing
