#!/bin/bash
# place-import.t - ONNX files: what is read, and what is refused with a name.  The files are written byte by byte.
. "$(dirname "$0")/tap.sh"
# varint N; field NUMBER WIRE; text NUMBER STRING and message NUMBER (stdin): with their length
byte() { local hex; printf -v hex '\\x%02x' "$1"; printf "$hex"; }
varint() { local n=$1; while [ "$n" -ge 128 ]; do byte $((n % 128 + 128)); n=$((n / 128)); done; byte "$n"; }
number() { varint $(($1 * 8)); varint "$2"; }
message() {
    perl -e 'local $/; my $s = <STDIN> // ""; for my $n ($ARGV[0] * 8 + 2, length $s) {
        while ($n >= 128) { print chr($n % 128 + 128); $n = int($n / 128) } print chr $n } print $s' "$1"
}
text() { local LC_ALL=C; varint $(($1 * 8 + 2)); varint ${#2}; printf %s "$2"; }
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
# losses of small networks, beside logits that were computed by hand
words() { perl -e 'print pack "f<*", @ARGV' -- "$@"; }
wholes() { perl -e 'print pack "l<*", @ARGV' -- "$@"; }
floats() { { for d in $2; do number 1 "$d"; done; number 2 1; text 8 "$1"; words "${@:3}" | message 9; } | message 5; }
# stored NAME TYPE FIELD 'DIMS': values as they are, from stdin, in a field for numbers of that type
stored() { { for d in $4; do number 1 "$d"; done; number 2 "$2"; text 8 "$1"; message "$3"; } | message 5; }
trains() { place-import "$1" 2> /dev/null | place-grad ${2-} | place-run --quiet --steps=1 --warm=0 --again=0 --values="$1" \
    --value=x=x.bin --value=labels=labels.bin | csv-calc --print='round(loss * 10000)'; }
# mean_loss 'LABELS' CLASSES LOGITS..
mean_loss() { perl -e 'my @l = split " ", shift; my ($n, $s, $rows) = (shift, 0, scalar @l);
    for my $l (@l) { my @x = splice @ARGV, 0, $n; my $t = 0; $t += exp($_) for @x; $s += log($t) - $x[$l] }
    printf "%.0f\n", 1e4 * $s / $rows' -- "$@"; }
eye() { floats fc.weight '3 3' 1 0 0  0 1 0  0 0 1; }
words 0.7 0 -1.4  2.6 -0.3 0.2 > x.bin
wholes 0 1 > labels.bin
two_rows() { input x 2 3; output y; }
{ op MatMul h x fc.weight; attr to 9 | with Cast b h; attr to 1 | with Cast m b; op Mul y m h; eye; two_rows; } | model > cast.onnx
is 'what is not 0 is true' "$(mean_loss '0 1' 3 0.7 0 -1.4 2.6 -0.3 0.2)" trains cast.onnx
{ op MatMul h x fc.weight; op Relu r h; attr to 9 | with Cast b r; op Not n b; op Where y n c h; eye; floats c '' -5; two_rows; } | model > not.onnx
is 'and else not' "$(mean_loss '0 1' 3 0.7 -5 -5 2.6 -5 0.2)" trains not.onnx
{ op MatMul h x fc.weight; attr to 7 | with Cast i h; attr to 1 | with Cast y i; eye; two_rows; } | model > bad.onnx
refused 'floats that would be cut off' "node 'i' [(]Cast[)]: floats that become integers"
{ op MatMul h x fc.weight; op Greater g h c; attr to 7 | with Cast i g; attr to 9 | with Cast b i; attr to 1 | with Cast f b; op Mul y f h; eye; floats c '' 0.5; two_rows; } | model > at.onnx
is 'what a comparison says is whole already' "$(mean_loss '0 1' 3 0.7 0 0 2.6 0 0)" trains at.onnx
is 'and costs nothing' 3 eval 'place-import at.onnx | grep -c "(node"'
# constants keep their dimensions
gathered() { { "${@:2}"; attr axis 1 | with Gather g x "$1"; op MatMul y g fc.weight; longs k '1' 2; longs none '' 0; eye; input x 4 4 3; output y; } | model > at.onnx; }
gathered k
is 'one index in a list: the axis stays' 'g 4 1 3,y 4 1 3' shapes at.onnx
cast_k() { attr to 6 | with Cast j k; }
gathered j cast_k
is 'after a cast, too' 'g 4 1 3,y 4 1 3' shapes at.onnx
sum_k() { op Add j k none; }
gathered j sum_k
is 'and a sum' 'g 4 1 3,y 4 1 3' shapes at.onnx
listed_k() { op Gather j k none; op Unsqueeze i j none; op Unsqueeze l i none; op Squeeze a l none; }
gathered a listed_k
is 'dimensions come and go' 'g 4 1 3,y 4 1 3' shapes at.onnx
gathered j listed_k
is 'an index without dimensions: the axis goes' 'g 4 1 3,g 4 3,y 4 3' shapes at.onnx
{ op Range r a b c; op Unsqueeze u r a; op Gather p e.weight u; attr_ints axes 1 | with ReduceMean m p; attr keepdims 0 | with Identity y m
  floats e.weight '4 3' 0 1 2 3 4 5 6 7 8 9 10 11; longs a '' 0; longs b '' 4; longs c '' 1; input x 2; output y; } | model > at.onnx
is 'positions in a row' 'p 1 4 3,m 1 1 3' shapes at.onnx
{ op Gather w e.weight k; op MatMul y x w; floats e.weight '4 3' 0 1 2 3 4 5 6 7 8 9 10 11; longs k '4' -1 0 1 2; input x 2 4; output y; } | model > at.onnx
is 'from the last to the first they are not in a row' 'w 4 3,y 2 3' shapes at.onnx
{ op Unsqueeze u k none; op Unsqueeze v k one; op Add s u v; op Gather y x s; longs k '3' 0 1 2; longs none '' 0; longs one '' 1; input x 4 3; output y; } | model > bad.onnx
refused 'a table of sums' "node 's' [(]Add[)]: constants whose shapes do not go together"
# values that lie elsewhere than as raw words: halves are bits, doubles are read
scaled() { op MatMul h x fc.weight; op Mul y h k; eye; two_rows; }
{ scaled; perl -e 'print "\x80\x78"' | stored k 10 5 ''; } | model > bad.onnx
refused 'halves that look like integers' "elements of 'k' are of type 10, which is not read"
{ scaled; perl -e 'print pack "d<", 2.5' | stored k 11 10 ''; } | model > at.onnx
is 'doubles' "$(mean_loss '0 1' 3 1.75 0 -3.5 6.5 -0.75 0.5)" trains at.onnx
{ op MatMul h x fc.weight; op Reshape y h k; eye; printf '\6\1' | stored k 3 5 2; two_rows; } | model > at.onnx
is 'bytes' 'h 2 3,y 6 1' shapes at.onnx
# the loss is of what the file calls its output, of all that a node makes the result
{ op MatMul h x fc.weight; op Relu y h; op Sigmoid z h; eye; two_rows; output z; } | model > at.onnx
is 'the first output, not the last node' "$(mean_loss '0 1' 3 0.7 0 0 2.6 0 0.2)" trains at.onnx
is 'of which the name is known' "$(trains at.onnx)" trains at.onnx --logits=y
is 'another when it is named' "$(perl -e 'printf "%.9f ", 1 / (1 + exp -$_) for @ARGV' -- 0.7 0 -1.4 2.6 -0.3 0.2 | xargs bash -c "$(declare -f mean_loss); mean_loss '0 1' 3 \"\$@\"" -)" trains at.onnx --logits=z
{ { for i in x fc.weight fc.bias; do text 1 $i; done; text 2 y; text 3 fc; text 4 Gemm; } | message 1; eye; floats fc.bias 3  3 -2 1; two_rows; } | model > at.onnx
is 'the last layer by its name, its bias included' "$(mean_loss '0 1' 3 3.7 -2 -0.4 5.6 -2.3 1.2)" trains at.onnx --logits=fc
# names that would be taken for something else
for i in attn_bias scale; do
    { op MatMul h x fc.weight; op Add y h $i; eye; input $i 2 3; two_rows; } | model > bad.onnx
    refused "an input called $i" "input '$i' would be trained"
done
whole_bias() { { op Gather y e.weight bias; floats e.weight '4 3' 0 0 0 1 2 3 4 5 6 9 0 1; whole_input bias 2; output y; } | model > at.onnx; }
whole_bias
ok 'of integers it may be' place-import at.onnx
for i in step labels loss; do
    { op MatMul h x fc.weight; op Mul y h $i; eye; input $i 2 1; two_rows; } | model > at.onnx
    fails "an input called $i" 1 "'$i' is the name of an arg that the step adds" eval 'place-import at.onnx | place-grad --optimiser=adam'
done
# indices from the end, and what is none
{ op Gather y e.weight x; floats e.weight '4 3' 0 0 0 1 2 3 4 5 6 9 0 1; whole_input x 2; output y; } | model > at.onnx
wholes -1 1 > x.bin
is 'the last row' "$(mean_loss '0 1' 3 9 0 1 1 2 3)" trains at.onnx
wholes -1 -4 > x.bin
is 'and the first' "$(mean_loss '0 1' 3 9 0 1 0 0 0)" trains at.onnx
for i in -5 4; do
    wholes 0 $i > x.bin
    fails "row $i" 1 "x.bin: 'x' has $i, which is none of 4 rows" trains at.onnx
done
wholes 0 1 > x.bin
for i in -100 -1 3; do
    wholes 0 $i > labels.bin
    fails "label $i" 1 "labels.bin: 'labels' has $i, which is none of 3 classes" trains at.onnx
done
{ op Pad y x p '' a; longs p 4 1 0 0 0; longs a 2 1 0; input x 3 2; output y; opset 18; } | model > bad.onnx
refused 'padding of some axes' "node 'y' [(]Pad[)]: padding of named axes"
{ op Gather y table x; longs table '4 3' 0 1 2 3 4 5 6 7 8 9 10 11; whole_input x 2; output y; } | model > bad.onnx
refused 'a table of integers' "node 'y' [(]Gather[)]: indices that are not whole numbers into the rows of a table of floats"
{ op GlobalAveragePool y x; input x 2 4; output y; } | model > bad.onnx
refused 'a mean over nothing' "node 'y' [(]GlobalAveragePool[)]: a mean of something without a plane"
{ { attr_text auto_pad VALID; attr_ints pads 1 1 1 1; } | with Conv y x w.weight; initialiser w.weight 36 1 1 3 3; input x 1 1 8 8; output y; } | model > at.onnx
is 'no padding, whatever pads says' 'y 1 1 6 6' shapes at.onnx
{ number 1 8; cat good.onnx; } > bad.onnx
refused 'a file that ends before it says its version' 'bad.onnx: no version of its operators'
size=$(stat -c %s good.onnx)
cut_short() { local n; for ((n = 0; n < size; n++)); do head -c $n good.onnx > cut.onnx; place-import cut.onnx > o 2> e && return 1
    [ $? = 1 ] && [ -s e ] && [ ! -s o ] || return 1; done; }
ok 'every beginning of the file is refused' cut_short
printf 'hello, this is no model at all\n' > no.onnx
fails 'not ONNX' 1 'no.onnx: ' place-import no.onnx
done_testing
