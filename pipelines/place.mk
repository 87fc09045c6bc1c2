# place.mk - training steps planned and executed for real: make figure7, figure9, figure10, figure11; planned only:
#   make figure8, make place-sweep
#   NETS=      the networks; SCALE=default: the study's four at full size and small batch; SCALE=ci: two, small;
#              SCALE=test: smaller still
#   TIER=      the slow memory, see place-tier; the default is a file under OUT
#   RATIOS=    slow to fast memory;  FORMS= formulations;  THREADS= of kernels
#   ROUNDS= STEPS=  every plan is executed in ROUNDS processes spread over the whole run, of STEPS counted steps each;
#              a step that others disturbed is made again, AGAIN times for each counted one at most
#   ONCE=      formulations that only the first round has: their steps are the longest by far
# Every case has its directory OUT/place/NET-BATCH-IMAGE: graph.sexp -> profile.csv -> FORM-RATIO.plan ->
# FORM-RATIO.runROUND.csv; all of them -> results.csv.  async+recompute has graphs of its own, FORM-RATIO.sexp.  Plans
# that are the same are executed once.
place_out = $(OUT)/place
ifeq ($(SCALE),ci)
NETS ?= vgg19 resnet50
endif
ifeq ($(SCALE),test)
NETS ?= resnet50
RATIOS ?= 4:1 1:1
endif
NETS    ?= inception4 resnet200 vgg19 densenet264
RATIOS  ?= 8:1 4:1 1:1
FORMS   ?= numa static sync async async+recompute
ROUNDS  ?= 1 2
ONCE    ?= slow numa
STEPS   ?= 1
AGAIN   ?= 2
THREADS ?= 1
TIER    ?= file:$(place_out)/tier

# network to network-batch-image
place_size_default = $(1)$(or $(place_size_$(1)),-2-224)
place_size_inception4 = -2-299
place_size_densenet264 = -4-224
place_size_mlp = -64-32
place_size_ci = $(1)-4-$(if $(filter vgg19,$(1)),64,112)
place_size_test = $(1)-2-96
place_scale = $(if $(filter ci test,$(SCALE)),$(SCALE),default)
place_cases = $(foreach n,$(NETS),$(call place_size_$(place_scale),$(n)))
place_ends  = slow-1-0 fast-0-1
place_forms = $(place_ends) $(foreach f,$(FORMS),$(foreach r,$(RATIOS),$(f)-$(subst :,-,$(r))))
place_in    = $(if $(filter $(ONCE),$(call place_form,$(1))),$(firstword $(ROUNDS)),$(ROUNDS))
# $(1) round, $(2) case, $(3) plans: the runs
place_files = $(foreach f,$(3),$(if $(filter $(1),$(call place_in,$(f))),$(place_out)/$(2)/$(f).run$(1).csv))
place_runs  = $(foreach k,$(ROUNDS),$(foreach c,$(place_cases),$(call place_files,$(k),$(c),$(place_forms))))
place_draft = $(filter-out async+recompute-%,$(place_forms))
place_form  = $(word 1,$(subst -, ,$(1)))
place_ratio = $(word 2,$(subst -, ,$(1))):$(word 3,$(subst -, ,$(1)))
place_net   = place-net $(word 1,$(subst -, ,$(1))) --batch=$(word 2,$(subst -, ,$(1))) \
    --image=$(word 3,$(subst -, ,$(1)))
place_plan  = place-plan --formulation=$(call place_form,$(1)) --ratio=$(call place_ratio,$(1)) \
    --profile=$(place_out)/$(2)/profile.csv $(place_out)/$(2)/graph.sexp
place_graph = $(place_out)/$(2)/$(if $(filter async+recompute-%,$(1)),$(1),graph).sexp
place_profile = place-profile --tier=$(TIER) --threads=$(THREADS) $(1) -o $(@D)/profile.csv $(@D)/graph.sexp
place_programs = $(addprefix $(BIN)/place-,net stat tier profile plan recompute run record figure cost cache sweep) \
    $(BIN)/csv-calc

place_figures = figure7 figure8 figure9 figure10 figure11
$(place_figures) place-sweep: %: $(OUT)/%.svg $(OUT)/%.png
.PHONY: $(place_figures) place-sweep
.PRECIOUS: $(foreach k,$(ROUNDS),$(place_out)/%.run$(k).csv)

# before anything is written: is there room for the largest slow pool and for the operands that are timed?
$(place_out)/%/graph.sexp: | $(place_programs)
	@mkdir -p $(@D) $(place_out)/tier
	$(call place_net,$*) > $(new)
	place-tier --need=$$(place-stat $(new) | csv-calc --print='fixed(1.25 * peak_bytes + 8e8, 0)') $(TIER)
	$(call keep,$@)

