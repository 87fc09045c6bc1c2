#!/bin/bash
# place-left-live.t - plans of millrace_place that are left to the collector, to forked processes, to the end of a program.
. "$(dirname "$0")/tap.sh"
need_python torch
export PYTHONPATH=$root/lib/place/torch
tier=$root/build
[ -w "$tier" ] || tier=.
MALLOC_PERTURB_=165 timeout 60 $python "$root/t/torch/forsaken.py" "$tier"
