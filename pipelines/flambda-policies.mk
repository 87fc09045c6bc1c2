# policies.mk - the original inlining study's tables, from its result folders and counter files or others of the same
# layout
#   make flambda-policies DATA=DIR    DIR/results/BENCHMARK/EXPERIMENT/*.csv (and DIR/pca-data/*.csv) to
#                                     $(OUT)/flambda/policies*.csv
#   make flambda-pca DATA=DIR         DIR/pca-data/BENCHMARK.csv to $(OUT)/flambda/pca.csv and scatter plots
# DIR may also be the folder above, or the one that holds the files itself.

POLICY_DATA  = $(or $(if $(DATA),$(firstword $(wildcard $(DATA)/inline/results $(DATA)/results) $(DATA))),$(DATA))
PCA_DATA     = $(or $(if $(DATA),$(firstword $(wildcard $(DATA)/inline/pca-data $(DATA)/pca-data) $(DATA))),$(DATA))
POLICY_OUT   = $(OUT)/flambda
EXPERIMENT  ?= plugins-valid
SETTINGS    ?= ridge-v0-reproduce-relabel
HAND        ?= decay-0.400000-ridge-0.050000-benefit-log_speedup_over_mean
POLICY_PLOT ?= v1_neural_network_ridge_moe

policy_tables = welch best regret greedy
with_initial  = $$([ ! -s $(POLICY_OUT)/counters.csv ] || echo --initial=$(POLICY_OUT)/counters.csv)
policy_run    = flambda-policies --sets=$(TOP)/data/flambda-benchmarks.csv '--not-single=*_moe' $(with_initial) --quiet

flambda-policies: $(POLICY_OUT)/policies.csv $(POLICY_OUT)/policies-summary.csv \
    $(policy_tables:%=$(POLICY_OUT)/policies-%.csv) \
    $(POLICY_OUT)/settings-select.csv $(foreach x,svg png,$(POLICY_OUT)/policies.$x $(POLICY_OUT)/policies-set.$x \
        $(POLICY_OUT)/policies-greedy.$x $(POLICY_OUT)/policies-regret.$x)

flambda-pca: $(POLICY_OUT)/pca.csv $(POLICY_OUT)/pca.done

.PHONY: flambda-policies flambda-pca

# the settings file changes only when the inputs are others
$(POLICY_OUT)/policies.settings: policies-force
	@mkdir -p $(@D)
	if [ -z '$(DATA)' ]; then echo 'make: say where the data are, DATA=DIR' >&2; exit 1; fi
	printf '%s\n' 'results=$(POLICY_DATA)' 'counters=$(PCA_DATA)' 'experiment=$(EXPERIMENT)' 'settings=$(SETTINGS)' \
	    > $(new)
	cmp -s $(new) $@ && rm $(new) || $(call keep,$@)
.PHONY: policies-force

