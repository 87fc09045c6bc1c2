#!/bin/bash
. "$(dirname "$0")/tap.sh"
head='file,expression,form,round,n_decisions,n_lost,n_decl,n_inlined,n_apply,n_unknown,depth'
cat > d <<'S'
(decisions
 (site (path a) (callee f) (inline true))
 (site (path a b) (callee g) (inline false))
 (site (path a b c) (callee h) (inline true))
 (site (path {m} d) (callee unknown) (inline true))
 (site (path a) (callee f) (inline false)) (site (path e) (callee f) (inline true) (round 1)))
S
is 'counts: one decision is lost below a call, an existing node wins' "$head
d,0,plain,0,5,1,1,2,1,1,2" flambda-tree --stat d
is 'every round' "$head
d,0,plain,0,5,1,1,2,1,1,2
d,0,plain,1,1,0,0,1,0,0,1" flambda-tree --stat --rounds d
is 'the tree of live sites, first seen first' '(
  (Inlined ((func f) (path (a)) (children (
          (Apply ((func g) (path (b))))))))
  (Decl ((func m) (children (
          (Inlined ((func unknown) (path (d)) (children ()))))))))' flambda-tree --order=seen d
flambda-tree d > original
is 'it can be read again' "$head
original,0,expanded,,0,0,1,2,1,1,2" flambda-tree --stat original
if [ -n "${MILLRACE_DATA:-}" ] || [ -d "$root/../shared/data" ]; then
    need_data inline/decisions-v1
    flat() { tr -s ' \n' '  ' < "$1" | tr -d '\n' | sed 's/( /(/g; s/ )/)/g; s/ (/(/g; s/) /)/g; s/ $//'; }
    flambda-tree "$DATA/inline/decisions-v1/inlining_tree_a.sexp" > a
    flat "$DATA/inline/decisions-v1/inlining_tree_a.sexp" > want.flat
    flat a > got.flat
    ok 'the published tree comes out as it went in' cmp want.flat got.flat
    is 'with its 534 nodes' '534' bash -c "flambda-tree --stat a | awk -F, 'NR == 2 { print \$7 + \$8 + \$9 }'"
    is 'rounds of the published decisions' '41 1 6' bash -c "flambda-tree --stat --rounds '$DATA/inline/decisions-v1/lens-1.sexp' | awk -F, 'NR > 1 { printf \"%s%s\", s, \$5; s = \" \" } END { print \"\" }'"
    is 'trees of the 16 variants of a V0 generation: 12 differ' 12 bash -c "for i in {0..15}; do flambda-tree '$DATA'/inline/decisions-v0/0/results_\$i.sexp | md5sum; done | sort -u | wc -l"
fi
fails 'a node without children' 1 'a tree node without \(children' bash -c "echo '((Declaration ((declared (() () ((A camlA) f 1))))))' | flambda-tree"
fails 'an unknown node' 1 'not a node of a tree' bash -c "echo '((Declaration ((declared (() () ((A camlA) f 1)))(children ((Decl ()))))))' | flambda-tree"
# every call by its stable path
cat > t <<'S'
((Apply_inlined_function ((applied (() () ((A camlA) f 1) () ())) (apply_id ((A camlA) (Plain_apply 1) ())) (children (
  (Apply_non_inlined_function ((applied (() () ((B camlB) g 2) () ()))
    (apply_id ((B camlB) (Plain_apply 3) (((A camlA) (Plain_apply 1) ()) ((A camlA) (Over_application 2) ()))))))))))) 
S
is 'a step of two sites gets an inlined node for its prefix' '(
  (Inlined ((func (() () ((A camlA) f 1) () ())) (path (((A camlA) (Plain_apply 1)))) (children (
          (Inlined ((func (() () ((expanded expanded) expanded 0) () ())) (path (((A camlA) (Plain_apply 1)) ((A camlA) (Over_application 2)))) (children (
                  (Apply ((func (() () ((B camlB) g 2) () ())) (path (((A camlA) (Plain_apply 1)) ((A camlA) (Over_application 2)) ((B camlB) (Plain_apply 3)))))))))))))))' flambda-tree --expand t
is 'counts' $'file,expression,pass,n_nodes\nt,0,0,2\nt,0,1,3' flambda-tree --expand --count --passes=1 t
cat > u <<'S'
((Apply_inlined_function ((applied (() () ((A camlA) f 1))) (apply_id ((A camlA) (Plain_apply 1))) (children (
  (Apply_non_inlined_function ((applied (() () ((B camlB) g 2))) (apply_id ((B camlB) (Plain_apply 3))))))))))
S
fails 'ids without parents are refused by name' 1 'u: apply ids without parents .*camlB__Apply.3.> inside <camlA__Apply.1' flambda-tree --expand u
fails 'V0 cannot be expanded' 1 'only V1' bash -c "echo '((((At_call_site TOP_LEVEL 0 ((A camlA) f 1))) ((A camlA) f 1) true))' | flambda-tree --expand"
if [ -n "${MILLRACE_DATA:-}" ] || [ -d "$root/../shared/data" ]; then
    need_data inline/decisions-v1/kb-1-parents.sexp
    is 'the published node counts after every pass' '1840 2007 1959 2006 2006 1986 1956' \
        bash -c "flambda-tree --expand --count '$DATA/inline/decisions-v1/kb-1-parents.sexp' | awk -F, 'NR > 1 { printf \"%s%s\", s, \$4; s = \" \" } END { print \"\" }'"
fi
# and back
cat > e <<'S'
((Inlined ((func (() () ((A camlA) f 1) () ())) (path (((A camlA) (Plain_apply 1)))) (children (
  (Inlined ((func (() () ((expanded expanded) expanded 0) () ())) (path (((A camlA) (Plain_apply 1)) ((A camlA) (Over_application 2)))) (children (
    (Apply ((func (() () ((B camlB) g 2) () ())) (path (((A camlA) (Plain_apply 1)) ((A camlA) (Over_application 2)) ((B camlB) (Plain_apply 3)))))))))))))))
S
is 'nodes that expansion put in are gone, paths become parents' '(
  (Apply_inlined_function ((applied (() () ((A camlA) f 1) () ())) (apply_id ((A camlA) (Plain_apply 1) ())) (children (
          (Apply_non_inlined_function ((applied (() () ((B camlB) g 2) () ())) (apply_id ((B camlB) (Plain_apply 3) (((A camlA) (Plain_apply 1) ()) ((A camlA) (Over_application 2) ())))))))))))' flambda-tree --collapse e
flambda-tree --expand --passes=1 <(flambda-tree --collapse e) > again
is 'expanding again gives the expanded tree' "$(flambda-tree e)" cat again
fails 'V1 trees are refused' 1 'not an expanded tree but tree-v1' bash -c 'flambda-tree --collapse e | flambda-tree --collapse'
if [ -n "${MILLRACE_DATA:-}" ] || [ -d "$root/../shared/data" ]; then
    need_data inline/decisions-v1/kb-1-parents.sexp
    flambda-tree --expand "$DATA/inline/decisions-v1/kb-1-parents.sexp" > kb.e
    flambda-tree --collapse kb.e > kb.v1
    flambda-tree --expand --passes=2 kb.v1 > kb.again
    ok 'so it does for the published decisions' cmp kb.e kb.again
fi
fails 'two at once' 2 'one too many' flambda-tree --expand --stat t
is 'nothing is expanded to nothing' '()' bash -c 'echo "()" | flambda-tree --expand'
done_testing
