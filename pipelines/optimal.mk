# optimal.mk - how far from the least machine code the compilers' levels and policies are, with proof
#   make optimal            programs of the corpus, each source by itself at -Oz: optimum, bound, levels, thresholds
#   make optimal-policy     a policy learned on the other programs, beside thresholds and a control; no search
#   make optimal-regret     what wrong verdicts of these and of heuristics lose, each by itself, by class of call
#   OPTIMAL_WAYS=    ways to learn: policy control sure stake bytes full agree base (below)
#   make optimal-chosen, optimal-executed-chosen   what a threshold for each program would be worth, and one learned
#   make optimal-model      the policy that ships, share/policies/size.model, from all programs; SCALE=ci: in OUT
#   make optimal-executed      the fewest instructions of small programs, proven (OPTIMAL_EXECUTED=names)
#   make optimal-executed-policy   a policy for instructions at -O2, of many programs, each left out (the same setting)
#   make optimal-executed-time     CPU time of -O2, the best threshold, that policy and its control (OPTIMAL_TIMED=)
#   make optimal-executed-model   for instructions: share/policies/speed.model, static.model (without a profile)
#   make optimal-oracle     modules with few calls, every set of decisions built, beside what is proven
#   OPTIMAL_TABLE=   small programs, each of one package's sources, beside those of the corpus (data/small.csv)
#   OPTIMAL_NAMES=   which programs        OPTIMAL_WORKS=DIR   work directories that are there already, DIR/NAME
#   OPTIMAL_MOST=    sets of a function that are all built     OPTIMAL_BUILDS=   budget of a module
#   OPTIMAL_SEARCH=  builds of the quick search, row learned
optimal        = $(OUT)/optimal
ifneq ($(filter ci test,$(SCALE)),)
OPTIMAL_NAMES  ?= ncompress dos2unix
OPTIMAL_BUILDS ?= 8
OPTIMAL_EXECUTED ?= pee zpipe gznorm tofrodos
endif
OPTIMAL_NAMES ?= ncompress dos2unix tree figlet zlib jhead gzip ed bzip2 cksfv lessecho $(strip \
    )$(filter-out banner,$(optimal_small))
OPTIMAL_TABLE  ?= $(TOP)/data/small.csv
OPTIMAL_RUNS   ?= $(TOP)/data/runs.csv
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
                  )gap_ratio,estimate_bytes,excess_ratio,unequal,compared
optimal_columns = csv-cut -c program,module,label,code_bytes
optimal_features = heuristic_yes,callee_bytes,caller_bytes,uses,callee_local,only_call,arguments,constants,$(strip \
                  )callee_instructions,callee_blocks,callee_calls,caller_calls,others_bytes,callee_leaf
.PHONY: optimal optimal-policy optimal-regret optimal-model optimal-oracle optimal-executed optimal-executed-policy
.PHONY: optimal-again optimal-executed-model optimal-chosen optimal-executed-chosen \
    optimal-executed-time

optimal: $(optimal)/table.csv $(optimal)/gaps.csv $(optimal)/summary.csv $(optimal)/proven.csv
	@echo "Proven: closed_ratio is the share of code in functions all of whose sets were built; the best found is at most"
	echo "gap_ratio times the optimum, 1: it is the optimum"
	csv-cut -c $(optimal_shown) $(optimal)/table.csv | csv-show --digits=4
	echo "Machine code over the best found, geometric mean over programs, 95 % intervals"
	csv-show --digits=4 $(optimal)/summary.csv
	echo "The same, of the programs whose optimum is proven"
	csv-show --digits=4 $(optimal)/proven.csv

# a program that data/runs.csv has gets its runs, for instructions; text needs none
$(optimal)/works/%/program.csv: $(inline_corpus)/%.csv
	@mkdir -p $(@D) $(optimal)/runs
	printf 'search x\nconfirm x\n' > $(optimal)/runs/program
	program=$$(csv-where -c name --is=$* $(INLINE_CORPUS_TABLE) | csv-calc --print=program) runs=$(optimal)/runs
	table=$$(csv-where -c name --is=$$program $(OPTIMAL_RUNS) | csv-calc --print="'--table=$(OPTIMAL_RUNS)'")
	[ -z "$$table" ] || runs=$(inline_corpus)/$*
	inline-module --per-file --from-build=$(inline_corpus)/$* $$table --program=$$program --out=$(@D) $$runs
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

