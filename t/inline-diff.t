#!/bin/bash
. "$(dirname "$0")/tap.sh"
echo '(decisions (site (path a) (callee f) (inline true)) (site (path a b) (callee g) (inline false)) (site (path c) (inline true)))' > x
echo '(decisions (site (path a) (callee f) (inline true)) (site (path a b) (callee g) (inline true)) (site (path {m} d) (inline false)))' > y
is 'the same' site,a,b inline-diff x x
is 'differences: in both, only in a, only in b' 'site,a,b
a b,apply,inlined
c,inlined,
{m},,decl
{m} d,,apply' bash -c 'inline-diff x y; [ $? = 1 ]'
is 'was x obeyed?' 'site,a,b
a b,apply,inlined
c,inlined,' bash -c 'inline-diff --asked x y; [ $? = 1 ]'
is 'a tree is compared with decisions' site,a,b bash -c "printf '((((At_call_site TOP_LEVEL 0 ((A camlA) f 1))) ((A camlA) f 1) true))' > v; flambda-tree v | inline-diff - v"
fails 'two files' 2 'two files are compared, 1 given' inline-diff x
fails 'one expression each' 2 'more than one expression' bash -c 'cat x x > xx; inline-diff xx y'
fails 'a missing file is trouble' 2 'nosuch' inline-diff x nosuch
done_testing
