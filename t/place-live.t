#!/bin/bash
source "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

cat > tiny <<'G'
(graph (name tiny) (batch 1)
  (tensor 0 x arg 400 f32 (100)) (tensor 1 a inter 80000 f32 (20000)) (tensor 2 b inter 800 f32 (200))
  (tensor 3 unread inter 40 f32 (10)) (tensor 4 y arg 4 f32 ())
  (node 0 n0 Foo (in 0) (out 1)) (node 1 n1 Foo (in 1 1) (out 2 3)) (node 2 n2 Foo (in 1 2) (out 4)))
G
is "lifetimes" "tensor,name,bytes,first,last,uses,movable
1,a,80000,0,2,3,1
2,b,800,1,2,2,0
3,unread,40,1,1,1,0" place-live tiny
is "the form of MiniMalloc" "id,lower,upper,size
1,0,3,80000
2,1,3,800
3,1,2,40" place-live --buffers tiny
is "the peak of the buffers is the peak of the graph" "554393600" bash -c "place-net vgg19 --batch=2 --study > g; place-live --buffers g |
    awk -F, 'NR > 1 { c[\$2] += \$4; c[\$3] -= \$4 } END { for (i = 0; i < 200; i++) { l += c[i]; if (l > m) m = l } print m }'"
fails "a truncated graph" 1 "opened" bash -c 'head -c 200 tiny | place-live'
done_testing