# ---- the policy: what each call's other way would cost, learned from the tables' gains; negative is inlined.  Ways:
#   policy   worth, the gain's logarithm with its sign, of all calls whose other way the tables price
#   control  the same from the worth of another call, 101 rows away (ci: 7)
#   sure     the policy's verdict where it says more than 3 bytes, else the threshold's (OPTIMAL_WAY_BASE)
#   stake    a model of the bytes themselves where it says more than 30, else the threshold's
#   bytes    that model alone
#   full     worth, of calls in full tables alone
#   agree    the verdict of four models, each of three quarters of the programs, where all say more than 3 bytes, else
#            the threshold's
#   base     the threshold's verdicts about the same calls, for comparison: its own build tells copies apart
OPTIMAL_WAYS     ?= policy control
OPTIMAL_WAY_BASE ?= -50
optimal_lag = $(if $(filter ci test,$(SCALE)),7,101)
optimal_class = callee_local < 1 ? 'public' : only_call > 0 ? 'the only call' : 'several local calls'
$(optimal)/%/labelled.csv: $(optimal)/%/optimal.csv
	@inline-calls --threshold=$(OPTIMAL_WAY_BASE) $(OPTIMAL_WORKS)/$* | csv-cut -c module,callee,chain,heuristic_yes \
	    --rename=heuristic_yes=base > $@.base
	csv-where -c choice --is=yes $(<D)/calls.csv | csv-where -c gain_bytes --known |
	    csv-join -k module,callee,chain - $@.base |
	    csv-calc --set="sign=optimal == 'yes' ? -1 : 1" --set='worth=sign*log2(1+abs(gain_bytes))' \
	        --set='bytes=sign*min(abs(gain_bytes), 200)' --set="class=$(optimal_class)" |
	    csv-cut -c program,module,callee,chain,worth,bytes,closed,class,base,gain_bytes,$(optimal_features) > $@.all
	rm $@.base
	$(TOP)/pipelines/keep $@.all $@
$(eval $(call asked,$(optimal)/asked,OPTIMAL_NAMES OPTIMAL_WAYS OPTIMAL_WAY_BASE))
optimal_others = csv-cat $(foreach n,$(OPTIMAL_NAMES),$(if $(filter $n,$*),,$(optimal)/$n/labelled.csv))
optimal_learn  = csv-cut -c worth,$(optimal_features) | $(OPTIMAL_FIT) -y worth
$(optimal)/%/policy.model: $(OPTIMAL_NAMES:%=$(optimal)/%/labelled.csv) $(optimal)/asked
	@$(optimal_others) | $(optimal_learn) $(aside)
$(optimal)/%/control.model: $(OPTIMAL_NAMES:%=$(optimal)/%/labelled.csv) $(optimal)/asked
	@$(optimal_others) | csv-calc --set='worth=lag(worth, $(optimal_lag))' | csv-where -c worth --known |
	    $(optimal_learn) $(aside)
$(optimal)/%/full.model: $(OPTIMAL_NAMES:%=$(optimal)/%/labelled.csv) $(optimal)/asked
	@$(optimal_others) | csv-where -c closed --is=yes | $(optimal_learn) $(aside)
$(optimal)/%/bytes.model: $(OPTIMAL_NAMES:%=$(optimal)/%/labelled.csv) $(optimal)/asked
	@$(optimal_others) | csv-cut -c bytes,$(optimal_features) | $(OPTIMAL_FIT) -y bytes $(aside)
# each leaves out one more quarter of the programs
optimal_quarters = 1 2 3 4
$(optimal)/%/quarter1.model $(optimal)/%/quarter2.model $(optimal)/%/quarter3.model $(optimal)/%/quarter4.model: \
    $(OPTIMAL_NAMES:%=$(optimal)/%/labelled.csv) $(optimal)/asked
	@$(optimal_others) | fit-split -g program --folds=4 --exact > $(@D)/quarters.csv
	for q in $(optimal_quarters); do
	    csv-where -c fold --is=$$q --not $(@D)/quarters.csv | $(optimal_learn) -o $(@D)/quarter$$q.model
	done
	rm $(@D)/quarters.csv