# every kernel, then those combinations of slow operands that plans made of it would use; both go on where they were
# stopped
$(place_out)/%/profile.done: | $(place_out)/%/graph.sexp
	$(call place_profile)
	touch $@
$(place_out)/%/refined.done: | $(place_out)/%/profile.done
	@mkdir -p $(@D)/draft
	$(foreach f,$(place_draft),$(call place_plan,$(f),$*) > $(@D)/draft/$(f).plan
	)
	$(call place_profile,$(place_draft:%=--plan=$(@D)/draft/%.plan))
	touch $@

# $(1) case, $(2) whose runs: place's or the study's, $(3) round
define place_round
$(place_out)/$(1)/%.run$(3).csv: | $(place_out)/$(1)/%.plan $(BIN)/place-run
	@$(TOP)/pipelines/place-step $(place_out)/$(1) $$* $(3) $$(call place_ratio,$$*) $(TIER) '$$($(2)_runs)' \
	    --steps=$(STEPS) --again=$(AGAIN) --threads=$(THREADS)
endef
define place_plans
$(place_out)/$(1)/%.plan: $(place_out)/$(1)/refined.done | $(BIN)/place-plan
	$$(call place_plan,$$*,$(1)) --times=$$(@:.plan=.times.csv) $$(aside)
$(place_out)/$(1)/async+recompute-%.plan: $(place_out)/$(1)/async-%.plan | $(BIN)/place-recompute
	place-recompute --formulation=async --ratio=$$(subst -,:,$$*) --profile=$(place_out)/$(1)/profile.csv \
	    --base=$$< --plan=$$(new) $(place_out)/$(1)/graph.sexp > $$(call beside,$$(@:.plan=.sexp))
	$$(call keep,$$(@:.plan=.sexp))
	$$(call keep,$$@)
endef
$(foreach c,$(place_cases),$(eval $(call place_plans,$(c))))
$(foreach c,$(place_cases),$(foreach k,$(ROUNDS),$(eval $(call place_round,$(c),place,$(k)))))

place_times  = $(if $(filter async+recompute-%,$(2)),,--times=$(place_out)/$(1)/$(2).times.csv)
place_record = csv-cat $(patsubst %,$(place_out)/$(1)/$(2).run%.csv,$(call place_in,$(2))) | place-record --run=- \
    --plan=$(place_out)/$(1)/$(2).plan --kernels=$(place_out)/$(1)/$(2).kernels.csv --as=$(call place_form,$(2)) \
    --profile=$(place_out)/$(1)/profile.csv --ratio=$(call place_ratio,$(2)) $(place_times) -o $(new) \
    $(call place_graph,$(2),$(1))
$(place_out)/results.csv: $(place_runs) | $(BIN)/csv-cat $(BIN)/place-record
	rm -f $(new)
	$(foreach c,$(place_cases),$(foreach f,$(place_forms),$(call place_record,$(c),$(f))
	))
	$(call keep,$@)

# ---- figure 10: one network over many sizes of fast memory, with a profile that has what its plans use
STUDY ?= $(firstword $(NETS))
STUDY_RATIOS_full = 99:1 79:1 59:1 39:1 19:1 9:1 8:1 7:1 6:1 5:1 4:1 3:1 2:1 1:1 1:2 1:3
STUDY_RATIOS_ci = 4:1 2:1 1:1
STUDY_RATIOS_test = $(STUDY_RATIOS_ci)
STUDY_RATIOS_default = 19:1 9:1 5:1 3:1 2:1 1:1 1:2
STUDY_RATIOS ?= $(STUDY_RATIOS_$(SCALE))
STUDY_FORMS  ?= $(filter-out numa async+recompute,$(FORMS))
study_net   = $(call place_size_$(place_scale),$(STUDY))
study_case  = study/$(study_net)
study_forms = $(place_ends) $(foreach f,$(STUDY_FORMS),$(foreach r,$(STUDY_RATIOS),$(f)-$(subst :,-,$(r))))
study_runs  = $(foreach k,$(ROUNDS),$(call place_files,$(k),$(study_case),$(study_forms)))
$(place_out)/$(study_case)/refined.done: | $(place_out)/$(study_net)/refined.done
	@mkdir -p $(@D)/draft
	cp $(place_out)/$(study_net)/graph.sexp $(place_out)/$(study_net)/profile.csv $(@D)
	$(foreach f,$(study_forms),$(call place_plan,$(f),$(study_case)) > $(@D)/draft/$(f).plan
	)
	$(call place_profile,$(study_forms:%=--plan=$(@D)/draft/%.plan))
	touch $@
