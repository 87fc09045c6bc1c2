# place.mk - training steps planned and executed for real: make figures, or figure7 to figure11; planned only:
#   make place-sweep
#   PLACE_NETS=  the networks; SCALE=default: the study's four at full size and small batch; SCALE=ci: two, small;
#                SCALE=test: smaller still; SCALE=large: large batches, the limit is of the whole process (see the end)
#   PLACE_TIER=  the slow memory, see place-tier; the default is a file under OUT
#   PLACE_RATIOS=  slow to fast memory;  PLACE_FORMS= formulations;  PLACE_THREADS= of kernels
#   PLACE_ROUNDS= PLACE_STEPS=  every plan is executed in so many processes spread over the whole run, of so many
#                steps each; a step that others disturbed is made again, PLACE_AGAIN times for each at most.  Ratios are
#                those of a round's fastest steps, with a 95 % interval from six rounds on (place-figure)
#   PLACE_ONCE=  formulations that only the first round has
# Every case has its directory OUT/place/NET-BATCH-IMAGE: graph.sexp -> profile.csv -> FORM-RATIO.plan ->
# FORM-RATIO.runROUND.csv; all of them -> results.csv.  Plans that are the same are executed once.
place = $(OUT)/place
ifeq ($(SCALE),ci)
PLACE_NETS ?= vgg19 resnet50
# with less, a single kernel of so small a vgg19 finds no room
PLACE_RATIOS ?= 2:1 1:1
PLACE_PAGED_RATIO ?= 2:1
PLACE_PAGED_STEPS ?= 1
PLACE_LARGE ?= inception4-6144-299
endif
ifeq ($(SCALE),test)
PLACE_NETS ?= resnet50
PLACE_RATIOS ?= 4:1 1:1
endif
PLACE_NETS    ?= inception4 resnet200 vgg19 densenet264
PLACE_RATIOS  ?= 8:1 4:1 1:1
PLACE_FORMS   ?= numa static sync async
PLACE_ROUNDS  ?= 1 2 $(if $(filter ci test,$(SCALE)),,3 4 5 6)
PLACE_ONCE    ?= numa
# the fastest of two: a disk is busy with the freed file of the process before beside the first
PLACE_STEPS   ?= $(if $(filter large,$(SCALE)),2,1)
PLACE_AGAIN   ?= 2
PLACE_THREADS ?= 1
PLACE_TIER    ?= file:$(place)/tier

# network to network-batch-image
place_size_default = $(1)$(or $(place_size_$(1)),-2-224)
place_size_inception4 = -2-299
place_size_densenet264 = -4-224
place_size_mlp = -64-32
place_size_ci = $(1)-4-$(if $(filter vgg19,$(1)),64,112)
place_size_test = $(1)-2-96
place_size_large = $(1)-$(if $(filter vgg19 inception4,$(1)),32,16)-$(if $(filter inception4,$(1)),299,224)
place_scale = $(if $(filter ci test large,$(SCALE)),$(SCALE),default)
place_cases = $(foreach n,$(PLACE_NETS),$(call place_size_$(place_scale),$(n)))
place_ends  = slow-1-0 fast-0-1
place_forms = $(place_ends) $(foreach f,$(PLACE_FORMS),$(foreach r,$(PLACE_RATIOS),$(f)-$(subst :,-,$(r))))
place_in    = $(if $(filter $(PLACE_ONCE),$(call place_form,$(1))),$(firstword $(PLACE_ROUNDS)),$(PLACE_ROUNDS))
# $(1) round, $(2) case, $(3) plans: the runs
place_files = $(foreach f,$(3),$(if $(filter $(1),$(call place_in,$(f))),$(place)/$(2)/$(f).run$(1).csv))
place_runs  = $(foreach k,$(PLACE_ROUNDS),$(foreach c,$(place_cases),$(call place_files,$(k),$(c),$(place_forms))))
place_form  = $(word 1,$(subst -, ,$(1)))
place_ratio = $(word 2,$(subst -, ,$(1))):$(word 3,$(subst -, ,$(1)))
place_net   = place-net $(word 1,$(subst -, ,$(1))) --batch=$(word 2,$(subst -, ,$(1))) \
    --image=$(word 3,$(subst -, ,$(1)))
place_plan  = place-plan --formulation=$(call place_form,$(1)) --ratio=$(call place_ratio,$(1)) \
    --profile=$(place)/$(2)/profile.csv $(place)/$(2)/graph.sexp
place_profile = place-profile --tier=$(PLACE_TIER) --threads=$(PLACE_THREADS) $(if $(filter large,$(SCALE)),--offload) \
    $(1) -o $(@D)/profile.csv $(@D)/graph.sexp

