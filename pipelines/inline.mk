# inline.mk - learn to inline real C programs with a stock compiler
#   make inline                        the programs of data/programs.csv, fetched as Debian source packages
#   make inline PROGRAM=DIR            a program of your own: DIR/program holds the lines build, search, confirm
#   make inline SCALE=ci               the small program in data/demo
#   make inline-list | inline-one NAME=lua DECISIONS=FILE | inline-policy FIT='fit-boost --depth=3'
# Exact costs steer the search, so it does not mind a busy machine; CPU time, paired and interleaved, only confirms.
LIVE          = $(OUT)/inline
LIVE_TABLE   ?= $(TOP)/data/programs.csv
LIVE_EVALS   ?= $(if $(filter ci,$(SCALE)),16,$(if $(filter full,$(SCALE)),400,60))
LIVE_SIZE    ?= $(if $(filter ci,$(SCALE)),10,$(if $(filter full,$(SCALE)),400,120))
# a per cent of text weighs as much as a twentieth per cent of instructions; never 30 % more text than the default
LIVE_GOAL    ?= --text-weight=0.05 --max-text=1.3
# six is the least of which a signed-rank interval at 95 % can exclude anything
LIVE_ROUNDS  ?= $(if $(filter ci test,$(SCALE)),12,$(if $(filter full,$(SCALE)),100,20))
FIT          ?= fit-boost --rounds=60 --depth=3
$(if $(word 2,$(PROGRAM)),$(error make inline: PROGRAM='$(PROGRAM)': make cannot work in a directory with a space in \
    its name))
# names become folders, targets and words of recipes
LIVE_BAD     := $(shell sed -n '1d; s/,.*//; /^[A-Za-z0-9][A-Za-z0-9._+-]*$$/!{p;q}' $(LIVE_TABLE))
$(if $(LIVE_BAD),$(error make inline: $(LIVE_TABLE): '$(LIVE_BAD)' is not a plain name of a program))
LIVE_ALL     := $(shell sed -n '2,$$s/,.*//p' $(LIVE_TABLE))
LIVE_TRAIN   := $(shell sed -n 's/^\([^,]*\),train,.*/\1/p' $(LIVE_TABLE))
NAMES        ?= $(if $(PROGRAM),$(notdir $(abspath $(PROGRAM))),$(if $(filter ci,$(SCALE)),demo,$(LIVE_TRAIN)))
POLICY_NAMES ?= $(if $(LIVE_OWN),,$(LIVE_ALL))
LIVE_OWN      = $(if $(PROGRAM),$(abspath $(PROGRAM)),$(if $(filter ci,$(SCALE)),$(TOP)/data/demo))
LIVE_FIGURES  = $(foreach f,trace frontier compare rewards $(if $(POLICY_NAMES),policy),$(LIVE)/figure-$f.svg \
    $(LIVE)/figure-$f.png)
LIVE_LABELS   = O2 files O3 Os Oz threshold learned small

inline: $(LIVE)/exact.csv $(LIVE)/exact-files.csv $(LIVE)/size.csv $(LIVE)/time.csv $(LIVE)/time-files.csv \
    $(LIVE)/size-time.csv $(LIVE)/guard.csv $(LIVE)/obeyed.csv $(if $(POLICY_NAMES),inline-policy) $(LIVE_FIGURES)
	@mean='$(if $(word 2,$(NAMES)),(geometric mean),$(NAMES))'
	echo
	echo "On inputs that were not searched on, over whole-program -O2, $$mean:"
	csv-where -c benchmark --is='(geometric mean)' $(LIVE)/time.csv | csv-cut -c label,ratio,lower_ratio,upper_ratio \
	    --rename=ratio=cpu --rename=lower_ratio=cpu_lower --rename=upper_ratio=cpu_upper > $(LIVE)/summary.cpu
	csv-where -c program --is="$$mean" $(LIVE)/exact.csv | csv-pivot -k label --names=metric --values=ratio |
	    csv-join -k label --keep=left - $(LIVE)/summary.cpu | csv-show --digits=4
	rm $(LIVE)/summary.cpu
	echo "Programs $(LIVE)/NAME/learned and small with decisions NAME/learned.sexp and small.sexp;"
	echo "figures $(LIVE)/figure-*.png;"
	echo "guard.csv: the runs on which each surely beats -O2; inline-emit turns decisions into what a compiler reads"
inline-list:
	@csv-show $(LIVE_TABLE)