optimal_model.policy  = policy
optimal_model.control = control
optimal_model.sure    = policy
optimal_model.stake   = bytes
optimal_model.bytes   = bytes
optimal_model.full    = full
optimal_model.agree   = quarter1 quarter2 quarter3 quarter4
optimal_model.base    = policy
optimal_says.policy   = p < 0
optimal_says.control  = p < 0
optimal_says.sure     = abs(p) > 2 ? p < 0 : base > 0
optimal_says.stake    = abs(p) > 30 ? p < 0 : base > 0
optimal_says.bytes    = p < 0
optimal_says.full     = p < 0
optimal_says.agree    = max(q1, q2, q3, q4) < -2 || min(q1, q2, q3, q4) <= 2 && base > 0
optimal_says.base     = base > 0
optimal_strange      := $(filter-out policy control sure stake bytes full agree base,$(OPTIMAL_WAYS))
$(if $(optimal_strange),$(error OPTIMAL_WAYS: no way '$(firstword $(optimal_strange))', see pipelines/optimal.mk))
optimal_asked.one    = fit-predict -m $(@D)/$1.model --name=p $@.calls
optimal_asked.agree  = fit-predict -m $(@D)/quarter1.model --name=q1 $@.calls $(strip \
    )$(foreach q,2 3 4,| fit-predict -m $(@D)/quarter$q.model --name=q$q)
optimal_asked = $(if $(filter agree,$1),$(optimal_asked.agree),$(call optimal_asked.one,$(optimal_model.$1)))
optimal_verdicts = $(call optimal_asked,$1) | $(strip \
    ) csv-calc --set="way='$1'" --set="predicted=($(optimal_says.$1)) ? 'yes' : 'no'" | $(strip \
    ) csv-cut -c way,program,module,callee,chain,predicted
$(optimal)/%/verdicts.csv: $(foreach m,$(sort $(foreach w,$(OPTIMAL_WAYS),$(optimal_model.$w))),$(optimal)/%/$m.model)
	@inline-calls --threshold=$(OPTIMAL_WAY_BASE) $(OPTIMAL_WORKS)/$* | csv-cut -c module,callee,chain,heuristic_yes \
	    --rename=heuristic_yes=base > $@.heuristic
	inline-calls $(OPTIMAL_WORKS)/$* | csv-join -k module,callee,chain - $@.heuristic > $@.calls
	$(foreach w,$(OPTIMAL_WAYS),$(call optimal_verdicts,$w) > $@.$w;)
	csv-cat $(OPTIMAL_WAYS:%=$@.%) > $@.all
	rm $@.heuristic $@.calls $(OPTIMAL_WAYS:%=$@.%)
	$(TOP)/pipelines/keep $@.all $@
$(optimal)/%/policy.csv: $(optimal)/%/verdicts.csv
	@for way in $(OPTIMAL_WAYS); do
	    csv-where -c way --is=$$way $< > $@.verdicts
	    inline-size --verdicts=$@.verdicts $(OPTIMAL_WORKS)/$* | $(optimal_all) |
	        csv-calc --let=l=$$way --set='label=l' | $(optimal_columns) > $@.$$way
	done
	csv-cat $(OPTIMAL_WAYS:%=$@.%) > $@.all
	rm $@.verdicts $(OPTIMAL_WAYS:%=$@.%)
	$(TOP)/pipelines/keep $@.all $@
# what it costs to ask the policy, from the modules to decisions that a build reads
$(optimal)/%/seconds.csv: $(optimal)/%/policy.model
	@$(TOP)/pipelines/decide size $(OPTIMAL_WORKS)/$* $< $@.sexp > $@.all
	rm $@.sexp
	$(TOP)/pipelines/keep $@.all $@
$(optimal)/seconds.csv: $(OPTIMAL_NAMES:%=$(optimal)/%/seconds.csv) $(optimal)/asked
	@csv-cat $(filter %.csv,$^) $(aside)
$(optimal)/policies.csv: $(optimal)/best.csv $(optimal)/gaps.csv $(OPTIMAL_NAMES:%=$(optimal)/%/policy.csv)
	@csv-cat $(filter %/policy.csv,$^) | $(optimal_ratio) > $@.new
	csv-cat $@.new $(optimal)/gaps.csv > $@.all
	rm $@.new
	$(TOP)/pipelines/keep $@.all $@