$(eval $(call place_plans,$(study_case)))
$(foreach k,$(ROUNDS),$(eval $(call place_round,$(study_case),study,$(k))))
$(place_out)/study.csv: $(study_runs) | $(BIN)/csv-cat $(BIN)/place-record
	rm -f $(new)
	$(foreach f,$(study_forms),$(call place_record,$(study_case),$(f))
	)
	$(call keep,$@)

# ---- figure 8: networks that exceed any fast memory, against fast memory as a cache; planned and simulated only
LARGE       ?= vgg416-320-224 inception4-6144-299 resnet200-2560-224 densenet264-3072-224
LARGE_LIMIT ?= 185G
LARGE_FORMS ?= static sync
large_row = $(word 1,$(subst -, ,$*)),$(word 2,$(subst -, ,$*)),$(1),,$$(sexp-get -k objective_seconds \
    $(@D)/$*.$(1).plan),simulated
$(place_out)/large/%.csv: | $(place_programs)
	@mkdir -p $(@D)
	echo "planning $* below $(LARGE_LIMIT)"
	$(call place_net,$*) --study > $(@D)/$*.sexp
	place-cost --model=optane $(@D)/$*.sexp > $(@D)/$*.profile.csv
	$(foreach f,$(LARGE_FORMS),place-plan --formulation=$(f) --limit=$(LARGE_LIMIT) --profile=$(@D)/$*.profile.csv \
	    $(@D)/$*.sexp > $(@D)/$*.$(f).plan
	)
	{   place-cache --model=optane --limit=$(LARGE_LIMIT) --total $(@D)/$*.sexp |
	        csv-calc --set="formulation='cache'" --set='ratio=missing' --set='predicted_seconds=seconds' \
	            --set="kind='simulated'" | csv-cut -c network,batch,formulation,ratio,predicted_seconds,kind
	    $(foreach f,$(LARGE_FORMS),echo "$(call large_row,$(f))"
	    )
	} $(aside)
$(place_out)/large.csv: $(LARGE:%=$(place_out)/large/%.csv)
	csv-cat $^ $(aside)

# ---- tables and pictures
place_table_7 = results
place_table_8 = large
place_table_9 = results
place_table_10 = study
place_table_11 = results
PRICE ?= 2.1
define place_figure_table
$(OUT)/$(1).csv: $(place_out)/$(place_table_$(1:figure%=%)).csv $(BIN)/place-figure
	place-figure --figure=$(1:figure%=%) --price=$(PRICE) $$< $$(aside)
endef
$(foreach f,$(place_figures),$(eval $(call place_figure_table,$(f))))
place_picture_figure7  = place-speedup
place_picture_figure8  = place-cache
place_picture_figure9  = place-cost
place_picture_figure10 = place-study
place_picture_figure11 = place-error
place_subject = $(if $(filter figure10,$(1)),$(STUDY),$(NETS))
define place_picture
$(OUT)/$(1).svg $(OUT)/$(1).png: $(OUT)/$(1).csv $(TOP)/plots/$(place_picture_$(1)).gp $(TOP)/plots/house.gp
	$$(call draw,$(place_picture_$(1)),$$<,'$(call place_subject,$(1))' $(THREADS))
endef
$(foreach f,$(place_figures),$(eval $(call place_picture,$(f))))

# ---- how much slow memory a network tolerates, planned from the profile of figure 7; a job of the table is a plan,
# made here or on HOSTS, see wide.mk
$(place_out)/%/sweep.jobs: $(place_out)/%/refined.done | $(place_programs)
	$(call forget,$@)
	cd $(place_out)
	place-sweep --jobs-table --profile=$*/profile.csv $*/graph.sexp > $*/sweep.new
	cd - > /dev/null
	$(TOP)/pipelines/keep $(@D)/sweep.new $@
$(place_out)/%/sweep.csv: $(place_out)/%/sweep.jobs
	cd $(place_out)
	$(wide) $*/sweep.jobs $*/sweep.jobs.log $*/graph.sexp $*/profile.csv
	cd - > /dev/null
	jobs-merge --log=$<.log $< $(aside)
$(OUT)/place-sweep.csv: $(place_cases:%=$(place_out)/%/sweep.csv)
	csv-cat $^ $(aside)
$(OUT)/place-sweep.svg $(OUT)/place-sweep.png: $(OUT)/place-sweep.csv $(TOP)/plots/place-sweep.gp
	$(call draw,place-sweep,$<,'$(NETS)')