# one program under a decisions file of yours: its exact costs and what was not obeyed
inline-one: $(LIVE)/$(NAME)/w/program.csv
	inline-build --decisions=$(DECISIONS) --out=$(LIVE)/$(NAME)/one $(<D) | csv-where -c inlined --is=no
	$(TOP)/pipelines/measure count $(<D) one=$(LIVE)/$(NAME)/one
.PHONY: inline inline-list inline-one

# ---- one module for each program; cross references between sources (inputs) want all of them first
ifeq ($(LIVE_OWN),)
$(LIVE)/sources: $(LIVE_TABLE) | $(PROGS)
	@mkdir -p $(LIVE)/src
	csv-cut -c name,package $< | tail -n +2 | while IFS=, read -r name package; do
	    $(TOP)/pipelines/fetch-source $$package $(LIVE)/src/$$name $(CURDIR)/data
	done
	touch $@
$(LIVE)/%/w/program.csv: $(LIVE)/sources
	@mkdir -p $(@D)
	echo "compiling $*"
	inline-module --table=$(LIVE_TABLE) --program=$* --out=$(@D) $(LIVE)/src/$*
else
$(LIVE)/%/w/program.csv: $(LIVE_OWN)/program | $(PROGS)
	@mkdir -p $(@D)
	inline-module --out=$(@D) $(LIVE_OWN)
endif

# ---- explore: instructions first, then text size; logs are append-only and a killed search goes on
$(LIVE)/%/started: $(LIVE)/%/w/program.csv $(LIVE)/%/sites.csv | $(PROGS)
	@echo "exploring $*: where to begin"
	$(TOP)/pipelines/explore $(<D) $(@D) 0 $(SEED) $(JOBS) $(LIVE_GOAL)
	touch $@
$(LIVE)/%/explored: $(LIVE)/%/started
	@echo "exploring $*: $(LIVE_EVALS) sets of decisions"
	$(TOP)/pipelines/explore $(@D)/w $(@D) $(LIVE_EVALS) $(SEED) $(JOBS) $(LIVE_GOAL)
	touch $@
$(LIVE)/%/size/explored: $(LIVE)/%/w/program.csv $(LIVE)/%/explored
	@echo "exploring $* for size: $(LIVE_SIZE) sets of decisions"
	mkdir -p $(@D)
	cp $(LIVE)/$*/sites.csv $(@D)/sites.csv
	GOAL=size $(TOP)/pipelines/explore $(<D) $(@D) $(LIVE_SIZE) $(SEED) $(JOBS)
	touch $@

# ---- rewards from what was explored (the filters of the study), and what they propose, measured like the rest; sets in
# byte order, since trials side by side end in any order, and without what rewards proposed before
$(LIVE)/%/rewards.csv: $(LIVE)/%/explored
	@csv-where -c chain --is=reward --not $(@D)/history.csv | csv-where -c state --is=ok | csv-sort -k decisions |
	    csv-calc --set=run=decisions --set="decisions=concat('$(@D)/store/', run, '.sexp')" \
	        --set='time_seconds=instructions/1e9' | csv-cut -c run,decisions,time_seconds > $(@D)/tried.csv
	inline-problem --runs=$(@D)/tried.csv --times=$(@D)/times.csv -o $(@D)/problem.csv
	inline-reward --times=$(@D)/times.csv --samples=50 -o $@ $(@D)/problem.csv
$(LIVE)/%/rewarded: $(LIVE)/%/rewards.csv
	@inline-best --program=$* --compiler=clang-14 -o $(@D)/rewarded.sexp $<
	printf 'file,parent,chain,step\n%s,default,reward,0\n' $(@D)/rewarded.sexp > $(@D)/rewarded.list
	inline-run --store=$(@D)/store --history=$(@D)/history.csv --complete --list=$(@D)/rewarded.list $(@D)/w
	touch $@
$(LIVE)/%/learned.sexp: $(LIVE)/%/rewarded
	@inline-search --best $(LIVE_GOAL) --store=$(@D)/store --work=$(@D)/w $(@D)/history.csv $(aside)
$(LIVE)/%/small.sexp: $(LIVE)/%/size/explored
	@inline-search --best --text-weight=1 --store=$(@D)/size/store --work=$(@D)/w $(@D)/size/history.csv $(aside)

