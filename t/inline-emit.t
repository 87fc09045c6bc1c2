#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > d <<'S'
(decisions (site (path {camlA__h__3} <camlA__Apply[1]/camlB__Over[2]>) (callee camlB__g__7) (inline true)))
S
is 'V1: innermost first, parents from the path, five fields' '(
  (0 ((At_call_site (((() () ((A camlA) h 3) () ())) ((B camlB) (Over_application 2) (((A camlA) (Plain_apply 1) ()))) (() () ((B camlB) g 7) () ()))) (Enter_decl (() (() () ((A camlA) h 3) () ())))) ((B camlB) (Over_application 2) (((A camlA) (Plain_apply 1) ()))) Inline (() () ((B camlB) g 7) () ())))' inline-emit --form=v1 d
is 'V1 reads back' "$(flambda-import d | sed 's/decisions/& (form v1)/')" bash -c 'inline-emit --form=v1 d | flambda-import'
is 'another round' '2' bash -c 'inline-emit --form=v1 --round=2 d | sed -n "s/^  (\([0-9]*\) .*/\1/p"'
is 'simple overrides' '(
  (0 () ((Decl (camlA h)) (Apply (camlB (2)))) Inline))' inline-emit --form=simple d
fails 'what V0 cannot say is refused by name' 1 "camlB__Over.2.' cannot be written as V0" inline-emit --form=v0 d
fails 'live sites are no V1' 1 "'f:1:2' cannot be written as V1" bash -c "echo '(decisions (site (path f:1:2) (inline true)))' | inline-emit --form=v1"
fails 'the form must be said' 2 'see --form' inline-emit d
if [ -n "${MILLRACE_DATA:-}" ] || [ -d "$root/../shared/data" ]; then
    need_data inline/decisions-v1
    flat() { tr -s ' \n' '  ' < "$1" | sed 's/( /(/g; s/ )/)/g; s/ (/(/g; s/) /)/g; s/ $//'; }
    for f in kb-1 lens-1; do
        flat "$DATA/inline/decisions-v1/$f.sexp" > want.flat
        inline-emit --form=v1 "$DATA/inline/decisions-v1/$f.sexp" > $f.out
        flat $f.out > got.flat
        ok "the published $f comes out as it went in" cmp want.flat got.flat
    done
fi
done_testing
