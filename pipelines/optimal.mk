# optimal.mk - how far from the least machine code the compilers' levels and policies are, with proof
#   make optimal            programs of the corpus, each source by itself at -Oz: optimum, bound, levels, thresholds
#   make optimal-policy     a policy learned on the other programs, beside thresholds and a control; no search
#   make optimal-regret     what wrong verdicts of the policy, its control and -Oz lose, by class of call
#   make optimal-model      the policy that ships, share/policies/size.model, from all programs; SCALE=ci: in OUT
#   make optimal-executed      the fewest instructions of small programs, proven (OPTIMAL_EXECUTED=names)
#   make optimal-oracle     modules with few calls, every set of decisions built, beside what is proven
#   OPTIMAL_TABLE=   small programs, each of one package's sources, beside those of the corpus (data/small.csv)
#   OPTIMAL_NAMES=   which programs        OPTIMAL_WORKS=DIR   work directories that are there already, DIR/NAME
#   OPTIMAL_MOST=    sets of a function that are all built     OPTIMAL_BUILDS=   budget of a module
#   OPTIMAL_SEARCH=  builds of the quick search, row learned
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
OPTIMAL_SEARCH ?= 30
OPTIMAL_FIT    ?= fit-boost --rounds=60 --depth=4 --number
# what the heuristic is asked with; 225 is that of -O2, 25 that of -Oz
OPTIMAL_THRESHOLDS ?= -50 0 25 50 225
optimal_all     = csv-where -c module --is='(all)'
optimal_shown = program,functions,decided,closed_ratio,largest,builds,heuristic_bytes,best_bytes,lower_bytes,$(strip \
                  )estimate_bytes,excess_ratio,unequal,compared
optimal_columns = csv-cut -c program,module,label,code_bytes
optimal_features = heuristic_yes,callee_bytes,caller_bytes,uses,callee_local,only_call,arguments,constants,$(strip \
                  )callee_instructions,callee_blocks,callee_calls,caller_calls,others_bytes,callee_leaf
.PHONY: optimal-regret optimal-executed optimal-again optimal optimal-policy optimal-model optimal-oracle

optimal: $(optimal)/table.csv $(optimal)/gaps.csv $(optimal)/summary.csv $(optimal)/proven.csv
	@echo "Proven: closed_ratio is the share of code in functions all of whose sets were built; gap_ratio is a bound"
	csv-cut -c $(optimal_shown) $(optimal)/table.csv | csv-show --digits=4
	echo "Machine code over the best found, geometric mean over programs, 95 % intervals"
	csv-show --digits=4 $(optimal)/summary.csv
	echo "The same, of the programs whose optimum is proven"
	csv-show --digits=4 $(optimal)/proven.csv

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
# our own search, so many builds of each module and no proof
$(optimal)/%/learned.csv: $(optimal)/%/optimal.csv
	@inline-size --search=$(OPTIMAL_SEARCH) $(OPTIMAL_WORKS)/$* | csv-calc --set="label='learned'" |
	    $(optimal_columns) | $(optimal_all) $(aside)
optimal_parts = $(foreach l,heuristic none best O2 $(OPTIMAL_THRESHOLDS),$@.$l)
optimal_ratio = csv-join -k program - $(optimal)/best.csv | $(strip \
    ) csv-calc --set='ratio=code_bytes/best_bytes' --set='log_ratio=log(ratio)'
optimal_mean = csv-group -g label -c ratio,log_ratio --stat=n,gmean,mean,sd,min,max | $(strip \
    ) csv-calc --set='lower_ratio=exp(mean_log_ratio - 2*sd_log_ratio/sqrt(n_ratio))' $(strip \
    ) --set='upper_ratio=exp(mean_log_ratio + 2*sd_log_ratio/sqrt(n_ratio))' | $(strip \
    ) csv-cut -c label,n_ratio,gmean_ratio,lower_ratio,upper_ratio,min_ratio,max_ratio | csv-sort -k gmean_ratio:n
# the least that is known: the tables' best, or what our search found, whose copies of a call may differ
$(optimal)/best.csv: $(optimal)/table.csv $(OPTIMAL_NAMES:%=$(optimal)/%/learned.csv)
	@csv-cat $(filter %/learned.csv,$^) | csv-join -k program - $< |
	    csv-calc --set='best_bytes=min(best_bytes, code_bytes)' | csv-cut -c program,best_bytes,lower_bytes $(aside)
$(optimal)/gaps.csv: $(optimal)/best.csv $(foreach f,sizes os learned,$(OPTIMAL_NAMES:%=$(optimal)/%/$f.csv))
	@csv-cat $(filter-out $<,$^) | $(optimal_ratio) $(aside)
$(optimal)/summary.csv: $(optimal)/gaps.csv
	@csv-cat $< | $(optimal_mean) $(aside)
