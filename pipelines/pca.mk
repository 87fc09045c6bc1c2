# pca.mk - the counters of compiled variants of programs, measured here: make pca-data
#   PCA_PROGRAMS='a.c b.c'   single-file C programs (default: three of ours); PCA_ARGS_a='...' are their arguments
#   PCA_VARIANTS=FILE        table of step and flags; steps named initial are what the others are compared with
# Times are real.  Hardware counters are real where the machine has them; instructions and allocations are exact counts.

PCA_PROGRAMS ?= data/pca/sort.c data/pca/life.c data/pca/words.c
PCA_VARIANTS ?= data/pca/variants.csv
PCA_ROUNDS   ?= 6
PCA_EVENTS   ?= cycles instructions branch-misses cache-misses
PCA_ARGS_sort  ?= 150000
PCA_ARGS_life  ?= 300
PCA_ARGS_words ?= 150000

PCA_LIVE   = $(OUT)/pca-data
pca_names  = $(basename $(notdir $(PCA_PROGRAMS)))
pca_plain  = allocations,allocated_bytes,max_rss_bytes,minor_faults,code_bytes,text_bytes
pca_per    = instructions,n_*
pca_source = $(firstword $(filter $*.c %/$*.c,$(PCA_PROGRAMS)))
# label and command of every step of a program, as bench-run and bench-count take them
pca_labels = $$(awk -F, 'NR > 1 { printf " --label=$*/%s \"$(PCA_LIVE)/$*/%s/program $(PCA_ARGS_$*)\"", $$1, $$1 }' $(PCA_VARIANTS))

pca-data: $(OUT)/pca-data.csv $(OUT)/pca-data-pca.csv $(OUT)/pca-data.svg $(OUT)/pca-data.png
.PHONY: pca-data
.PRECIOUS: $(PCA_LIVE)/%/runs.csv $(PCA_LIVE)/%/counts.csv

# one folder a step, as the study kept them: the program, its assembly and flags in artifacts.tar
$(PCA_LIVE)/%/built: $(PCA_PROGRAMS) $(PCA_VARIANTS)
	rm -rf $(@D)
	while IFS=, read -r step flags; do
	    [ "$$step" != step ] || continue
	    mkdir -p $(@D)/$$step
	    $(CC) $$flags -S -o $(@D)/$$step/program.s $(pca_source)
	    $(CC) $$flags -o $(@D)/$$step/program $(@D)/$$step/program.s -lm
	    echo "$$flags" > $(@D)/$$step/flags
	    tar -C $(@D)/$$step --sort=name --mtime=@0 -czf $(@D)/$$step/artifacts.tar program program.s flags
	done < $(PCA_VARIANTS)
	touch $@

# measurements: kept when a program of ours is rebuilt, gone on with after a kill
$(PCA_LIVE)/%/runs.csv: $(PCA_LIVE)/%/built | $(BIN)/bench-run
	eval bench-run --rounds=$(PCA_ROUNDS) --seed=$(SEED) --benchmark=$* $(PCA_EVENTS:%=--event=%) -o $@ $(pca_labels)
$(PCA_LIVE)/%/counts.csv: $(PCA_LIVE)/%/built | $(BIN)/bench-count
	eval bench-count --metric=instructions --metric=allocations --metric=size $(pca_labels) > $@
# static instructions, several archives at a time; an archive already counted is not counted again
$(PCA_LIVE)/%/static.csv: $(PCA_LIVE)/%/built $(BIN)/flambda-artifacts $(BIN)/csv-cat
	find $(@D) -name artifacts.tar -print0 | sort -z | parallel -0 --will-cite -j$(JOBS) \
	    '[ {//}/instructions.csv -nt {} ] || flambda-artifacts {} --output={//}/instructions.csv'
	find $(@D) -name instructions.csv | sort | xargs csv-cat | csv-cut --columns=step,static_instructions | sed 's|^$(PCA_LIVE)/||' > $@

# one row a step: the geometric mean of its CPU times, the median of what else was sampled, the exact counts
$(PCA_LIVE)/%/table.csv: $(PCA_LIVE)/%/runs.csv $(PCA_LIVE)/%/counts.csv $(PCA_LIVE)/%/static.csv
	events=$$(echo $(PCA_EVENTS) | tr ' -' ',_' | sed 's/\([^,]*\)/n_\1/g')
	csv-where --column=phase --is=measure $< | csv-where --column=status --is=ok |
	    csv-group --group=benchmark,label --columns=cpu_seconds,max_rss_bytes,minor_faults,$$events --stat=gmean,median --missing=skip |
	    csv-cut --columns="benchmark,label,gmean_cpu_seconds,median_max_rss_bytes,median_minor_faults,$$(echo $$events | sed 's/n_/median_n_/g')" \
	        --rename=label=step --rename=gmean_cpu_seconds=seconds --rename=median_max_rss_bytes=max_rss_bytes --rename=median_minor_faults=minor_faults |
	    sed '1s/median_n_/n_/g' > $@.1
	csv-where --column=status --is=ok $(@D)/counts.csv | csv-pivot --key=label --names=metric --values=value | csv-cut --rename=label=step > $@.2
	csv-join --key=step --keep=left $@.1 $@.2 | csv-join --key=step --keep=left - $(@D)/static.csv | sed '1s/$$/,kind/; 2,$$s/$$/,real/' > $@
	rm $@.1 $@.2

$(OUT)/pca-data.csv: $(pca_names:%=$(PCA_LIVE)/%/table.csv)
	csv-cat $^ > $@
$(OUT)/pca-data-pca.csv $(OUT)/pca-data-points.csv &: $(OUT)/pca-data.csv $(BIN)/flambda-pca
	flambda-pca --counters='$(pca_plain)' --per-instruction='$(pca_per)' --points=$(OUT)/pca-data-points.csv $< > $(OUT)/pca-data-pca.csv
$(foreach x,svg png,$(OUT)/pca-data.$x): $(OUT)/pca-data-points.csv plots/flambda-pca.gp
	gnuplot -c plots/flambda-pca.gp $< $@ '$(pca_names)' z_1 z_2
