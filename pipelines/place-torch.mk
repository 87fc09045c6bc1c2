# place-torch.mk - plans for PyTorch: make torch: time per step against the memory for what autograd saves
#   TORCH_CASES=  NET-BATCH-SIZE, NET of torchvision.models or gpt;  TORCH_WAYS=  see t/torch/curve.py
# A case is a process for every way, steps in turn, some minutes; a case that is there is not run again.
torch = $(OUT)/place-torch
ifeq ($(SCALE),ci)
TORCH_CASES ?= resnet18-4-64
TORCH_STEPS ?= 1
TORCH_WAYS  ?= plain 50 block
endif
TORCH_CASES  ?= resnet50-6-224 densenet121-6-224 vit_b_16-4-224 gpt-4-256
TORCH_STEPS  ?= 6
TORCH_WAYS   ?= plain 75 50 25 12 block
TORCH_PYTHON ?= /usr/bin/python3

place-torch torch: $(torch)/curve.svg
	csv-show $(torch)/curve.csv
$(torch)/curve.svg: $(torch)/curve.csv
	$(call draw,place-torch,$<,'$(foreach case,$(TORCH_CASES),$(firstword $(subst -, ,$(case))))')
$(torch)/curve.csv: $(TORCH_CASES:%=$(torch)/%.csv)
	csv-cat $^ | csv-calc --where='step > 0' --set=free_seconds='seconds - queued_seconds' |
	    csv-group -g net,batch,way,kind -c seconds,cpu_seconds,free_seconds,peak_bytes \
	        --stat=median,min,max $(aside)
$(torch)/%.csv:
	mkdir -p $(@D)
	$(TORCH_PYTHON) -c 'import torch, torchvision' || { echo 'make place-torch: no python3-torchvision' >&2; exit 1; }
	export PYTHONPATH=$(TOP)/lib/place/torch
	$(TORCH_PYTHON) -B t/torch/curve.py $(subst -, ,$*) $(@D) $(TORCH_STEPS) $(TORCH_WAYS) $(aside)
# t/torch/ten.py under memory.limit_in_bytes of half and a quarter of what plain takes; needs a memory group (root)
#   TORCH_TEN=  NET, NET-SHARE or NET-SHARE-WAY of t/torch/squeeze.py, else all; what squeeze.csv has is not run again
torch-squeeze:
	mkdir -p $(torch)
	export PYTHONPATH=$(TOP)/lib/place/torch
	$(TORCH_PYTHON) -W ignore -B t/torch/squeeze.py $(torch) $(TORCH_TEN)
	csv-show $(torch)/squeeze.csv
# 77 networks, nine plans each, two steps beside plain ones, bit by bit: a quarter of an hour
torch-proof: $(torch)/proof.txt
	grep '^#' $<
$(torch)/proof.txt: t/torch/gradients.py t/torch/zoo.py
	mkdir -p $(@D)
	export PYTHONPATH=$(TOP)/lib/place/torch
	$(TORCH_PYTHON) -W ignore -B $< $(@D) all $(aside)
.PHONY: place-torch torch torch-proof torch-squeeze
