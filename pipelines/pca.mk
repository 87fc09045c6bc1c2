# pca.mk - the counters of compiled variants of programs, measured here: make pca-data
#   PCA_PROGRAMS='a.c b.c'   single-file C programs (default: three of ours); PCA_ARGS_a='...' are their arguments
#   PCA_VARIANTS=FILE        table of step and flags; steps named initial are what the others are compared with
# Times are real.  Hardware counters are real where the machine has them; instructions and allocations are exact counts.

PCA_PROGRAMS   ?= $(addprefix $(TOP)/data/pca/,sort.c life.c words.c)
PCA_VARIANTS   ?= $(TOP)/data/pca/variants.csv
PCA_ROUNDS     ?= 6
PCA_EVENTS     ?= cycles instructions branch-misses cache-misses
PCA_ARGS_sort  ?= $(if $(filter ci test,$(SCALE)),15000,150000)
PCA_ARGS_life  ?= $(if $(filter ci test,$(SCALE)),30,300)
PCA_ARGS_words ?= $(if $(filter ci test,$(SCALE)),15000,150000)

pca             = $(OUT)/pca-data
pca_names       = $(basename $(notdir $(PCA_PROGRAMS)))
pca_plain       = allocations,allocated_bytes,max_rss_bytes,minor_faults,code_bytes,text_bytes
pca_per         = instructions,n_*
pca_count       = bench-count --metric=instructions --metric=allocations --metric=size
pca_steps_named = $$(csv-calc --print=step $(PCA_VARIANTS) | paste -sd' ')
pca_source      = $(firstword $(filter $*.c %/$*.c,$(PCA_PROGRAMS)))
pca_events      = $(patsubst %,n_%,$(subst -,_,$(PCA_EVENTS)))
pca_median      = max_rss_bytes minor_faults $(pca_events)
pca_comma       = $(subst $(space),$(comma),$(strip $(1)))
# the steps with their flags, checked, and label and command of every step as bench-run and bench-count take them
define pca_steps
commands=()
while IFS=$$'\t' read -r step flags; do
    commands+=("--label=$*/$$step" "$(pca)/$*/$$step/program $(PCA_ARGS_$*)")
done < $(pca)/variants
endef

pca-data: $(OUT)/pca-data.csv $(OUT)/pca-data-pca.csv $(OUT)/pca-data.svg $(OUT)/pca-data.png
.PHONY: pca-data

$(pca)/variants: $(PCA_VARIANTS)
	@mkdir -p $(@D)
	$(TOP)/pipelines/variants $< $(aside)
# one folder a step, as the study kept them: the program, its assembly and flags in artifacts.tar
$(pca)/%/built: $(PCA_PROGRAMS) $(pca)/variants
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
	touch $@

# measurements: kept when a program of ours is rebuilt, gone on with after a kill; a log of runs has its name when it
# is whole
$(pca)/%/runs.csv: $(pca)/%/built
	$(pca_steps)
	bench-run --rounds=$(PCA_ROUNDS) --seed=$(SEED) --benchmark=$* $(PCA_EVENTS:%=--event=%) -o $(@D)/runs.log \
	    "$${commands[@]}"
	csv-cat $(@D)/runs.log $(aside)
# exact counts of each variant, a job here or on HOSTS: see wide.mk; files that arguments name go there by PCA_INPUTS=
$(pca)/%/counts.jobs: $(pca)/%/built $(pca)/variants
	$(call wide_forget,$@)
	bench-jobs --vary="step=$(pca_steps_named)" --command="$(pca_count) --label=$*/{step} \
	    '$(pca)/$*/{step}/program $(PCA_ARGS_$*)'" $(aside)
$(pca)/%/counts.csv: $(pca)/%/counts.jobs
	$(wide) $< $<.log $(pca)/$* $(PCA_INPUTS)
	jobs-merge --log=$<.log $< $(aside)
# static instructions of each archive, the same way; their names begin with the program's
$(pca)/%/static.jobs: $(pca)/%/built $(pca)/variants $(BIN)/flambda-artifacts
	$(call wide_forget,$@)
	bench-jobs --vary="step=$(pca_steps_named)" \
	    --command='flambda-artifacts $*/{step}/artifacts.tar' $(aside)
$(pca)/%/static.csv: $(pca)/%/static.jobs $(BIN)/csv-cut
	cd $(pca)
	$(wide) $*/static.jobs $*/static.jobs.log $*
	cd - > /dev/null
	jobs-merge --log=$<.log $< | csv-cut --columns=step,static_instructions $(aside)

# one row a step: the geometric mean of its CPU times, the median of what else was sampled, the exact counts
$(pca)/%/table.csv: $(pca)/%/runs.csv $(pca)/%/counts.csv $(pca)/%/static.csv
	csv-where --column=phase --is=measure $< | csv-where --column=status --is=ok |
	    csv-group --group=benchmark,label,kind --columns=cpu_seconds,$(call pca_comma,$(pca_median)) \
	        --stat=gmean,median --missing=skip |
	    csv-cut --columns=benchmark,label,gmean_cpu_seconds,$(call pca_comma,$(pca_median:%=median_%)),kind \
	        --rename=label=step --rename=gmean_cpu_seconds=seconds $(foreach c,$(pca_median),--rename=median_$c=$c) |
	    csv-join --key=step --keep=left - <(csv-where --column=status --is=ok $(@D)/counts.csv |
	        csv-pivot --key=label --names=metric --values=value | csv-cut --rename=label=step) |
	    csv-join --key=step --keep=left - $(@D)/static.csv $(aside)

$(eval $(call asked,$(pca)/asked,pca_names PCA_ROUNDS))
$(OUT)/pca-data.csv: $(pca_names:%=$(pca)/%/table.csv) $(pca)/asked
	csv-cat $(filter %.csv,$^) $(aside)
$(OUT)/pca-data-pca.csv $(OUT)/pca-data-points.csv &: $(OUT)/pca-data.csv $(BIN)/flambda-pca
	flambda-pca --counters='$(pca_plain)' --per-instruction='$(pca_per)' --points=$(OUT)/pca-data-points.csv $< > \
	    $(call beside,$(OUT)/pca-data-pca.csv)
	$(call keep,$(OUT)/pca-data-pca.csv)
$(foreach x,svg png,$(OUT)/pca-data.$x): $(OUT)/pca-data-points.csv $(TOP)/plots/flambda-pca.gp
	$(call draw,flambda-pca,$<,'$(pca_names)' z_1 z_2)