$(optimal)/proven.csv: $(optimal)/gaps.csv
	@csv-calc --where='best_bytes == lower_bytes' $< | $(optimal_mean) $(aside)

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
# by class of call, what wrong verdicts lose, each by itself: of the policy, its control and -Oz's own
$(optimal)/%/regret.csv: $(optimal)/%/labelled.csv $(optimal)/%/policy.model $(optimal)/%/control.model
	@fit-predict -m $(@D)/control.model --name=control $< > $@.control
	fit-predict -m $(@D)/policy.model --name=policy $@.control |
	    csv-calc --set="class=callee_local < 1 ? 'public' : only_call > 0 ? 'the only call' : 'several local calls'" \
	        --set='yes=worth < 0 ? 1 : 0' --set='lost=max(gain_bytes, 0)' \
	        --set='policy_bytes=(policy < 0) != yes ? lost : 0' --set='control_bytes=(control < 0) != yes ? lost : 0' \
	        --set='none_bytes=yes*lost' --set='oz_bytes=heuristic_yes != yes ? lost : 0' > $@.all
	rm $@.control
	$(TOP)/pipelines/keep $@.all $@
optimal-regret: $(OPTIMAL_NAMES:%=$(optimal)/%/regret.csv)
	@csv-cat $^ | csv-group -g class -c policy_bytes,control_bytes,none_bytes,oz_bytes --stat=n,sum | csv-show
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
# single sources of real packages, PROGRAM:SOURCE, each under its own build's flags, with tables that hold all sets
ifneq ($(filter ci test,$(SCALE)),)
OPTIMAL_SOURCES ?= ncompress:compress.c
endif
OPTIMAL_SOURCES ?= bc:main.c brotli:literal_cost.c cmark:iterator.c cmark:references.c cpio:copypass.c cpio:filemode.c \
    diffutils:sh-quote.c figlet:zipio.c flex:main.c m4:m4.c mawk:da.c mawk:error.c mawk:fcall.c patch:inp.c \
    patch:renameat2.c sed:obstack.c sed:sed.c tofrodos:tofrodos.c tree:json.c xz:stream_flags_encoder.c \
    xz:lz_encoder.c xz:options.c zran:zran.c