# ---- the programs to compare; `obeyed` says of every decision what became of it.  O2, O3, Os, Oz are whole-program
# builds; `files` is what most users have, each source compiled by itself at -O2 and linked
$(LIVE)/%/built: $(LIVE)/%/learned.sexp $(LIVE)/%/small.sexp | $(PROGS)
	@for level in O2 O3 Os Oz; do inline-build --level=-$$level --out=$(@D)/$$level $(@D)/w > /dev/null; done
	inline-build --stock=O2 --out=$(@D)/files $(@D)/w > /dev/null
	best=$$(csv-where -c state --is=ok $(@D)/history.csv | csv-sort -k instructions:n,decisions |
	    csv-where -c decisions --like='threshold-*' | csv-sample --quiet --first=1 |
	    csv-calc --print="part(decisions, '-', -1)")
	inline-build --threshold=$$best --out=$(@D)/threshold $(@D)/w > /dev/null
	inline-build --decisions=$(@D)/learned.sexp --out=$(@D)/learned $(@D)/w > $(@D)/obeyed.csv
	inline-build --level=-Oz --decisions=$(@D)/small.sexp --out=$(@D)/small $(@D)/w > $(@D)/obeyed-small.csv
	touch $@
LIVE_BUILDS   = $(foreach l,$(LIVE_LABELS),$l=$(@D)/$l)
$(LIVE)/%/exact.csv: $(LIVE)/%/built
	@echo "counting $*"
	$(TOP)/pipelines/measure count $(@D)/w $(LIVE_BUILDS) $(aside)
$(LIVE)/%/runs.csv: $(LIVE)/%/built
	@echo "timing $*"
	ROUNDS=$(LIVE_ROUNDS) SEED=$(SEED) $(TOP)/pipelines/measure time $(@D)/w $(LIVE_BUILDS) $(aside)

# ---- tables over all programs: ratios to whole-program -O2, the same to the stock build, and of the small one to -Oz
$(LIVE)/exact.csv: $(NAMES:%=$(LIVE)/%/exact.csv)
	@inline-compare --base=O2 $^ $(aside)
$(LIVE)/exact-files.csv: $(NAMES:%=$(LIVE)/%/exact.csv)
	@inline-compare --base=files $^ $(aside)
$(LIVE)/size.csv: $(NAMES:%=$(LIVE)/%/exact.csv)
	@csv-cat $^ | csv-where -c label --is=Oz --is=small | inline-compare --base=Oz | csv-where -c label --is=small $(aside)
$(LIVE)/runs.csv: $(NAMES:%=$(LIVE)/%/runs.csv)
	@csv-cat $^ $(aside)
$(LIVE)/time.csv: $(LIVE)/runs.csv
	@bench-compare --quiet --base=O2 --metric=cpu $< > $(new) || [ $$? -le 2 ]
	$(call keep,$@)
$(LIVE)/time-files.csv: $(LIVE)/runs.csv
	@bench-compare --quiet --base=files --metric=cpu $< > $(new) || [ $$? -le 2 ]
	$(call keep,$@)
$(LIVE)/size-time.csv: $(LIVE)/runs.csv
	@csv-where -c label --is=Oz --is=small $< | bench-compare --quiet --base=Oz --metric=cpu > $(new) || [ $$? -le 2 ]
	$(call keep,$@)
$(LIVE)/guard.csv: $(LIVE)/runs.csv
	@csv-where -c label --is=small --not $< | bench-guard --base=O2 --metric=cpu $(aside)
$(LIVE)/obeyed.csv: $(NAMES:%=$(LIVE)/%/built)
	@csv-cat --source=decisions $(foreach n,$(NAMES),$(LIVE)/$n/obeyed.csv $(LIVE)/$n/obeyed-small.csv) $(aside)

# ---- policies: what the learned decisions have in common, tried on programs that they never saw.  `heat` decides about
# the calls that an exact profile of the search runs says are executed often, and leaves the others to the compiler's
# heuristic; `static` knows no profile; `rule` has nothing to learn: LLVM's cost below a threshold where it is hot;
# `start` is that beginning of searches (a heuristic for executed calls, another for the rest) that did best elsewhere;
# `trials` takes, unlike the others, measurements of the program: the POLICY_TRIALS beginnings that did best elsewhere
# are counted exactly on its search runs, and the best of them by the goal, or the default, goes out.
POLICY        = $(LIVE)/policy
POLICY_HOT   ?= -13
POLICY_RULE  ?= 1000
POLICY_IGNORE = program,callee,caller,chain,file,line,column,heat,legal,reason,threshold,inlined
POLICY_KINDS ?= heat static rule start trials
POLICY_TRIALS ?= 8
POLICY_TEXT  ?= 1.2
inline-policy: $(POLICY)/exact.csv $(POLICY)/time.csv $(POLICY)/time-files.csv $(POLICY)/guard.csv
.PHONY: inline-policy
$(POLICY)/%.labelled.csv: $(LIVE)/%/learned.sexp $(LIVE)/%/sites.csv
	@mkdir -p $(@D)
	inline-verdict --decisions=$< $(<D)/sites.csv | csv-where -c legal --is=yes | csv-where -c verdict --known |
	    csv-where -c cost --known $(aside)
