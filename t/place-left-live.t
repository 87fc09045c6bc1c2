#!/bin/bash
# place-left-live.t - plans of millrace_place that are left to the collector, to forked processes, to the end of a program.
. "$(dirname "$0")/tap.sh"
python=/usr/bin/python3
export PYTHONPATH=$root/lib/place/torch PYTHONDONTWRITEBYTECODE=1
if ! $python -c 'import torch' 2> /dev/null; then
    echo '1..0 # skip python3-torch is not here'
    exit 0
fi
tier=$root/build
[ -w "$tier" ] || tier=.
MALLOC_PERTURB_=165 timeout 60 $python "$root/t/torch/forsaken.py" "$tier"
