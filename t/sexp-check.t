#!/bin/bash
. "$(dirname "$0")/tap.sh"
check() { sexp-check "$@" 2>&1; echo $?; }
is "sound" 0 check <<< '(a (b)) ; comment'
is "one, with a head" 0 check --one --head=a <<< '(a (b))'
is "blanks only are sound" 0 check <<< ' ; nothing'
is "an unclosed list, with the line where it was opened" $'sexp-check: (stdin):3:1: unclosed list, opened at line 1\n1' check <<< $'(a\n(b)'
is "a parenthesis too many" $'sexp-check: (stdin):1:4: unexpected \')\', no list is open\n1' check <<< '(a))'
is "an unclosed string" $'sexp-check: (stdin):1:2: unclosed string, opened here\n1' check <<< '("a)'
is "another head" $'sexp-check: (stdin):2: does not begin with (a\n1' check --head=a <<< $'(a)\n(b)'
is "two where one is wanted" $'sexp-check: (stdin):2: more than one expression\n1' check --one <<< $'(a)\n(b)'
is "none where one is wanted" $'sexp-check: -: no expression\n1' check --one <<< ';'
is "compiler output has no strings" 0 check --dialect=compiler <<< '("a)'
is "nothing at all" $'sexp-check: (stdin): empty input\n1' eval 'check < /dev/null'
is "a missing file is trouble" $'sexp-check: nothing: No such file or directory\n2' check nothing
is "a directory is trouble" $'sexp-check: .: is a directory\n2' check .
fails "a wrong option is trouble" 2 'no option' sexp-check --wrong
head -c 300000 /dev/zero | tr '\0' '(' > deep
head -c 300000 /dev/zero | tr '\0' ')' >> deep
is "300 000 lists inside each other" 0 check --one deep
done_testing