# trained on the training programs but the one it is for
policy_train  = csv-cat $(foreach n,$(LIVE_TRAIN),$(if $(filter $n,$*),,$(POLICY)/$n.labelled.csv))
$(POLICY)/%.heat.model: $(LIVE_TRAIN:%=$(POLICY)/%.labelled.csv)
	@$(policy_train) | csv-where -c log_heat_ratio --min=$(POLICY_HOT) | $(FIT) -y verdict --ignore=$(POLICY_IGNORE) -o $@
$(POLICY)/%.static.model: $(LIVE_TRAIN:%=$(POLICY)/%.labelled.csv)
	@$(policy_train) | $(FIT) -y verdict --ignore=$(POLICY_IGNORE),log_heat_ratio -o $@
$(POLICY)/%.default.sexp: $(LIVE)/%/w/program.csv
	@mkdir -p $(@D)
	inline-build --complete=$@ --out=$(POLICY)/$*.O2 $(<D) > /dev/null
	inline-build --stock=O2 --out=$(POLICY)/$*.files $(<D) > /dev/null
$(LIVE)/%/sites.csv: $(LIVE)/%/w/program.csv
	@inline-sites -o $@ $(<D)
$(POLICY)/%.sites.csv: $(LIVE)/%/sites.csv
	@mkdir -p $(@D)
	csv-where -c cost --known $< $(aside)
# a call that becomes visible when its caller is inlined is asked about too, two levels deep
define policy_rounds
	@$1 > $@.csv
	inline-decide $2 $@.csv > $@.0
	for round in 0 1; do
	    inline-build --decisions=$@.$$round --complete=$@.calls --out=$@.exe $(LIVE)/$*/w > /dev/null
	    inline-decide $2 --calls=$@.calls $@.csv > $@.$$((round + 1))
	done
	$(TOP)/pipelines/keep $@.2 $@
	rm -f $@.[01] $@.csv $@.calls $@.exe
endef
$(POLICY)/%.heat.sexp: $(POLICY)/%.sites.csv $(POLICY)/%.heat.model
	$(call policy_rounds,fit-predict -m $(POLICY)/$*.heat.model $<,--hot=$(POLICY_HOT) --otherwise=inlined)
$(POLICY)/%.static.sexp: $(POLICY)/%.sites.csv $(POLICY)/%.static.model
	$(call policy_rounds,fit-predict -m $(POLICY)/$*.static.model $<)
$(POLICY)/%.rule.sexp: $(POLICY)/%.sites.csv
	$(call policy_rounds,cat $<,-c cost --under=$(POLICY_RULE) --hot=$(POLICY_HOT) --otherwise=inlined)
$(POLICY)/starts.csv: $(foreach n,$(sort $(LIVE_TRAIN) $(POLICY_NAMES)),$(LIVE)/$n/started)
	@mkdir -p $(@D)
	inline-trace $(^:started=history.csv) | csv-where -c algorithm --is=start | csv-where -c state --is=ok $(aside)
# of the beginnings that this program has too: two that are the same set here are one row
$(POLICY)/%.ranked.csv: $(POLICY)/starts.csv
	@csv-where -c program --is=$* $< | csv-cut -c parent,step,decisions > $@.own
	csv-where -c program $(patsubst %,--is=%,$(filter-out $*,$(LIVE_TRAIN))) $< |
	    csv-group -g parent,step -c instructions_ratio,text_ratio --stat=n,gmean |
	    csv-where -c gmean_text_ratio --max=$(POLICY_TEXT) |
	    csv-join -k parent,step - $@.own |
	    csv-sort -k n_instructions_ratio:nr,gmean_instructions_ratio:n > $@.part
	rm $@.own
	$(TOP)/pipelines/keep $@.part $@
$(POLICY)/%.start.sexp: $(POLICY)/%.ranked.csv $(POLICY)/%.default.sexp
	@set=$$(csv-cut -c decisions $< | sed -n 2p)
	if [ -n "$$set" ]; then cp $(LIVE)/$*/store/$$set.sexp $(new); else cp $(POLICY)/$*.default.sexp $(new); fi
	$(call keep,$@)
