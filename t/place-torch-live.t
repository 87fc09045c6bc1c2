#!/bin/bash
# place-torch-live.t - millrace_place on a small network, where PyTorch is.
. "$(dirname "$0")/tap.sh"
need_python torch
export PYTHONPATH=$root/lib/place/torch
tier=$root/build
[ -w "$tier" ] || tier=.
$python -B "$root/t/torch/offload.py" "$tier"