# a threshold for each program instead of one for all
optimal_over = csv-where -c label --is=$1 $2 | csv-cut -c program,$3 --rename=$3=base_cost | $(strip \
    ) csv-join -k program $< - | csv-calc --set='ratio=$3/base_cost' --set='log_ratio=log(ratio)' | $(optimal_mean)
optimal_chosen_title = A threshold for each program, chosen by a model of the others and by an oracle, over
optimal_shape = callee_bytes,caller_bytes,uses,callee_local,only_call,callee_leaf,others_bytes,callee_blocks
$(optimal)/chosen.csv: $(optimal)/gaps.csv $(optimal)/asked
	@csv-cat $(OPTIMAL_NAMES:%=$(optimal)/%/calls.csv) | csv-where -c choice --is=yes |
	    csv-group -g program -c $(optimal_shape) --stat=mean > $@.shape
	csv-where -c label --is=none $(OPTIMAL_THRESHOLDS:%=--is=threshold-%) $< > $@.rows
	$(TOP)/pipelines/choose threshold-$(OPTIMAL_WAY_BASE) code_bytes $@.shape $@.rows > $@.all
	rm $@.shape $@.rows
	$(TOP)/pipelines/keep $@.all $@
optimal-chosen: $(optimal)/chosen.csv
	@echo "$(optimal_chosen_title) $(OPTIMAL_WAY_BASE) for all:"
	$(call optimal_over,threshold-$(OPTIMAL_WAY_BASE),$(optimal)/gaps.csv,code_bytes) | csv-show --digits=5
optimal-executed-chosen: $(optimal)/many/executed-chosen.csv
	@echo "$(optimal_chosen_title) $(OPTIMAL_EXECUTED_BASE) for all:"
	$(call optimal_over,threshold-$(OPTIMAL_EXECUTED_BASE),$(optimal_x)/executed-gaps.csv,instructions) |
	    csv-show --digits=5
# the first way over every other row, program by program
$(optimal)/paired.csv: $(optimal)/policies.csv
	@csv-where -c label --is=$(firstword $(OPTIMAL_WAYS)) $< | csv-cut -c program,code_bytes \
	    --rename=code_bytes=ours_bytes | csv-join -k program $< - |
	    csv-calc --set='ratio=ours_bytes/code_bytes' --set='log_ratio=log(ratio)' | $(optimal_mean) $(aside)
optimal-policy: $(optimal)/policies.csv $(optimal)/paired.csv $(optimal)/seconds.csv
	@echo "Machine code over the best found, programs not learned from; losses first"
	csv-where -c label --is=$(firstword $(OPTIMAL_WAYS)) $< | csv-sort -k ratio:nr |
	    csv-cut -c program,label,code_bytes,best_bytes,ratio |
	    csv-join -k program --keep=left - <(csv-cut --drop=label $(optimal)/seconds.csv) | csv-show --digits=4
	csv-cat $< | $(optimal_mean) | csv-show --digits=4
	echo "$(firstword $(OPTIMAL_WAYS)) over each of these, paired"
	csv-show --digits=5 $(optimal)/paired.csv
# by class of call, what wrong verdicts lose, each by itself: of the ways, and of heuristics
$(optimal)/%/regret.csv: $(optimal)/%/labelled.csv $(optimal)/%/verdicts.csv
	@csv-join -k module,callee,chain $(@D)/verdicts.csv $< | csv-cut -c way,predicted,worth,gain_bytes,class > $@.ways
	csv-calc --set="way='nothing inlined'" --set="predicted='no'" $< > $@.none
	csv-calc --set="way='-Oz'" --set="predicted=heuristic_yes > 0 ? 'yes' : 'no'" $< > $@.oz
	csv-cat <(csv-cut -c way,predicted,worth,gain_bytes,class $@.none) \
	    <(csv-cut -c way,predicted,worth,gain_bytes,class $@.oz) $@.ways |
	    csv-calc --set="wrong=(predicted == 'yes') != (worth < 0)" --set='lost_bytes=wrong*max(gain_bytes, 0)' > $@.all
	rm $@.ways $@.none $@.oz
	$(TOP)/pipelines/keep $@.all $@
