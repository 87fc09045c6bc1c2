#!/bin/bash
# place-grad.t - training steps of forward graphs; gradients themselves are looked at in lib-nd.c and place-onnx-live.t.
. "$(dirname "$0")/tap.sh"
cat > f.sexp <<'END'
(graph (name f) (batch 2)
  (tensor 0 x arg 32 f32 (2 4))
  (tensor 1 w.weight arg 48 f32 (4 3))
  (tensor 2 y inter 24 f32 (2 3))
  (node 0 y NdMatMul (in 0 1) (out 2) (flops 48) (bytes 104)))
END
is 'a product: the step' '(graph (name f) (batch 2)
  (tensor 0 x arg 32 f32 (2 4))
  (tensor 1 w.weight arg 48 f32 (4 3))
  (tensor 2 y inter 24 f32 (2 3))
  (tensor 3 labels arg 8 i32 (2))
  (tensor 4 loss arg 4 f32 (1))
  (tensor 5 d.y inter 24 f32 (2 3))
  (tensor 6 d.y inter 24 f32 (2 3))
  (tensor 7 d.w.weight inter 48 f32 (4 3))
  (tensor 8 w.weight.next arg 48 f32 (4 3) (updates 1))
  (node 0 y NdMatMul (in 0 1) (out 2) (flops 48) (bytes 104))
  (node 1 loss NdLoss (in 2 3) (out 4 5) (flops 0) (bytes 60))
  (node 2 d.y NdLossGrad (in 5 3) (out 6) (flops 0) (bytes 56))
  (node 3 d.w.weight NdMatMul (in 0 6) (out 7) (attr (ta 1) (tb 0)) (flops 48) (bytes 104))
  (node 4 w.weight NdSgd (in 1 7) (out 8) (attr (rate 0.5)) (flops 0) (bytes 144)))' place-grad --rate=0.5 f.sexp
ok 'a sound graph' eval 'place-grad f.sexp | place-check'
ok 'with Adam too, moments and a counter' eval 'place-grad --optimiser=adam f.sexp > a.sexp && place-check a.sexp &&
    grep -q "w.weight.m.next arg 48 f32 (4 3) (updates" a.sexp && grep -q NdCount a.sexp'
sed 's/NdMatMul/Softmax2/' f.sexp > s.sexp
fails 'operators without a gradient' 1 'operators without a gradient: Softmax2' place-grad s.sexp
sed 's/w.weight/w.table/' f.sexp > p.sexp
fails 'no parameters' 1 "no parameter leads to the output 'y'" place-grad p.sexp
fails 'no such output' 1 "no tensor 'z'" place-grad --logits=z f.sexp
for name in labels loss step; do
    sed "s/0 x arg/0 $name arg/" f.sexp > n.sexp
    fails "an arg called $name" 1 "'$name' is the name of an arg that the step adds" place-grad --optimiser=adam n.sexp
done
cat > step.sexp <<'END'
(graph (name f) (batch 1)
  (tensor 0 step arg 4 i32 (1))
  (tensor 1 w.weight arg 48 f32 (4 3))
  (tensor 2 y inter 12 f32 (1 3))
  (node 0 y NdGather (in 1 0) (out 2) (flops 0) (bytes 64)))
END
fails 'a counter that is an index, too' 1 "node 'y' reads 'step', which counts for dropout" place-grad step.sexp
sed 's/(in 0 1) (out 2) (flops 48) (bytes 104)/(in 1) (out 2) (flops 48) (bytes 72)/' f.sexp > i.sexp
fails 'an operand is missing' 1 "node 'y': NdMatMul does not take 1 inputs" place-grad i.sexp
sed -e '$ s/)$//' f.sexp > t.sexp
printf '  (tensor 3 z inter 24 f32 (3 2))\n  (node 1 z NdTranspose (in 2) (out 3) (attr (perm 1 0))))\n' >> t.sexp
ok 'transposed' eval 'place-grad t.sexp | place-check'
for k in 1e9 -5 nan 2; do
    sed "s/perm 1 0/perm $k 0/" t.sexp > p.sexp
    fails "a permutation with $k" 1 "node 'z': .*attribute" place-grad p.sexp
done
place-grad --rate=0.1 f.sexp > g.sexp
place-cost --model=disk g.sexp > p.csv
place-plan --formulation=fast --profile=p.csv g.sexp > plan.sexp
printf '\0\0\0\0\0\0\0\0' > y.bin
losses() { place-run --plan=plan.sexp --tier=dram --steps=3 --warm=0 --value=labels=y.bin "$@" g.sexp | csv-cut -c loss; }
ok 'it is executed, and the loss falls' eval 'losses --value=x=<(yes aaa | head -c 32) | tail -1 | grep -q "^[0-9]"'
fails 'too few values' 1 "y.bin: not the 32 bytes of 'x'" losses --value=x=y.bin
fails 'values for nobody' 1 "no arg 'q'" losses --value=q=y.bin
done_testing
