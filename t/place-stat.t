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
done_testing