$(POLICY)/%.trials.sexp: $(POLICY)/%.ranked.csv
	@csv-where -c decisions --is=default \
	    $$(csv-cut -c decisions $< | sed -n "2,$$((1 + $(POLICY_TRIALS)))s/^/--is=/p") $(LIVE)/$*/history.csv > $@.csv
	inline-search --best $(LIVE_GOAL) --store=$(LIVE)/$*/store --work=$(LIVE)/$*/w $@.csv > $@.part
	rm $@.csv
	$(TOP)/pipelines/keep $@.part $@
$(POLICY)/%.built: $(POLICY)/%.default.sexp $(foreach k,$(POLICY_KINDS),$(POLICY)/%.$k.sexp)
	@for kind in $(POLICY_KINDS); do
	    inline-build --decisions=$(POLICY)/$*.$$kind.sexp --out=$(POLICY)/$*.$$kind $(LIVE)/$*/w \
	        > $(POLICY)/$*.$$kind.obeyed.csv
	done
	touch $@
POLICY_BUILDS = $(foreach k,O2 files $(POLICY_KINDS),$k=$(POLICY)/$*.$k)
$(POLICY)/%.exact.csv: $(POLICY)/%.built
	@$(TOP)/pipelines/measure count $(LIVE)/$*/w $(POLICY_BUILDS) $(aside)
$(POLICY)/%.runs.csv: $(POLICY)/%.built
	@echo "timing the policies on $*"
	ROUNDS=$(LIVE_ROUNDS) SEED=$(SEED) $(TOP)/pipelines/measure time $(LIVE)/$*/w $(POLICY_BUILDS) $(aside)
$(POLICY)/exact.csv: $(POLICY_NAMES:%=$(POLICY)/%.exact.csv)
	@inline-compare --base=O2 $^ $(aside)
$(POLICY)/runs.csv: $(POLICY_NAMES:%=$(POLICY)/%.runs.csv)
	@csv-cat $^ $(aside)
# before the guard, the worst first
$(POLICY)/time.csv: $(POLICY)/runs.csv
	@bench-compare --quiet --base=O2 --metric=cpu $< > $@.all || [ $$? -le 2 ]
	csv-sort -k ratio:nr $@.all $(aside) && rm $@.all
$(POLICY)/time-files.csv: $(POLICY)/runs.csv
	@bench-compare --quiet --base=files --metric=cpu $< > $@.all || [ $$? -le 2 ]
	csv-sort -k ratio:nr $@.all $(aside) && rm $@.all
$(POLICY)/guard.csv: $(POLICY)/runs.csv
	@csv-where -c label --is=files --not $< | bench-guard --quiet --base=O2 --metric=cpu $(aside)
.PRECIOUS: $(POLICY)/%.labelled.csv $(POLICY)/%.heat.model $(POLICY)/%.static.model $(POLICY)/%.heat.sexp \
    $(POLICY)/%.static.sexp $(POLICY)/%.rule.sexp $(POLICY)/%.default.sexp $(POLICY)/%.runs.csv

# ---- figures, each with the table it was drawn from
$(LIVE)/figure-trace.csv: $(NAMES:%=$(LIVE)/%/rewarded)
	@inline-trace --steps=$$((1 + $(LIVE_EVALS) / 10)) --t-max=0.002 --t-min=0.0001 \
	    $(NAMES:%=$(LIVE)/%/history.csv) $(aside)
$(LIVE)/figure-frontier.csv: $(LIVE)/figure-trace.csv
	@csv-where -c text_ratio --known $< $(aside)
$(LIVE)/figure-compare.csv: $(LIVE)/time.csv
	@csv-where -c verdict --known $< $(aside)
$(LIVE)/figure-policy.csv: $(POLICY)/time.csv
	@csv-where -c verdict --known $< $(aside)
$(LIVE)/figure-rewards.csv: $(NAMES:%=$(LIVE)/%/rewards.csv)
	@csv-cat --source=file $^ | csv-where -c immediate --known | csv-sort -k immediate:nr |
	    csv-calc --set="program=part(file, '/', -2)" | csv-calc -g program --set='rank=run_count()' |
	    csv-sort -k rank:nr | csv-calc -g program --set='left=run_count()' --where='rank <= 30 || left <= 30' |
	    csv-sort -k rank:n | csv-calc -g program --set='place=run_count()' |
	    csv-cut -c program,place,rank,immediate,immediate_lower,immediate_upper \
	        --rename=immediate_lower=lower --rename=immediate_upper=upper $(aside)
