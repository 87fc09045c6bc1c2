# optimal.mk - how far from the least machine code the compilers' levels and policies are, with proof
#   make optimal            programs of the corpus, each source by itself at -Oz: optimum, bound, levels, thresholds
#   make optimal-policy     a policy learned on the other programs, beside thresholds and a control; no search
#   make optimal-oracle     modules with few calls, every set of decisions built, beside what is proven
#   make optimal-advise     a policy asked by clang 19 itself, learned on the other programs, beside its own -Oz
#   make optimal-advise-model   share/policies/advise.model, from all; SCALE=ci: in OUT
#   OPTIMAL_TABLE=   small programs, each of one package's sources, beside those of the corpus (data/small.csv)
#   OPTIMAL_NAMES=   which programs        OPTIMAL_WORKS=DIR   work directories that are there already, DIR/NAME
#   OPTIMAL_MOST=    sets of a function that are all built     OPTIMAL_BUILDS=   budget of a module
#   OPTIMAL_SEARCH=  builds of the quick search, row learned
optimal        = $(OUT)/optimal
ifneq ($(filter ci test,$(SCALE)),)
OPTIMAL_NAMES  ?= ncompress dos2unix
OPTIMAL_BUILDS ?= 8
endif
OPTIMAL_NAMES ?= ncompress dos2unix tree figlet zlib jhead gzip ed bzip2 cksfv lessecho $(strip \
    )$(filter-out banner,$(optimal_small))
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
                  )gap_ratio,estimate_bytes,excess_ratio,unequal,compared
optimal_columns = csv-cut -c program,module,label,code_bytes
optimal_features = heuristic_yes,callee_bytes,caller_bytes,uses,callee_local,only_call,arguments,constants,$(strip \
                  )callee_instructions,callee_blocks,callee_calls,caller_calls,others_bytes,callee_leaf
.PHONY: optimal optimal-policy optimal-oracle optimal-again

optimal: $(optimal)/table.csv $(optimal)/gaps.csv $(optimal)/summary.csv $(optimal)/proven.csv
	@echo "Proven: closed_ratio is the share of code in functions all of whose sets were built; the best found is at most"
	echo "gap_ratio times the optimum, 1: it is the optimum"
	csv-cut -c $(optimal_shown) $(optimal)/table.csv | csv-show --digits=4
	echo "Machine code over the best found, geometric mean over programs, 95 % intervals"
	csv-show --digits=4 $(optimal)/summary.csv
	echo "The same, of the programs whose optimum is proven"
	csv-show --digits=4 $(optimal)/proven.csv

# text needs no runs
$(optimal)/works/%/program.csv: $(inline_corpus)/%.csv
	@mkdir -p $(@D) $(optimal)/runs
	printf 'search x\nconfirm x\n' > $(optimal)/runs/program
	program=$$(csv-where -c name --is=$* $(INLINE_CORPUS_TABLE) | csv-calc --print=program)
	inline-module --per-file --from-build=$(inline_corpus)/$* --program=$$program --out=$(@D) $(optimal)/runs
$(optimal_small:%=$(optimal)/works/%/program.csv): $(optimal)/works/%/program.csv: | $(PROGS)
	@package=$$(csv-where -c name --is=$* $(OPTIMAL_TABLE) | csv-calc --print=package)
	$(TOP)/pipelines/fetch-source $$package $(optimal)/src/$$package $(TOP)/data
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
optimal_ratio = csv-join --quiet -k program - $(optimal)/best.csv | $(strip \
    ) csv-calc --set='ratio=code_bytes/best_bytes' --set='log_ratio=log(ratio)'
optimal_mean = csv-group -g label -c ratio,log_ratio --stat=n,gmean,mean,sd,min,max | $(strip \
    ) csv-calc --set='lower_ratio=exp(mean_log_ratio - 2*sd_log_ratio/sqrt(n_ratio))' $(strip \
    ) --set='upper_ratio=exp(mean_log_ratio + 2*sd_log_ratio/sqrt(n_ratio))' | $(strip \
    ) csv-cut -c label,n_ratio,gmean_ratio,lower_ratio,upper_ratio,min_ratio,max_ratio | csv-sort -k gmean_ratio:n
