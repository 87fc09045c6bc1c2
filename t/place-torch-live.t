#!/bin/bash
# place-torch-live.t - millrace_place on a small network, where PyTorch is.
. "$(dirname "$0")/tap.sh"
python=/usr/bin/python3
export PYTHONPATH=$root/lib/place/torch PYTHONDONTWRITEBYTECODE=1
if ! $python -c 'import torch' 2> /dev/null; then
    echo '1..0 # skip python3-torch is not here'
    exit 0
fi
tier=$root/build
[ -w "$tier" ] || tier=.
$python -B "$root/t/torch/offload.py" "$tier"
