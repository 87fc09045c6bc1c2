#!/bin/bash
# place-ops.sh DIR - a node of each kind of operator that has something to get wrong, each as a graph
d=$1
graph() { local name=$1; shift; { printf '(graph (name g) (batch 1)\n'; printf '%s\n' "$@"; printf ')\n'; } > "$d/$name"; }
t() { local id=$1 role=$2 n=1 k; shift 2; for k in "$@"; do n=$((n * k)); done; echo "(tensor $id t$id $role $((4 * n)) f32 ($*))"; }
graph avgpool "$(t 0 arg 1 16 8 8)" "$(t 1 inter 1 16 4 4)" '(node 0 y AvgPool (in 0) (out 1) (attr (kernel 2 2) (stride 2 2) (pad 0 0)))'
graph slice "$(t 0 arg 1 32 2 2)" "$(t 1 inter 1 16 2 2)" '(node 0 y Slice (in 0) (out 1) (attr (from 16)))'
graph concat "$(t 0 arg 1 16 2 2)" "$(t 1 arg 1 16 2 2)" "$(t 2 inter 1 32 2 2)" '(node 0 y Concat (in 0 1) (out 2))'
graph dense "$(t 0 arg 4 3)" "$(t 1 arg 2 3)" "$(t 2 arg 4)" "$(t 3 inter 2 4)" '(node 0 y MatmulBias (in 0 1 2) (out 3))'
graph conv "$(t 0 arg 1 16 4 4)" "$(t 1 arg 16 16 3 3)" "$(t 2 arg 16)" "$(t 3 inter 1 16 4 4)" \
    '(node 0 y ConvolutionBias (in 0 1 2) (out 3) (attr (kernel 3 3) (stride 1 1) (pad 1 1)))'
graph norm "$(t 0 arg 16)" "$(t 1 arg 16)" "$(t 2 arg 1 16 2 2)" "$(t 3 inter 1 16 2 2)" "$(t 4 inter 16)" "$(t 5 inter 16)" \
    '(node 0 y BatchNormTraining (in 0 1 2) (out 3 4 5))'
graph step "$(t 0 arg 2 4)" '(tensor 1 w.weight arg 48 f32 (4 3))' "$(t 2 inter 2 3)" "$(t 3 inter 3 2)" \
    '(node 0 y NdMatMul (in 0 1) (out 2))' '(node 1 z NdTranspose (in 2) (out 3) (attr (perm 1 0)))'
graph upsample "$(t 0 arg 1 2 2 2)" "$(t 1 inter 1 2 4 4)" '(node 0 y NdUpsample (in 0) (out 1) (attr (factor 2)))'
graph ndconv "$(t 0 arg 1 2 4 4)" '(tensor 1 w.weight arg 144 f32 (2 2 3 3))' "$(t 2 inter 1 2 4 4)" "$(t 3 inter 1 2 2 2)" \
    '(tensor 4 i inter 32 i32 (1 2 2 2))' "$(t 5 inter 2 4)" '(node 0 y NdConv (in 0 1) (out 2) (attr (stride 1 1) (pad 1 1)))' \
    '(node 1 m NdMaxPool (in 2) (out 3 4) (attr (kernel 2 2) (stride 2 2) (pad 0 0)))' '(node 2 r NdReshape (in 3) (out 5))'
graph parts "$(t 0 arg 2 3)" '(tensor 1 w.bias arg 24 f32 (2 3))' "$(t 2 inter 4 3)" "$(t 3 inter 2 3)" "$(t 4 inter 2 1)" \
    '(node 0 c NdConcat (in 0 1) (out 2) (attr (axis 0)))' '(node 1 s NdSlice (in 2) (out 3) (attr (axis 0) (begin 2)))' \
    '(node 2 r NdReduce (in 3) (out 4) (attr (axes 2) (mean 1)))'
