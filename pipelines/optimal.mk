# optimal.mk - how far from the least machine code the compilers' levels and policies are, with proof
#   make optimal            programs of the corpus, each source by itself at -Oz: optimum, bound, levels, thresholds
#   make optimal-policy     a policy learned on the other programs, beside thresholds and a control; no search
#   make optimal-model      the policy that ships, share/policies/size.model, from all programs; SCALE=ci: in OUT
#   make optimal-executed      the fewest instructions of small programs, proven (OPTIMAL_EXECUTED=names)
#   make optimal-oracle     modules with few calls, every set of decisions built, beside what is proven
#   OPTIMAL_TABLE=   small programs, each of one package's sources, beside those of the corpus (data/small.csv)
#   OPTIMAL_NAMES=   which programs        OPTIMAL_WORKS=DIR   work directories that are there already, DIR/NAME
#   OPTIMAL_MOST=    sets of a function that are all built     OPTIMAL_BUILDS=   budget of a module
optimal        = $(OUT)/optimal
ifneq ($(filter ci test,$(SCALE)),)
OPTIMAL_NAMES  ?= ncompress dos2unix
OPTIMAL_BUILDS ?= 8
endif
OPTIMAL_NAMES ?= ncompress dos2unix tree figlet zlib jhead gzip ed bzip2 bc diffutils mawk flex byacc units gperf \
                  pbzip2 cpio patch file m4 sed lz4 less findutils xz lzip cmark brotli tcc cksfv $(optimal_small)
OPTIMAL_TABLE  ?= $(TOP)/data/small.csv
optimal_small  := $(shell sed -n '2,$$s/,.*//p' $(OPTIMAL_TABLE))
OPTIMAL_WORKS  ?= $(optimal)/works
OPTIMAL_MOST   ?= 16
OPTIMAL_BUILDS ?= 40
OPTIMAL_FIT    ?= fit-boost --rounds=60 --depth=4 --number
# what the heuristic is asked with; 225 is that of -O2, 25 that of -Oz
OPTIMAL_THRESHOLDS ?= -50 0 25 50 225
optimal_all     = csv-where -c module --is='(all)'
optimal_shown = program,functions,decided,closed_ratio,largest,builds,heuristic_bytes,best_bytes,lower_bytes,$(strip \
                  )estimate_bytes,excess_ratio,unequal,compared
optimal_columns = csv-cut -c program,module,label,code_bytes
optimal_features = heuristic_yes,callee_bytes,caller_bytes,uses,callee_local,only_call,arguments,constants,$(strip \
                  )callee_instructions,callee_blocks,callee_calls,caller_calls,others_bytes,callee_leaf
.PHONY: optimal-executed optimal-again optimal optimal-policy optimal-model optimal-oracle

optimal: $(optimal)/table.csv $(optimal)/gaps.csv $(optimal)/summary.csv
	@echo "Proven: closed_ratio is the share of code in functions all of whose sets were built; gap_ratio is a bound"
	csv-cut -c $(optimal_shown) $(optimal)/table.csv | csv-show --digits=4
	echo "Machine code over the best found, geometric mean over programs, 95 % intervals"
	csv-show --digits=4 $(optimal)/summary.csv

$(optimal)/works/%/program.csv: $(inline_corpus)/%.csv
	@mkdir -p $(@D) $(optimal)/runs
	printf 'search x\nconfirm x\n' > $(optimal)/runs/program
	inline-module --per-file --from-build=$(inline_corpus)/$* --program=$$(csv-where -c name --is=$* \
	    $(INLINE_CORPUS_TABLE) |
	    csv-calc --print=program) --out=$(@D) $(optimal)/runs
$(optimal_small:%=$(optimal)/works/%/program.csv): $(optimal)/works/%/program.csv: | $(PROGS)
	@package=$$(csv-where -c name --is=$* $(OPTIMAL_TABLE) | csv-calc --print=package)
	$(TOP)/pipelines/fetch-source $$package $(optimal)/src/$$package $(CURDIR)/data
	mkdir -p $(@D)
	inline-module --per-file --table=$(OPTIMAL_TABLE) --program=$* --out=$(@D) $(optimal)/src/$$package
$(optimal)/%/optimal.csv: $(OPTIMAL_WORKS)/%/program.csv | $(PROGS)
	@mkdir -p $(@D)
	echo "proving $*"
	inline-optimal --most=$(OPTIMAL_MOST) --builds=$(OPTIMAL_BUILDS) --store=$(@D)/log.csv \
	    --decisions=$(@D)/best.sexp --calls=$(@D)/calls.csv $(<D) $(aside)
