#!/bin/bash
# place-nets-live.t - mobilenetv2 and unet (MILLRACE_LONG: vit as well) of place-net beside torch's: the same losses.
. "$(dirname "$0")/tap.sh"
python=/usr/bin/python3
export PYTHONDONTWRITEBYTECODE=1
if ! $python -c 'import torch, torchvision, numpy' 2> /dev/null; then
    echo '1..0 # skip python3-torch or python3-torchvision is not here'
    exit 0
fi
$python -W ignore "$root/t/torch/nets.py" 2> err || cat err >&2
