#!/bin/bash
source "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# x (arg) -> a -> b -> y (result): at node 1 a and b are alive, at node 2 b only
cat > tiny <<'G'
(graph (name tiny) (batch 2)
  (tensor 0 x arg 400 f32 (2 50))
  (tensor 1 a inter 400 f32 (100))
  (tensor 2 b inter 800 f32 (200))
  (tensor 3 c inter 40 i32 (10))
  (tensor 4 y arg 400 f32 (2 50) (updates 0))
  (node 0 n0 Foo (in 0) (out 1) (attr (kernel 3 3) (scale 0.5)) (flops 10) (bytes 800))
  (node 1 n1 Foo (in 1) (out 2 3) (flops 5) (bytes 1240))
  (node 2 n2 Foo (in 2) (out 4) (flops 5) (bytes 1200)))
G
is "counts, peak, flops" "network,batch,nodes,intermediates,parameters,peak_bytes,flops,kernels,io_bytes
tiny,2,3,3,100,1240,20,3,800" place-stat tiny
# Adam: moments and the counter are updated, and are no parameters
{ echo '(graph (name adam) (batch 1)'; i=0; for t in w g m v; do echo "(tensor $i $t arg 40 f32 (10))"; i=$((i + 1)); done
  echo '(tensor 4 step arg 4 i32 (1)) (tensor 5 w.next arg 40 f32 (10) (updates 0)) (tensor 6 m.next arg 40 f32 (10) (updates 2))
  (tensor 7 v.next arg 40 f32 (10) (updates 3)) (tensor 8 step.next arg 4 i32 (1) (updates 4))
  (node 0 w NdAdam (in 0 1 2 3 4) (out 5 6 7)) (node 1 step NdCount (in 4) (out 8)))'; } > adam
is "parameters, and no moments" $'parameters\n10' eval 'place-stat adam | csv-cut -c parameters'
is "several graphs" "3" bash -c "place-stat tiny tiny | wc -l"
sed 's/(node 1/(nod 1/' tiny > bad
fails "an unknown head" 1 "bad:8:.*neither name, batch, tensor nor node" place-stat bad
head -c 300 tiny > bad
fails "a truncated graph" 1 "bad" place-stat bad
sed 's/(in 1)/(in 2)/; s/(bytes 1240)//' tiny > bad
fails "read before written" 1 "bad: node 1 'n1' reads tensor 2 'b'" place-stat bad
sed 's/(in 1)/(in 9)/' tiny > bad
fails "no such tensor" 1 "bad:8:.*there is no tensor 9" place-stat bad
sed 's/tensor 2 b inter 800/tensor 2 b inter 804/' tiny > bad
fails "bytes against shape" 1 "bad" place-stat bad
fails "nothing" 1 "" place-stat /dev/null

# when each tensor is alive
cat > tiny <<'G'
(graph (name tiny) (batch 1)
  (tensor 0 x arg 400 f32 (100)) (tensor 1 a inter 80000 f32 (20000)) (tensor 2 b inter 800 f32 (200))
  (tensor 3 unread inter 40 f32 (10)) (tensor 4 y arg 4 f32 ())
  (node 0 n0 Foo (in 0) (out 1)) (node 1 n1 Foo (in 1 1) (out 2 3)) (node 2 n2 Foo (in 1 2) (out 4)))
G
is "lifetimes" "tensor,name,bytes,first,last,uses,movable
1,a,80000,0,2,3,1
2,b,800,1,2,2,0
3,unread,40,1,1,1,0" place-stat --lives tiny
is "the form of MiniMalloc" "id,lower,upper,size
1,0,3,80000
2,1,3,800
3,1,2,40" place-stat --buffers tiny
is "the peak of the buffers is the peak of the graph" "554393600" bash -c "place-net vgg19 --batch=2 --study > g; place-stat --buffers g |
    awk -F, 'NR > 1 { c[\$2] += \$4; c[\$3] -= \$4 } END { for (i = 0; i < 200; i++) { l += c[i]; if (l > m) m = l } print m }'"
fails "a truncated graph" 1 "opened" bash -c 'head -c 200 tiny | place-stat --lives'
fails "lives of two graphs" 2 "one" place-stat --lives tiny tiny
done_testing