$(optimal)/regret.csv: $(OPTIMAL_NAMES:%=$(optimal)/%/regret.csv) $(optimal)/asked
	@csv-cat $(filter %/regret.csv,$^) | csv-group -g way,class -c lost_bytes --stat=n,sum $(aside)
optimal-regret: $(optimal)/regret.csv
	@csv-pivot -k way --names=class --values=sum_lost_bytes $< |
	    csv-calc --set='sum=public + [the only call] + [several local calls]' | csv-sort -k sum:n | csv-show
	csv-where -c way --is=-Oz $< | csv-cut -c class,n_lost_bytes --rename=n_lost_bytes=calls | csv-show
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
optimal_of_many := $(filter $(patsubst %,optimal-executed-%,policy model chosen time),$(MAKECMDGOALS))
ifneq ($(optimal_of_many),)
OPTIMAL_EXECUTED            ?= pee mispipe sponge parallel ifdata cpipe isutf8 gznorm zpipe fitblk lessecho rs \
    tofrodos bsdiff zran gzjoin gun enough chkfont par unifdef ncompress dos2unix figlet units tree ed bzip2 zlib mawk
OPTIMAL_EXECUTED_BUDGET     ?= --most=16 --builds=20 --chance=1
OPTIMAL_EXECUTED_LEVELS     ?=
OPTIMAL_EXECUTED_THRESHOLDS ?= 25 100 600
OPTIMAL_EXECUTED_SEARCH     ?= 0
endif
OPTIMAL_EXECUTED            ?= tofrodos zpipe fitblk gznorm enough isutf8 rs
OPTIMAL_EXECUTED_BUDGET     ?= --most=64 --builds=60 --exhaustive=32
OPTIMAL_EXECUTED_LEVELS     ?= Os Oz
OPTIMAL_EXECUTED_THRESHOLDS ?= 0 25 100 600
OPTIMAL_EXECUTED_SEARCH     ?= $(OPTIMAL_SEARCH)
optimal_x = $(optimal)$(if $(optimal_of_many),/many)
optimal_executed_shown = program,functions,idle_functions,decided,closed_ratio,largest,builds,$(strip \
    )none_instructions,heuristic_instructions,best_instructions,lower_instructions,gap_ratio,excess_ratio,sums_unequal
optimal_executed_features = $(optimal_features),callee_share,run_log
$(optimal_x)/%/executed.csv: $(OPTIMAL_WORKS)/%/program.csv | $(PROGS)
	@mkdir -p $(@D)
	inline-executed $(OPTIMAL_EXECUTED_BUDGET) --calls=$(@D)/executed-calls.csv $(<D) $(aside)
$(optimal_x)/executed.csv: $(OPTIMAL_EXECUTED:%=$(optimal_x)/%/executed.csv) optimal-again
	@csv-cat $(filter %.csv,$^) $(aside)
optimal_executed_row = csv-calc --let=l=$$row --set='label=l' --set="count=$1_instructions" | $(strip \
    ) csv-cut -c program,label,count --rename=count=instructions
$(optimal_x)/%/executed-rows.csv: $(optimal_x)/%/executed.csv
	@count="inline-executed --count"
	for row in $(OPTIMAL_EXECUTED_LEVELS); do
	    $$count --level=-$$row $(OPTIMAL_WORKS)/$* | $(call optimal_executed_row,heuristic) > $@.$$row
	done
	for row in $(OPTIMAL_EXECUTED_THRESHOLDS); do
	    $$count --threshold=$$row $(OPTIMAL_WORKS)/$* | $(call optimal_executed_row,heuristic) |
	        csv-calc --set="label=concat('threshold-', label)" > $@.$$row
	done
	for row in $(optimal_executed_found); do
	    $$count --search=$(OPTIMAL_EXECUTED_SEARCH) $(OPTIMAL_WORKS)/$* | $(call optimal_executed_row,chosen) > $@.$$row
	done
	row=O2
	cat $< | $(call optimal_executed_row,heuristic) > $@.O2
	row=none
	cat $< | $(call optimal_executed_row,none) > $@.none
	csv-cat $(optimal_executed_parts) > $@.all
	rm -f $(optimal_executed_parts)
	$(TOP)/pipelines/keep $@.all $@
