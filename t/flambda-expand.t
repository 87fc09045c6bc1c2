#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > t <<'S'
((Apply_inlined_function ((applied (() () ((A camlA) f 1) () ())) (apply_id ((A camlA) (Plain_apply 1) ())) (children (
  (Apply_non_inlined_function ((applied (() () ((B camlB) g 2) () ()))
    (apply_id ((B camlB) (Plain_apply 3) (((A camlA) (Plain_apply 1) ()) ((A camlA) (Over_application 2) ()))))))))))) 
S
is 'a step of two sites gets an inlined node for its prefix' '(
  (Inlined ((func (() () ((A camlA) f 1) () ())) (path (((A camlA) (Plain_apply 1)))) (children (
          (Inlined ((func (() () ((expanded expanded) expanded 0) () ())) (path (((A camlA) (Plain_apply 1)) ((A camlA) (Over_application 2)))) (children (
                  (Apply ((func (() () ((B camlB) g 2) () ())) (path (((A camlA) (Plain_apply 1)) ((A camlA) (Over_application 2)) ((B camlB) (Plain_apply 3)))))))))))))))' flambda-expand t
is 'counts' $'file,expression,pass,n_nodes\nt,0,0,2\nt,0,1,3' flambda-expand --count --passes=1 t
cat > u <<'S'
((Apply_inlined_function ((applied (() () ((A camlA) f 1))) (apply_id ((A camlA) (Plain_apply 1))) (children (
  (Apply_non_inlined_function ((applied (() () ((B camlB) g 2))) (apply_id ((B camlB) (Plain_apply 3))))))))))
S
fails 'ids without parents are refused by name' 1 'u: apply ids without parents .*camlB__Apply.3.> inside <camlA__Apply.1' flambda-expand u
fails 'V0 cannot be expanded' 1 'only V1' bash -c "echo '((((At_call_site TOP_LEVEL 0 ((A camlA) f 1))) ((A camlA) f 1) true))' | flambda-expand"
if [ -n "${MILLRACE_DATA:-}" ] || [ -d "$root/../shared/data" ]; then
    need_data inline/decisions-v1/kb-1-parents.sexp
    is 'the published node counts after every pass' '1840 2007 1959 2006 2006 1986 1956' \
        bash -c "flambda-expand --count '$DATA/inline/decisions-v1/kb-1-parents.sexp' | awk -F, 'NR > 1 { printf \"%s%s\", s, \$4; s = \" \" } END { print \"\" }'"
fi
done_testing
