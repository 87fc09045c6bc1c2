#!/bin/bash
# place-import.t - ONNX files: what is read, and what is refused with a name.  The files are written byte by byte.
. "$(dirname "$0")/tap.sh"
# varint N; field NUMBER WIRE; text NUMBER STRING and message NUMBER (stdin): with their length
byte() { printf "\\x$(printf %02x "$1")"; }
varint() { local n=$1; while [ "$n" -ge 128 ]; do byte $((n % 128 + 128)); n=$((n / 128)); done; byte "$n"; }
number() { varint $(($1 * 8)); varint "$2"; }
message() {
    local f=part.$1.$BASHPID
    cat > "$f"
    varint $(($1 * 8 + 2))
    varint "$(stat -c %s "$f")"
    cat "$f"
}
text() { printf %s "$2" | message "$1"; }
# input NAME DIM..   initialiser NAME BYTES DIM..   op TYPE OUT IN..
input() {
    local d name=$1
    shift
    { text 1 "$name"; { { number 1 1; for d; do number 1 "$d" | message 1; done | message 2; } | message 1; } | message 2; } |
        message 11
}
initialiser() {
    local d name=$1 bytes=$2
    shift 2
    { for d; do number 1 "$d"; done; number 2 1; text 8 "$name"; head -c "$bytes" /dev/zero | tr '\0' "${fill:-\0}" | message 9; } | message 5
}
op() { local i type=$1 out=$2; shift 2; { for i; do text 1 "$i"; done; text 2 "$out"; text 3 "$out"; text 4 "$type"; } | message 1; }
output() { text 1 "$1" | message 12; }
model() { cat | message 7; }

{ op MatMul h x w.weight; op Relu y h; initialiser w.weight 48 4 3; input x 2 4; output y; } | model > good.onnx
is 'a small network' '(graph (name onnx) (batch 2)
  (tensor 0 x arg 32 f32 (2 4))
  (tensor 1 w.weight arg 48 f32 (4 3))
  (tensor 2 h inter 24 f32 (2 3))
  (tensor 3 y inter 24 f32 (2 3))
  (node 0 h NdMatMul (in 0 1) (out 2) (attr (tb 0)) (flops 48) (bytes 104))
  (node 1 y NdUnary (in 2) (out 3) (attr (kind 0) (a 0)) (flops 0) (bytes 48)))' place-import --from=onnx good.onnx
# four nan as the beginning of a part (found by fuzzing)
nan() { { number 1 1; number 2 1; text 8 "$1"; printf '\377\377\377\377' | message 9; } | message 5; }
{ op Slice y x from to; nan from; initialiser to 4 1; input x 2 4; output y; } | model > nan.onnx
fails 'a part that begins at nan' 1 '[(]Slice[)]: a part that ends nowhere' place-import nan.onnx
is 'from standard input' "$(place-import good.onnx)" place-import --from=onnx - < good.onnx
refused() { fails "$1" 1 "$2" place-import bad.onnx; }
{ op Foo h x; op Bar g h; op Foo y g; input x 2; output y; } | model > bad.onnx
refused 'unknown operators, all at once' 'not known here: Foo Bar$'
{ op Relu y x; op Relu x y; output y; } | model > bad.onnx
refused 'a cycle' "node 'y' \(Relu\) reads 'x', which no earlier node"
{ op MatMul y x w; input x 2 4; output y; } | model > bad.onnx
refused 'a missing initialiser' "reads 'w', which no earlier node, input or init"
{ op Relu y x; input x 1000000000000 1000000000000; output y; } | model > bad.onnx
refused 'huge dimensions' "input 'x' .* too large"
{ op MatMul y x w; initialiser w 8 4000000000 4000000000; input x 2 4; output y; } | model > bad.onnx
refused 'values that are not there' "initialiser 'w' has 2 values for a shape of 16000000000000000000"
{ op MatMul y x w; initialiser w 8 2 1 ; input x 2 4; output y; } | model > bad.onnx
refused 'shapes that do not fit' 'matrices that do not fit'
{ op Relu y x; op Relu y x; input x 2; output y; } | model > bad.onnx
refused 'a name given twice' "'y' is given twice"
{ op Relu y x; input x 2; output z; } | model > bad.onnx
refused 'an output that no node gives' "no node gives the output 'z'"
{ op Add y x w; initialiser w 80 2 5 2; input x 3 4; output y; } | model > bad.onnx
refused 'no broadcasting' 'do not go together'
# what is trained: by name, or because it is said; what is not is named
{ op Add h x pos_embedding; op MatMul y h proj; initialiser pos_embedding 16 4; initialiser proj 48 4 3; input x 2 4; output y; } | model > names.onnx
ok 'what is not trained is named' eval 'place-import names.onnx 2>&1 > constant | grep -q "not trained.*: pos_embedding proj$"'
is 'and constant' 2 grep -c ' const ' constant
is 'said, it is a parameter' '  (tensor 1 pos_embedding arg 16 f32 (4) (trained 1))' eval 'place-import --parameters="pos|gamma" names.onnx 2> said | grep "tensor 1 "'
ok 'the other is named still' grep -q 'not trained.*: proj$' said
is 'and both are updated' 2 eval 'place-import --parameters=. names.onnx | place-grad | grep -c "updates"'
fails 'no regular expression' 2 "'[(]' is no regular expression" place-import --parameters='(' names.onnx
# integers divided are integers: 7 / 2 rows
whole() { local v=$2; { number 1 1; number 2 7; text 8 "$1"; { byte "$v"; head -c 7 /dev/zero; } | message 9; } | message 5; }
{ op Div k a b; op Concat k2 k b; op Reshape y x k2; whole a 7; whole b 2; input x 2 3; output y; } | model > div.onnx
is 'seven halves are three' 1 eval 'place-import div.onnx | grep -c "inter 24 f32 (3 2)"'
# values in a file beside the model; sequences
external() { { for d in "${@:5}"; do number 1 "$d"; done; number 2 1; text 8 "$1"
    { text 1 location; text 2 "$2"; } | message 13; { text 1 offset; text 2 "$3"; } | message 13; { text 1 length; text 2 "$4"; } | message 13; number 14 1; } | message 5; }