# the least that is known: the tables' best, or what our search found, whose copies of a call may differ
$(optimal)/best.csv: $(optimal)/table.csv $(OPTIMAL_NAMES:%=$(optimal)/%/learned.csv)
	@csv-cat $(filter %/learned.csv,$^) | csv-join --quiet -k program - $< |
	    csv-calc --set='best_bytes=min(best_bytes, code_bytes)' | csv-cut -c program,best_bytes,lower_bytes $(aside)
# no bound lies above what any row of the same code generation reached: where one does (copies of a call that a compiler
# decided apart) it is said, and the least row is the bound
$(optimal)/gaps.csv: $(optimal)/best.csv $(foreach f,sizes os learned,$(OPTIMAL_NAMES:%=$(optimal)/%/$f.csv))
	@csv-cat $(filter-out $<,$^) | $(optimal_ratio) > $@.rows
	csv-where -c label --is=O2 --is=Os --not $@.rows | csv-calc --where='code_bytes < lower_bytes' \
	    --print="concat('optimal: ', program, ': ', label, ' has less than the bound, ', lower_bytes)" >&2
	csv-where -c label --is=O2 --is=Os --not $@.rows | csv-group -g program -c code_bytes --stat=min |
	    csv-cut -c program,min_code_bytes | csv-join --quiet -k program $@.rows - |
	    csv-calc --set='lower_bytes=min(lower_bytes, min_code_bytes)' | csv-cut --drop=min_code_bytes > $@.all
	rm $@.rows
	$(TOP)/pipelines/keep $@.all $@
$(optimal)/summary.csv: $(optimal)/gaps.csv
	@csv-cat $< | $(optimal_mean) $(aside)
$(optimal)/proven.csv: $(optimal)/gaps.csv
	@csv-calc --where='best_bytes == lower_bytes' $< | $(optimal_mean) $(aside)

# ---- the policy: what each call's other way would cost, learned from the tables' gains (worth: the gain's logarithm
# with its sign; negative is inlined).  The control learns the same from the worth of another call, 101 rows away
optimal_lag = $(if $(filter ci test,$(SCALE)),7,101)
optimal_ways = policy control
$(optimal)/%/labelled.csv: $(optimal)/%/optimal.csv
	@csv-where -c choice --is=yes $(<D)/calls.csv | csv-where -c gain_bytes --known |
	    csv-calc --set="sign=optimal == 'yes' ? -1 : 1" --set='worth=sign*log2(1+abs(gain_bytes))' |
	    csv-cut -c program,module,callee,chain,worth,$(optimal_features) $(aside)
$(eval $(call asked,$(optimal)/asked,OPTIMAL_NAMES))
optimal_others = csv-cat $(foreach n,$(OPTIMAL_NAMES),$(if $(filter $n,$*),,$(optimal)/$n/labelled.csv))
optimal_learn  = csv-cut -c worth,$(optimal_features) | $(OPTIMAL_FIT) -y worth
$(optimal)/%/policy.model: $(OPTIMAL_NAMES:%=$(optimal)/%/labelled.csv) $(optimal)/asked
	@$(optimal_others) | $(optimal_learn) $(aside)
$(optimal)/%/control.model: $(OPTIMAL_NAMES:%=$(optimal)/%/labelled.csv) $(optimal)/asked
	@$(optimal_others) | csv-calc --set='worth=lag(worth, $(optimal_lag))' | csv-where -c worth --known |
	    $(optimal_learn) $(aside)
$(optimal)/%/policy.csv: $(optimal_ways:%=$(optimal)/\%/%.model)
	@inline-calls $(OPTIMAL_WORKS)/$* > $@.calls
	for way in $(optimal_ways); do
	    fit-predict -m $(@D)/$$way.model --name=worth $@.calls |
	        csv-calc --set="predicted=worth < 0 ? 'yes' : 'no'" > $@.verdicts
	    inline-size --verdicts=$@.verdicts $(OPTIMAL_WORKS)/$* | $(optimal_all) |
	        csv-calc --let=l=$$way --set='label=l' | $(optimal_columns) > $@.$$way
	done
	csv-cat $(optimal_ways:%=$@.%) > $@.all
	rm $@.calls $@.verdicts $(optimal_ways:%=$@.%)
	$(TOP)/pipelines/keep $@.all $@
