#!/bin/bash
# place-zoo-live.t - networks of many kinds under plans of millrace_place, bit by bit; all of them: make torch-proof.
. "$(dirname "$0")/tap.sh"
need_python torch torchvision
export PYTHONPATH=$root/lib/place/torch
tier=$root/build
[ -w "$tier" ] || tier=.
timeout 500 $python -W ignore -B "$root/t/torch/gradients.py" "$tier" --quick
