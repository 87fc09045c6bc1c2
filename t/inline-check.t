#!/bin/bash
. "$(dirname "$0")/tap.sh"
head=file,expression,finding,site
is 'sound decisions' "$head" bash -c "echo '(decisions (site (path a) (callee f) (inline true)) (site (path {m} b) (callee f) (inline false)))' | inline-check"
cat > bad <<'S'
(decisions (site (path a) (callee f) (inline false)) (site (path a b) (callee f) (inline true))
 (site (path a) (callee f) (inline true)) (site (path a b) (callee f) (inline true))
 (site (path c d) (callee f) (inline false)) (site (path <camlA__Apply[1]>) (callee unknown__unknown__0) (inline true)))
S
is 'every finding is named' "$head
bad,0,contradictory,a
bad,0,repeated,a b
bad,0,lost,a b
bad,0,lost,a b
bad,0,unreached,c d
bad,0,unknown,<camlA__Apply[1]>" bash -c 'inline-check bad; [ $? = 1 ]'
fails 'trouble is 2' 2 'neither decisions' bash -c "echo '((x))' | inline-check"
cat > v1 <<'S'
((Apply_inlined_function ((applied (() () ((A camlA) f 1))) (apply_id ((A camlA) (Plain_apply 1))) (children (
  (Apply_non_inlined_function ((applied (() () ((A camlA) g 2))) (apply_id ((A camlA) (Plain_apply 2))))))))))
S
is 'ids without parents' "$head
v1,0,parentless,<camlA__Apply[1]> <camlA__Apply[2]>" bash -c 'inline-check v1; [ $? = 1 ]'
done_testing