$(optimal)/policies.csv: $(optimal)/best.csv $(optimal)/gaps.csv $(OPTIMAL_NAMES:%=$(optimal)/%/policy.csv)
	@csv-cat $(filter %/policy.csv,$^) | $(optimal_ratio) > $@.new
	csv-cat $@.new $(optimal)/gaps.csv > $@.all
	rm $@.new
	$(TOP)/pipelines/keep $@.all $@
# the policy over every other row, program by program
$(optimal)/paired.csv: $(optimal)/policies.csv
	@csv-where -c label --is=policy $< | csv-cut -c program,code_bytes --rename=code_bytes=ours_bytes |
	    csv-join --quiet -k program $< - |
	    csv-calc --set='ratio=ours_bytes/code_bytes' --set='log_ratio=log(ratio)' | $(optimal_mean) $(aside)
optimal-policy: $(optimal)/policies.csv $(optimal)/paired.csv
	@echo "Machine code over the best found, programs not learned from; losses first"
	csv-where -c label --is=policy $< | csv-sort -k ratio:nr |
	    csv-cut -c program,label,code_bytes,best_bytes,ratio | csv-show --digits=4
	csv-cat $< | $(optimal_mean) | csv-show --digits=4
	echo "The policy over each of these, paired"
	csv-show --digits=5 $(optimal)/paired.csv

# ---- is it the optimum?  Every set of decisions of every module that has few
OPTIMAL_ORACLE_MOST ?= 32
$(optimal)/%/oracle.csv: $(optimal)/%/optimal.csv
	@inline-size --exhaustive --most=$(OPTIMAL_ORACLE_MOST) $(OPTIMAL_WORKS)/$* | csv-where -c code_bytes --known |
	    csv-calc --where='sets > 1' | csv-cut -c module,sets,code_bytes | csv-join --quiet -k module $< - $(aside)
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
	        csv-join --quiet -k module $$part.proven - > $$part.new
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

# ---- a policy that clang 19 asks itself (inline-advise), learned from the optima of other programs, each left out;
# beside clang's own -Oz, thresholds of its cost, a control that learned the worth of other calls
OPTIMAL_ADVISE_THRESHOLDS ?= -50 0 25 50
# under which its questions are asked that are learned from; 25 is that of -Oz
OPTIMAL_ADVISE_BASE ?= 25
optimal_adv      = $(optimal)/advise
optimal_adv_ways = policy control
optimal_adv_drop = query,inline,callee,line,column,module,program,chain,worth
optimal_adv_fit  = $(OPTIMAL_FIT) -y advice --ignore=$(optimal_adv_drop)
optimal_adv_row  = csv-calc --let=p=$* --let=l=$$row --set='program=p' --set='label=l'

# questions about calls whose other way the tables price; a number above a half is yes
$(optimal_adv)/%/labelled.csv: $(optimal)/%/labelled.csv
	@mkdir -p $(@D)
	QUESTIONS=$@.asked $(TOP)/pipelines/advise $(OPTIMAL_WORKS)/$* -Oz --threshold=$(OPTIMAL_ADVISE_BASE) > $@.size
	csv-cut -c module,callee,chain,worth $< > $@.worth
	csv-cut -c callee,chain,line,column $(OPTIMAL_WORKS)/$*/calls.csv > $@.places
	csv-join --quiet -k callee,line,column $@.asked $@.places | csv-join --quiet -k module,callee,chain - $@.worth |
	    csv-calc --let=p=$* --set='program=p' --set='advice=0.5 - worth' > $@.all
	rm $@.asked $@.size $@.worth $@.places
	$(TOP)/pipelines/keep $@.all $@