optimal_executed_found = $(if $(filter-out 0,$(OPTIMAL_EXECUTED_SEARCH)),learned)
optimal_executed_parts = $(foreach l,$(OPTIMAL_EXECUTED_LEVELS) $(OPTIMAL_EXECUTED_THRESHOLDS) $(strip \
    )$(optimal_executed_found) O2 none,$@.$l)
# share of the pair's instructions that are the callee's, and how hot the pair is
optimal_executed_join = inline-calls --level=-O2 $(OPTIMAL_WORKS)/$* | csv-join -k callee,chain - $1 | $(strip \
    ) csv-calc --set='pair=1 + callee_run_instructions + caller_run_instructions' $(strip \
    ) --set='callee_share=callee_run_instructions/pair' --set='run_log=log2(pair)'
$(optimal_x)/%/executed-labelled.csv: $(optimal_x)/%/executed.csv
	@csv-cut -c callee,chain,optimal,gain_instructions,callee_run_instructions,caller_run_instructions \
	    $(@D)/executed-calls.csv > $@.calls
	$(call optimal_executed_join,$@.calls) | csv-where -c gain_instructions --known |
	    csv-calc --where='gain_instructions != 0' --set="sign=optimal == 'yes' ? -1 : 1" \
	        --set='worth=sign*log2(1 + 1000*abs(gain_instructions)/pair)' |
	    csv-cut -c program,callee,chain,worth,gain_instructions,$(optimal_executed_features) > $@.all
	rm $@.calls
	$(TOP)/pipelines/keep $@.all $@
optimal_executed_others = csv-cat $(foreach n,$(OPTIMAL_EXECUTED),$(if $(filter $n,$*),,$(strip \
    )$(optimal_x)/$n/executed-labelled.csv))
optimal_executed_learn  = $(OPTIMAL_FIT) -y worth -x $(optimal_executed_features)
optimal_executed_static = $(OPTIMAL_FIT) -y worth -x $(optimal_features)
define optimal_executed_models
$(optimal_executed_others) | $(optimal_executed_learn) > $@.policy.model
$(optimal_executed_others) | csv-calc --set='worth=lag(worth, 7)' | csv-where -c worth --known |
    $(optimal_executed_learn) > $@.control.model
$(call optimal_executed_join,<(csv-cut --drop=program,caller,optimal,gain_instructions \
    $(@D)/executed-calls.csv)) > $@.features
endef
optimal_executed_verdict = fit-predict -m $@.$$row.model --name=worth $@.features | $(strip \
    ) csv-calc --set="predicted=worth < 0 ? 'yes' : 'no'"
$(optimal_x)/%/executed-policy.csv: $(OPTIMAL_EXECUTED:%=$(optimal_x)/%/executed-labelled.csv)
	@$(optimal_executed_models)
	for row in policy control; do
	    $(optimal_executed_verdict) > $@.verdicts
	    inline-executed --count --verdicts=$@.verdicts $(OPTIMAL_WORKS)/$* |
	        $(call optimal_executed_row,chosen) > $@.$$row
	done
	csv-cat $@.policy $@.control > $@.all
	rm -f $@.policy $@.control $@.*.model $@.features $@.verdicts
	$(TOP)/pipelines/keep $@.all $@

# ---- CPU time of the same, of programs that run long enough for a clock and end well: paired rounds
OPTIMAL_TIMED   ?= bsdiff enough par unifdef ncompress dos2unix figlet units bzip2 zlib mawk
OPTIMAL_ROUNDS  ?= $(if $(filter ci test,$(SCALE)),6,100)
OPTIMAL_SECONDS ?= 25
optimal_timed_rows = O2 threshold-$(OPTIMAL_EXECUTED_BASE) policy control
$(optimal_x)/%/timed/built: $(OPTIMAL_EXECUTED:%=$(optimal_x)/%/executed-labelled.csv)
	@mkdir -p $(@D)
	cp $(@D)/../executed-calls.csv $(@D)/executed-calls.csv
	$(optimal_executed_models)
	for row in policy control; do
	    $(optimal_executed_verdict) > $@.verdicts
	    inline-size --level=-O2 --verdicts=$@.verdicts --decisions=$(@D)/$$row.sexp $(OPTIMAL_WORKS)/$* > /dev/null
	    inline-build --decisions=$(@D)/$$row.sexp --out=$(@D)/$$row $(OPTIMAL_WORKS)/$* > /dev/null
	done
	inline-build --out=$(@D)/O2 $(OPTIMAL_WORKS)/$* > /dev/null
	inline-build --threshold=$(OPTIMAL_EXECUTED_BASE) --out=$(@D)/threshold-$(OPTIMAL_EXECUTED_BASE) \
	    $(OPTIMAL_WORKS)/$* > /dev/null
	rm -f $@.policy.model $@.control.model $@.features $@.verdicts
	touch $@