beside() { { op MatMul y x w.weight; external w.weight "$@" 4 3; input x 2 4; output y; } | model > ext.onnx; }
head -c 60 /dev/zero > ext.bin
beside ext.bin 8 48
ok 'values in a file beside' eval 'place-import ext.onnx | grep -q w.weight'
place-import ext.onnx | place-grad > step.sexp
place-cost --model=disk step.sexp > p.csv
place-plan -f fast -p p.csv step.sexp > plan.sexp
external_run() { place-run --plan=plan.sexp --tier=dram --steps=1 --warm=0 --values=ext.onnx "$@" step.sexp; }
ok 'and used' external_run
fails 'not written there' 1 "w.weight' lies in a file of its own" external_run --save=saved.onnx
# parameters that a plan keeps in slow memory are put there and taken from there
fill='<'
for i in 1 2 3 4 5 6; do op MatMul h$i "${p:-input}" w$i.weight; initialiser w$i.weight 262144 256 256; p=h$i; done > chain
{ cat chain; op Relu y $p; input input 4 256; output y; } | model > chain.onnx
unset fill
place-import chain.onnx | place-grad > chain.sexp
place-cost --model=disk --offload chain.sexp |
    awk -F, -v OFS=, 'NR > 1 && $2 != "Move" && ($4 $5) ~ /P/ { $6 = "staged"; $7 = 600000 } { print }' > chain.csv
place-plan -f static --process --offload --limit=22M -p chain.csv chain.sexp > chain.plan
is 'all of them, here' 6 grep -c '(slow 0 ' chain.plan
chain() { place-run --steps=2 --warm=0 --again=0 --values=chain.onnx --save="$1" "${@:2}" chain.sexp | csv-cut -c loss; }
is 'the same losses' "$(chain fast.onnx)" chain slow.onnx --plan=chain.plan --tier=dram
ok 'and the same is learned' cmp fast.onnx slow.onnx
learned() { ! cmp -s fast.onnx chain.onnx; }
ok 'something' learned
beside ext.bin 16 48
fails 'of which some are missing' 1 "'ext.bin' does not hold the 48 bytes of 'w.weight'" place-import ext.onnx
beside ../ext.bin 0 48
fails 'in a file elsewhere' 1 "'../ext.bin', which is not a file beside" place-import ext.onnx
beside none.bin 0 48
fails 'in a file that is not there' 1 "none.bin" place-import ext.onnx
{ op Conv y x w.weight; initialiser w.weight 48 2 2 3; input x 1 2 8; output y; } | model > conv1d.onnx
is 'a convolution of sequences' '1 2 6' eval 'place-import conv1d.onnx | sed -n "s/.*tensor . y inter [0-9]* f32 (\([0-9]* [0-9]* [0-9]*\)).*/\1/p" | tail -1'
# what would be another network: integers read as floats, attributes that nobody reads, operators of other versions
with() { local i type=$1 out=$2; shift 2; { for i; do text 1 "$i"; done; text 2 "$out"; text 3 "$out"; text 4 "$type"; cat; } | message 1; }
attr() { { text 1 "$1"; number 3 "$2"; } | message 5; }
attr_ints() { { text 1 "$1"; local v; for v in "${@:2}"; do number 8 "$v"; done; } | message 5; }
attr_text() { { text 1 "$1"; text 4 "$2"; } | message 5; }
longs() { local v name=$1 dims=$2; { for v in $dims; do number 1 "$v"; done; number 2 7; text 8 "$name"
    for v in "${@:3}"; do byte "$v"; head -c 7 /dev/zero; done | message 9; } | message 5; }
