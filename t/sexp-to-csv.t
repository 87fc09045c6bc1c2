#!/bin/bash
. "$(dirname "$0")/tap.sh"
cat > g <<'E'
(graph (name vgg)
 (tensor "a,b" 7 (bytes 12) (shape 2 3))
 (tensor c 8 (kind (param "x y")) (bytes 13) (empty)))
E
is "records below a key; columns in order of first appearance" $'name,item2,bytes,shape,kind,empty\n"a,b",7,12,2 3,,\nc,8,13,,"(param ""x y"")",' \
    sexp-to-csv --each=tensor --items=name g
is "chosen columns" $'bytes,nothing\n12,\n13,' sexp-to-csv --each=tensor -c bytes,nothing g
is "every top-level expression" $'a,b\n1,2\n,3' sexp-to-csv <<< '((a 1) (b 2)) ((b 3))'
is "all children" $'k,a\nx,1\ny,2' sexp-to-csv --each=. -c k,a <<< '(((k x) (a 1)) ((k y) (a 2)))'
is "keys of one path in several lists" $'a\n1\n2' sexp-to-csv --each=list/r <<< '(top (list (r (a 1))) (list (r (a 2))))'
is "no record: a header" item1 sexp-to-csv --each=none g
fails "a key twice" 1 "stdin.:2: the record has 'a' twice" sexp-to-csv <<< $'((a 1)\n(a 2))'
is "unless nobody asks for it" $'b\n3' sexp-to-csv -c b <<< '((a 1) (a 2) (b 3))'
is "lists of numbers and empty ones are items" $'item1,item2,item3,k\na,(2 3),(),1\nb,(),(1e3 x),' \
    sexp-to-csv <<< '(r a (2 3) () (k 1)) (r b () (1e3 x))'
is "the tensors of a network" 'scalar,(),5' eval 'printf "(graph (tensor 1 scalar () (at 5)))" | sexp-to-csv --each=tensor --items=id,name,shape -c name,shape,at | tail -n 1'
fails "an atom for a record" 1 'an atom where a record' sexp-to-csv <<< 'a'
is "lists that begin with no name are items" $'item1,item2,item3,k\n(),(64 3),((a) 1),2' sexp-to-csv <<< '(r () (64 3) ((a) 1) (k 2))'
for n in mlp vgg19 resnet50 unet; do
    ok "the graph of $n" eval "place-net $n --batch=2 > g.sexp && sexp-to-csv --each=tensor --items=tensor,name,role,bytes,type,shape -c tensor,name,bytes,shape g.sexp > t.csv"
    is 'has its tensors' "$(grep -c '(tensor ' g.sexp)" eval 'csv-calc --print=name t.csv | wc -l'
done
fails "an empty name" 2 'empty' sexp-to-csv -c a,,b g
# round trip over odd values
printf 'name,v,w\na b,1,"x ""y"""\n(),,p(q)\né;,x\\y,"1\n2"\n' > t
is "csv to s-expressions and back is the same table" "$(cat t)" eval 'sexp-from-csv --head=r --items=name t | sexp-to-csv --items=name'
done_testing
