#!/bin/bash
# place-onnx-live.t - networks exported by torch, trained by place-run: the losses of 20 steps are torch's.
. "$(dirname "$0")/tap.sh"
python=/usr/bin/python3
export PYTHONDONTWRITEBYTECODE=1
if ! $python -c 'import torch, numpy' 2> /dev/null; then
    echo '1..0 # skip python3-torch is not here'
    exit 0
fi
tier=$root/build
[ -w "$tier" ] || tier=.
$python -B -W ignore "$root/t/torch/networks.py" "$tier" 2> err || cat err >&2
