#!/bin/bash
# policy.sh DIR - small networks of each kind as inputs to begin with
d=$1
echo '(qnet (dueling true) (widths 2 3) (weights 1 0 2 3 -1 0.5 0 0 1))' > "$d/q"
echo '(qnet (dueling false) (widths 1 2 2) (weights 1 0 2 3 -1 0.5 0 0 1 1))' > "$d/plain"
echo '(actor (widths 2 3) (weights 1 0 2 3 -1 0.5 0 0 1))' > "$d/actor"
head -c 300 /bin/bash > "$d/bytes"