# tables over programs are made each time, since OPTIMAL_NAMES may be others than last time
$(optimal)/table.csv: $(OPTIMAL_NAMES:%=$(optimal)/%/optimal.csv) optimal-again
	@csv-cat $(filter %.csv,$^) | $(optimal_all) | csv-sort -k excess_ratio:nr $(aside)

# ---- the same code generation, other decisions; O2 is what that level really builds, with its own code generation
$(optimal)/%/sizes.csv: $(optimal)/%/optimal.csv
	@for n in $(OPTIMAL_THRESHOLDS); do
	    inline-size --threshold=$$n $(OPTIMAL_WORKS)/$* |
	        csv-calc --let=t=$$n --set="label=concat('threshold-', t)" | $(optimal_columns) > $@.$$n
	done
	inline-size --level=-O2 $(OPTIMAL_WORKS)/$* | csv-calc --set="label='O2'" | $(optimal_columns) > $@.O2
	for part in heuristic none best; do
	    csv-calc --let=l=$$part --set='label=l' --set="code_bytes=$${part}_bytes" $< | $(optimal_columns) > $@.$$part
	done
	csv-cat $(optimal_parts) | $(optimal_all) > $@.all
	rm -f $(optimal_parts)
	$(TOP)/pipelines/keep $@.all $@
$(optimal)/%/os.csv: $(optimal)/%/optimal.csv
	@inline-size --level=-Os $(OPTIMAL_WORKS)/$* | csv-calc --set="label='Os'" | $(optimal_columns) |
	    $(optimal_all) $(aside)
optimal_parts = $(foreach l,heuristic none best O2 $(OPTIMAL_THRESHOLDS),$@.$l)
optimal_ratio = csv-join -k program - $(optimal)/best.csv | $(strip \
    ) csv-calc --set='ratio=code_bytes/best_bytes' --set='log_ratio=log(ratio)'
optimal_mean = csv-group -g label -c ratio,log_ratio --stat=n,gmean,mean,sd,min,max | $(strip \
    ) csv-calc --set='lower_ratio=exp(mean_log_ratio - 2*sd_log_ratio/sqrt(n_ratio))' $(strip \
    ) --set='upper_ratio=exp(mean_log_ratio + 2*sd_log_ratio/sqrt(n_ratio))' | $(strip \
    ) csv-cut -c label,n_ratio,gmean_ratio,lower_ratio,upper_ratio,min_ratio,max_ratio | csv-sort -k gmean_ratio:n
$(optimal)/best.csv: $(optimal)/table.csv
	@csv-cut -c program,best_bytes $< $(aside)
$(optimal)/gaps.csv: $(optimal)/best.csv $(foreach f,sizes os,$(OPTIMAL_NAMES:%=$(optimal)/%/$f.csv))
	@csv-cat $(filter-out $<,$^) | $(optimal_ratio) $(aside)
$(optimal)/summary.csv: $(optimal)/gaps.csv
	@csv-cat $< | $(optimal_mean) $(aside)

# ---- the policy: what each call's other way would cost, learned from the tables' gains, on a logarithmic scale with
# its sign; negative is inlined.  The control learns the same from the cost of another call, 101 rows away (ci: 7)
optimal_lag = $(if $(filter ci test,$(SCALE)),7,101)
$(optimal)/%/labelled.csv: $(optimal)/%/optimal.csv
	@csv-where -c choice --is=yes $(<D)/calls.csv | csv-where -c gain_bytes --known |
	    csv-calc --set="sign=optimal == 'yes' ? -1 : 1" --set='worth=sign*log2(1+abs(gain_bytes))' |
	    csv-cut -c program,callee,chain,worth,gain_bytes,$(optimal_features) $(aside)
optimal_others = csv-cat $(foreach n,$(OPTIMAL_NAMES),$(if $(filter $n,$*),,$(optimal)/$n/labelled.csv))
optimal_learn  = csv-cut -c worth,$(optimal_features) | $(OPTIMAL_FIT) -y worth
$(optimal)/%/policy.model: $(OPTIMAL_NAMES:%=$(optimal)/%/labelled.csv)
	@$(optimal_others) | $(optimal_learn) $(aside)
