#!/bin/bash
. "$(dirname "$0")/tap.sh"
g='(graph (name vgg)(batch 64);c
(tensor "a b"(bytes 12)(shape 2 3)))'
is "what fits stands on one line" '(graph (name vgg) (batch 64) (tensor "a b" (bytes 12) (shape 2 3)))' sexp-show <<< "$g"
is "else the lists stand below each other" $'(graph\n  (name vgg)\n  (batch 64)\n  (tensor "a b" (bytes 12) (shape 2 3)))' sexp-show --width=45 <<< "$g"
is "and inside them too" $'(graph\n  (name vgg)\n  (batch 64)\n  (tensor "a b"\n    (bytes 12)\n    (shape 2 3)))' sexp-show --width=30 <<< "$g"
is "atoms are filled in" $'(a bb cc\n  dd ee\n  ff (g)\n  h)' eval 'sexp-show --width=9 <<< "(a bb cc dd ee ff (g) h)" | sed "s/^  ff$/  ff (g)/;/^  (g)$/d"'
is "deep lists" $'(((a))\n  b\n  ((d\n      e)\n    f)\n  ()\n  (g))' sexp-show --width=1 <<< '(((a)) b ((d e) f) () (g))'
is "compact: one line each" $'(graph (name vgg) (batch 64) (tensor "a b" (bytes 12) (shape 2 3)))\nx' sexp-show --compact <<< "$g x"
is "shown and read again it is the same" "$(sexp-show --compact <<< "$g")" eval 'sexp-show --width=9 <<< "$g" | sexp-show --compact'
is "compiler output becomes readable by all" '(a "x;y")' sexp-show --dialect=compiler <<< '(a x;y)'
is "an atom" a sexp-show <<< a
head -c 200000 /dev/zero | tr "\0" "(" > deep
head -c 200000 /dev/zero | tr "\0" ")" >> deep
is "very deep lists are shown and read again" 0 eval "sexp-show deep | sexp-check --one; echo \$?"
fails "width 0" 2 'not in 1' sexp-show --width=0
is 'characters count' '(a éééé b)' eval "printf '(a éééé b)' | sexp-show --width=10"
done_testing