optimal_source_programs = $(sort $(foreach s,$(OPTIMAL_SOURCES),$(firstword $(subst :, ,$s))))
$(optimal)/sources.csv: $(optimal_source_programs:%=$(OPTIMAL_WORKS)/%/program.csv) optimal-again
	@mkdir -p $(optimal)/sources
	for pair in $(OPTIMAL_SOURCES); do
	    part=$(optimal)/sources/$$pair.csv work=$(OPTIMAL_WORKS)/$${pair%%:*}
	    [ ! -s $$part ] || continue
	    inline-optimal --only=$${pair#*:} --most=4096 --builds=4000 --nodes=1000000 $$work |
	        csv-where -c module --is='(all)' --not > $$part.proven
	    inline-size --only=$${pair#*:} --exhaustive --most=4096 $$work | csv-cut -c module,sets,code_bytes |
	        csv-join -k module $$part.proven - > $$part.new
	    rm $$part.proven
	    mv $$part.new $$part
	done
	csv-cat $(OPTIMAL_SOURCES:%=$(optimal)/sources/%.csv) |
	    csv-calc --set='same=best_bytes == code_bytes ? 1 : 0' --set='proven=best_bytes == lower_bytes ? 1 : 0' $(aside)
optimal-oracle: $(optimal)/oracle.csv $(optimal)/sources.csv
	@csv-cut -c program,module,decided,sets,heuristic_bytes,best_bytes,code_bytes,proven,same $(optimal)/sources.csv |
	    csv-show
	csv-group -c same,proven,sets --stat=n,sum,max $< | csv-show
	csv-where -c same --is=0 $< | csv-cut -c program,module,decided,sets,best_bytes,code_bytes,lower_bytes | csv-show

# ---- exact instructions of the search runs, at -O2: the optimum, other levels, thresholds, our search without a proof,
# and a policy learned on the other programs' optima, with its control
OPTIMAL_EXECUTED ?= tofrodos zpipe fitblk gznorm enough isutf8 lessecho
OPTIMAL_EXECUTED_THRESHOLDS ?= 0 25 100 600
optimal_executed_shown = program,functions,idle_functions,decided,closed_ratio,largest,builds,$(strip \
    )none_instructions,heuristic_instructions,best_instructions,lower_instructions,gap_ratio,excess_ratio,sums_unequal
optimal_executed_features = $(optimal_features),callee_share,run_log
$(optimal)/%/executed.csv: $(OPTIMAL_WORKS)/%/program.csv | $(PROGS)
	@mkdir -p $(@D)
	inline-executed --most=64 --builds=60 --exhaustive=32 --calls=$(@D)/executed-calls.csv $(<D) $(aside)
$(optimal)/executed.csv: $(OPTIMAL_EXECUTED:%=$(optimal)/%/executed.csv) optimal-again
	@csv-cat $(filter %.csv,$^) $(aside)
optimal_executed_row = csv-calc --let=l=$$row --set='label=l' --set="count=$1_instructions" | $(strip \
    ) csv-cut -c program,label,count --rename=count=instructions
$(optimal)/%/executed-rows.csv: $(optimal)/%/executed.csv
	@count="inline-executed --count"
	for row in Os Oz; do
	    $$count --level=-$$row $(OPTIMAL_WORKS)/$* | $(call optimal_executed_row,heuristic) > $@.$$row
	done
	for row in $(OPTIMAL_EXECUTED_THRESHOLDS); do
	    $$count --threshold=$$row $(OPTIMAL_WORKS)/$* | $(call optimal_executed_row,heuristic) |
	        csv-calc --set="label=concat('threshold-', label)" > $@.$$row
	done
	row=learned
	$$count --search=$(OPTIMAL_SEARCH) $(OPTIMAL_WORKS)/$* | $(call optimal_executed_row,chosen) > $@.learned
	row=O2
	cat $< | $(call optimal_executed_row,heuristic) > $@.O2
	row=none
	cat $< | $(call optimal_executed_row,none) > $@.none
	csv-cat $(optimal_executed_parts) > $@.all
	rm -f $(optimal_executed_parts)
	$(TOP)/pipelines/keep $@.all $@
optimal_executed_parts = $(foreach l,Os Oz $(OPTIMAL_EXECUTED_THRESHOLDS) learned O2 none,$@.$l)
# share of the pair's instructions that are the callee's, and how hot the pair is
optimal_executed_join = inline-calls --level=-O2 $(OPTIMAL_WORKS)/$* | csv-join -k callee,chain - $1 | $(strip \
    ) csv-calc --set='pair=1 + callee_run_instructions + caller_run_instructions' $(strip \
    ) --set='callee_share=callee_run_instructions/pair' --set='run_log=log2(pair)'
$(optimal)/%/executed-labelled.csv: $(optimal)/%/executed.csv
	@csv-cut -c callee,chain,optimal,gain_instructions,callee_run_instructions,caller_run_instructions \
	    $(@D)/executed-calls.csv > $@.calls
	$(call optimal_executed_join,$@.calls) | csv-where -c gain_instructions --known |
	    csv-calc --where='gain_instructions != 0' --set="sign=optimal == 'yes' ? -1 : 1" \
	        --set='worth=sign*log2(1 + 1000*abs(gain_instructions)/pair)' |
	    csv-cut -c program,callee,chain,worth,gain_instructions,$(optimal_executed_features) > $@.all
	rm $@.calls
	$(TOP)/pipelines/keep $@.all $@
optimal_executed_others = csv-cat $(foreach n,$(OPTIMAL_EXECUTED),$(if $(filter $n,$*),,$(strip \
    )$(optimal)/$n/executed-labelled.csv))
optimal_executed_learn = csv-cut -c worth,$(optimal_executed_features) | $(OPTIMAL_FIT) -y worth
$(optimal)/%/executed-policy.csv: $(OPTIMAL_EXECUTED:%=$(optimal)/%/executed-labelled.csv)
	@$(optimal_executed_others) | $(optimal_executed_learn) > $@.policy.model
	$(optimal_executed_others) | csv-calc --set='worth=lag(worth, 7)' | csv-where -c worth --known |
	    $(optimal_executed_learn) > $@.control.model
	inline-executed --count --calls=$@.calls $(OPTIMAL_WORKS)/$* > $@.none
	$(call optimal_executed_join,<(csv-cut --drop=program,caller,optimal,gain_instructions $@.calls)) > $@.features
	for row in policy control; do
	    fit-predict -m $@.$$row.model --name=worth $@.features |
	        csv-calc --set="predicted=worth < 0 ? 'yes' : 'no'" > $@.verdicts
	    inline-executed --count --verdicts=$@.verdicts $(OPTIMAL_WORKS)/$* |
	        $(call optimal_executed_row,chosen) > $@.$$row
	done
	csv-cat $@.policy $@.control > $@.all
	rm -f $@.policy $@.control $@.*.model $@.calls $@.none $@.features $@.verdicts
	$(TOP)/pipelines/keep $@.all $@
$(optimal)/executed-gaps.csv: $(optimal)/executed.csv $(foreach f,rows policy,$(strip \
    )$(OPTIMAL_EXECUTED:%=$(optimal)/%/executed-$f.csv))
	@csv-cut -c program,best_instructions $< > $@.best
	csv-cat $(filter-out $<,$^) | csv-join -k program - $@.best |
	    csv-calc --set='ratio=instructions/best_instructions' > $@.all
	rm $@.best
	$(TOP)/pipelines/keep $@.all $@
optimal-executed: $(optimal)/executed.csv $(optimal)/executed-gaps.csv
	@echo "Instructions in the program's own functions; gap_ratio is a bound: nothing is better by more"
	csv-sort -k gap_ratio:nr $< | csv-cut -c $(optimal_executed_shown) | csv-show --digits=5
	echo "Instructions over the best found"
	csv-pivot -k label --names=program --values=ratio $(optimal)/executed-gaps.csv | csv-show --digits=5
	csv-group -g label -c ratio --stat=n,gmean,max $(optimal)/executed-gaps.csv | csv-sort -k gmean_ratio:n | csv-show