place_figures = $(if $(filter large,$(SCALE)),,figure7) figure8 figure9 figure10 figure11
figures: $(place_figures)
$(place_figures) place-sweep: %: $(OUT)/%.svg $(OUT)/%.png
.PHONY: figures $(place_figures) place-sweep
.PRECIOUS: $(foreach k,$(PLACE_ROUNDS),$(place)/%.run$(k).csv)

# before anything is written: is there room for the largest slow pool and for the operands that are timed?
$(place)/%/graph.sexp:
	@mkdir -p $(@D) $(place)/tier
	$(call place_net,$*) > $(new)
	place-tier --need=$$(place-stat $(new) | csv-calc --print='fixed(1.25 * peak_bytes + 8e8, 0)') $(PLACE_TIER)
	$(call keep,$@)

# every kernel, then those combinations of slow operands that plans made of it would use; both go on where they were
# stopped
$(place)/%/profile.done: | $(place)/%/graph.sexp
	$(call place_profile)
	touch $@
$(place)/%/refined.done: | $(place)/%/profile.done
	@mkdir -p $(@D)/draft
	$(foreach f,$(place_forms),$(call place_plan,$(f),$*) > $(@D)/draft/$(f).plan
	)
	$(call place_profile,$(place_forms:%=--plan=$(@D)/draft/%.plan))
	touch $@

# $(1) case, $(2) whose runs: place's or the study's, $(3) round
define place_round
$(place)/$(1)/%.run$(3).csv: | $(place)/$(1)/%.plan
	@$(TOP)/pipelines/place-step $(place)/$(1) $$* $(3) $$(call place_ratio,$$*) $(PLACE_TIER) '$$($(2)_runs)' \
	    --steps=$(PLACE_STEPS) --warm=0 --again=$(PLACE_AGAIN) --threads=$(PLACE_THREADS)
endef
define place_plans
$(place)/$(1)/%.plan: $(place)/$(1)/refined.done
	$$(call place_plan,$$*,$(1)) --times=$$(@:.plan=.times.csv) $$(aside)
endef
$(foreach c,$(place_cases),$(eval $(call place_plans,$(c))))
$(foreach c,$(place_cases),$(foreach k,$(PLACE_ROUNDS),$(eval $(call place_round,$(c),place,$(k)))))

place_record = csv-cat $(patsubst %,$(place)/$(1)/$(2).run%.csv,$(filter $(3),$(call place_in,$(2)))) | \
    place-record --run=- \
    --plan=$(place)/$(1)/$(2).plan --kernels=$(place)/$(1)/$(2).kernels.csv \
    --profile=$(place)/$(1)/profile.csv --ratio=$(call place_ratio,$(2)) \
    --times=$(place)/$(1)/$(2).times.csv -o $(new) $(place)/$(1)/graph.sexp
$(eval $(call asked,$(place)/asked,place_cases place_forms PLACE_ROUNDS PLACE_ONCE PLACE_STEPS))
$(place)/results.csv: $(place_runs) $(place)/asked
	rm -f $(new)
	$(foreach c,$(place_cases),$(foreach f,$(place_forms),$(call place_record,$(c),$(f),$(PLACE_ROUNDS))
	))
	$(call keep,$@)

# ---- figure 10: one network over many sizes of fast memory, with a profile that has what its plans use
# the one of them with plans at the least memory; at 99:1 one kernel's buffers alone are 0.3 % too much for it too
PLACE_STUDY ?= $(or $(filter densenet264,$(PLACE_NETS)),$(firstword $(PLACE_NETS)))
PLACE_STUDY_ROUNDS ?= $(PLACE_ROUNDS)
place_study_ratios_full = 79:1 59:1 39:1 19:1 9:1 8:1 7:1 6:1 5:1 4:1 3:1 2:1 1:1 1:2 1:3
place_study_ratios_ci = 2:1 1:1 1:2
place_study_ratios_test = $(place_study_ratios_ci)
place_study_ratios_default = $(filter-out 79:1 59:1,$(place_study_ratios_full))
PLACE_STUDY_RATIOS ?= $(place_study_ratios_$(SCALE))
PLACE_STUDY_FORMS  ?= $(filter-out numa,$(PLACE_FORMS))
place_study_net   = $(call place_size_$(place_scale),$(PLACE_STUDY))
place_study_case  = study/$(place_study_net)
place_study_forms = $(place_ends) $(foreach f,$(PLACE_STUDY_FORMS),$(foreach r,$(PLACE_STUDY_RATIOS),$(strip \
    $(f)-$(subst :,-,$(r)))))
