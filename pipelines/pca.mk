# pca.mk - the counters of compiled variants of programs, measured here: make pca-data
#   PCA_PROGRAMS='a.c b.c'   single-file C programs (default: three of ours); PCA_ARGS_a='...' are their arguments
#   PCA_VARIANTS=FILE        table of step and flags; steps named initial are what the others are compared with
#   PCA_LOGS='out/inline/x'  instead: folders that searches of real programs left (make inline, inline-study).
#                            PCA_STEPS of the sets that each tried are built again, initial is the compiler's own;
#                            measured are the inputs that were searched on, or the PCA_RUNS shortest of them
# Times are real.  Hardware counters are real where the machine has them; instructions and allocations are exact counts.

PCA_LOGS       ?=
PCA_STEPS      ?= $(if $(filter ci test,$(SCALE)),6,$(if $(filter full,$(SCALE)),100,24))
PCA_RUNS       ?= $(if $(filter ci test,$(SCALE)),1,100)
PCA_PROGRAMS   ?= $(if $(PCA_LOGS),,$(addprefix $(TOP)/data/pca/,sort.c life.c words.c))
PCA_VARIANTS   ?= $(TOP)/data/pca/variants.csv
PCA_ROUNDS     ?= 6
PCA_EVENTS     ?= cycles instructions branch-misses cache-misses
PCA_ARGS_sort  ?= $(if $(filter ci test,$(SCALE)),15000,150000)
PCA_ARGS_life  ?= $(if $(filter ci test,$(SCALE)),30,300)
PCA_ARGS_words ?= $(if $(filter ci test,$(SCALE)),15000,150000)

pca             = $(OUT)/pca-data
pca_compiled    = $(basename $(notdir $(PCA_PROGRAMS)))
pca_logged      = $(notdir $(abspath $(PCA_LOGS)))
pca_names       = $(strip $(pca_compiled) $(pca_logged))
pca_plain       = allocations,allocated_bytes,max_rss_bytes,minor_faults,code_bytes,text_bytes,inlined
# of the hardware, or of a model of it (bench-count --metric=events)
pca_per         = instructions,n_*,data_reads,data_writes,*_misses,branches,indirect_branches,mispredictions
pca_count       = bench-count --metric=instructions --metric=allocations --metric=size
pca_steps_named = $$(csv-calc --print=step $(@D)/steps.csv | paste -sd' ')
pca_source      = $(firstword $(filter $*.c %/$*.c,$(PCA_PROGRAMS)))
pca_events      = $(patsubst %,n_%,$(subst -,_,$(PCA_EVENTS)))
pca_median      = max_rss_bytes minor_faults $(pca_events)
pca_comma       = $(subst $(space),$(comma),$(strip $(1)))
pca_log         = $(filter %/$*,$(abspath $(PCA_LOGS)))
pca_work        = $(firstword $(wildcard $(pca_log)/w $(pca_log)/../w))
pca_builds      = $$(csv-calc --print="concat('$*/', step, '=$(pca)/$*/', step, '/program')" $(@D)/steps.csv)
ifneq ($(words $(pca_names)),$(words $(sort $(pca_names))))
$(error make pca-data: two programs of one name: $(pca_names))
endif
# the steps with their flags, checked, and label and command of every step as bench-run and bench-count take them
define pca_steps
commands=()
while IFS=$$'\t' read -r step flags; do
    commands+=("--label=$*/$$step" "$(pca)/$*/$$step/program $(PCA_ARGS_$*)")
done < $(pca)/variants
endef

pca-data: $(OUT)/pca-data.csv $(OUT)/pca-data-pca.csv $(OUT)/pca-data.svg $(OUT)/pca-data.png \
    $(foreach n,$(pca_logged),$(pca)/$n/z.svg $(pca)/$n/z.png)
.PHONY: pca-data

$(pca)/variants: $(PCA_VARIANTS)
	@mkdir -p $(@D)
	$(TOP)/pipelines/variants $< $(aside)
