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
    { for d; do number 1 "$d"; done; number 2 1; text 8 "$name"; head -c "$bytes" /dev/zero | message 9; } | message 5
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
size=$(stat -c %s good.onnx)
cut_short() { local n; for ((n = 0; n < size; n++)); do head -c $n good.onnx > cut.onnx; place-import cut.onnx > o 2> e && return 1
    [ $? = 1 ] && [ -s e ] && [ ! -s o ] || return 1; done; }
ok 'every beginning of the file is refused' cut_short
printf 'hello, this is no model at all\n' > no.onnx
fails 'not ONNX' 1 'no.onnx: ' place-import no.onnx
done_testing