# what plans with moves between kernels use is timed; those with moves beside them use little else and take long
place_study_drafts = $(filter-out async-%,$(place_study_forms))
place_study_runs  = $(foreach k,$(PLACE_STUDY_ROUNDS),$(call place_files,$(k),$(place_study_case),$(place_study_forms)))
$(place)/$(place_study_case)/refined.done: | $(place)/$(place_study_net)/refined.done
	@mkdir -p $(@D)/draft
	cp $(place)/$(place_study_net)/graph.sexp $(place)/$(place_study_net)/profile.csv $(@D)
	$(foreach f,$(place_study_drafts),$(call place_plan,$(f),$(place_study_case)) > $(@D)/draft/$(f).plan
	)
	$(call place_profile,$(place_study_drafts:%=--plan=$(@D)/draft/%.plan))
	touch $@
$(eval $(call place_plans,$(place_study_case)))
$(foreach k,$(PLACE_STUDY_ROUNDS),$(eval $(call place_round,$(place_study_case),place_study,$(k))))
$(eval $(call asked,$(place)/study/asked,place_study_net place_study_forms PLACE_STUDY_ROUNDS PLACE_ONCE PLACE_STEPS))
$(place)/study.csv: $(place_study_runs) $(place)/study/asked
	rm -f $(new)
	$(foreach f,$(place_study_forms),$(call place_record,$(place_study_case),$(f),$(PLACE_STUDY_ROUNDS))
	)
	$(call keep,$@)

# ---- figure 8: plans against the operating system's paging in the same memory, for real; and networks that exceed any
# fast memory against fast memory as a hardware cache, planned and simulated only
PLACE_PAGED_RATIO ?= 4:1
PLACE_PAGED_STEPS ?= 2
place_paged_plan   = async-$(subst :,-,$(PLACE_PAGED_RATIO))
define place_paged
$(place)/$(1)/paged.csv: | $(place)/$(1)/$(place_paged_plan).plan $(place)/$(1)/fast-0-1.plan
	@mkdir -p $(place)/tier
	$(TOP)/pipelines/place-paged $$(@D) $(place_paged_plan) $(PLACE_PAGED_RATIO) $(PLACE_TIER) $(place)/tier \
	    --steps=$(PLACE_PAGED_STEPS) --again=0 --threads=$(PLACE_THREADS) $$(aside)
endef
$(foreach c,$(place_cases),$(eval $(call place_paged,$(c))))
PLACE_LARGE       ?= vgg416-320-224 inception4-6144-299 resnet200-2560-224 densenet264-3072-224
PLACE_LARGE_LIMIT ?= 185G
PLACE_LARGE_FORMS ?= static sync
place_large_columns = network,batch,formulation,ratio,predicted_seconds,median_seconds,step_seconds,given_bytes,kind
place_large_row = $(word 1,$(subst -, ,$*)),$(word 2,$(subst -, ,$*)),$(1),,$$(sexp-get -k objective_seconds \
    $(@D)/$*.$(1).plan),,,$$(sexp-get -k limit_bytes $(@D)/$*.$(1).plan),simulated
$(place)/large/%.csv:
	@mkdir -p $(@D)
	echo "planning $* below $(PLACE_LARGE_LIMIT)"
	$(call place_net,$*) --study > $(@D)/$*.sexp
	place-cost --model=optane $(@D)/$*.sexp > $(@D)/$*.profile.csv
	$(foreach f,$(PLACE_LARGE_FORMS),place-plan --formulation=$(f) --limit=$(PLACE_LARGE_LIMIT) \
	    --profile=$(@D)/$*.profile.csv \
	    $(@D)/$*.sexp > $(@D)/$*.$(f).plan
	)
	{   place-cache --model=optane --limit=$(PLACE_LARGE_LIMIT) --total $(@D)/$*.sexp |
	        csv-calc --set="formulation='cache'" --set='ratio=missing' --set='predicted_seconds=seconds' \
	            --set='median_seconds=missing' --set='step_seconds=missing' --set='given_bytes=missing' \
	            --set="kind='simulated'" | csv-cut -c $(place_large_columns)
	    $(foreach f,$(PLACE_LARGE_FORMS),echo "$(call place_large_row,$(f))"
	    )
	} $(aside)
$(eval $(call asked,$(place)/large/asked,PLACE_LARGE PLACE_LARGE_LIMIT PLACE_LARGE_FORMS place_cases \
    PLACE_PAGED_RATIO PLACE_PAGED_STEPS))
$(place)/large.csv: $(PLACE_LARGE:%=$(place)/large/%.csv) $(place_cases:%=$(place)/%/paged.csv) $(place)/large/asked
	csv-cat $(filter %.csv,$^) $(aside)

# ---- tables and pictures
PLACE_PRICE ?= 2.1
# $(1) number, $(2) table, $(3) plot, $(4) networks
define place_figure
$(OUT)/figure$(1).csv: $(place)/$(2).csv $(BIN)/place-figure
	place-figure --figure=$(1) --price=$(PLACE_PRICE) $$< $$(aside)