# one folder a step, as the study kept them: the program, its assembly and flags in artifacts.tar
$(pca_compiled:%=$(pca)/%/steps.csv): $(pca)/%/steps.csv: $(PCA_PROGRAMS) $(pca)/variants
	rm -rf $(@D)
	while IFS=$$'\t' read -r step flags; do
	    read -ra words <<< "$$flags"
	    dir=$(@D)/$$step
	    mkdir -p "$$dir"
	    $(CC) "$${words[@]}" -S -o "$$dir/program.s" $(pca_source)
	    $(CC) "$${words[@]}" -o "$$dir/program" "$$dir/program.s" -lm
	    echo "$$flags" > "$$dir/flags"
	    tar -C "$$dir" --sort=name --mtime=@0 -czf "$$dir/artifacts.tar" program program.s flags
	done < $(pca)/variants
	csv-cut --column=step $(PCA_VARIANTS) | csv-calc --set="inlined=''" $(aside)
# the same of sets of decisions; another number of them is another study
$(eval $(call asked,$(pca)/logged,PCA_STEPS PCA_RUNS))
$(pca_logged:%=$(pca)/%/steps.csv): $(pca)/%/steps.csv: $(pca)/logged | $(PROGS)
	rm -rf $(@D)
	mkdir -p $(@D)
	$(TOP)/pipelines/logged $(pca_log) $(@D) $(PCA_STEPS) $(aside)
$(pca)/%/few: $(pca)/%/steps.csv
	SET=search METRICS=instructions $(TOP)/pipelines/measure count $(pca_work) initial=$(@D)/initial/0/program |
	    csv-where -c metric --is=instructions | csv-sort -k value:n | csv-sample --quiet --first=$(PCA_RUNS) |
	    csv-calc --print=run $(aside)

# measurements: kept when a program of ours is rebuilt, gone on with after a kill; a log of runs has its name when it
# is whole
$(pca_logged:%=$(pca)/%/runs.csv): $(pca)/%/runs.csv: $(pca)/%/few
	inline-jobs --set=search $(pca_work) $(pca_builds) | while IFS=$$'\t' read -r name args; do
	    if grep -qxF "$$name" $<; then
	        xargs -x bench-run --rounds=$(PCA_ROUNDS) --seed=$(SEED) --benchmark="$$name" \
	            $(PCA_EVENTS:%=--event=%) -o "$(@D)/$$name.log" <<< "$$args"
	    fi
	done
	csv-cat $$(sed 's,.*,$(@D)/&.log,' $<) $(aside)
$(pca_compiled:%=$(pca)/%/runs.csv): $(pca)/%/runs.csv: $(pca)/%/steps.csv
	$(pca_steps)
	bench-run --rounds=$(PCA_ROUNDS) --seed=$(SEED) --benchmark=$* $(PCA_EVENTS:%=--event=%) -o $(@D)/runs.log \
	    "$${commands[@]}"
	csv-cat $(@D)/runs.log $(aside)
# exact counts of each variant, a job here or on HOSTS: see wide.mk; files that arguments name go there by PCA_INPUTS=;
# what a program of a log runs on is here alone
$(pca_logged:%=$(pca)/%/counts.jobs): $(pca)/%/counts.jobs: $(pca)/%/few
	$(call wide_forget,$@)
	bench-jobs --vary="step=$(pca_steps_named)" --command="env SET=search 'RUNS=$$(paste -sd' ' $<)' \
	    'METRICS=instructions events size allocations' $(TOP)/pipelines/measure count $(pca_work) \
	    $*/{step}=$(pca)/$*/{step}/program" $(aside)
$(pca_logged:%=$(pca)/%/counts.csv): $(pca)/%/counts.csv: $(pca)/%/counts.jobs
	HOSTS=: SLURM= $(wide) $< $<.log
	jobs-merge --log=$<.log $< $(aside)
$(pca_compiled:%=$(pca)/%/counts.jobs): $(pca)/%/counts.jobs: $(pca)/%/steps.csv $(pca)/variants
	$(call wide_forget,$@)
	bench-jobs --vary="step=$(pca_steps_named)" --command="$(pca_count) --label=$*/{step} \
	    '$(pca)/$*/{step}/program $(PCA_ARGS_$*)'" $(aside)
