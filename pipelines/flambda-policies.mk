# flambda-policies.mk - the original inlining study's tables, from its result folders and counter files or others of
# the same layout
#   make flambda-policies DATA=DIR    DIR/results/BENCHMARK/EXPERIMENT/*.csv (and DIR/pca-data/*.csv) to
#                                     $(OUT)/flambda/policies*.csv
#   make flambda-pca DATA=DIR         DIR/pca-data/BENCHMARK.csv to $(OUT)/flambda/pca.csv and scatter plots
# DIR may also be the folder above, or the one that holds the files itself.

flambda_results  = $(or $(if $(DATA),$(firstword $(wildcard $(DATA)/inline/results $(DATA)/results) $(DATA))),$(DATA))
flambda_pca_data = $(or $(if $(DATA),$(firstword $(wildcard $(DATA)/inline/pca-data $(DATA)/pca-data) $(DATA))),$(DATA))
flambda             = $(OUT)/flambda
FLAMBDA_EXPERIMENT ?= plugins-valid
FLAMBDA_SETTINGS   ?= ridge-v0-reproduce-relabel
FLAMBDA_HAND       ?= decay-0.400000-ridge-0.050000-benefit-log_speedup_over_mean
FLAMBDA_PLOT       ?= v1_neural_network_ridge_moe

flambda_policy_tables = welch best regret greedy
flambda_initial       = $$([ ! -s $(flambda)/counters.csv ] || echo --initial=$(flambda)/counters.csv)
flambda_policy_run    = flambda-policies --sets=$(TOP)/data/flambda-benchmarks.csv '--not-single=*_moe' \
    $(flambda_initial) --quiet

flambda-policies: $(flambda)/policies.csv $(flambda)/policies-summary.csv \
    $(flambda_policy_tables:%=$(flambda)/policies-%.csv) \
    $(flambda)/settings-select.csv $(foreach x,svg png,$(flambda)/policies.$x $(flambda)/policies-set.$x \
        $(flambda)/policies-greedy.$x $(flambda)/policies-regret.$x)

flambda-pca: $(flambda)/pca.csv $(flambda)/pca.done

.PHONY: flambda-policies flambda-pca

# the settings file changes only when the inputs are others
$(flambda)/policies.settings: policies-force
	@mkdir -p $(@D)
	if [ -z '$(DATA)' ]; then echo 'make: say where the data are, DATA=DIR' >&2; exit 1; fi
	printf '%s\n' 'results=$(flambda_results)' 'counters=$(flambda_pca_data)' 'experiment=$(FLAMBDA_EXPERIMENT)' \
	    'settings=$(FLAMBDA_SETTINGS)' \
	    > $(new)
	cmp -s $(new) $@ && rm $(new) || $(call keep,$@)
.PHONY: policies-force