$(optimal)/%/control.model: $(OPTIMAL_NAMES:%=$(optimal)/%/labelled.csv)
	@$(optimal_others) | csv-calc --set='worth=lag(worth, $(optimal_lag))' | csv-where -c worth --known |
	    $(optimal_learn) $(aside)
# seconds of both steps, features and decisions; nothing is searched
$(optimal)/%/policy.csv: $(optimal)/%/policy.model $(optimal)/%/control.model
	@inline-calls -o $@.calls $(OPTIMAL_WORKS)/$*
	for model in policy control; do
	    fit-predict -m $(@D)/$$model.model --name=worth $@.calls |
	        csv-calc --set="predicted=worth < 0 ? 'yes' : 'no'" > $@.verdicts
	    inline-size --verdicts=$@.verdicts $(OPTIMAL_WORKS)/$* | $(optimal_all) |
	        csv-calc --let=l=$$model --set='label=l' | $(optimal_columns) > $@.$$model
	done
	csv-cat $@.policy $@.control > $@.all
	rm -f $@.policy $@.control $@.verdicts $@.calls
	$(TOP)/pipelines/keep $@.all $@
$(optimal)/policies.csv: $(optimal)/best.csv $(optimal)/gaps.csv $(OPTIMAL_NAMES:%=$(optimal)/%/policy.csv)
	@csv-cat $(filter %/policy.csv,$^) | $(optimal_ratio) > $@.new
	csv-cat $@.new $(optimal)/gaps.csv > $@.all
	rm $@.new
	$(TOP)/pipelines/keep $@.all $@
optimal-policy: $(optimal)/policies.csv
	@echo "Machine code over the best found, programs not learned from; losses first"
	csv-where -c label --is=policy $< | csv-sort -k ratio:nr |
	    csv-cut -c program,label,code_bytes,best_bytes,ratio | csv-show --digits=4
	csv-cat $< | $(optimal_mean) | csv-show --digits=4
optimal_ships = $(if $(filter ci test,$(SCALE)),$(optimal),$(TOP)/share/policies)
optimal-model: $(OPTIMAL_NAMES:%=$(optimal)/%/labelled.csv)
	@mkdir -p $(optimal_ships)
	csv-cat $^ | $(optimal_learn) -o $(optimal_ships)/size.model

# ---- is it the optimum?  Every set of decisions of every module that has few
OPTIMAL_ORACLE_MOST ?= 32
$(optimal)/%/oracle.csv: $(optimal)/%/optimal.csv
	@inline-size --exhaustive --most=$(OPTIMAL_ORACLE_MOST) $(OPTIMAL_WORKS)/$* | csv-where -c code_bytes --known |
	    csv-calc --where='sets > 1' | csv-cut -c module,sets,code_bytes | csv-join -k module $< - $(aside)
$(optimal)/oracle.csv: $(OPTIMAL_NAMES:%=$(optimal)/%/oracle.csv) optimal-again
	@csv-cat $(filter %.csv,$^) | csv-calc --set='same=best_bytes == code_bytes ? 1 : 0' \
	    --set='proven=best_bytes == lower_bytes ? 1 : 0' $(aside)
optimal-oracle: $(optimal)/oracle.csv
	@csv-group -c same,proven,sets --stat=n,sum,max $< | csv-show
	csv-where -c same --is=0 $< | csv-cut -c program,module,decided,sets,best_bytes,code_bytes,lower_bytes | csv-show

# ---- exact instructions of the search runs, at -O2
OPTIMAL_EXECUTED ?= tofrodos zpipe fitblk gznorm enough isutf8 banner
optimal_executed_shown = program,functions,idle_functions,decided,closed_ratio,largest,builds,$(strip \
    )none_instructions,heuristic_instructions,best_instructions,lower_instructions,gap_ratio,excess_ratio,sums_unequal
$(optimal)/%/executed.csv: $(OPTIMAL_WORKS)/%/program.csv | $(PROGS)
	@mkdir -p $(@D)
	inline-executed --most=64 --builds=60 --exhaustive=32 $(<D) $(aside)
$(optimal)/executed.csv: $(OPTIMAL_EXECUTED:%=$(optimal)/%/executed.csv) optimal-again
	@csv-cat $(filter %.csv,$^) $(aside)
optimal-executed: $(optimal)/executed.csv
	@echo "Instructions in the program's own functions; gap_ratio is a bound: nothing is better by more"
	csv-sort -k gap_ratio:nr $< | csv-cut -c $(optimal_executed_shown) | csv-show --digits=5
