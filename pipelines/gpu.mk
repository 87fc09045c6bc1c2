# gpu.mk - training steps on a GPU: plans beside memory that the driver moves, and the oracle: make figure12
#   GPU_NETS=       network-batch-image
#   GPU_RATIOS=     of the host's pinned memory to the GPU's
#   GPU_FORMS=      formulations
#   GPU_DEVICE=     which one; model: none, the study's eleven networks in its 11 GB, simulated (see the end)
#   GPU_WORKSPACE=  bytes that a convolution's algorithm may take
#   GPU_STEPS=, GPU_RUNS=  counted steps, timed runs of a kernel
# Every case has its directory OUT/gpu/NET-BATCH-IMAGE: graph.sexp -> profile.csv -> FORM-RATIO.plan ->
# FORM-RATIO.run.csv, and managed-RATIO.csv; all of them -> results.csv.  Without a GPU the profile says so.
gpu = $(OUT)/gpu
ifeq ($(GPU_DEVICE),model)
GPU_NETS ?= $(if $(filter test ci,$(SCALE)),resnet18-2-48,$(foreach b,64 128 256,inception4-$(b)-299) \
    $(foreach b,32 64 128,resnet200-$(b)-224 densenet264-$(b)-224) vgg19-64-224 vgg19-128-224)
endif
ifneq ($(filter test ci,$(SCALE)),)
GPU_NETS ?= resnet18-2-48
GPU_RATIOS ?= 1:8
endif
GPU_NETS      ?= inception4-64-299 resnet200-64-224 densenet264-64-224
GPU_RATIOS    ?= 2:1 1:1
GPU_FORMS     ?= sync async
GPU_DEVICE    ?= 0
GPU_WORKSPACE ?= 256Mi
GPU_STEPS     ?= 4
GPU_RUNS      ?= 5
gpu_forms      = fast-0-1 $(foreach f,$(GPU_FORMS),$(foreach r,$(GPU_RATIOS),$(f)-$(subst :,-,$(r))))
gpu_step       = place-gpu --device=$(GPU_DEVICE) --steps=$(GPU_STEPS)

.PHONY: figure12
figure12: $(OUT)/figure12.svg $(OUT)/figure12.png

$(gpu)/%/graph.sexp:
	@mkdir -p $(@D)
	$(call place_net,$*) --study $(aside)
$(gpu)/%/profile.csv: $(gpu)/%/graph.sexp
	place-gpu --profile --device=$(GPU_DEVICE) --workspace=$(GPU_WORKSPACE) --runs=$(GPU_RUNS) $< $(aside)

# $(1) case; one everywhere-fast plan also runs in memory that the driver moves, with as much of the GPU as each ratio
define gpu_case
$(gpu)/$(1)/%.plan: $(gpu)/$(1)/profile.csv
	place-plan --formulation=$$(call place_form,$$*) --ratio=$$(call place_ratio,$$*) --profile=$$< \
	    $$(@D)/graph.sexp $$(aside)
$(gpu)/$(1)/%.run.csv: $(gpu)/$(1)/%.plan
	$$(gpu_step) --plan=$$< $$(@D)/graph.sexp $$(aside)
$(gpu)/$(1)/managed-%.csv: $(gpu)/$(1)/fast-0-1.plan $(gpu)/$(1)/$(firstword $(GPU_FORMS))-%.plan
	$$(gpu_step) --managed --limit="$$$$(sexp-get -k limit_bytes $$(word 2,$$^))" --plan=$$< $$(@D)/graph.sexp $$(aside)
$(gpu)/$(1)/kernels.csv: $(gpu)/$(1)/fast-0-1.plan
	$$(gpu_step) --plan=$$< --kernels=$$(new) $$(@D)/graph.sexp > $$(@D)/kernels.run.csv
	$$(call keep,$$@)
endef
$(foreach c,$(GPU_NETS),$(eval $(call gpu_case,$(c))))

# $(1) case, $(2) plan, $(3) run, $(4) ratio
gpu_record = place-record --plan=$(gpu)/$(1)/$(2).plan --run=$(gpu)/$(1)/$(3).csv \
    --kernels=$(gpu)/$(1)/kernels.csv --profile=$(gpu)/$(1)/profile.csv --ratio=$(4) \
    -o $(new) $(gpu)/$(1)/graph.sexp
# ---- without a GPU: plans for a model of one, beside memory that a cache of its size moves page by page
GPU_LIMIT ?= 11e9 - 561e6 - io_bytes
$(gpu)/%/model.csv: $(gpu)/%/graph.sexp
	place-cost --model=gpu $< > $(@D)/model.profile.csv
	read -r limit ratio < <(place-stat $< | csv-calc --set='limit=$(GPU_LIMIT)' \
	    --print="concat(fixed(limit, 0), ' ', fixed(max(peak_bytes / limit - 1, 0), 1), ':1')")
	read -r managed oracle < <(place-cache --model=gpu --limit="$$limit" --total $< |
	    csv-calc --print="concat(seconds, ' ', fast_seconds)")
	echo "network,batch,formulation,ratio,predicted_seconds,median_seconds,step_seconds,oracle_seconds,$(strip \
	    )gpu_managed_seconds,kind" > $(@D)/model.rows
	for f in $(GPU_FORMS); do
	    place-plan --formulation="$$f" --limit="$$limit" --profile=$(@D)/model.profile.csv $< > $(@D)/"$$f".model.plan
	    s=$$(sexp-get -k objective_seconds $(@D)/"$$f".model.plan)
	    echo "$(word 1,$(subst -, ,$*)),$(word 2,$(subst -, ,$*)),$$f,$$ratio,$$s,$$s,($$s),$$oracle,$$managed,simulated"
	done >> $(@D)/model.rows
	cat $(@D)/model.rows $(aside)

gpu_files = kernels.csv $(foreach r,$(GPU_RATIOS),managed-$(subst :,-,$r).csv) \
    $(filter-out fast-%,$(gpu_forms:%=%.run.csv))
$(eval $(call asked,$(gpu)/asked,GPU_NETS GPU_RATIOS GPU_FORMS GPU_DEVICE GPU_LIMIT))
ifeq ($(GPU_DEVICE),model)
$(gpu)/results.csv: $(GPU_NETS:%=$(gpu)/%/model.csv) $(gpu)/asked
	csv-cat $(filter %.csv,$^) $(aside)
else
$(gpu)/results.csv: $(foreach c,$(GPU_NETS),$(gpu_files:%=$(gpu)/$(c)/%)) $(gpu)/asked
	rm -f $(new)
	$(foreach c,$(GPU_NETS),$(foreach r,$(GPU_RATIOS),$(call gpu_record,$(c),fast-0-1,managed-$(subst :,-,$r),$r)
	$(foreach f,$(GPU_FORMS:%=%-$(subst :,-,$r)),$(call gpu_record,$(c),$(f),$(f).run,$r)
	)))
	$(call keep,$@)
endif

$(OUT)/figure12.csv: $(gpu)/results.csv
	place-figure --figure=12 $< $(aside)
$(OUT)/figure12.svg $(OUT)/figure12.png: $(OUT)/figure12.csv $(TOP)/plots/place-gpu.gp $(TOP)/plots/house.gp
	$(call draw,place-gpu,$<)
