# place-torch.mk - plans for PyTorch: make place-torch: time per step against the memory for what autograd saves
#   TORCH_CASES=  NET-BATCH-SIZE, NET of torchvision.models or gpt;  TORCH_WAYS=  see millrace_place/curve.py
# A case is one process for every way, some minutes; a case that is there is not run again.
torch_out = $(OUT)/place-torch
ifeq ($(SCALE),ci)
TORCH_CASES ?= resnet18-4-64
TORCH_STEPS ?= 1
TORCH_WAYS  ?= plain 50 block
endif
TORCH_CASES ?= resnet50-8-224 densenet121-6-224 vit_b_16-2-224 gpt-2-256
TORCH_STEPS ?= 3
TORCH_WAYS  ?= plain 50 25 12 block
TORCH_PYTHON ?= /usr/bin/python3

place-torch: $(torch_out)/curve.csv
	csv-show $<
$(torch_out)/curve.csv: $(TORCH_CASES:%=$(torch_out)/%.csv)
	csv-cat $^ | csv-where -c step --min=1 |
	    csv-group -g net,batch,way -c seconds,cpu_seconds,peak_bytes --stat=median,max $(aside)
$(torch_out)/%.csv: | $(BIN)/place-offload
	mkdir -p $(@D)
	$(TORCH_PYTHON) -c 'import torch, torchvision' || { echo 'make place-torch: no python3-torchvision' >&2; exit 1; }
	export PYTHONPATH=$(TOP)/lib/place/torch
	$(TORCH_PYTHON) -m millrace_place.curve $(subst -, ,$*) $(@D) $(TORCH_STEPS) $(TORCH_WAYS) $(aside)
.PHONY: place-torch