optimal_adv_others = csv-cat $(foreach n,$(OPTIMAL_NAMES),$(if $(filter $n,$*),,$(optimal_adv)/$n/labelled.csv))
$(optimal_adv)/%/policy.model: $(OPTIMAL_NAMES:%=$(optimal_adv)/%/labelled.csv) $(optimal)/asked
	@$(optimal_adv_others) | $(optimal_adv_fit) -o $@
$(optimal_adv)/%/control.model: $(OPTIMAL_NAMES:%=$(optimal_adv)/%/labelled.csv) $(optimal)/asked
	@$(optimal_adv_others) | csv-calc --set='advice=lag(advice, $(optimal_lag))' | csv-where -c advice --known |
	    $(optimal_adv_fit) -o $@
$(optimal_adv)/%/rows.csv: $(optimal)/%/labelled.csv
	@mkdir -p $(@D)
	row=Oz
	$(TOP)/pipelines/advise $(OPTIMAL_WORKS)/$* -Oz | $(optimal_adv_row) > $@.Oz
	for row in $(OPTIMAL_ADVISE_THRESHOLDS); do
	    $(TOP)/pipelines/advise $(OPTIMAL_WORKS)/$* -Oz --threshold=$$row | $(optimal_adv_row) |
	        csv-calc --set="label=concat('threshold-', label)" > $@.$$row
	done
	csv-cat $@.Oz $(OPTIMAL_ADVISE_THRESHOLDS:%=$@.%) > $@.all
	rm $@.Oz $(OPTIMAL_ADVISE_THRESHOLDS:%=$@.%)
	$(TOP)/pipelines/keep $@.all $@
$(optimal_adv)/%/ways.csv: $(optimal_adv_ways:%=$(optimal_adv)/\%/%.model)
	@for row in $(optimal_adv_ways); do
	    $(TOP)/pipelines/advise $(OPTIMAL_WORKS)/$* -Oz --model=$(@D)/$$row.model | $(optimal_adv_row) > $@.$$row
	done
	csv-cat $(optimal_adv_ways:%=$@.%) > $@.all
	rm $(optimal_adv_ways:%=$@.%)
	$(TOP)/pipelines/keep $@.all $@
$(optimal_adv)/gaps.csv: $(foreach f,rows ways,$(OPTIMAL_NAMES:%=$(optimal_adv)/%/$f.csv)) $(optimal)/asked
	@csv-cat $(filter %.csv,$^) > $@.rows
	csv-where -c label --is=policy $@.rows | csv-cut -c program,code_bytes --rename=code_bytes=policy_bytes > $@.policy
	csv-where -c label --is=Oz $@.rows | csv-cut -c program,code_bytes --rename=code_bytes=oz_bytes |
	    csv-join --quiet -k program $@.rows - | csv-join --quiet -k program - $@.policy > $@.all
	rm $@.rows $@.policy
	$(TOP)/pipelines/keep $@.all $@
optimal-advise: $(optimal_adv)/gaps.csv
	@echo "Machine code of clang 19 over its own -Oz, programs not learned from; losses first"
	csv-calc --where="label == 'policy'" --set='ratio=code_bytes/oz_bytes' $< | csv-sort -k ratio:nr |
	    csv-cut -c program,code_bytes,oz_bytes,ratio | csv-show --digits=4
	csv-calc --set='ratio=code_bytes/oz_bytes' --set='log_ratio=log(ratio)' $< | $(optimal_mean) | csv-show --digits=5
	echo "The policy over each, paired"
	csv-calc --set='ratio=policy_bytes/code_bytes' --set='log_ratio=log(ratio)' $< | $(optimal_mean) | csv-show --digits=5
optimal_ships = $(if $(filter ci test,$(SCALE)),$(optimal),$(TOP)/share/policies)
optimal-advise-model: $(OPTIMAL_NAMES:%=$(optimal_adv)/%/labelled.csv)
	@mkdir -p $(optimal_ships)
	csv-cat $^ | $(optimal_adv_fit) -o $(optimal_ships)/advise.model
.PHONY: optimal-advise optimal-advise-model
.PRECIOUS: $(optimal_adv)/%/labelled.csv $(optimal_adv)/%/rows.csv $(optimal_adv)/%/ways.csv $(optimal_adv)/%.model