$(pca_compiled:%=$(pca)/%/counts.csv): $(pca)/%/counts.csv: $(pca)/%/counts.jobs
	$(wide) $< $<.log $(pca)/$* $(PCA_INPUTS)
	jobs-merge --log=$<.log $< $(aside)
# static instructions of each archive, the same way; their names begin with the program's
$(pca)/%/static.jobs: $(pca)/%/steps.csv $(BIN)/flambda-artifacts
	$(call wide_forget,$@)
	bench-jobs --vary="step=$(pca_steps_named)" \
	    --command='flambda-artifacts $*/{step}/artifacts.tar' $(aside)
$(pca)/%/static.csv: $(pca)/%/static.jobs $(BIN)/csv-cut
	cd $(pca)
	$(wide) $*/static.jobs $*/static.jobs.log $*
	cd - > /dev/null
	jobs-merge --log=$<.log $< | csv-cut --column=step,static_instructions $(aside)

# one row a step: the geometric mean of its CPU times, the median of what else was sampled, the exact counts; where it
# ran on several inputs, their mean
$(pca)/%/table.csv: $(pca)/%/runs.csv $(pca)/%/counts.csv $(pca)/%/static.csv
	csv-where --column=phase --is=measure $< | csv-where --column=status --is=ok |
	    csv-group --group=benchmark,label,kind --column=cpu_seconds,$(call pca_comma,$(pca_median)) \
	        --stat=gmean,median --missing=skip |
	    csv-group --group=label,kind --column=gmean_cpu_seconds,$(call pca_comma,$(pca_median:%=median_%)) \
	        --stat=mean --missing=skip | csv-calc --set="benchmark='$*'" |
	    csv-cut --column=benchmark,label,mean_gmean_cpu_seconds,$(strip \
	        )$(call pca_comma,$(pca_median:%=mean_median_%)),kind --rename=label=step \
	        --rename=mean_gmean_cpu_seconds=seconds $(foreach c,$(pca_median),--rename=mean_median_$c=$c) |
	    csv-join --key=step --keep=left - <(csv-where --column=status --is=ok $(@D)/counts.csv |
	        csv-group --group=label,metric --column=value --stat=mean |
	        csv-pivot --key=label --names=metric --values=mean_value | csv-cut --rename=label=step) |
	    csv-join --key=step --keep=left - <(csv-calc --set="step=concat('$*/', step)" $(@D)/steps.csv) |
	    csv-join --key=step --keep=left - $(@D)/static.csv $(aside)

$(eval $(call asked,$(pca)/asked,pca_names PCA_ROUNDS))
$(OUT)/pca-data.csv: $(pca_names:%=$(pca)/%/table.csv) $(pca)/asked
	csv-cat --fill $(filter %.csv,$^) $(aside)
$(OUT)/pca-data-pca.csv $(OUT)/pca-data-points.csv &: $(OUT)/pca-data.csv $(BIN)/flambda-pca
	flambda-pca --counters='$(pca_plain)' --per-instruction='$(pca_per)' --points=$(OUT)/pca-data-points.csv $< > \
	    $(call beside,$(OUT)/pca-data-pca.csv)
	$(call keep,$(OUT)/pca-data-pca.csv)
# components are a program's own: each has its picture, too
$(pca)/%/points.csv: $(OUT)/pca-data-points.csv
	csv-where --column=benchmark --is=$* $< $(aside)
$(pca_logged:%=$(pca)/%/z.svg): $(pca)/%/z.svg: $(pca)/%/points.csv $(TOP)/plots/flambda-pca.gp
	$(call draw,flambda-pca,$<,'$*' z_1 z_2)
$(pca_logged:%=$(pca)/%/z.png): $(pca)/%/z.png: $(pca)/%/points.csv $(TOP)/plots/flambda-pca.gp
	$(call draw,flambda-pca,$<,'$*' z_1 z_2)
$(foreach x,svg png,$(OUT)/pca-data.$x): $(OUT)/pca-data-points.csv $(TOP)/plots/flambda-pca.gp
	$(call draw,flambda-pca,$<,'$(pca_names)' z_1 z_2)
