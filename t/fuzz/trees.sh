#!/bin/bash
# trees.sh DIR - one sound input of each kind; the first byte says which reader
d=$1 k=0 loops=16
put() { { printf "\\x$(printf %x $k)"; printf '%s' "$2"; } > "$d/$1"; k=$((k + 1)); }
put pairs '((((metadata (a)) (int_features ()) (numeric_features ((n 3) (m 1.5))) (bool_features ((f true)))) ((inline (((immediate 0.5) (long_term 1)))) (no_inline (0.25)))) (((int_features ()) (numeric_features ((n 4) (m 2))) (bool_features ((f false)))) ()))'
put dump '(((path (a b)) (inline (((immediate 1) (long_term 2)))) (no_inline ())) ((inline ()) (no_inline (1e-3))))'
put calibration '(calibration (host vm) (cost (hook c_wrap) (mean_ns 50.7) (std_ns 6) (min_ns 44) (n 2)) (cost (hook op) (mean_ns 51) (inside_ns 9)))'
put policy "(policy (observe scaled) (reward gain) (gamma 0.95) (steps 10) (actions up down) (qnet (dueling false) (widths $((20 * loops)) 1 2) (weights $(seq -s' ' 1 $((20 * loops + 5))))))"