# some tables do not say how the counts were obtained that they come from
live_draw = gnuplot -e "kind='$$($(TOP)/pipelines/kinds $(NAMES:%=$(LIVE)/%/history.csv))'" -c $(TOP)/plots
$(LIVE)/figure-%.svg $(LIVE)/figure-%.png &: $(LIVE)/figure-%.csv $(TOP)/plots/inline-%.gp $(TOP)/plots/inline-rows.gp
	@$(live_draw)/inline-$*.gp $< $(call beside,$(LIVE)/figure-$*.svg) '$(NAMES)'
	$(call keep,$(LIVE)/figure-$*.svg)
	$(live_draw)/inline-$*.gp $< $(call beside,$(LIVE)/figure-$*.png) '$(NAMES)'
	$(call keep,$(LIVE)/figure-$*.png)

# ==== inlining on top of LTO and a profile, beside what an expert would build instead, and home again
#   make inline-home                          the programs of data/programs.csv that search (NAMES= some of them)
#   make inline-home PROGRAM=DIR              yours: DIR/program holds the lines build, search, confirm
#   make inline-home PROGRAM=DIR FROM=BUILD BINARY=jq   yours, built by CC=inline-cc below BUILD; no line build
#   make inline-experts                       programs of both tables, built as their own build systems do: EXPERTS=
#   make inline-table, inline-cost            of the same programs: a row a build; what tells their time
#   make inline-corpus                        what can be built with CC=inline-cc at all: Debian sources, a row each
#   BASE=lto-pgo   what the tables compare with     PROFILE=irn|fe|none   what the search stands on
#   HOME_ROWS=     the stock builds     HOME_EVALS=  builds for the search     COMPILER=clang
# Leaves OUT/inline-home/NAME/home: compile.replay, link.replay, flags.mk and the profile, for your own build.
HOME_OUT     = $(OUT)/inline-home
BASE        ?= lto-pgo
PROFILE     ?= irn
COMPILER    ?= clang
HOME_ROWS   ?= O2 O3 Os Oz thinlto lto pgo lto-pgo gcc-O2 gcc-O3 gcc-lto gcc-pgo gcc-lto-pgo bolt
HOME_EVALS  ?= $(if $(filter ci,$(SCALE)),18,$(if $(filter full,$(SCALE)),300,60))
# one per cent of text weighs as much as a twentieth per cent of instructions; small: least text that executes no more
# instructions than what an expert would build
HOME_GOAL   ?= --text-weight=0.05 --max-text=1.3
HOME_SMALL  ?= --text-weight=0.8 --within=$(HOME_WITHIN)
# gcc decides nothing within -flto, and its rows are no rows of a search of clang's
HOME_WITHIN ?= $(if $(filter gcc-%,$(BASE)),lto-pgo,$(BASE))
# heuristics' sets that the search begins with; for a program that takes a minute to build, fewer
HOME_STARTS ?= --none --threshold=0 --threshold=25 --threshold=100 --threshold=600
HOME_ROUNDS ?= $(if $(filter ci,$(SCALE)),6,20)
EXPERTS     ?= gzip bzip2 zlib lua lz4 zopfli cmark mawk jq
CORPUS       = $(OUT)/corpus
CORPUS_TABLE ?= $(TOP)/data/corpus.csv
HOME_CORPUS  = $(filter-out $(LIVE_ALL),$(NAMES))
home_own     = $(if $(FROM),--from-build=$(abspath $(FROM)) --program=$(or $(BINARY),$(notdir $(abspath $(PROGRAM)))))
home_labels  = $(HOME_ROWS) $(if $(filter none,$(PROFILE)),,lto-$(PROFILE)) learned small

inline-home: $(HOME_OUT)/exact.csv $(HOME_OUT)/time.csv $(HOME_OUT)/guard.csv $(NAMES:%=$(HOME_OUT)/%/home.csv)
	@echo "On inputs that were not searched on, over $(BASE) (below 1 is better); cpu: paired rounds, 95 % intervals:"
	csv-show $(HOME_OUT)/time.csv
	echo "Exact: instructions, modelled cycles, text:"
	csv-show $(HOME_OUT)/exact.csv
	echo "One program goes out, for all inputs: the better one, or $(BASE)"
	csv-cut -c program,label,decision,reason,ratio,lower_ratio,upper_ratio,worst,worst_ratio,text_ratio \
	    $(HOME_OUT)/guard.csv | csv-show
	csv-cat $(NAMES:%=$(HOME_OUT)/%/home.csv) | csv-show
