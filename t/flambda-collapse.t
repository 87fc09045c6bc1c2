#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > e <<'S'
((Inlined ((func (() () ((A camlA) f 1) () ())) (path (((A camlA) (Plain_apply 1)))) (children (
  (Inlined ((func (() () ((expanded expanded) expanded 0) () ())) (path (((A camlA) (Plain_apply 1)) ((A camlA) (Over_application 2)))) (children (
    (Apply ((func (() () ((B camlB) g 2) () ())) (path (((A camlA) (Plain_apply 1)) ((A camlA) (Over_application 2)) ((B camlB) (Plain_apply 3)))))))))))))))
S
is 'nodes that expansion put in are gone, paths become parents' '(
  (Apply_inlined_function ((applied (() () ((A camlA) f 1) () ())) (apply_id ((A camlA) (Plain_apply 1) ())) (children (
          (Apply_non_inlined_function ((applied (() () ((B camlB) g 2) () ())) (apply_id ((B camlB) (Plain_apply 3) (((A camlA) (Plain_apply 1) ()) ((A camlA) (Over_application 2) ())))))))))))' flambda-collapse e
flambda-expand --passes=1 <(flambda-collapse e) > again
is 'expanding again gives the expanded tree' "$(flambda-tree e)" cat again
fails 'V1 trees are refused' 1 'not an expanded tree but tree-v1' bash -c 'flambda-collapse e | flambda-collapse'
if [ -n "${MILLRACE_DATA:-}" ] || [ -d "$root/../shared/data" ]; then
    need_data inline/decisions-v1/kb-1-parents.sexp
    flambda-expand "$DATA/inline/decisions-v1/kb-1-parents.sexp" > kb.e
    flambda-collapse kb.e > kb.v1
    flambda-expand --passes=2 kb.v1 > kb.again
    ok 'so it does for the published decisions' cmp kb.e kb.again
fi
done_testing