$(flambda)/timings.csv: $(flambda)/policies.settings $(wildcard $(flambda_results)/*/$(FLAMBDA_EXPERIMENT)/*.csv) \
    $(BIN)/flambda-results
	flambda-results --experiment=$(FLAMBDA_EXPERIMENT) $(flambda_results) -o $@
$(flambda)/settings.csv: $(flambda)/policies.settings $(wildcard $(flambda_results)/*/$(FLAMBDA_SETTINGS)/*.csv) \
    $(BIN)/flambda-results
	flambda-results --experiment=$(FLAMBDA_SETTINGS) $(flambda_results) -o $@
# no counters at all is an empty file: the policies do without them; so is a picture with nothing to show
$(flambda)/counters.csv: $(flambda)/policies.settings $(wildcard $(flambda_pca_data)/*.csv) $(BIN)/flambda-counters
	shopt -s nullglob
	files=('$(flambda_pca_data)'/*.csv)
	if [ $${#files[@]} = 0 ]; then : > $(new); else flambda-counters "$${files[@]}" > $(new); fi
	$(call keep,$@)

$(flambda)/policies.csv: $(flambda)/timings.csv $(flambda)/counters.csv $(TOP)/data/flambda-benchmarks.csv \
    $(BIN)/flambda-policies
	$(flambda_policy_run) --table=savings $< -o $@
$(flambda)/policies-%.csv: $(flambda)/timings.csv $(flambda)/counters.csv \
    $(TOP)/data/flambda-benchmarks.csv $(BIN)/flambda-policies
	$(flambda_policy_run) --table=$* $< -o $@
# learned decisions: the second timing of each worker alone, against the initial runs
$(flambda)/settings-select.csv: $(flambda)/settings.csv $(flambda)/counters.csv $(BIN)/flambda-policies
	if [ -s $(flambda)/counters.csv ] && grep -q ',$(FLAMBDA_HAND),' $<; then
	    $(flambda_policy_run) --table=select --only=2 --base=initial --hand=$(FLAMBDA_HAND) $< -o $@
	else
	    echo choice,benchmark,policy,seconds,saved_ratio,missed_ratio $(aside)
	fi

# tables of ratios do not say how the times were obtained that they come from
flambda_draw = gnuplot -e "kind='$$($(TOP)/pipelines/kinds $(flambda)/timings.csv)'" -c $(TOP)/plots
# what a picture shows stands in a table beside it: one policy, one set
$(flambda)/policies-one.csv: $(flambda)/policies.csv $(BIN)/csv-where
	csv-calc --where='known(saved_ratio)' --set="wanted=policy == '$(FLAMBDA_PLOT)'" $< |
	    csv-sort --key=wanted:nr > $@.found
	policy=$$(csv-sample --first=1 $@.found | csv-calc --print=policy)
	rm $@.found
	csv-where --column=policy --is="$$policy" $< $(aside)
$(flambda)/policies-set.csv: $(flambda)/policies-summary.csv $(BIN)/csv-where
	csv-calc --where='n > 0' --set="test=set == 'test'" --set='row=row()' $< | csv-sort --key=test:n,row:n > $@.found
	set=$$(csv-sample --last=1 $@.found | csv-calc --print=set)
	rm $@.found
	csv-where --column=set --is="$$set" $< $(aside)
$(foreach x,svg png,$(flambda)/policies.$x): $(flambda)/policies-one.csv $(TOP)/plots/flambda-savings.gp
	policy=$$(csv-sample --first=1 $< | csv-calc --print=policy)
	if [ -n "$$policy" ]; then $(flambda_draw)/flambda-savings.gp $< $(new) "$$policy"; else : > $(new); fi
	$(call keep,$@)
$(foreach x,svg png,$(flambda)/policies-set.$x): $(flambda)/policies-set.csv $(TOP)/plots/flambda-summary.gp
	set=$$(csv-sample --first=1 $< | csv-calc --print=set)
	if [ -n "$$set" ]; then $(flambda_draw)/flambda-summary.gp $< $(new) "$$set"; else : > $(new); fi
	$(call keep,$@)
$(foreach x,svg png,$(flambda)/policies-greedy.$x): $(flambda)/policies-greedy.csv $(TOP)/plots/flambda-greedy.gp
	if grep -q ^train, $<; then $(flambda_draw)/flambda-greedy.gp $< $(new); else : > $(new); fi
	$(call keep,$@)

# the policies in order of their median regret
$(flambda)/policies-regret-median.csv: $(flambda)/policies-regret.csv $(BIN)/csv-group $(BIN)/csv-sort
	csv-where --column=regret_ratio --known $< | csv-group --group=policy --column=regret_ratio --stat=n,p25,p50,p75 |
	    csv-sort --key=p50_regret_ratio:n $(aside)
$(foreach x,svg png,$(flambda)/policies-regret.$x): $(flambda)/policies-regret-median.csv \
    $(TOP)/plots/flambda-regret.gp
	if [ $$(wc -l < $<) -gt 1 ]; then $(flambda_draw)/flambda-regret.gp $< $(new); else : > $(new); fi
	$(call keep,$@)

$(flambda)/pca.csv $(flambda)/pca-points.csv &: $(flambda)/counters.csv $(BIN)/flambda-pca
	if [ ! -s $< ]; then echo 'make: no counter files in $(flambda_pca_data)' >&2; exit 1; fi
	flambda-pca --points=$(flambda)/pca-points.csv $< > $(call beside,$(flambda)/pca.csv)
	$(call keep,$(flambda)/pca.csv)
# one scatter a benchmark that has components
$(flambda)/pca.done: $(flambda)/pca.csv $(flambda)/pca-points.csv $(TOP)/plots/flambda-pca.gp $(BIN)/csv-where
	mkdir -p $(flambda)/pca
	while IFS=, read -r name rows steps na initial best saved raw rest; do
	    [ "$$name" != benchmark ] && [ -n "$$raw" ] && [ -n "$$saved" ] || continue
	    [[ $$name =~ ^[A-Za-z0-9][A-Za-z0-9._+-]*$$ ]] ||
	        { echo "make: benchmark '$$name' is not a plain name" >&2; exit 1; }
	    points="$(flambda)/pca/$$name.csv"
	    csv-where --column=benchmark --is="$$name" $(flambda)/pca-points.csv > "$$points"
	    for x in svg png; do
	        gnuplot -c $(TOP)/plots/flambda-pca.gp "$$points" "$(flambda)/pca/$$name-z.$$x" "$$name" z_1 z_2
	        gnuplot -c $(TOP)/plots/flambda-pca.gp "$$points" "$(flambda)/pca/$$name-raw.$$x" "$$name" raw_1 raw_2
	    done
	done < $<
	touch $@

# does a policy carry over to programs it never saw?  every kind of model, one program left out in turn: make
# flambda-generalise DATA=DIR
FLAMBDA_GENERALISE_RULES ?= lasso ridge
FLAMBDA_GENERALISE_TAU   ?= 0.0005
flambda_generalise_ignore = site,immediate,long_term,no_inline

flambda-generalise: $(foreach r,$(FLAMBDA_GENERALISE_RULES),$(foreach x,csv svg png,$(flambda)/generalise-$r.$x))
.PHONY: flambda-generalise

$(flambda)/generalise-labels-%.csv: $(flambda)/pairs.csv $(BIN)/flambda-label
	flambda-label --rule=$* $(if $(filter ridge,$*),--tau=$(FLAMBDA_GENERALISE_TAU)) $< -o $@
flambda_generalise_fit = fit-cv --target=label --group=program --ignore=$(flambda_generalise_ignore) --seed=$(SEED)
# a fold is a job, done here or on HOSTS, and the pooled table is the same; jobs run where the labels lie
$(flambda)/generalise-%.jobs: $(flambda)/generalise-labels-%.csv $(BIN)/fit-cv
	$(call wide_forget,$@)
	programs=$$(csv-dedupe -k program $< | csv-cut -c program | tail -n +2 | paste -sd' ')
	bench-jobs --vary="fold=$$programs" --command='$(flambda_generalise_fit) --fold={fold} $(<F)' $(aside)
$(flambda)/generalise-%.csv: $(flambda)/generalise-%.jobs
	(cd $(@D) && $(wide) $(<F) $(<F).log generalise-labels-$*.csv)
	jobs-merge --log=$<.log $< | fit-cv --pool $(aside)
# the study's mixture: of three experts (logistic, mlp, boost) the surest decides
$(flambda)/generalise-surest-%.csv: $(flambda)/generalise-labels-%.csv $(BIN)/fit-cv
	@$(flambda_generalise_fit) --models=logistic,mlp,boost,committee --surest $< |
	    csv-where -c model --is=committee | csv-calc --set="model='surest'" $(aside)
# what the picture shows: all programs together, and the best that any function of these features could do
$(flambda)/generalise-all-%.csv: $(flambda)/generalise-%.csv $(flambda)/generalise-labels-%.csv \
    $(flambda)/generalise-surest-%.csv $(BIN)/fit-audit
	ceiling=$$(fit-audit --target=label --ignore=program,$(flambda_generalise_ignore) $(flambda)/generalise-labels-$*.csv |
	    csv-calc --print=value --where="item == 'ceiling_ratio'")
	csv-cat $< $(flambda)/generalise-surest-$*.csv |
	    csv-calc --where="group == '(all)'" --let=bound="$$ceiling" --set='ceiling_ratio=bound' $(aside)
$(flambda)/generalise-%.svg: $(flambda)/generalise-all-%.csv $(TOP)/plots/flambda-generalise.gp
	gnuplot -e "kind='published'" -c $(TOP)/plots/flambda-generalise.gp $< $(new) '$* labels'
	$(call keep,$@)
$(flambda)/generalise-%.png: $(flambda)/generalise-all-%.csv $(TOP)/plots/flambda-generalise.gp
	gnuplot -e "kind='published'" -c $(TOP)/plots/flambda-generalise.gp $< $(new) '$* labels'
	$(call keep,$@)

# ours beside the published figures, for those that rest on files given: make flambda-published DATA=DIR
FLAMBDA_GENERAL ?= decay-0.400000-ridge-0.500000-benefit-log_speedup_over_mean
flambda-published: $(flambda)/published.csv
.PHONY: flambda-published

$(flambda)/settings-general.csv: $(flambda)/settings.csv $(flambda)/counters.csv $(BIN)/flambda-policies
	$(flambda_policy_run) --table=select --only=2 --base=initial --hand=$(FLAMBDA_GENERAL) $< -o $@
# a line is a figure, its key and what we found: $(call flambda_ours,TABLE,WHICH,FIGURE,KEY,VALUE), expressions over
# the table
flambda_ours = csv-calc --where="$(2)" --print="concat($(3), ',', $(4), ',', $(5))" $(flambda)/$(1).csv
flambda_ours_from = pca policies policies-summary policies-greedy settings-select settings-general features trees \
    decisions
flambda_saved = 100 * saved_ratio
flambda_ours_moe = starts(key, 'ridge_moe tau=') && ends(item, '_ratio')
flambda_ours_lasso = key ~ '^lasso_(star|general|hand)' && item ~ '^n_(doesnt|inline|apply)'
flambda_ours_star = item == 'n_reward_nodes' && starts(key, 'ridge-star ')
flambda_kb_1_pass = $(flambda_kb_1) && starts(item, 'n_nodes_pass_')
flambda_kb_1 = key == 'kb-1-parents.sexp'
$(flambda)/ours.csv: $(flambda_ours_from:%=$(flambda)/%.csv)
	{   echo figure,key,ours
	    $(call flambda_ours,pca,known(saved_ratio),'best_seen_percent',benchmark,$(flambda_saved))
	    csv-calc --where="policy != 'nothing' && saved_ratio > 0" $(flambda)/policies.csv |
	        csv-group -g benchmark -c saved_ratio --stat=max |
	        csv-calc --print="concat('best_policy_percent,', benchmark, ',', 100 * max_saved_ratio)"
	    $(call flambda_ours,policies-summary,set == 'train','train_gmean_ratio',policy,gmean_ratio)
	    $(call flambda_ours,policies-summary,set == 'test','test_min_percent',policy,100 * min)
	    $(call flambda_ours,policies-summary,set == 'test','test_max_percent',policy,100 * max)
	    $(call flambda_ours,policies-greedy,set == 'train','greedy_train_regret',k,mean_ratio)
	    for how in percent,100*saved_ratio missed_ratio,missed_ratio; do
	        csv-calc --where="known(saved_ratio) && choice != 'general'" \
	            --print="concat('ridge_', choice, '_$${how%,*},', benchmark, ',', $${how#*,})" \
	            $(flambda)/settings-select.csv
	    done
	    $(call flambda_ours,settings-general,known(saved_ratio) && choice == 'hand',$(strip \
	        'ridge_general_percent'),benchmark,$(flambda_saved))
	    $(call flambda_ours,features,$(flambda_ours_moe),concat('ridge_star_', item),part(key, '=', 2),value)
	    $(call flambda_ours,features,$(flambda_ours_lasso),concat(key, '_labels'),slice(item, 3),value)
	    $(call flambda_ours,features,!known(key),'pairs',item,value)
	    $(call flambda_ours,features,item == 'ceiling' && key == 'lasso','pairs','ceiling_lasso',value)
	    $(call flambda_ours,features,$(flambda_ours_star),'reward_nodes',part(key, ' ', 2),value)
	    $(call flambda_ours,decisions,key == 'all','almabench_variants',item,value)
	    csv-calc --where="key == 'inlining_tree_a.sexp' && item ~ '^n_(decl|inlined|apply)$$'" $(flambda)/trees.csv |
	        csv-group -g key -c value --stat=sum | csv-calc --print="concat('tree_a,n_nodes,', sum_value)"
	    $(call flambda_ours,trees,$(flambda_kb_1_pass),'kb_1_nodes_pass',replace(item, 'n_nodes_pass_', ''),value)
	    $(call flambda_ours,trees,$(flambda_kb_1) && item == 'n_decisions_round_0','kb_1_decisions','round 0',value)
	} $(aside)
$(flambda)/published.csv: $(TOP)/data/published/flambda.csv $(flambda)/ours.csv $(BIN)/csv-join
	csv-join --key=figure,key --keep=left $< $(flambda)/ours.csv |
	    csv-calc --set='difference=digits(ours - published, 3)' $(aside)

# shares of the labels against tau, from the rewards in the training logs: make flambda-classes DATA=DIR
FLAMBDA_CLASS_LOG  ?= ridge_moe
FLAMBDA_CLASS_TAUS ?= 0.00001 0.00002 0.00005 0.0001 0.0002 0.0005 0.001 0.002 0.005 0.01 0.02 0.05
flambda-classes: $(foreach x,csv svg png,$(flambda)/classes.$x)
.PHONY: flambda-classes

flambda_class_log = $(firstword $(wildcard $(DATA)/inline/training-logs/$(FLAMBDA_CLASS_LOG) \
    $(DATA)/training-logs/$(FLAMBDA_CLASS_LOG)))
$(flambda)/classes.csv: $(flambda)/policies.settings $(BIN)/flambda-sites $(BIN)/flambda-label
	if [ -z '$(flambda_class_log)' ]; then echo 'make: no training-logs/$(FLAMBDA_CLASS_LOG) in DATA=$(DATA)' >&2
	    exit 1; fi
	flambda-sites --kind=log $(flambda_class_log)/correct.log $(flambda_class_log)/incorrect.log |
	    flambda-label --count --rule=ridge $(FLAMBDA_CLASS_TAUS:%=--tau=%) $(aside)
$(flambda)/classes.svg $(flambda)/classes.png: $(flambda)/classes.csv $(TOP)/plots/flambda-classes.gp
	gnuplot -e "kind='published'" -c $(TOP)/plots/flambda-classes.gp $< $(new)
	$(call keep,$@)