# one row a build: CPU time over TABLE_BASE with its interval, instructions and text over it, losses first
inline-table: $(HOME_OUT)/table.csv
	@csv-show --digits=3 $<
# what counted events say about the CPU time of all these builds, each program by the weights of the others
inline-cost: $(HOME_OUT)/cost.csv
	@csv-show --digits=3 $<
	csv-show --digits=3 $(HOME_OUT)/weights.csv
inline-experts:
	@$(MAKE) --no-print-directory NAMES='$(EXPERTS)' inline-home
# one at a time: a build that takes the whole machine would make the seconds of the others mean nothing
CORPUS_NAMES ?= $(shell sed -n '1d; s/,.*//; /^[A-Za-z0-9][A-Za-z0-9._+-]*$$/p' $(CORPUS_TABLE))
inline-corpus: $(CORPUS)/table.csv
	@csv-show $<
$(CORPUS)/table.csv: $(CORPUS_NAMES:%=$(CORPUS)/%.csv)
	@csv-cat $^ $(aside)
$(CORPUS)/%.csv: | $(PROGS)
	@echo "building $*"
	mkdir -p $(@D)
	$(TOP)/pipelines/corpus $(CORPUS_TABLE) $* $(@D) $(CURDIR)/data $(aside)
.PHONY: inline-home inline-table inline-cost inline-experts inline-corpus

ifeq ($(LIVE_OWN),)
$(HOME_OUT)/%/w/program.csv: $(LIVE)/sources
	@mkdir -p $(@D)
	inline-module --table=$(LIVE_TABLE) --program=$* --compiler=$(COMPILER) --lto --profile=$(PROFILE) \
	    --out=$(@D) $(LIVE)/src/$*
# programs that the first table does not have, as the corpus built them; their runs begin beside the table's sources
$(HOME_CORPUS:%=$(HOME_OUT)/%/w/program.csv): $(HOME_OUT)/%/w/program.csv: $(CORPUS)/%.csv $(LIVE)/sources
	@mkdir -p $(@D)
	[ -e $(LIVE)/src/$* ] || ln -sfn $(abspath $(CORPUS))/$* $(LIVE)/src/$*
	inline-module --from-build=$(CORPUS)/$* --table=$(CORPUS_TABLE) --program=$* --compiler=$(COMPILER) --lto \
	    --profile=$(PROFILE) --out=$(@D) $(LIVE)/src/$*
else
$(HOME_OUT)/%/w/program.csv: $(LIVE_OWN)/program | $(PROGS)
	@mkdir -p $(@D)
	inline-module $(home_own) --compiler=$(COMPILER) --lto --profile=$(PROFILE) --out=$(@D) $(LIVE_OWN)
endif
$(HOME_OUT)/%/explored: $(HOME_OUT)/%/w/program.csv
	@GOAL=home BASE=$(HOME_WITHIN) STARTS='$(HOME_STARTS)' \
	    $(TOP)/pipelines/explore $(<D) $(@D) $(HOME_EVALS) $(SEED) $(JOBS) $(HOME_GOAL)
	touch $@
$(HOME_OUT)/%/learned.sexp: $(HOME_OUT)/%/explored
	@inline-search --best $(HOME_GOAL) --store=$(@D)/store --work=$(@D)/w $(@D)/history.csv $(aside)
$(HOME_OUT)/%/small.sexp: $(HOME_OUT)/%/explored
	@inline-search --best $(HOME_SMALL) --store=$(@D)/store --work=$(@D)/w $(@D)/history.csv $(aside)

# what an expert would build; a row that a program cannot have (it does not link, no bolt here) is said and left out
$(HOME_OUT)/%/stocked: $(HOME_OUT)/%/w/program.csv
	@for row in $(HOME_ROWS); do
	    [ $(@D)/$$row -nt $< ] || inline-build --stock=$$row --out=$(@D)/$$row $(@D)/w > /dev/null || rm -f $(@D)/$$row
	done
	touch $@
# winners are built from their decision lists, as everybody else will; lto-irn is what they stand on
$(HOME_OUT)/%/built: $(HOME_OUT)/%/stocked $(HOME_OUT)/%/learned.sexp $(HOME_OUT)/%/small.sexp
	@inline-build --out=$(@D)/lto-$(PROFILE) $(@D)/w > /dev/null
	for set in learned small; do
	    inline-build --decisions=$(@D)/$$set.sexp --out=$(@D)/$$set $(@D)/w > $(@D)/$$set.obeyed.csv
	done
	touch $@
