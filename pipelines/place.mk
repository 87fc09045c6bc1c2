# place.mk - training steps planned and executed for real: make figure7, figure9, figure11
#   NETS=      the networks; SCALE=default: the study's four at full size and small batch; SCALE=ci: two, small; SCALE=test: smaller still
#   TIER=      the slow memory, see place-tier; the default is a file under OUT
#   RATIOS=    slow to fast memory;  STEPS= counted steps of a run
# Every case has its directory OUT/place/NET-BATCH-IMAGE: graph.sexp -> profile.csv -> FORM-RATIO.plan -> FORM-RATIO.run.csv; all of them -> results.csv.
place_out = $(OUT)/place
ifeq ($(SCALE),ci)
NETS ?= vgg19 resnet50
endif
ifeq ($(SCALE),test)
NETS ?= resnet50
RATIOS ?= 4:1 1:1
endif
NETS   ?= inception4 resnet200 vgg19 densenet264
RATIOS ?= 8:1 4:1 1:1
STEPS  ?= 3
TIER   ?= file:$(place_out)/tier

# network to network-batch-image
place_size_default = $(1)$(or $(place_size_$(1)),-2-224)
place_size_inception4 = -2-299
place_size_densenet264 = -4-224
place_size_mlp = -64-32
place_size_ci = $(1)-4-$(if $(filter vgg19,$(1)),64,112)
place_size_test = $(1)-2-96
place_cases = $(foreach n,$(NETS),$(call place_size_$(if $(filter ci test,$(SCALE)),$(SCALE),default),$(n)))
place_forms = slow-1-0 fast-0-1 $(foreach f,numa static sync,$(foreach r,$(RATIOS),$(f)-$(subst :,-,$(r))))
place_runs  = $(foreach c,$(place_cases),$(place_forms:%=$(place_out)/$(c)/%.run.csv))
place_form  = $(word 1,$(subst -, ,$(1)))
place_ratio = $(word 2,$(subst -, ,$(1))):$(word 3,$(subst -, ,$(1)))
place_plan  = place-plan --formulation=$(call place_form,$(1)) --ratio=$(call place_ratio,$(1)) --profile=$(place_out)/$(2)/profile.csv $(place_out)/$(2)/graph.sexp
place_programs = $(addprefix $(BIN)/place-,net stat tier profile plan run record figure)

figure7: $(OUT)/figure7.svg $(OUT)/figure7.png
figure9: $(OUT)/figure9.svg $(OUT)/figure9.png
figure11: $(OUT)/figure11.svg $(OUT)/figure11.png
.PHONY: figure7 figure9 figure11
.PRECIOUS: $(place_out)/%.run.csv

# before anything is written: is there room for the largest slow pool and for the operands that are timed?
$(place_out)/%/graph.sexp: | $(place_programs)
	mkdir -p $(@D) $(place_out)/tier
	place-net $(word 1,$(subst -, ,$*)) --batch=$(word 2,$(subst -, ,$*)) --image=$(word 3,$(subst -, ,$*)) > $@.part
	place-tier --need=$$(place-stat $@.part | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($$i == "peak_bytes") c = i; next } { printf "%.0f", 1.25 * $$c + 5e8 }') $(TIER)
	mv $@.part $@

# every kernel, then those combinations of slow operands that plans made of it would use; both go on where they were stopped
$(place_out)/%/profile.done: | $(place_out)/%/graph.sexp
	place-profile --tier=$(TIER) -o $(@D)/profile.csv $(@D)/graph.sexp
	touch $@
$(place_out)/%/refined.done: | $(place_out)/%/profile.done
	mkdir -p $(@D)/draft
	$(foreach f,$(place_forms),$(call place_plan,$(f),$*) > $(@D)/draft/$(f).plan
	)
	place-profile --tier=$(TIER) $(place_forms:%=--plan=$(@D)/draft/%.plan) -o $(@D)/profile.csv $(@D)/graph.sexp
	touch $@

define place_case
$(place_out)/$(1)/%.plan: $(place_out)/$(1)/refined.done | $(BIN)/place-plan
	$$(call place_plan,$$*,$(1)) > $$@
$(place_out)/$(1)/%.run.csv: | $(place_out)/$(1)/%.plan $(BIN)/place-run
	@pipelines/place-step $(place_out)/$(1) $$* $$(call place_ratio,$$*) $(TIER) $(words $(place_runs)) --steps=$(STEPS)
endef
$(foreach c,$(place_cases),$(eval $(call place_case,$(c))))

$(place_out)/results.csv: $(place_runs)
	rm -f $@.part
	$(foreach c,$(place_cases),$(foreach f,$(place_forms),place-record --plan=$(place_out)/$(c)/$(f).plan --run=$(place_out)/$(c)/$(f).run.csv --kernels=$(place_out)/$(c)/$(f).kernels.csv --profile=$(place_out)/$(c)/profile.csv --ratio=$(call place_ratio,$(f)) -o $@.part $(place_out)/$(c)/graph.sexp
	))
	mv $@.part $@
$(OUT)/figure7.csv $(OUT)/figure9.csv $(OUT)/figure11.csv: $(OUT)/figure%.csv: $(place_out)/results.csv $(BIN)/place-figure
	place-figure --figure=$* $< > $@
place_kind = $$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($$i == "kind") c = i; next } { if ($$c != "real") k = $$c } END { print k ? k : "real" }' $<)
$(OUT)/figure7.svg $(OUT)/figure7.png: $(OUT)/figure7.csv plots/place-speedup.gp
	gnuplot -c plots/place-speedup.gp $< $@ '$(NETS)' "$(place_kind)"
$(OUT)/figure9.svg $(OUT)/figure9.png: $(OUT)/figure9.csv plots/place-cost.gp
	gnuplot -c plots/place-cost.gp $< $@ '$(NETS)' "$(place_kind)"
$(OUT)/figure11.svg $(OUT)/figure11.png: $(OUT)/figure11.csv plots/place-error.gp
	gnuplot -c plots/place-error.gp $< $@ '$(NETS)' "$(place_kind)"
