# place.mk - training steps planned and executed for real: make figure7, figure9, figure10, figure11; planned only: make figure8
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
place_programs = $(addprefix $(BIN)/place-,net stat tier profile plan run record figure cost cache)

place_figures = figure7 figure8 figure9 figure10 figure11
$(place_figures): %: $(OUT)/%.svg $(OUT)/%.png
.PHONY: $(place_figures)
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
	@pipelines/place-step $(place_out)/$(1) $$* $$(call place_ratio,$$*) $(TIER) $$(words $$($(2))) --steps=$(STEPS)
endef
$(foreach c,$(place_cases),$(eval $(call place_case,$(c),place_runs)))

place_record = place-record --plan=$(place_out)/$(1)/$(2).plan --run=$(place_out)/$(1)/$(2).run.csv --kernels=$(place_out)/$(1)/$(2).kernels.csv \
    --profile=$(place_out)/$(1)/profile.csv --ratio=$(call place_ratio,$(2))
$(place_out)/results.csv: $(place_runs)
	rm -f $@.part
	$(foreach c,$(place_cases),$(foreach f,$(place_forms),$(call place_record,$(c),$(f)) -o $@.part $(place_out)/$(c)/graph.sexp
	))
	mv $@.part $@

# ---- figure 10: one network over many sizes of fast memory, with a profile that has what its plans use
STUDY ?= $(firstword $(NETS))
STUDY_RATIOS_full = 99:1 79:1 59:1 39:1 19:1 9:1 8:1 7:1 6:1 5:1 4:1 3:1 2:1 1:1 1:2 1:3
STUDY_RATIOS ?= $(or $(STUDY_RATIOS_$(SCALE)),$(if $(filter ci test,$(SCALE)),4:1 2:1 1:1,19:1 9:1 5:1 3:1 2:1 1:1 1:2))
study_net   = $(call place_size_$(if $(filter ci test,$(SCALE)),$(SCALE),default),$(STUDY))
study_case  = study/$(study_net)
study_forms = slow-1-0 fast-0-1 $(foreach f,static sync,$(foreach r,$(STUDY_RATIOS),$(f)-$(subst :,-,$(r))))
study_runs  = $(study_forms:%=$(place_out)/$(study_case)/%.run.csv)
$(place_out)/$(study_case)/refined.done: | $(place_out)/$(study_net)/refined.done
	mkdir -p $(@D)/draft
	cp $(place_out)/$(study_net)/graph.sexp $(place_out)/$(study_net)/profile.csv $(@D)
	$(foreach f,$(study_forms),$(call place_plan,$(f),$(study_case)) > $(@D)/draft/$(f).plan
	)
	place-profile --tier=$(TIER) $(study_forms:%=--plan=$(@D)/draft/%.plan) -o $(@D)/profile.csv $(@D)/graph.sexp
	touch $@
$(eval $(call place_case,$(study_case),study_runs))
$(place_out)/study.csv: $(study_runs)
	rm -f $@.part
	$(foreach f,$(study_forms),$(call place_record,$(study_case),$(f)) -o $@.part $(place_out)/$(study_case)/graph.sexp
	)
	mv $@.part $@

# ---- figure 8: networks that exceed any fast memory, against fast memory as a cache; planned and simulated, nothing is run
LARGE       ?= vgg416-320-224 inception4-6144-299 resnet200-2560-224 densenet264-3072-224
LARGE_LIMIT ?= 185G
$(LARGE:%=$(place_out)/large/%.csv): $(place_out)/large/%.csv: | $(place_programs)
	@mkdir -p $(@D)
	echo "planning $* below $(LARGE_LIMIT)"
	place-net $(word 1,$(subst -, ,$*)) --batch=$(word 2,$(subst -, ,$*)) --image=$(word 3,$(subst -, ,$*)) > $(@D)/$*.sexp
	place-cost --model=optane $(@D)/$*.sexp > $(@D)/$*.profile.csv
	{   echo network,batch,formulation,ratio,predicted_seconds,kind
	    place-cache --model=optane --limit=$(LARGE_LIMIT) --total $(@D)/$*.sexp | csv-cut -c network,batch,seconds | awk -F, 'NR > 1 { print $$1 "," $$2 ",cache,," $$3 ",simulated" }'
	    for form in static sync; do
	        place-plan --formulation=$$form --limit=$(LARGE_LIMIT) --profile=$(@D)/$*.profile.csv $(@D)/$*.sexp > $(@D)/$*.$$form.plan
	        echo "$(word 1,$(subst -, ,$*)),$(word 2,$(subst -, ,$*)),$$form,,$$(sexp-get -k objective_seconds $(@D)/$*.$$form.plan),simulated"
	    done; } > $@
$(place_out)/large.csv: $(LARGE:%=$(place_out)/large/%.csv)
	csv-cat $^ > $@

# ---- tables and pictures
place_table_7 = results
place_table_8 = large
place_table_9 = results
place_table_10 = study
place_table_11 = results
define place_figure_table
$(OUT)/$(1).csv: $(place_out)/$(place_table_$(1:figure%=%)).csv $(BIN)/place-figure
	place-figure --figure=$(1:figure%=%) $$< > $$@
endef
$(foreach f,$(place_figures),$(eval $(call place_figure_table,$(f))))
place_kind = $$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($$i == "kind") c = i; next } { if ($$c != "real") k = $$c } END { print k ? k : "real" }' $<)
$(OUT)/figure7.svg $(OUT)/figure7.png: $(OUT)/figure7.csv plots/place-speedup.gp
	gnuplot -c plots/place-speedup.gp $< $@ '$(NETS)' "$(place_kind)"
$(OUT)/figure9.svg $(OUT)/figure9.png: $(OUT)/figure9.csv plots/place-cost.gp
	gnuplot -c plots/place-cost.gp $< $@ '$(NETS)' "$(place_kind)"
$(OUT)/figure11.svg $(OUT)/figure11.png: $(OUT)/figure11.csv plots/place-error.gp
	gnuplot -c plots/place-error.gp $< $@ '$(NETS)' "$(place_kind)"
$(OUT)/figure8.svg $(OUT)/figure8.png: $(OUT)/figure8.csv plots/place-cache.gp
	gnuplot -c plots/place-cache.gp $< $@ "$(place_kind)"
$(OUT)/figure10.svg $(OUT)/figure10.png: $(OUT)/figure10.csv plots/place-study.gp
	gnuplot -c plots/place-study.gp $< $@ '$(STUDY)' "$(place_kind)"