$(POLICY_OUT)/timings.csv: $(POLICY_OUT)/policies.settings $(wildcard $(POLICY_DATA)/*/$(EXPERIMENT)/*.csv) \
    $(BIN)/flambda-results
	flambda-results --experiment=$(EXPERIMENT) $(POLICY_DATA) -o $@
$(POLICY_OUT)/settings.csv: $(POLICY_OUT)/policies.settings $(wildcard $(POLICY_DATA)/*/$(SETTINGS)/*.csv) \
    $(BIN)/flambda-results
	flambda-results --experiment=$(SETTINGS) $(POLICY_DATA) -o $@
# no counters at all is an empty file: the policies do without them; so is a picture with nothing to show
$(POLICY_OUT)/counters.csv: $(POLICY_OUT)/policies.settings $(wildcard $(PCA_DATA)/*.csv) $(BIN)/flambda-counters
	shopt -s nullglob
	files=('$(PCA_DATA)'/*.csv)
	if [ $${#files[@]} = 0 ]; then : > $(new); else flambda-counters "$${files[@]}" > $(new); fi
	$(call keep,$@)

$(POLICY_OUT)/policies.csv: $(POLICY_OUT)/timings.csv $(POLICY_OUT)/counters.csv $(TOP)/data/flambda-benchmarks.csv \
    $(BIN)/flambda-policies
	$(policy_run) --table=savings $< -o $@
$(POLICY_OUT)/policies-%.csv: $(POLICY_OUT)/timings.csv $(POLICY_OUT)/counters.csv \
    $(TOP)/data/flambda-benchmarks.csv $(BIN)/flambda-policies
	$(policy_run) --table=$* $< -o $@
# learned decisions: the second timing of each worker alone, against the initial runs
$(POLICY_OUT)/settings-select.csv: $(POLICY_OUT)/settings.csv $(POLICY_OUT)/counters.csv $(BIN)/flambda-policies
	if [ -s $(POLICY_OUT)/counters.csv ] && grep -q ',$(HAND),' $<; then
	    $(policy_run) --table=select --only=2 --base=initial --hand=$(HAND) $< -o $@
	else
	    echo choice,benchmark,policy,seconds,saved_ratio,missed_ratio $(aside)
	fi

# tables of ratios do not say how the times were obtained that they come from
flambda_draw = gnuplot -e "kind='$$($(TOP)/pipelines/kinds $(POLICY_OUT)/timings.csv)'" -c $(TOP)/plots
# what a picture shows stands in a table beside it: one policy, one set
$(POLICY_OUT)/policies-one.csv: $(POLICY_OUT)/policies.csv $(BIN)/csv-where
	csv-calc --where='known(saved_ratio)' --set="wanted=policy == '$(POLICY_PLOT)'" $< |
	    csv-sort --key=wanted:nr > $@.found
	policy=$$(csv-sample --first=1 $@.found | csv-calc --print=policy)
	rm $@.found
	csv-where --column=policy --is="$$policy" $< $(aside)
$(POLICY_OUT)/policies-set.csv: $(POLICY_OUT)/policies-summary.csv $(BIN)/csv-where
	csv-calc --where='n > 0' --set="test=set == 'test'" --set='row=row()' $< | csv-sort --key=test:n,row:n > $@.found
	set=$$(csv-sample --last=1 $@.found | csv-calc --print=set)
	rm $@.found
	csv-where --column=set --is="$$set" $< $(aside)
$(foreach x,svg png,$(POLICY_OUT)/policies.$x): $(POLICY_OUT)/policies-one.csv $(TOP)/plots/flambda-savings.gp
	policy=$$(csv-sample --first=1 $< | csv-calc --print=policy)
	if [ -n "$$policy" ]; then $(flambda_draw)/flambda-savings.gp $< $(new) "$$policy"; else : > $(new); fi
	$(call keep,$@)
$(foreach x,svg png,$(POLICY_OUT)/policies-set.$x): $(POLICY_OUT)/policies-set.csv $(TOP)/plots/flambda-summary.gp
	set=$$(csv-sample --first=1 $< | csv-calc --print=set)
	if [ -n "$$set" ]; then $(flambda_draw)/flambda-summary.gp $< $(new) "$$set"; else : > $(new); fi
	$(call keep,$@)
$(foreach x,svg png,$(POLICY_OUT)/policies-greedy.$x): $(POLICY_OUT)/policies-greedy.csv $(TOP)/plots/flambda-greedy.gp
	if grep -q ^train, $<; then $(flambda_draw)/flambda-greedy.gp $< $(new); else : > $(new); fi
	$(call keep,$@)

# the policies in order of their median regret
$(POLICY_OUT)/policies-regret-median.csv: $(POLICY_OUT)/policies-regret.csv $(BIN)/csv-group $(BIN)/csv-sort
	csv-where --column=regret_ratio --known $< | csv-group --group=policy --columns=regret_ratio --stat=n,p25,p50,p75 |
	    csv-sort --key=p50_regret_ratio:n $(aside)
$(foreach x,svg png,$(POLICY_OUT)/policies-regret.$x): $(POLICY_OUT)/policies-regret-median.csv \
    $(TOP)/plots/flambda-regret.gp
	if [ $$(wc -l < $<) -gt 1 ]; then $(flambda_draw)/flambda-regret.gp $< $(new); else : > $(new); fi
	$(call keep,$@)

$(POLICY_OUT)/pca.csv $(POLICY_OUT)/pca-points.csv &: $(POLICY_OUT)/counters.csv $(BIN)/flambda-pca
	if [ ! -s $< ]; then echo 'make: no counter files in $(PCA_DATA)' >&2; exit 1; fi
	flambda-pca --points=$(POLICY_OUT)/pca-points.csv $< > $(call beside,$(POLICY_OUT)/pca.csv)
	$(call keep,$(POLICY_OUT)/pca.csv)
# one scatter a benchmark that has components
$(POLICY_OUT)/pca.done: $(POLICY_OUT)/pca.csv $(POLICY_OUT)/pca-points.csv $(TOP)/plots/flambda-pca.gp $(BIN)/csv-where
	mkdir -p $(POLICY_OUT)/pca
	while IFS=, read -r name rows steps na initial best saved raw rest; do
	    [ "$$name" != benchmark ] && [ -n "$$raw" ] && [ -n "$$saved" ] || continue
	    [[ $$name =~ ^[A-Za-z0-9][A-Za-z0-9._+-]*$$ ]] ||
	        { echo "make: benchmark '$$name' is not a plain name" >&2; exit 1; }
	    points="$(POLICY_OUT)/pca/$$name.csv"
	    csv-where --column=benchmark --is="$$name" $(POLICY_OUT)/pca-points.csv > "$$points"
	    for x in svg png; do
	        gnuplot -c $(TOP)/plots/flambda-pca.gp "$$points" "$(POLICY_OUT)/pca/$$name-z.$$x" "$$name" z_1 z_2
	        gnuplot -c $(TOP)/plots/flambda-pca.gp "$$points" "$(POLICY_OUT)/pca/$$name-raw.$$x" "$$name" raw_1 raw_2
	    done
	done < $<
	touch $@

# does a policy carry over to programs it never saw?  every kind of model, one program left out in turn: make
# flambda-generalise DATA=DIR
GENERALISE_RULES ?= lasso ridge
GENERALISE_TAU   ?= 0.0005
GENERALISE_IGNORE = site,immediate,long_term,no_inline

flambda-generalise: $(foreach r,$(GENERALISE_RULES),$(foreach x,csv svg png,$(POLICY_OUT)/generalise-$r.$x))
.PHONY: flambda-generalise

$(POLICY_OUT)/generalise-labels-%.csv: $(POLICY_OUT)/pairs.csv $(BIN)/flambda-label
	flambda-label --rule=$* $(if $(filter ridge,$*),--tau=$(GENERALISE_TAU)) $< -o $@
generalise_fit = fit-cv --target=label --group=program --ignore=$(GENERALISE_IGNORE) --seed=$(SEED)
# a fold is a job, done here or on HOSTS, and the pooled table is the same; jobs run where the labels lie
$(POLICY_OUT)/generalise-%.jobs: $(POLICY_OUT)/generalise-labels-%.csv $(BIN)/fit-cv
	$(call forget,$@)
	programs=$$(csv-dedupe -k program $< | csv-cut -c program | tail -n +2 | paste -sd' ')
	bench-jobs --vary="fold=$$programs" --command='$(generalise_fit) --fold={fold} $(<F)' $(aside)
$(POLICY_OUT)/generalise-%.csv: $(POLICY_OUT)/generalise-%.jobs
	(cd $(@D) && $(wide) $(<F) $(<F).log generalise-labels-$*.csv)
	jobs-merge --log=$<.log $< | fit-cv --pool $(aside)
# what the picture shows: all programs together, and the best that any function of these features could do
$(POLICY_OUT)/generalise-all-%.csv: $(POLICY_OUT)/generalise-%.csv $(POLICY_OUT)/generalise-labels-%.csv \
    $(BIN)/fit-audit
	ceiling=$$(fit-audit --target=label --ignore=program,$(GENERALISE_IGNORE) $(POLICY_OUT)/generalise-labels-$*.csv |
	    csv-calc --print=value --where="item == 'ceiling_ratio'")
	csv-calc --where="group == '(all)'" --let=bound="$$ceiling" --set='ceiling_ratio=bound' $< $(aside)
$(POLICY_OUT)/generalise-%.svg: $(POLICY_OUT)/generalise-all-%.csv $(TOP)/plots/flambda-generalise.gp
	gnuplot -e "kind='published'" -c $(TOP)/plots/flambda-generalise.gp $< $(new) '$* labels'
	$(call keep,$@)
$(POLICY_OUT)/generalise-%.png: $(POLICY_OUT)/generalise-all-%.csv $(TOP)/plots/flambda-generalise.gp
	gnuplot -e "kind='published'" -c $(TOP)/plots/flambda-generalise.gp $< $(new) '$* labels'
	$(call keep,$@)

# ours beside the published figures, for those that rest on files given: make flambda-published DATA=DIR
GENERAL ?= decay-0.400000-ridge-0.500000-benefit-log_speedup_over_mean
flambda-published: $(POLICY_OUT)/published.csv
.PHONY: flambda-published

$(POLICY_OUT)/settings-general.csv: $(POLICY_OUT)/settings.csv $(POLICY_OUT)/counters.csv $(BIN)/flambda-policies
	$(policy_run) --table=select --only=2 --base=initial --hand=$(GENERAL) $< -o $@
# a line is a figure, its key and what we found: $(call ours,TABLE,WHICH,FIGURE,KEY,VALUE), expressions over the table
ours = csv-calc --where="$(2)" --print="concat($(3), ',', $(4), ',', $(5))" $(POLICY_OUT)/$(1).csv
ours_from = pca policies policies-summary policies-greedy settings-select settings-general features trees decisions
saved = 100 * saved_ratio
ours_moe = starts(key, 'ridge_moe tau=') && ends(item, '_ratio')
ours_lasso = key ~ '^lasso_(star|general|hand)' && item ~ '^n_(doesnt|inline|apply)'
ours_star = item == 'n_reward_nodes' && starts(key, 'ridge-star ')
kb_1_pass = $(kb_1) && starts(item, 'n_nodes_pass_')
kb_1 = key == 'kb-1-parents.sexp'
$(POLICY_OUT)/ours.csv: $(ours_from:%=$(POLICY_OUT)/%.csv)
	{   echo figure,key,ours
	    $(call ours,pca,known(saved_ratio),'best_seen_percent',benchmark,$(saved))
	    csv-calc --where="policy != 'nothing' && saved_ratio > 0" $(POLICY_OUT)/policies.csv |
	        csv-group -g benchmark -c saved_ratio --stat=max |
	        csv-calc --print="concat('best_policy_percent,', benchmark, ',', 100 * max_saved_ratio)"
	    $(call ours,policies-summary,set == 'train','train_gmean_ratio',policy,gmean_ratio)
	    $(call ours,policies-summary,set == 'test','test_min_percent',policy,100 * min)
	    $(call ours,policies-summary,set == 'test','test_max_percent',policy,100 * max)
	    $(call ours,policies-greedy,set == 'train','greedy_train_regret',k,mean_ratio)
	    for how in percent,100*saved_ratio missed_ratio,missed_ratio; do
	        csv-calc --where="known(saved_ratio) && choice != 'general'" \
	            --print="concat('ridge_', choice, '_$${how%,*},', benchmark, ',', $${how#*,})" \
	            $(POLICY_OUT)/settings-select.csv
	    done
	    $(call ours,settings-general,known(saved_ratio) && choice == 'hand','ridge_general_percent',benchmark,$(saved))
	    $(call ours,features,$(ours_moe),concat('ridge_star_', item),part(key, '=', 2),value)
	    $(call ours,features,$(ours_lasso),concat(key, '_labels'),slice(item, 3),value)
	    $(call ours,features,!known(key),'pairs',item,value)
	    $(call ours,features,item == 'ceiling' && key == 'lasso','pairs','ceiling_lasso',value)
	    $(call ours,features,$(ours_star),'reward_nodes',part(key, ' ', 2),value)
	    $(call ours,decisions,key == 'all','almabench_variants',item,value)
	    csv-calc --where="key == 'inlining_tree_a.sexp' && item ~ '^n_(decl|inlined|apply)$$'" $(POLICY_OUT)/trees.csv |
	        csv-group -g key -c value --stat=sum | csv-calc --print="concat('tree_a,n_nodes,', sum_value)"
	    $(call ours,trees,$(kb_1_pass),'kb_1_nodes_pass',replace(item, 'n_nodes_pass_', ''),value)
	    $(call ours,trees,$(kb_1) && item == 'n_decisions_round_0','kb_1_decisions','round 0',value)
	} $(aside)
$(POLICY_OUT)/published.csv: $(TOP)/data/published/flambda.csv $(POLICY_OUT)/ours.csv $(BIN)/csv-join
	csv-join --key=figure,key --keep=left $< $(POLICY_OUT)/ours.csv |
	    csv-calc --set='difference=digits(ours - published, 3)' $(aside)

# shares of the labels against tau, from the rewards in the training logs: make flambda-classes DATA=DIR
CLASS_LOG  ?= ridge_moe
CLASS_TAUS ?= 0.00001 0.00002 0.00005 0.0001 0.0002 0.0005 0.001 0.002 0.005 0.01 0.02 0.05
flambda-classes: $(foreach x,csv svg png,$(POLICY_OUT)/classes.$x)
.PHONY: flambda-classes

class_log = $(firstword $(wildcard $(DATA)/inline/training-logs/$(CLASS_LOG) $(DATA)/training-logs/$(CLASS_LOG)))
$(POLICY_OUT)/classes.csv: $(POLICY_OUT)/policies.settings $(BIN)/flambda-pairs $(BIN)/flambda-label
	if [ -z '$(class_log)' ]; then echo 'make: no training-logs/$(CLASS_LOG) in DATA=$(DATA)' >&2; exit 1; fi
	flambda-pairs --kind=log $(class_log)/correct.log $(class_log)/incorrect.log |
	    flambda-label --count --rule=ridge $(CLASS_TAUS:%=--tau=%) $(aside)
$(POLICY_OUT)/classes.svg $(POLICY_OUT)/classes.png: $(POLICY_OUT)/classes.csv $(TOP)/plots/flambda-classes.gp
	gnuplot -e "kind='published'" -c $(TOP)/plots/flambda-classes.gp $< $(new)
	$(call keep,$@)
