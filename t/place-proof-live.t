#!/bin/bash
# place-proof-live.t - gradients under a plan of millrace_place are the plain ones, or it is refused; where PyTorch is.
. "$(dirname "$0")/tap.sh"
need_python torch
export PYTHONPATH=$root/lib/place/torch
tier=$root/build
[ -w "$tier" ] || tier=.
timeout 900 $python -W ignore -B "$root/t/torch/same.py" "$tier"
