#!/bin/bash
. "$(dirname "$0")/tap.sh"
printf 'name,bytes,note\n"a b",12,\nc,,"say ""x"""\n' > t
is "records of pairs; empty fields are left out" $'((name "a b") (bytes 12))\n((name c) (note "say \\"x\\""))' sexp-from-csv t
is "a head and bare items" $'(tensor "a b" (bytes 12))\n(tensor c (note "say \\"x\\""))' sexp-from-csv --head=tensor --items=name t
is "one list around all" $'(graph\n  (tensor "a b" (bytes 12))\n  (tensor c (note "say \\"x\\"")))' sexp-from-csv --head=tensor --items=name --wrap=graph t
is "an empty bare item" $'(r "")' eval 'printf "a\n\"\"\n" | sexp-from-csv --head=r --items=a'
is "no rows, one list" '(graph)' eval 'head -1 t | sexp-from-csv --wrap=graph'
is "one column" $'((x 1))' eval 'printf "x\n1\n" | sexp-from-csv'
fails "items without a head" 2 'needs --head' sexp-from-csv --items=name t
fails "no such column" 1 "no column 'q'" sexp-from-csv --head=r --items=q t
done_testing