$(optimal_x)/%/timed/runs.csv: $(optimal_x)/%/timed/built
	@SET=search ROUNDS=$(OPTIMAL_ROUNDS) MOST_SECONDS=$(OPTIMAL_SECONDS) SEED=$(SEED) $(TOP)/pipelines/measure time \
	    $(OPTIMAL_WORKS)/$* $(foreach r,$(optimal_timed_rows),$r=$(@D)/$r) $(aside)
$(optimal_x)/time.csv: $(OPTIMAL_TIMED:%=$(optimal_x)/%/timed/runs.csv) optimal-again
	@csv-cat $(filter %.csv,$^) > $@.runs
	for base in O2 threshold-$(OPTIMAL_EXECUTED_BASE); do
	    bench-compare --quiet --base=$$base --metric=cpu $@.runs > $@.$$base || [ $$? -le 2 ]
	done
	csv-cat $@.O2 $@.threshold-$(OPTIMAL_EXECUTED_BASE) > $@.all
	rm $@.runs $@.O2 $@.threshold-$(OPTIMAL_EXECUTED_BASE)
	$(TOP)/pipelines/keep $@.all $@
optimal-executed-time: $(optimal_x)/time.csv
	@echo "CPU time over each base, paired rounds; losses first"
	csv-cut -c base,benchmark,label,rounds,ratio,lower_ratio,upper_ratio $< | csv-sort -k base,ratio:nr |
	    csv-show --digits=4
# of many programs also, on top of the best threshold's verdicts (OPTIMAL_EXECUTED_BASE): sure, the policy's where it
# says more than .3 % of the pair; agree, where four policies, each of three quarters of the programs, all say that;
# static, a policy that knows no profile
OPTIMAL_EXECUTED_BASE ?= 600
optimal_executed_quarters = 1 2 3 4
optimal_executed_says = --set="sure=(abs(worth) > 2 ? worth < 0 : base > 0) ? 'yes' : 'no'" $(strip \
    ) --set="agree=(max(q1, q2, q3, q4) < -2 || min(q1, q2, q3, q4) <= 2 && base > 0) ? 'yes' : 'no'" $(strip \
    ) --set="static=blind < 0 ? 'yes' : 'no'"
$(optimal_x)/%/executed-said.csv: $(OPTIMAL_EXECUTED:%=$(optimal_x)/%/executed-labelled.csv)
	@$(optimal_executed_others) | fit-split -g program --folds=4 --exact > $@.others
	for q in $(optimal_executed_quarters); do
	    csv-where -c fold --is=$$q --not $@.others | $(optimal_executed_learn) > $@.q$$q
	done
	$(optimal_executed_learn) $@.others > $@.model
	$(optimal_executed_static) $@.others > $@.blind
	inline-calls --level=-O2 --threshold=$(OPTIMAL_EXECUTED_BASE) $(OPTIMAL_WORKS)/$* |
	    csv-cut -c callee,chain,heuristic_yes --rename=heuristic_yes=base > $@.base
	$(call optimal_executed_join,<(csv-cut --drop=program,caller,optimal,gain_instructions \
	    $(@D)/executed-calls.csv)) | csv-join -k callee,chain - $@.base |
	    fit-predict -m $@.model --name=worth | fit-predict -m $@.blind --name=blind | fit-predict -m $@.q1 --name=q1 |
	    fit-predict -m $@.q2 --name=q2 | fit-predict -m $@.q3 --name=q3 | fit-predict -m $@.q4 --name=q4 |
	    csv-calc $(optimal_executed_says) > $@.all
	rm $@.others $@.q[1-4] $@.model $@.blind $@.base
	$(TOP)/pipelines/keep $@.all $@
