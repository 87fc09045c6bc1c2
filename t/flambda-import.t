#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > v0.sexp <<'S'
((((At_call_site ((A camlA) f 1) 2 ((B camlB) g' 7)) (At_call_site TOP_LEVEL 0 ((A camlA) f 1))) ((B camlB) g' 7) false)
 (((At_call_site TOP_LEVEL 0 ((A camlA) f 1)) (Enter_decl TOP_LEVEL ((A camlA) h 3))) ((A camlA) f 1) true))
S
is 'V0 decisions, outermost step first' "(decisions (program p) (form v0)
  (site (path <camlA__f__1@0> <camlB__g'__7@2>) (callee camlB__g'__7) (inline false))
  (site (path {camlA__h__3} <camlA__f__1@0>) (callee camlA__f__1) (inline true)))" flambda-import --program=p v0.sexp
cat > v1.sexp <<'S'
((1 ((At_call_site (() ((A camlA) (Over_application 4) (((A camlA) (Plain_apply 3) ()))) (() () ((unknown unknown) unknown 0) () ()))))
  ((A camlA) (Over_application 4) (((A camlA) (Plain_apply 3) ()))) Specialise (() () ((unknown unknown) unknown 0) () ())))
S
is 'V1 decisions: paths of apply ids, rounds, unknown callees' "(decisions (form v1)
  (site (path <camlA__Apply[3]/camlA__Over[4]>) (callee unknown) (action specialise) (round 1)))" flambda-import v1.sexp
is 'only one round' '(decisions (form v1))' flambda-import --round=0 v1.sexp
for f in v0 v1; do flambda-import $f.sexp > $f.1; is "canonical $f comes out as it went in" "$(cat $f.1)" flambda-import $f.1; done
is 'a result record, fields in any order, with minutes' '(decisions (form v0) (time_seconds 24.5 80.59979999999999))' \
    bash -c "echo '((benchmark ((raw_execution_time (24.5s 1.34333m)))) (decisions ()) (id 3))' | flambda-import"
is 'no decisions' '(decisions)' bash -c "echo '()' | flambda-import"
is 'quoted atoms in the core dialect' '(decisions (form v0)
  (site (path "<camlA__say\"hi\"__1@0>") (callee "camlA__say\"hi\"__1") (inline true)))' \
    bash -c $'echo \'((((At_call_site TOP_LEVEL 0 ((A camlA) "say\\"hi\\"" 1))) ((A camlA) "say\\"hi\\"" 1) true))\' | flambda-import'
is 'bare quotes in the compiler dialect' '(decisions (form v0)
  (site (path "<camlA__anon[\"a.ml\":3]__1@0>") (callee "camlA__anon[\"a.ml\":3]__1") (inline true)))' \
    bash -c $'echo \'((((At_call_site TOP_LEVEL 0 ((A camlA) anon["a.ml":3] 1))) ((A camlA) anon["a.ml":3] 1) true))\' | flambda-import --dialect=compiler'
fails 'a git-LFS pointer is no data' 1 'lfs.sexp: .*LFS pointer|lfs pointer' bash -c "echo 'version https://git-lfs.github.com/spec/v1' > lfs.sexp; flambda-import lfs.sexp"
fails 'an empty file' 1 'none.sexp: empty input' bash -c ': > none.sexp; flambda-import none.sexp'
fails 'a truncated file' 1 'cut.sexp:.*unclosed' bash -c 'head -c 60 v0.sexp > cut.sexp; flambda-import cut.sexp'
fails 'a bad time names its line' 1 "bad.sexp:2:.* '12x' is not a time" bash -c "printf '((decisions ())\n(benchmark ((raw_execution_time (12x)))))' > bad.sexp; flambda-import bad.sexp"
fails 'something else' 1 'neither decisions' bash -c "echo '((a b))' | flambda-import"
fails 'a call without a step' 1 'a site without a path' bash -c "echo '(decisions (site (callee f) (inline true)))' | flambda-import"
fails 'blanks in a step' 1 'one word without blanks' bash -c "echo '(decisions (site (path \"a b\") (inline true)))' | flambda-import"
python3 - > deep.sexp <<'P'
n = 100000
print('(' + '(Declaration ((declared (() () ((A camlA) f 1)))(children (' * n + '))))' * n + ')')
P
is 'a tree 100 000 deep' '(decisions (form v1))' flambda-import deep.sexp
done_testing
