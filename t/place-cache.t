#!/bin/bash
source "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
# 1 MB x -> a -> y through a cache that holds everything: nothing is missed in the second step
cat > tiny <<'G'
(graph (name tiny) (batch 1)
  (tensor 0 x arg 1048576 f32 (262144)) (tensor 1 a inter 1048576 f32 (262144)) (tensor 2 y arg 1048576 f32 (262144))
  (node 0 n0 Foo (in 0) (out 1) (flops 1.9e9)) (node 1 n1 Bar (in 1) (out 2)))
G
head=node,name,op,read_bytes,written_bytes,missed_bytes,evicted_bytes,seconds,fast_seconds,kind
is 'enough memory: no misses, the time of fast memory' "$head
0,n0,Foo,1048576,1048576,0,0,same,simulated
1,n1,Bar,1048576,1048576,0,0,same,simulated" eval 'place-cache --limit=3Mi tiny | sed -E "s/,(0[.][0-9e-]+),\1,/,same,/"'
# addresses: x at 0, y at 1 MiB, a at 2 MiB; in 2 MiB of cache a displaces x and x displaces a, which is dirty
is 'x and a displace each other, y stays' "tiny,1,2097152,3145728,2097152,2097152,2097152,1048576" \
    eval 'place-cache --limit=2Mi --total tiny | sed 1d | cut -d, -f1-8'
is 'in 1 MiB everything does' "tiny,1,1048576,3145728,2097152,2097152,3145728,2097152" \
    eval 'place-cache --limit=1Mi --total tiny | sed 1d | cut -d, -f1-8'
# memory seconds of Bar: 2^20 (1/110e9 + 1/78e9) + 2^20 missed (1/30e9 + 1/78e9) + 0 evicted, + 3 us
is 'the arithmetic of a miss' "ok" eval 'place-cache --limit=1Mi tiny | awk -F, "\$2 == \"n1\" {
    t = 1048576 * (1 / 110e9 + 2 / 78e9 + 1 / 30e9 + 1 / 5e9) + 3e-6; print (\$8 / t > 0.999999 && \$8 / t < 1.000001) ? \"ok\" : \$8 / t }"'
place-net vgg19 --batch=16 --image=64 > g
ok 'total is the sum of nodes' awk -v a="$(place-cache --ratio=4:1 g | awk -F, 'NR > 1 { s += $8 } END { print s }')" \
    -v b="$(place-cache --ratio=4:1 --total g | awk -F, 'NR > 1 { print $9 }')" 'BEGIN { exit !(a / b > 0.9999 && a / b < 1.0001) }'
is 'never faster than fast memory' 0 eval 'place-cache --ratio=4:1 g | awk -F, "NR > 1 && \$8 < \$9" | wc -l'
is 'more memory, fewer misses' ok eval 'for r in 8:1 2:1 0:1; do place-cache --total --ratio=$r g | awk -F, "NR > 1 { print \$7 }"; done | sort -rgC && echo ok'
fails 'no limit' 2 'either --limit or --ratio' place-cache g
fails 'half a line' 2 'no power of two' place-cache --line=96 --limit=1Mi g
fails 'less than a line' 1 'less than a line' place-cache --limit=100 g
done_testing
