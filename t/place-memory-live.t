#!/bin/bash
# place-memory-live.t - scripts and trainers under a plan of millrace_place, nothing in them changed; where PyTorch is.
. "$(dirname "$0")/tap.sh"
need_python torch
export PYTHONPATH=$root/lib/place/torch
tier=$root/build
[ -w "$tier" ] || tier=.
timeout 500 $python -W ignore -B "$root/t/torch/auto.py" "$tier"
