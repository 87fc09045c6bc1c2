#!/bin/bash
# place-limit-live.t - a limit of millrace_place is kept by the process, or it is said; where PyTorch is.
. "$(dirname "$0")/tap.sh"
need_python torch
export PYTHONPATH=$root/lib/place/torch
tier=$root/build
[ -w "$tier" ] || tier=.
timeout 500 $python -W ignore -B "$root/t/torch/limits.py" "$tier"