home_builds = $$(for l in $(home_labels); do [ ! -x $(@D)/$$l ] || echo $$l=$(@D)/$$l; done)
$(HOME_OUT)/%/exact.csv: $(HOME_OUT)/%/built
	@METRICS="instructions size" $(TOP)/pipelines/measure count $(@D)/w $(home_builds) $(aside)
$(HOME_OUT)/%/runs.csv: $(HOME_OUT)/%/built
	@ROUNDS=$(HOME_ROUNDS) SEED=$(SEED) $(TOP)/pipelines/measure time $(@D)/w $(home_builds) $(aside)
$(HOME_OUT)/%/home.csv: $(HOME_OUT)/%/learned.sexp
	@inline-emit --to=replay --decisions=$< --out=$(@D)/home $(@D)/w $(aside)
$(HOME_OUT)/exact.csv: $(NAMES:%=$(HOME_OUT)/%/exact.csv)
	@inline-compare --base=$(BASE) $^ $(aside)
# `small` may go out where it is smaller and surely not one per cent slower
$(HOME_OUT)/guard.csv: $(NAMES:%=$(HOME_OUT)/%/runs.csv) $(NAMES:%=$(HOME_OUT)/%/exact.csv)
	@csv-cat $(filter %/exact.csv,$^) > $@.sizes
	csv-cat $(filter %/runs.csv,$^) > $@.runs
	{ csv-where -c label --is=$(BASE) --is=learned $@.runs | inline-guard --metric=cpu --base=$(BASE)
	  csv-where -c label --is=$(BASE) --is=small $@.runs |
	      inline-guard --metric=cpu --base=$(BASE) --most-loss=0.01 --sizes=$@.sizes | tail -n +2; } $(aside)
	rm $@.sizes $@.runs
# the losses first
$(HOME_OUT)/time.csv: $(NAMES:%=$(HOME_OUT)/%/runs.csv)
	@csv-cat $^ > $@.runs
	bench-compare --quiet --base=$(BASE) --metric=cpu $@.runs > $@.all || [ $$? -le 2 ]
	csv-sort -k ratio:nr $@.all $(aside)
	rm $@.runs $@.all

TABLE_BASE ?= O2
$(HOME_OUT)/%/row.csv: $(HOME_OUT)/%/exact.csv $(HOME_OUT)/%/runs.csv
	@bench-compare --quiet --base=$(TABLE_BASE) --metric=cpu $(@D)/runs.csv > $@.all || [ $$? -le 2 ]
	csv-where -c benchmark --is='(geometric mean)' $@.all |
	    csv-cut -c label,ratio,lower_ratio,upper_ratio,rounds --rename=ratio=cpu --rename=lower_ratio=cpu_lower \
	        --rename=upper_ratio=cpu_upper > $@.cpu
	inline-compare --base=$(TABLE_BASE) $< | csv-where -c program --is=$* |
	    csv-pivot -k program,label --names=metric --values=ratio | csv-join -k label --keep=left - $@.cpu |
	    csv-sort -k cpu:nr $(aside)
	rm $@.all $@.cpu
$(HOME_OUT)/table.csv: $(NAMES:%=$(HOME_OUT)/%/row.csv)
	@csv-cat $^ $(aside)
$(HOME_OUT)/%/events.csv: $(HOME_OUT)/%/built
	@METRICS="instructions events" $(TOP)/pipelines/measure count $(@D)/w $(home_builds) $(aside)
$(HOME_OUT)/cost.csv $(HOME_OUT)/weights.csv &: $(NAMES:%=$(HOME_OUT)/%/events.csv) $(NAMES:%=$(HOME_OUT)/%/runs.csv)
	@csv-cat $(filter %/runs.csv,$^) > $(HOME_OUT)/cost.runs
	inline-cost --base=$(TABLE_BASE) --runs=$(HOME_OUT)/cost.runs --weights=$(call beside,$(HOME_OUT)/weights.csv) \
	    -o $(call beside,$(HOME_OUT)/cost.csv) $(filter %/events.csv,$^)
	$(call keep,$(HOME_OUT)/weights.csv)
	$(call keep,$(HOME_OUT)/cost.csv)
	rm $(HOME_OUT)/cost.runs
