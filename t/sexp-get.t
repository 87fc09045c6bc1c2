#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > g <<'E'
(graph (name vgg) (batch 64) ; comment
 (tensor "a b" (bytes 12) (shape 2 3))
 (tensor b (bytes 13)))
E
is "a value" 64 sexp-get -k batch g
is "a path: all that match, in order" $'12\n13' sexp-get -k tensor/bytes g
is "all items of a list" $'2\n3' sexp-get -k tensor/shape g
is "the list itself" $'(bytes 12)\n(bytes 13)' sexp-get -k tensor/bytes --whole g
is "an item by its number" $'"a b"\nb' sexp-get -k 'tensor/#1' g
is "atoms as text" $'a b\nb' sexp-get -k 'tensor/#1' --text g
is "a number alone" vgg eval "sexp-get -k '#1/#1' g"
is "several files" $'64\n64' sexp-get -k batch g g
is "several expressions" $'1\n(2 3)' sexp-get -k a <<< '(x (a 1)) (y (a (2 3)))'
is "compiler output" $'x;"y' sexp-get --dialect=compiler --text -k a <<< '((a x;"y))'
fails "nothing found" 1 "nothing found at 'tensor/none'" sexp-get -k tensor/none g
fails "an item beyond the end is nothing" 1 'nothing found' sexp-get -k 'tensor/#9' g
fails "an unclosed list" 1 'stdin.:2:1: unclosed list, opened at line 1' sexp-get -k a <<< '(a (b)'
fails "no path" 2 'no path' sexp-get g
fails "an empty step" 2 'step is empty' sexp-get -k a//b g
fails "a wrong number" 2 '# and a number' sexp-get -k '#x' g
done_testing