opset() { { text 1 ''; number 2 "$1"; } | message 8; }
shapes() { place-import "$1" 2> /dev/null | sed -n 's/.*tensor [0-9]* \([a-z]\) inter [0-9]* f32 (\([0-9 ]*\)).*/\1 \2/p' | paste -sd,; }
whole_input() { { text 1 "$1"; { { number 1 7; for d in "${@:2}"; do number 1 "$d" | message 1; done | message 2; } | message 1; } | message 2; } | message 11; }
{ attr to 1 | with Cast c x; op MatMul y c w.weight; initialiser w.weight 48 4 3; whole_input x 2 4; output y; } | model > bad.onnx
refused 'integers that become floats' "node 'c' [(]Cast[)]: an operand that is not of floats"
{ op Add c x one; op MatMul y c w.weight; longs one '' 1; initialiser w.weight 48 4 3; whole_input x 2 4; output y; } | model > bad.onnx
refused 'a sum of integers' "node 'c' [(]Add[)]: an operand that is not of floats"
{ attr axis 0 | with Gather y w.weight i; longs i '2 2' 0 1 2 3; initialiser w.weight 48 4 3; input x 2 4; output y; } | model > at.onnx
is 'indices in two dimensions' 'y 2 2 3' shapes at.onnx
{ op Slice s t from to axes; op MatMul h x w.weight; op Mul y h s; initialiser t 16 2 2; longs from 1 0; longs to 1 1; longs axes 1 1
  initialiser w.weight 48 4 3; input x 2 4; output y; } | model > column.onnx
is 'a column of a constant' 's 2 1,h 2 3,y 2 3' shapes column.onnx
pool() { { attr_ints kernel_shape 2 2; attr_ints dilations "$1" "$1"; } | with MaxPool y x; input x 1 2 8 8; output y; }
pool 1 | model > at.onnx
is 'a pool' 'y 1 2 7 7' shapes at.onnx
pool 2 | model > bad.onnx
refused 'a pool with dilations' 'a pool with dilations'
softmax() { { op MatMul h x w.weight; with Softmax y h; initialiser w.weight 48 4 3; input x "$@"; output y; } | model; }
{ softmax 5 2 4 < /dev/null; opset 13; } > at.onnx
is 'a softmax along the last axis' 'h 5 2 3,y 5 2 3' shapes at.onnx
{ softmax 5 2 4 < /dev/null; opset 11; } > bad.onnx
refused 'over all axes from the second on, before opset 13' 'a softmax over several axes'
{ softmax 5 1 4 < /dev/null; opset 11; } > bad.onnx
refused 'over the second' 'a softmax over several axes'
{ attr axis 2 | softmax 5 2 4; opset 11; } > at.onnx
is 'or the last' 'h 5 2 3,y 5 2 3' shapes at.onnx
resize() { { attr_text mode nearest; attr_text coordinate_transformation_mode asymmetric; attr_text nearest_mode "$1"; } |
    with Resize y x '' by; for i in 1 1 2 2; do [ $i = 1 ] && printf '\0\0\200\077' || printf '\0\0\0\100'; done > by
    { number 1 4; number 2 1; text 8 by; message 9 < by; } | message 5; input x 1 2 4 4; output y; }
resize floor | model > at.onnx
is 'each pixel twice' 'y 1 2 8 8' shapes at.onnx
resize ceil | model > bad.onnx
refused 'pixels that do not repeat alike' 'each pixel as often as the others'
{ { attr_ints output_shape 9 9; attr_ints strides 2 2; } | with ConvTranspose y x w.weight; initialiser w.weight 144 2 2 3 3
  input x 1 2 4 4; output y; } | model > bad.onnx
refused 'an attribute that nobody reads' 'output_shape, start, end or noop'
{ attr_text equation 'ij,Ij->i' | with Einsum y x z; input x 2 4; input z 3 4; output y; } | model > at.onnx
is 'letters of both sizes' 'y 2' eval 'shapes at.onnx | grep -o "y [0-9]*$"'
size=$(stat -c %s good.onnx)
cut_short() { local n; for ((n = 0; n < size; n++)); do head -c $n good.onnx > cut.onnx; place-import cut.onnx > o 2> e && return 1
    [ $? = 1 ] && [ -s e ] && [ ! -s o ] || return 1; done; }
ok 'every beginning of the file is refused' cut_short
printf 'hello, this is no model at all\n' > no.onnx
fails 'not ONNX' 1 'no.onnx: ' place-import no.onnx
done_testing