$(OUT)/figure$(1).svg $(OUT)/figure$(1).png: $(OUT)/figure$(1).csv $(TOP)/plots/place-$(3).gp $(TOP)/plots/house.gp
	$$(call draw,place-$(3),$$<,'$(4)' $(PLACE_THREADS))
endef
$(eval $(call place_figure,7,results,speedup,$(PLACE_NETS)))
$(eval $(call place_figure,8,large,cache,$(PLACE_NETS)))
$(eval $(call place_figure,9,results,cost,$(PLACE_NETS)))
$(eval $(call place_figure,10,study,study,$(PLACE_STUDY)))
$(eval $(call place_figure,11,results,error,$(PLACE_NETS)))

# ---- the numbers that a page quotes: what each formulation loses (mean over the networks that reach the ratio, and
# what the plans' bounds leave), how far predictions are off and how many are within 15 %; a step of two plans that are
# one counts once
place-numbers: $(OUT)/place-losses.csv $(OUT)/place-errors.csv
	csv-show $(OUT)/place-losses.csv
	csv-show $(OUT)/place-errors.csv
.PHONY: place-numbers
$(OUT)/place-losses.csv: $(OUT)/figure7.csv
	csv-calc --set='kept=1 - loss_ratio' --set='most=1 - least_loss_ratio' $< \
	    --where="formulation != 'slow' && formulation != 'fast' && ratio_off == 0" |
	    csv-group -g formulation,ratio -c kept,most --stat=gmean,min --missing=skip |
	    csv-calc --set='loss_percent=round(100 * (1 - gmean_kept), 1)' \
	        --set='worst_percent=round(100 * (1 - min_kept), 1)' \
	        --set='least_percent=round(100 * (1 - gmean_most), 1)' |
	    csv-cut -c formulation,ratio,n_rows,loss_percent,worst_percent,least_percent $(aside)
$(OUT)/place-errors.csv: $(OUT)/figure11.csv
	csv-dedupe --key=network,batch,ratio,predicted_seconds,step_seconds $< |
	    csv-calc --set='off=abs(error_ratio)' --set='within=off <= 0.15' |
	    csv-group -c error_ratio,off,within --stat=median,max,sum |
	    csv-calc --set='steps=n_rows' --set='within_15_percent=sum_within' --set='worst_ratio=max_off' |
	    csv-cut -c steps,within_15_percent,worst_ratio,median_error_ratio $(aside)

# ---- figure7 of SCALE=large: everything that the process takes is limited, by the kernel where it lets us
define place_process
$(place)/process/$(1)/table.csv: $(place)/process/asked | $(place)/$(1)/profile.done
	@mkdir -p $$(@D)
	cp $(place)/$(1)/graph.sexp $(place)/$(1)/profile.csv $$(@D)
	$(TOP)/pipelines/place-large $$(@D) $(PLACE_TIER) '$(PLACE_RATIOS)' '$(PLACE_ROUNDS)' --steps=$(PLACE_STEPS) \
	    --again=$(PLACE_AGAIN) --threads=$(PLACE_THREADS) $$(aside)
endef
$(foreach c,$(place_cases),$(eval $(call place_process,$(c))))
$(eval $(call asked,$(place)/process/asked,place_cases PLACE_RATIOS PLACE_ROUNDS PLACE_STEPS))
$(OUT)/place-large.csv: $(place_cases:%=$(place)/process/%/table.csv)
	csv-cat $^ $(aside)
ifeq ($(SCALE),large)
figure7: $(OUT)/place-large.csv
	csv-show $<
.PHONY: figure7
endif

# ---- how much slow memory a network tolerates, planned from the profile of figure 7; a job of the table is a plan,
# made here or on HOSTS, see wide.mk
$(place)/%/sweep.jobs: $(place)/%/refined.done
	$(call wide_forget,$@)
	cd $(place)
	place-sweep --jobs-table --profile=$*/profile.csv $*/graph.sexp > $*/sweep.new
	cd - > /dev/null
	$(TOP)/pipelines/keep $(@D)/sweep.new $@
$(place)/%/sweep.csv: $(place)/%/sweep.jobs
	cd $(place)
	$(wide) $*/sweep.jobs $*/sweep.jobs.log $*/graph.sexp $*/profile.csv
	cd - > /dev/null
	jobs-merge --log=$<.log $< $(aside)
$(OUT)/place-sweep.csv: $(place_cases:%=$(place)/%/sweep.csv)
	csv-cat $^ $(aside)
$(OUT)/place-sweep.svg $(OUT)/place-sweep.png: $(OUT)/place-sweep.csv $(TOP)/plots/place-sweep.gp
	$(call draw,place-sweep,$<,'$(PLACE_NETS)')
