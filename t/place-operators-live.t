#!/bin/bash
# place-operators-live.t - the gradient of every operator that place-import knows, beside torch's.
. "$(dirname "$0")/tap.sh"
need_python torch numpy onnx
$python -B -W ignore "$root/t/torch/operators.py" 2> err || { cat err >&2; exit 1; }