$(optimal_x)/%/executed-ways.csv: $(optimal_x)/%/executed-said.csv
	@for row in sure agree static; do
	    inline-executed --count --verdicts=$< -c $$row $(OPTIMAL_WORKS)/$* |
	        $(call optimal_executed_row,chosen) > $@.$$row
	done
	csv-cat $@.sure $@.agree $@.static > $@.all
	rm $@.sure $@.agree $@.static
	$(TOP)/pipelines/keep $@.all $@
optimal_executed_files = rows policy $(if $(optimal_of_many),ways)
$(optimal_x)/executed-gaps.csv: $(optimal_x)/executed.csv $(foreach f,$(optimal_executed_files),$(strip \
    )$(OPTIMAL_EXECUTED:%=$(optimal_x)/%/executed-$f.csv))
	@csv-cut -c program,best_instructions $< > $@.best
	csv-cat $(filter-out $<,$^) | csv-join -k program - $@.best |
	    csv-calc --set='ratio=instructions/best_instructions' > $@.all
	rm $@.best
	$(TOP)/pipelines/keep $@.all $@
$(optimal)/many/executed-chosen.csv: $(optimal_x)/executed-gaps.csv
	@csv-cat $(OPTIMAL_EXECUTED:%=$(optimal_x)/%/executed-calls.csv) |
	    csv-calc --set='pair=1 + callee_run_instructions + caller_run_instructions' \
	        --set='callee_share=callee_run_instructions/pair' --set='run_log=log2(pair)' |
	    csv-group -g program -c callee_share,run_log --stat=mean,max > $@.shape
	csv-where -c label --is=none --is=O2 $(OPTIMAL_EXECUTED_THRESHOLDS:%=--is=threshold-%) $< > $@.rows
	$(TOP)/pipelines/choose threshold-$(OPTIMAL_EXECUTED_BASE) instructions $@.shape $@.rows > $@.all
	rm $@.shape $@.rows
	$(TOP)/pipelines/keep $@.all $@
optimal-executed: $(optimal_x)/executed.csv $(optimal_x)/executed-gaps.csv
	@echo "Instructions in the program's own functions; the best found is at most gap_ratio times the optimum"
	csv-sort -k gap_ratio:nr $< | csv-cut -c $(optimal_executed_shown) | csv-show --digits=5
	echo "Instructions over the best found"
	csv-pivot -k label --names=program --values=ratio $(optimal_x)/executed-gaps.csv | csv-show --digits=5
	csv-group -g label -c ratio --stat=n,gmean,max $(optimal_x)/executed-gaps.csv | csv-sort -k gmean_ratio:n | csv-show
# each left out of what its policy learned; over -O2, and paired over each other row; with 10^5 instructions and more
optimal_executed_over = csv-where -c label --is=$1 $< | csv-cut -c program,instructions $(strip \
    ) --rename=instructions=base_instructions | csv-join -k program $< - | $(strip \
    ) csv-calc --set='ratio=$2' --set='log_ratio=log(ratio)'
optimal_executed_above = csv-calc --where='base_instructions >= 100000'
optimal-executed-policy: $(optimal_x)/executed-gaps.csv
	@echo "Instructions of the program's own functions over -O2's, losses of the policy first"
	$(call optimal_executed_over,O2,instructions/base_instructions) > $<.over
	csv-pivot -k program,base_instructions --names=label --values=ratio $<.over | csv-sort -k policy:nr |
	    csv-show --digits=5
	csv-cat $<.over | $(optimal_mean) | csv-show --digits=5
	echo "Of programs that execute 100 000 and more"
	$(optimal_executed_above) $<.over | $(optimal_mean) | csv-show --digits=5
	rm $<.over
	echo "The policy over each, paired"
	$(call optimal_executed_over,policy,base_instructions/instructions) | $(optimal_mean) | csv-show --digits=5
	echo "Of programs that execute 100 000 and more"
	$(call optimal_executed_over,policy,base_instructions/instructions) | $(optimal_executed_above) | $(optimal_mean) |
	    csv-show --digits=5
optimal-executed-model: $(OPTIMAL_EXECUTED:%=$(optimal_x)/%/executed-labelled.csv)
	@mkdir -p $(optimal_ships)
	csv-cat $^ | $(optimal_executed_learn) -o $(optimal_ships)/speed.model
	csv-cat $^ | $(optimal_executed_static) -o $(optimal_ships)/static.model
