#!/bin/bash
# place-onnx-live.t - networks exported by torch, trained by place-run: the losses of 20 steps are torch's.
. "$(dirname "$0")/tap.sh"
need_python torch numpy
tier=$root/build
[ -w "$tier" ] || tier=.
$python -B -W ignore "$root/t/torch/networks.py" "$tier" 2> err || { cat err >&2; exit 1; }
