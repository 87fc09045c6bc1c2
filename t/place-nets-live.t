#!/bin/bash
# place-nets-live.t - mobilenetv2 and unet (MILLRACE_LONG: vit as well) of place-net beside torch's: the same losses.
. "$(dirname "$0")/tap.sh"
need_python torch torchvision numpy
$python -W ignore "$root/t/torch/nets.py" 2> err || { cat err >&2; exit 1; }
