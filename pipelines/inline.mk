# inline.mk - learn to inline real C programs with a stock compiler
#   make inline                        the programs of data/programs.csv, fetched as Debian source packages
#   make inline PROGRAM=DIR            a program of your own: DIR/program holds the lines build, search, confirm
#   make inline SCALE=ci               the small program in data/demo
#   make inline-list | inline-one NAME=lua DECISIONS=FILE | inline-policy INLINE_FIT='fit-boost --depth=3'
#   make inline-policy PROGRAM=DIR     the policies that ship, without a search: pipelines/shipped.mk
# Exact costs steer the search, so it does not mind a busy machine; CPU time, paired and interleaved, only confirms.
inline        = $(OUT)/inline
INLINE_TABLE ?= $(TOP)/data/programs.csv
INLINE_EVALS ?= $(if $(filter ci,$(SCALE)),16,$(if $(filter full,$(SCALE)),400,60))
INLINE_SIZE  ?= $(if $(filter ci,$(SCALE)),10,$(if $(filter full,$(SCALE)),400,120))
# a per cent of text weighs as much as a twentieth per cent of instructions; never 30 % more text than the default
INLINE_GOAL ?= --text-weight=0.05 --max-text=1.3
# six is the least of which a signed-rank interval at 95 % can exclude anything
INLINE_ROUNDS ?= $(if $(filter ci test,$(SCALE)),12,$(if $(filter full,$(SCALE)),100,20))
INLINE_FIT    ?= fit-boost --rounds=60 --depth=3
$(if $(word 2,$(PROGRAM)),$(error make inline: PROGRAM='$(PROGRAM)': make cannot work in a directory with a space in \
    its name))
ifeq ($(if $(and $(PROGRAM),$(filter inline inline-%,$(MAKECMDGOALS))),$(or $(wildcard $(PROGRAM)/program),none)),none)
$(error make inline: no file $(PROGRAM)/program; it holds the lines `build', `search' and `confirm', see docs/inline.md)
endif
# names become folders, targets and words of recipes
inline_bad := $(shell sed -n '1d; s/,.*//; /^[A-Za-z0-9][A-Za-z0-9._+-]*$$/!{p;q}' $(INLINE_TABLE))
$(if $(inline_bad),$(error make inline: $(INLINE_TABLE): '$(inline_bad)' is not a plain name of a program))
inline_all          := $(shell sed -n '2,$$s/,.*//p' $(INLINE_TABLE))
inline_train        := $(shell sed -n 's/^\([^,]*\),train,.*/\1/p' $(INLINE_TABLE))
INLINE_NAMES        ?= $(if $(PROGRAM),$(notdir $(abspath $(PROGRAM))),$(if $(filter ci,$(SCALE)),demo,$(inline_train)))
INLINE_POLICY_NAMES ?= $(if $(inline_own),,$(inline_all))
inline_own           = $(if $(PROGRAM),$(abspath $(PROGRAM)),$(if $(filter demo,$(INLINE_NAMES)),$(TOP)/data/demo))
inline_figures       = $(foreach f,trace frontier compare rewards $(if $(INLINE_POLICY_NAMES),policy),$(strip \
    $(inline)/figure-$f.svg $(inline)/figure-$f.png))
inline_labels = O2 files O3 Os Oz threshold learned small

inline: $(inline)/exact.csv $(inline)/exact-files.csv $(inline)/size.csv $(inline)/time.csv $(inline)/time-files.csv \
    $(inline)/size-time.csv $(inline)/guard.csv $(inline)/obeyed.csv $(if $(INLINE_POLICY_NAMES),inline-policy) \
    $(inline_figures)
	@mean='$(if $(word 2,$(INLINE_NAMES)),(geometric mean),$(INLINE_NAMES))'
	echo
	echo "On inputs that were not searched on, over whole-program -O2, $$mean:"
	csv-where -c benchmark --is='(geometric mean)' $(inline)/time.csv | csv-cut -c label,ratio,lower_ratio,upper_ratio \
	    --rename=ratio=cpu --rename=lower_ratio=cpu_lower --rename=upper_ratio=cpu_upper > $(inline)/summary.cpu
	csv-where -c program --is="$$mean" $(inline)/exact.csv | csv-pivot -k label --names=metric --values=ratio |
	    csv-join -k label --keep=left - $(inline)/summary.cpu | csv-show --digits=4
	rm $(inline)/summary.cpu
	echo "Programs $(inline)/NAME/learned and small with decisions NAME/learned.sexp and small.sexp;"
	echo "figures $(inline)/figure-*.png;"
	echo "guard.csv: the runs on which each surely beats -O2; inline-emit turns decisions into what a compiler reads"
inline-list:
	@csv-show $(INLINE_TABLE)
# one program under a decisions file of yours: its exact costs and what was not obeyed
inline-one: $(inline)/$(NAME)/w/program.csv
	inline-build --decisions=$(DECISIONS) --out=$(inline)/$(NAME)/one $(<D) | csv-where -c inlined --is=no
	$(TOP)/pipelines/measure count $(<D) one=$(inline)/$(NAME)/one
.PHONY: inline inline-list inline-one

# ---- one module for each program; cross references between sources (inputs) want all of them first
ifeq ($(inline_own),)
$(inline)/sources: $(INLINE_TABLE) | $(PROGS)
	@mkdir -p $(inline)/src
	csv-cut -c name,package $< | tail -n +2 | while IFS=, read -r name package; do
	    $(TOP)/pipelines/fetch-source $$package $(inline)/src/$$name $(CURDIR)/data
	done
	touch $@
$(inline)/%/w/program.csv: $(inline)/sources
	@mkdir -p $(@D)
	echo "compiling $*"
	inline-module --table=$(INLINE_TABLE) --program=$* --out=$(@D) $(inline)/src/$*
else
$(inline)/%/w/program.csv: $(inline_own)/program | $(PROGS)
	@mkdir -p $(@D)
	inline-module --out=$(@D) $(inline_own)
endif

# ---- explore: instructions first, then text size; logs are append-only and a killed search goes on
$(inline)/%/started: $(inline)/%/w/program.csv $(inline)/%/sites.csv | $(PROGS)
	@echo "exploring $*: where to begin"
	$(TOP)/pipelines/explore $(<D) $(@D) 0 $(SEED) $(JOBS) $(INLINE_GOAL)
	touch $@
$(inline)/%/explored: $(inline)/%/started
	@echo "exploring $*: $(INLINE_EVALS) sets of decisions"
	$(TOP)/pipelines/explore $(@D)/w $(@D) $(INLINE_EVALS) $(SEED) $(JOBS) $(INLINE_GOAL)
	touch $@
$(inline)/%/size/explored: $(inline)/%/w/program.csv $(inline)/%/explored
	@echo "exploring $* for size: $(INLINE_SIZE) sets of decisions"
	mkdir -p $(@D)
	cp $(inline)/$*/sites.csv $(@D)/sites.csv
	GOAL=size $(TOP)/pipelines/explore $(<D) $(@D) $(INLINE_SIZE) $(SEED) $(JOBS)
	touch $@

# ---- rewards from what was explored (the filters of the study), and what they propose, measured like the rest; sets in
# byte order, since trials side by side end in any order, and without what rewards proposed before
$(inline)/%/rewards.csv: $(inline)/%/explored
	@csv-where -c chain --is=reward --not $(@D)/history.csv | csv-where -c state --is=ok | csv-sort -k decisions |
	    csv-calc --set=run=decisions --set="decisions=concat('$(@D)/store/', run, '.sexp')" \
	        --set='time_seconds=instructions/1e9' | csv-cut -c run,decisions,time_seconds > $(@D)/tried.csv
	inline-problem --runs=$(@D)/tried.csv --times=$(@D)/times.csv -o $(@D)/problem.csv
	inline-reward --times=$(@D)/times.csv --samples=50 -o $@ $(@D)/problem.csv
$(inline)/%/rewarded: $(inline)/%/rewards.csv
	@inline-best --program=$* --compiler=clang-14 -o $(@D)/rewarded.sexp $<
	printf 'file,parent,chain,step\n%s,default,reward,0\n' $(@D)/rewarded.sexp > $(@D)/rewarded.list
	inline-run --store=$(@D)/store --history=$(@D)/history.csv --complete --list=$(@D)/rewarded.list $(@D)/w
	touch $@
$(inline)/%/learned.sexp: $(inline)/%/rewarded
	@inline-search --best $(INLINE_GOAL) --store=$(@D)/store --work=$(@D)/w $(@D)/history.csv $(aside)
$(inline)/%/small.sexp: $(inline)/%/size/explored
	@inline-search --best --text-weight=1 --store=$(@D)/size/store --work=$(@D)/w $(@D)/size/history.csv $(aside)

# ---- the programs to compare; `obeyed` says of every decision what became of it.  O2, O3, Os, Oz are whole-program
# builds; `files` is what most users have, each source compiled by itself at -O2 and linked
$(inline)/%/built: $(inline)/%/learned.sexp $(inline)/%/small.sexp | $(PROGS)
	@for level in O2 O3 Os Oz; do inline-build --level=-$$level --out=$(@D)/$$level $(@D)/w > /dev/null; done
	inline-build --stock=O2 --out=$(@D)/files $(@D)/w > /dev/null
	best=$$(csv-where -c state --is=ok $(@D)/history.csv | csv-sort -k instructions:n,decisions |
	    csv-where -c decisions --like='threshold-*' | csv-sample --quiet --first=1 |
	    csv-calc --print="part(decisions, '-', -1)")
	inline-build --threshold=$$best --out=$(@D)/threshold $(@D)/w > /dev/null
	inline-build --decisions=$(@D)/learned.sexp --out=$(@D)/learned $(@D)/w > $(@D)/obeyed.csv
	inline-build --level=-Oz --decisions=$(@D)/small.sexp --out=$(@D)/small $(@D)/w > $(@D)/obeyed-small.csv
	touch $@
inline_builds = $(foreach l,$(inline_labels),$l=$(@D)/$l)
$(inline)/%/exact.csv: $(inline)/%/built
	@echo "counting $*"
	$(TOP)/pipelines/measure count $(@D)/w $(inline_builds) $(aside)
$(inline)/%/runs.csv: $(inline)/%/built
	@echo "timing $*"
	ROUNDS=$(INLINE_ROUNDS) SEED=$(SEED) $(TOP)/pipelines/measure time $(@D)/w $(inline_builds) $(aside)

# ---- tables over all programs: ratios to whole-program -O2, the same to the stock build, and of the small one to -Oz
$(eval $(call asked,$(inline)/asked,INLINE_NAMES INLINE_EVALS INLINE_SIZE INLINE_ROUNDS INLINE_GOAL))
$(inline)/exact.csv: $(INLINE_NAMES:%=$(inline)/%/exact.csv) $(inline)/asked
	@inline-compare --base=O2 $(filter %.csv,$^) $(aside)
$(inline)/exact-files.csv: $(INLINE_NAMES:%=$(inline)/%/exact.csv) $(inline)/asked
	@inline-compare --base=files $(filter %.csv,$^) $(aside)
$(inline)/size.csv: $(INLINE_NAMES:%=$(inline)/%/exact.csv) $(inline)/asked
	@csv-cat $(filter %.csv,$^) | csv-where -c label --is=Oz --is=small |
	    inline-compare --base=Oz | csv-where -c label --is=small $(aside)
$(inline)/runs.csv: $(INLINE_NAMES:%=$(inline)/%/runs.csv) $(inline)/asked
	@csv-cat $(filter %.csv,$^) $(aside)
$(inline)/time.csv: $(inline)/runs.csv
	@bench-compare --quiet --base=O2 --metric=cpu $< > $(new) || [ $$? -le 2 ]
	$(call keep,$@)
$(inline)/time-files.csv: $(inline)/runs.csv
	@bench-compare --quiet --base=files --metric=cpu $< > $(new) || [ $$? -le 2 ]
	$(call keep,$@)
$(inline)/size-time.csv: $(inline)/runs.csv
	@csv-where -c label --is=Oz --is=small $< | bench-compare --quiet --base=Oz --metric=cpu > $(new) || [ $$? -le 2 ]
	$(call keep,$@)
$(inline)/guard.csv: $(inline)/runs.csv
	@csv-where -c label --is=small --not $< | bench-guard --base=O2 --metric=cpu $(aside)
$(inline)/obeyed.csv: $(INLINE_NAMES:%=$(inline)/%/built) $(inline)/asked
	@csv-cat --source=decisions $(foreach n,$(INLINE_NAMES),$(inline)/$n/obeyed.csv $(inline)/$n/obeyed-small.csv) $(aside)

# ---- policies: what the learned decisions have in common, tried on programs that they never saw.  `heat` decides about
# the calls that an exact profile of the search runs says are executed often, and leaves the others to the compiler's
# heuristic; `static` knows no profile; `rule` has nothing to learn: LLVM's cost below a threshold where it is hot;
# `start` is that beginning of searches (a heuristic for executed calls, another for the rest) that did best elsewhere;
# `trials` takes, unlike the others, measurements of the program: the INLINE_POLICY_TRIALS beginnings that did best
# elsewhere
# are counted exactly on its search runs, and the best of them by the goal, or the default, goes out.
inline_policy         = $(inline)/policy
INLINE_POLICY_HOT    ?= -13
INLINE_POLICY_RULE   ?= 1000
inline_policy_ignore  = program,callee,caller,chain,file,line,column,heat,legal,reason,threshold,inlined
INLINE_POLICY_KINDS  ?= heat static rule start trials
INLINE_POLICY_TRIALS ?= 8
INLINE_POLICY_TEXT   ?= 1.2
ifeq ($(inline_own),)
inline-policy: $(inline_policy)/exact.csv $(inline_policy)/time.csv $(inline_policy)/time-files.csv \
    $(inline_policy)/guard.csv
endif
ifeq ($(filter inline-policy,$(MAKECMDGOALS))$(strip $(INLINE_POLICY_NAMES)$(inline_own)),inline-policy)
$(error make inline-policy: learns on some programs for others, so it needs two: INLINE_POLICY_NAMES='bzip2 zlib')
endif
.PHONY: inline-policy
$(inline_policy)/%.labelled.csv: $(inline)/%/learned.sexp $(inline)/%/sites.csv
	@mkdir -p $(@D)
	inline-verdict --decisions=$< $(<D)/sites.csv | csv-where -c legal --is=yes | csv-where -c verdict --known |
	    csv-where -c cost --known $(aside)
# trained on the training programs but the one it is for
inline_policy_train = csv-cat $(foreach n,$(inline_train),$(if $(filter $n,$*),,$(inline_policy)/$n.labelled.csv))
$(inline_policy)/%.heat.model: $(inline_train:%=$(inline_policy)/%.labelled.csv)
	@$(inline_policy_train) | csv-where -c log_heat_ratio --min=$(INLINE_POLICY_HOT) | $(INLINE_FIT) -y verdict \
	    --ignore=$(inline_policy_ignore) -o $@
$(inline_policy)/%.static.model: $(inline_train:%=$(inline_policy)/%.labelled.csv)
	@$(inline_policy_train) | $(INLINE_FIT) -y verdict --ignore=$(inline_policy_ignore),log_heat_ratio -o $@
$(inline_policy)/%.default.sexp: $(inline)/%/w/program.csv
	@mkdir -p $(@D)
	inline-build --complete=$@ --out=$(inline_policy)/$*.O2 $(<D) > /dev/null
	inline-build --stock=O2 --out=$(inline_policy)/$*.files $(<D) > /dev/null
$(inline)/%/sites.csv: $(inline)/%/w/program.csv
	@inline-sites -o $@ $(<D)
$(inline_policy)/%.sites.csv: $(inline)/%/sites.csv
	@mkdir -p $(@D)
	csv-where -c cost --known $< $(aside)
# a call that becomes visible when its caller is inlined is asked about too, two levels deep
define inline_policy_rounds
	@$1 > $@.csv
	inline-decide $2 $@.csv > $@.0
	for round in 0 1; do
	    inline-build --decisions=$@.$$round --complete=$@.calls --out=$@.exe $(inline)/$*/w > /dev/null
	    inline-decide $2 --calls=$@.calls $@.csv > $@.$$((round + 1))
	done
	rm -f $@.[01] $@.csv $@.calls $@.exe
	$(TOP)/pipelines/keep $@.2 $@
endef
$(inline_policy)/%.heat.sexp: $(inline_policy)/%.sites.csv $(inline_policy)/%.heat.model
	$(call inline_policy_rounds,fit-predict -m $(inline_policy)/$*.heat.model $<,--hot=$(INLINE_POLICY_HOT) \
	    --otherwise=inlined)
$(inline_policy)/%.static.sexp: $(inline_policy)/%.sites.csv $(inline_policy)/%.static.model
	$(call inline_policy_rounds,fit-predict -m $(inline_policy)/$*.static.model $<)
$(inline_policy)/%.rule.sexp: $(inline_policy)/%.sites.csv
	$(call inline_policy_rounds,cat $<,-c cost --under=$(INLINE_POLICY_RULE) --hot=$(INLINE_POLICY_HOT) \
	    --otherwise=inlined)
$(inline_policy)/starts.csv: $(foreach n,$(sort $(inline_train) $(INLINE_POLICY_NAMES)),$(inline)/$n/started)
	@mkdir -p $(@D)
	inline-trace $(^:started=history.csv) | csv-where -c algorithm --is=start | csv-where -c state --is=ok $(aside)
# of the beginnings that this program has too: two that are the same set here are one row
$(inline_policy)/%.ranked.csv: $(inline_policy)/starts.csv
	@csv-where -c program --is=$* $< | csv-cut -c parent,step,decisions > $@.own
	csv-where -c program $(patsubst %,--is=%,$(filter-out $*,$(inline_train))) $< |
	    csv-group -g parent,step -c instructions_ratio,text_ratio --stat=n,gmean |
	    csv-where -c gmean_text_ratio --max=$(INLINE_POLICY_TEXT) |
	    csv-join -k parent,step - $@.own |
	    csv-sort -k n_instructions_ratio:nr,gmean_instructions_ratio:n > $@.part
	rm $@.own
	$(TOP)/pipelines/keep $@.part $@
$(inline_policy)/%.start.sexp: $(inline_policy)/%.ranked.csv $(inline_policy)/%.default.sexp
	@set=$$(csv-cut -c decisions $< | sed -n 2p)
	if [ -n "$$set" ]; then cp $(inline)/$*/store/$$set.sexp $(new); else cp $(inline_policy)/$*.default.sexp $(new); fi
	$(call keep,$@)
$(inline_policy)/%.trials.sexp: $(inline_policy)/%.ranked.csv
	@csv-where -c decisions --is=default \
	    $$(csv-cut -c decisions $< | sed -n "2,$$((1 + $(INLINE_POLICY_TRIALS)))s/^/--is=/p") \
	    $(inline)/$*/history.csv > $@.csv
	inline-search --best $(INLINE_GOAL) --store=$(inline)/$*/store --work=$(inline)/$*/w $@.csv > $@.part
	rm $@.csv
	$(TOP)/pipelines/keep $@.part $@
$(inline_policy)/%.built: $(inline_policy)/%.default.sexp $(foreach k,$(INLINE_POLICY_KINDS),$(inline_policy)/%.$k.sexp)
	@for kind in $(INLINE_POLICY_KINDS); do
	    inline-build --decisions=$(inline_policy)/$*.$$kind.sexp --out=$(inline_policy)/$*.$$kind $(inline)/$*/w \
	        > $(inline_policy)/$*.$$kind.obeyed.csv
	done
	touch $@
inline_policy_builds = $(foreach k,O2 files $(INLINE_POLICY_KINDS),$k=$(inline_policy)/$*.$k)
$(inline_policy)/%.exact.csv: $(inline_policy)/%.built
	@$(TOP)/pipelines/measure count $(inline)/$*/w $(inline_policy_builds) $(aside)
$(inline_policy)/%.runs.csv: $(inline_policy)/%.built
	@echo "timing the policies on $*"
	ROUNDS=$(INLINE_ROUNDS) SEED=$(SEED) $(TOP)/pipelines/measure time $(inline)/$*/w $(inline_policy_builds) $(aside)
$(inline_policy)/exact.csv: $(INLINE_POLICY_NAMES:%=$(inline_policy)/%.exact.csv)
	@inline-compare --base=O2 $^ $(aside)
$(inline_policy)/runs.csv: $(INLINE_POLICY_NAMES:%=$(inline_policy)/%.runs.csv)
	@csv-cat $^ $(aside)
# before the guard, the worst first
$(inline_policy)/time.csv: $(inline_policy)/runs.csv
	@bench-compare --quiet --base=O2 --metric=cpu $< > $@.all || [ $$? -le 2 ]
	csv-sort -k ratio:nr $@.all > $(new)
	rm $@.all
	$(call keep,$@)
$(inline_policy)/time-files.csv: $(inline_policy)/runs.csv
	@bench-compare --quiet --base=files --metric=cpu $< > $@.all || [ $$? -le 2 ]
	csv-sort -k ratio:nr $@.all > $(new)
	rm $@.all
	$(call keep,$@)
$(inline_policy)/guard.csv: $(inline_policy)/runs.csv
	@csv-where -c label --is=files --not $< | bench-guard --quiet --base=O2 --metric=cpu $(aside)
.PRECIOUS: $(inline_policy)/%.labelled.csv $(inline_policy)/%.heat.model $(inline_policy)/%.static.model \
    $(inline_policy)/%.heat.sexp $(inline_policy)/%.static.sexp $(inline_policy)/%.rule.sexp \
    $(inline_policy)/%.default.sexp $(inline_policy)/%.runs.csv

# ---- figures, each with the table it was drawn from
$(inline)/figure-trace.csv: $(INLINE_NAMES:%=$(inline)/%/rewarded) $(inline)/asked
	@inline-trace --steps=$$((1 + $(INLINE_EVALS) / 10)) --t-max=0.002 --t-min=0.0001 \
	    $(INLINE_NAMES:%=$(inline)/%/history.csv) $(aside)
$(inline)/figure-frontier.csv: $(inline)/figure-trace.csv
	@csv-where -c text_ratio --known $< $(aside)
$(inline)/figure-compare.csv: $(inline)/time.csv
	@csv-where -c verdict --known $< $(aside)
$(inline)/figure-policy.csv: $(inline_policy)/time.csv
	@csv-where -c verdict --known $< $(aside)
$(inline)/figure-rewards.csv: $(INLINE_NAMES:%=$(inline)/%/rewards.csv) $(inline)/asked
	@csv-cat --source=file $(filter %.csv,$^) | csv-where -c immediate --known | csv-sort -k immediate:nr |
	    csv-calc --set="program=part(file, '/', -2)" | csv-calc -g program --set='rank=run_count()' |
	    csv-sort -k rank:nr | csv-calc -g program --set='left=run_count()' --where='rank <= 30 || left <= 30' |
	    csv-sort -k rank:n | csv-calc -g program --set='place=run_count()' |
	    csv-cut -c program,place,rank,immediate,immediate_lower,immediate_upper \
	        --rename=immediate_lower=lower --rename=immediate_upper=upper $(aside)
# some tables do not say how the counts were obtained that they come from
inline_draw = gnuplot -e "kind='$$($(TOP)/pipelines/kinds $(INLINE_NAMES:%=$(inline)/%/history.csv))'" -c $(TOP)/plots
$(inline)/figure-%.svg $(inline)/figure-%.png &: $(inline)/figure-%.csv $(TOP)/plots/inline-%.gp \
    $(TOP)/plots/inline-rows.gp
	@$(inline_draw)/inline-$*.gp $< $(call beside,$(inline)/figure-$*.svg) '$(INLINE_NAMES)'
	$(call keep,$(inline)/figure-$*.svg)
	$(inline_draw)/inline-$*.gp $< $(call beside,$(inline)/figure-$*.png) '$(INLINE_NAMES)'
	$(call keep,$(inline)/figure-$*.png)

# ==== inlining on top of LTO and a profile, beside what an expert would build instead, and home again
#   make inline-home                          the programs of data/programs.csv that search (INLINE_NAMES= some of them)
#   make inline-home PROGRAM=DIR              yours: DIR/program holds the lines build, search, confirm
#   make inline-home PROGRAM=DIR FROM=BUILD BINARY=jq   yours, built by CC=inline-cc below BUILD; no line build
#   make inline-experts                       programs of both tables, built as their own build systems do:
# INLINE_EXPERTS=
#   make inline-table, inline-cost            of the same programs: a row a build; what tells their time
#   make inline-results                       their times as the 2018 study kept its own: results/PROGRAM.K/live/ROW.csv
#   make inline-same                          every run of every build in a folder of its own: does it leave the same?
#   make inline-corpus                        what can be built with CC=inline-cc at all: Debian sources, a row each
#   INLINE_BASE=lto-pgo   what the tables compare with     INLINE_PROFILE=irn|fe|none   what the search stands on
#   INLINE_HOME_ROWS=     the stock builds     INLINE_HOME_EVALS=  builds for the search     INLINE_COMPILER=clang
# Leaves OUT/inline-home/NAME/home: compile.replay, link.replay, flags.mk and the profile, for your own build.
inline_home        = $(OUT)/inline-home
INLINE_BASE       ?= lto-pgo
INLINE_PROFILE    ?= irn
INLINE_COMPILER   ?= clang
# counting events takes a minute and more for each build: a trial of inline-cost has few builds, of one run each
inline_cost_trial := $(if $(filter ci,$(SCALE)),$(filter inline-cost,$(MAKECMDGOALS)))
INLINE_HOME_ROWS  ?= $(if $(inline_cost_trial),O2 O3 lto-pgo,$(inline_home_stock))
inline_home_stock  = O2 O3 Os Oz thinlto lto pgo lto-pgo lto-pgo-size gcc-O2 gcc-O3 gcc-lto gcc-pgo gcc-lto-pgo bolt
INLINE_HOME_EVALS ?= $(if $(inline_cost_trial),6,$(if $(filter ci,$(SCALE)),18,$(if $(filter full,$(SCALE)),300,60)))
# one per cent of text weighs as much as a twentieth per cent of instructions; small: least text that executes no more
# instructions than what an expert would build
INLINE_HOME_GOAL  ?= --text-weight=0.05 --max-text=1.3
INLINE_HOME_SMALL ?= --text-weight=0.8 --within=$(INLINE_HOME_WITHIN)
# gcc decides nothing within -flto, and its rows are no rows of a search of clang's
INLINE_HOME_WITHIN ?= $(if $(filter gcc-%,$(INLINE_BASE)),lto-pgo,$(INLINE_BASE))
# heuristics' sets that the search begins with; for a program that takes a minute to build, fewer
INLINE_HOME_STARTS  ?= $(if $(inline_cost_trial),--threshold=100,--none --threshold=0 --threshold=25 --threshold=100 \
    --threshold=600)
# what is searched for: speed; least text at equal speed; text alone, whatever it costs in instructions
INLINE_HOME_GOALS   ?= learned $(if $(inline_cost_trial),,small tiny)
INLINE_HOME_SIZE    ?= 8
# of so many sets that the search for speed thinks best, CPU time over copies chooses; 0: the best itself.  Of 16 copies
# eight decide, the least by which one of seven rivals can surely be faster
INLINE_HOME_FINALISTS ?= 0
INLINE_FINAL_COPIES ?= 16
INLINE_FINAL_ROUNDS ?= $(if $(filter ci,$(SCALE)),1,3)
# each of copies of its own (measure); half of them decide, half say what the decision is worth
INLINE_HOME_ROUNDS  ?= $(if $(filter ci,$(SCALE)),6,40)
# no round of a program begins after so many seconds; 0: as long as its rounds take
INLINE_HOME_SECONDS ?= 0
# cachegrind is slow: events are counted in so many of a program's runs, those with fewest instructions first
INLINE_COST_RUNS    ?= $(if $(filter ci,$(SCALE)),1,2)
# a file may be slower than its copy, so a build's time is the mean over copies, each the median of some rounds
INLINE_COST_COPIES  ?= $(if $(filter ci,$(SCALE)),2,8)
INLINE_COST_ROUNDS  ?= $(if $(filter ci,$(SCALE)),2,5)
INLINE_EXPERTS      ?= $(if $(filter ci,$(SCALE)),gzip,gzip bzip2 zlib lua lz4 zopfli cmark mawk jq)
inline_corpus        = $(OUT)/corpus
INLINE_CORPUS_TABLE ?= $(TOP)/data/corpus.csv
inline_home_corpus   = $(filter-out $(inline_all),$(INLINE_NAMES))
inline_home_own      = $(if $(FROM),--from-build=$(abspath $(FROM)) \
    --program=$(or $(BINARY),$(notdir $(abspath $(PROGRAM)))))
inline_home_labels = $(INLINE_HOME_ROWS) $(if $(filter none,$(INLINE_PROFILE)),,lto-$(INLINE_PROFILE)) learned \
    small lean tiny

inline-home: $(inline_home)/exact.csv $(inline_home)/time.csv $(inline_home)/guard.csv \
    $(INLINE_NAMES:%=$(inline_home)/%/home.csv)
	@echo "On inputs that were not searched on, over $(INLINE_BASE) (below 1 is better);" \
	    "cpu: paired rounds, 95 % intervals:"
	csv-show $(inline_home)/time.csv
	echo "Exact: instructions, modelled cycles, text:"
	csv-show $(inline_home)/exact.csv
	echo "One program goes out, for all inputs: the better one, or $(INLINE_BASE)"
	csv-cut -c program,label,decision,reason,ratio,lower_ratio,upper_ratio,worst,worst_ratio,text_ratio \
	    $(inline_home)/guard.csv | csv-show
	csv-cat $(INLINE_NAMES:%=$(inline_home)/%/home.csv) | csv-show
# one row a build: CPU time over each base with its interval, instructions and text over it, losses first; then the
# geometric means over the programs that have the row, and the interval of time over all their runs
inline-table: $(inline_home)/table.csv $(inline_home)/means.csv
	@csv-show --digits=3 $<
	csv-show --digits=3 $(inline_home)/means.csv
inline-same: $(inline_home)/same.csv
	@csv-show $<
inline-results: $(INLINE_NAMES:%=$(inline_home)/%/runs.csv)
	@for runs in $^; do $(TOP)/pipelines/results $$runs $(inline_home)/results live; done
# what counted events say about the CPU time of all these builds, each program by the weights of the others
ifeq ($(filter inline-cost,$(MAKECMDGOALS))$(word 2,$(INLINE_NAMES)),inline-cost)
$(error make inline-cost: weights learned on some programs are tried on another, so it needs two: \
    INLINE_NAMES='bzip2 zlib')
endif
inline-cost: $(inline_home)/cost.csv $(inline_home)/copies-levels.csv
	@csv-show --digits=3 $<
	csv-show --digits=3 $(inline_home)/weights.csv
	echo "What times differ by between builds, between copies of a build, and between runs of a copy:"
	csv-show --digits=3 $(inline_home)/copies-levels.csv
inline-experts:
	@$(MAKE) --no-print-directory INLINE_NAMES='$(INLINE_EXPERTS)' inline-home
# one at a time: a build that takes the whole machine would make the seconds of the others mean nothing
INLINE_CORPUS_NAMES ?= $(if $(filter ci,$(SCALE)),ncompress dos2unix,$(shell sed -n \
    '1d; s/,.*//; /^[A-Za-z0-9][A-Za-z0-9._+-]*$$/p' $(INLINE_CORPUS_TABLE)))
inline-corpus: $(inline_corpus)/table.csv
	@csv-show $<
$(inline_corpus)/table.csv: $(INLINE_CORPUS_NAMES:%=$(inline_corpus)/%.csv)
	@csv-cat $^ $(aside)
$(inline_corpus)/%.csv: | $(PROGS)
	@echo "building $*"
	mkdir -p $(@D)
	$(TOP)/pipelines/corpus $(INLINE_CORPUS_TABLE) $* $(@D) $(CURDIR)/data $(aside)
.PHONY: inline-home inline-table inline-cost inline-same inline-results inline-experts \
    inline-corpus

ifeq ($(inline_own),)
$(inline_home)/%/w/program.csv: $(inline)/sources
	@mkdir -p $(@D)
	inline-module --table=$(INLINE_TABLE) --program=$* --compiler=$(INLINE_COMPILER) --lto --profile=$(INLINE_PROFILE) \
	    --out=$(@D) $(inline)/src/$*
# programs that the first table does not have, as the corpus built them; their runs begin beside the table's sources,
# whose files they read as ../NAME: in a copy, since .. of a link is where it points to
$(inline_home_corpus:%=$(inline_home)/%/w/program.csv): $(inline_home)/%/w/program.csv: $(inline_corpus)/%.csv \
    $(inline)/sources
	@mkdir -p $(@D)
	[ -e $(inline)/src/$* ] || { rm -rf $(inline)/src/.$*.new && \
	    cp -a $(inline_corpus)/$* $(inline)/src/.$*.new && mv $(inline)/src/.$*.new $(inline)/src/$*; }
	inline-module --from-build=$(inline_corpus)/$* --table=$(INLINE_CORPUS_TABLE) --program=$* \
	    --compiler=$(INLINE_COMPILER) --lto --profile=$(INLINE_PROFILE) --out=$(@D) $(inline)/src/$*
else
$(inline_home)/%/w/program.csv: $(inline_own)/program | $(PROGS)
	@mkdir -p $(@D)
	inline-module $(inline_home_own) --compiler=$(INLINE_COMPILER) --lto \
	    --profile=$(INLINE_PROFILE) --out=$(@D) $(inline_own)
endif
$(inline_home)/%/explored: $(inline_home)/%/w/program.csv
	@GOAL=home BASE=$(INLINE_HOME_WITHIN) STARTS='$(INLINE_HOME_STARTS)' \
	    $(TOP)/pipelines/explore $(<D) $(@D) $(INLINE_HOME_EVALS) $(SEED) $(JOBS) $(INLINE_HOME_GOAL)
	touch $@
ifeq ($(INLINE_HOME_FINALISTS),0)
$(inline_home)/%/learned.sexp: $(inline_home)/%/explored
	@inline-search --best $(INLINE_HOME_GOAL) --store=$(@D)/store --work=$(@D)/w $(@D)/history.csv $(aside)
else
# the search's best, or of its rivals that surely take less CPU time that which takes least
$(inline_home)/%/learned.sexp: $(inline_home)/%/finalists/guard.csv
	@winner=$$(csv-where -c reason --is=gain $< | csv-sort -k ratio:n | csv-sample --quiet --first=1 |
	    csv-calc --print=label)
	cp $(@D)/store/$${winner:-$$(csv-calc --print=base $< | sort -u)}.sexp $(new)
	$(call keep,$@)
$(eval $(call asked,$(inline_home)/finalists-asked,INLINE_HOME_FINALISTS INLINE_FINAL_COPIES INLINE_FINAL_ROUNDS))
$(inline_home)/%/finalists/list.csv: $(inline_home)/%/explored $(inline_home)/finalists-asked
	@mkdir -p $(@D)
	inline-search --finalists=$(INLINE_HOME_FINALISTS) $(INLINE_HOME_GOAL) --store=$(inline_home)/$*/store \
	    --work=$(inline_home)/$*/w $(inline_home)/$*/history.csv $(aside)
# on the inputs that were searched on: the others are for the verdict
$(inline_home)/%/finalists/runs.csv: $(inline_home)/%/finalists/list.csv
	@builds=()
	while IFS=$$'\t' read -r set file; do
	    inline-build --decisions="$$file" --out=$(@D)/$$set $(inline_home)/$*/w > /dev/null
	    builds+=("$$set=$(@D)/$$set")
	done < <(csv-calc --print=decisions --print=file $<)
	SET=search ROUNDS=$(INLINE_FINAL_COPIES) EACH=$(INLINE_FINAL_ROUNDS) SEED=$(SEED) $(TOP)/pipelines/measure time \
	    $(inline_home)/$*/w "$${builds[@]}" $(aside)
# the chance of an error is shared among the rivals
$(inline_home)/%/finalists/guard.csv: $(inline_home)/%/finalists/runs.csv
	@$(call inline_copy_times,$<) > $@.times
	inline-guard --metric=cpu --base=$$(csv-calc --print=decisions $(@D)/list.csv | head -1) \
	    --confidence=$$(csv-group -c cost --stat=n $(@D)/list.csv |
	        csv-calc --print='min(0.9999, 1 - 0.05 / max(1, n_cost - 1))') $@.times > $(new)
	rm $@.times
	$(call keep,$@)
endif
$(inline_home)/%/small.sexp: $(inline_home)/%/explored
	@inline-search --best $(INLINE_HOME_SMALL) --store=$(@D)/store --work=$(@D)/w $(@D)/history.csv $(aside)
# a program that does not link at -Oz has no least text there: nothing to build, and no row; any other failure stops
$(inline_home)/%/tiny.sexp: $(inline_home)/%/explored
	@mkdir -p $(@D)/size
	inline-build --optional --stock=Oz --out=$(@D)/size/Oz $(@D)/w > /dev/null
	[ -e $(@D)/size/Oz ] || { : $(aside); exit 0; }
	cp $(@D)/sites.csv $(@D)/size
	GOAL=size $(TOP)/pipelines/explore $(@D)/w $(@D)/size $(INLINE_HOME_SIZE) $(SEED) $(JOBS)
	inline-search --best --text-weight=1 --store=$(@D)/size/store --work=$(@D)/w $(@D)/size/history.csv $(aside)

# what an expert would build; a row that a program cannot have (it does not link, no bolt here) is said and left out
$(inline_home)/%/stocked: $(inline_home)/%/w/program.csv
	@for row in $(INLINE_HOME_ROWS); do
	    [ $(@D)/$$row -nt $< ] || inline-build --optional --stock=$$row --out=$(@D)/$$row $(@D)/w > /dev/null
	done
	touch $@
# winners are built from their decision lists, as everybody else will; lto-irn is what they stand on; lean is small with
# code that the profile calls cold made for size, as gcc does by itself, an expert's lto-pgo-size likewise
$(inline_home)/%/built: $(inline_home)/%/stocked $(foreach g,$(INLINE_HOME_GOALS),$(inline_home)/%/$g.sexp)
	@inline-build --out=$(@D)/lto-$(INLINE_PROFILE) $(@D)/w > /dev/null
	for set in $(INLINE_HOME_GOALS); do
	    [ -s $(@D)/$$set.sexp ] || continue
	    level=-O2
	    [ $$set != tiny ] || level=-Oz
	    inline-build --level=$$level --decisions=$(@D)/$$set.sexp --out=$(@D)/$$set $(@D)/w > $(@D)/$$set.obeyed.csv
	done
	[ ! -e $(@D)/small.sexp ] ||
	    inline-build --cold-small --decisions=$(@D)/small.sexp --out=$(@D)/lean $(@D)/w > /dev/null
	touch $@
inline_home_builds = $$(for l in $(inline_home_labels); do [ ! -x $(@D)/$$l ] || echo $$l=$(@D)/$$l; done)
$(inline_home)/%/exact.csv: $(inline_home)/%/built
	@METRICS="instructions size" $(TOP)/pipelines/measure count $(@D)/w $(inline_home_builds) $(aside)
$(inline_home)/%/runs.csv: $(inline_home)/%/built
	@ROUNDS=$(INLINE_HOME_ROUNDS) MOST_SECONDS=$(INLINE_HOME_SECONDS) SEED=$(SEED) $(TOP)/pipelines/measure time $(@D)/w \
	    $(inline_home_builds) $(aside)
$(inline_home)/%/home.csv: $(inline_home)/%/learned.sexp
	@inline-emit --to=replay --decisions=$< --out=$(@D)/home $(@D)/w $(aside)
$(inline_home)/exact.csv: $(INLINE_NAMES:%=$(inline_home)/%/exact.csv)
	@inline-compare --base=$(INLINE_BASE) $^ $(aside)
# `small` and `lean` may go out where they are smaller and surely not one per cent slower
$(inline_home)/%/guard.csv: $(inline_home)/%/runs.csv $(inline_home)/%/exact.csv
	@guard() {
	    csv-where -c label --is=$(INLINE_BASE) --is="$$1" $< | inline-guard --metric=cpu --base=$(INLINE_BASE) "$${@:2}"
	}
	{ guard learned
	  for label in small lean; do
	      [ ! -x $(@D)/$$label ] || guard $$label --most-loss=0.01 --sizes=$(@D)/exact.csv | tail -n +2
	  done; } $(aside)
$(inline_home)/guard.csv: $(INLINE_NAMES:%=$(inline_home)/%/guard.csv)
	@csv-cat $^ $(aside)
# a program's time in a round is the mean of its inputs', so that its interval is one over rounds, which are copies; a
# run that went wrong stays a row of its own, and is refused
$(inline_home)/%/rounds.csv: $(inline_home)/%/runs.csv
	@csv-where -c phase --is=measure $< | csv-group -g label,round,status,kind -c cpu_seconds,wall_seconds --stat=gmean |
	    csv-cut -c label,round,status,kind,gmean_cpu_seconds,gmean_wall_seconds \
	        --rename=gmean_cpu_seconds=cpu_seconds --rename=gmean_wall_seconds=wall_seconds |
	    csv-calc --set="benchmark='$*'" $(aside)
# what goes out is a row of the table too: of those that the guard keeps the one with least text, or else the base; its
# time is told by the rounds that did not decide
$(inline_home)/%/shipped.csv $(inline_home)/%/costs.csv &: $(inline_home)/%/guard.csv $(inline_home)/%/rounds.csv
	@label=$$(inline-compare --base=$(INLINE_BASE) $(@D)/exact.csv |
	    csv-where -c program --is=$* | csv-where -c metric --is=text_bytes | csv-cut -c label,ratio |
	    csv-join -k label - <(csv-where -c reason --is=gain $< | csv-cut -c label) |
	    csv-sort -k ratio:n | csv-calc --print=label | sed -n 1p)
	shipped() { csv-where -c label --is=$${label:-$(INLINE_BASE)} "$$1" | csv-calc --set="label='shipped'"; }
	shipped $(@D)/rounds.csv | csv-cat - $(@D)/rounds.csv |
	    csv-calc --where='round % 2 == 1' > $(call beside,$(@D)/shipped.csv)
	shipped $(@D)/exact.csv | csv-cat $(@D)/exact.csv - > $(call beside,$(@D)/costs.csv)
	$(call keep,$(@D)/shipped.csv)
	$(call keep,$(@D)/costs.csv)
# the losses first
$(inline_home)/time.csv: $(INLINE_NAMES:%=$(inline_home)/%/runs.csv)
	@csv-cat $^ > $@.runs
	bench-compare --quiet --base=$(INLINE_BASE) --metric=cpu $@.runs > $@.all || [ $$? -le 2 ]
	csv-sort -k ratio:nr $@.all > $(new)
	rm $@.runs $@.all
	$(call keep,$@)

# the first of them is also what times are told over
INLINE_TABLE_BASES ?= O2 $(INLINE_BASE)
# times over base $$base of the programs $(1): the builds', then those of what goes out
define inline_table_times
{ bench-compare --quiet --csv --incomplete=skip --base=$$base --metric=cpu \
        $(1:%=$(inline_home)/%/rounds.csv) || [ $$? -le 2 ]; } > $@.all
    { bench-compare --quiet --csv --incomplete=skip --base=$$base --metric=cpu \
        $(1:%=$(inline_home)/%/shipped.csv) || [ $$? -le 2 ]; } | csv-where -c label --is=shipped | csv-cat $@.all -
endef
$(inline_home)/%/row.csv: $(inline_home)/%/costs.csv $(inline_home)/%/shipped.csv
	@for base in $(INLINE_TABLE_BASES); do
	    $(call inline_table_times,$*) |
	        csv-cut -c label,ratio,lower_ratio,upper_ratio,rounds --rename=ratio=cpu --rename=lower_ratio=cpu_lower \
	            --rename=upper_ratio=cpu_upper > $@.cpu
	    inline-compare --base=$$base $< | csv-where -c program --is=$* |
	        csv-pivot -k program,label --names=metric --values=ratio | csv-join -k label --keep=left - $@.cpu |
	        csv-calc --set="base='$$base'" | csv-sort -k cpu:nr > $@.$$base
	done
	csv-cat $(INLINE_TABLE_BASES:%=$@.%) > $(new)
	rm $@.all $@.cpu $(INLINE_TABLE_BASES:%=$@.%)
	$(call keep,$@)
$(eval $(call asked,$(inline_home)/asked,INLINE_NAMES INLINE_TABLE_BASES))
$(inline_home)/table.csv: $(INLINE_NAMES:%=$(inline_home)/%/row.csv) $(inline_home)/asked
	@csv-cat $(filter %.csv,$^) $(aside)
$(inline_home)/means.csv: $(inline_home)/table.csv
	@csv-group -g base,label -c cpu,instructions,text_bytes,code_bytes --stat=gmean --missing=skip $< |
	    csv-cut -c base,label,n_rows,gmean_cpu,gmean_instructions,gmean_text_bytes,gmean_code_bytes \
	        --rename=n_rows=programs --rename=gmean_cpu=cpu --rename=gmean_instructions=instructions \
	        --rename=gmean_text_bytes=text --rename=gmean_code_bytes=code > $@.exact
	for base in $(INLINE_TABLE_BASES); do
	    $(call inline_table_times,$(INLINE_NAMES)) | csv-where -c benchmark --is='(geometric mean)' |
	        csv-cut -c base,label,lower_ratio,upper_ratio --rename=lower_ratio=cpu_lower \
	            --rename=upper_ratio=cpu_upper > $@.$$base
	done
	csv-cat $(INLINE_TABLE_BASES:%=$@.%) | csv-join -k base,label --keep=left $@.exact - |
	    csv-sort -k base,cpu:nr > $(new)
	rm $@.exact $@.all $(INLINE_TABLE_BASES:%=$@.%)
	$(call keep,$@)
$(eval $(call asked,$(inline_home)/cost-asked,INLINE_COST_RUNS INLINE_COST_COPIES INLINE_COST_ROUNDS))
# a copy is a round: the median of its runs; a run that went wrong stays a row of its own, and is refused
define inline_copy_times
csv-where -c phase --is=measure $(1) |
	    csv-group -g benchmark,base,label,copy,status,kind -c cpu_seconds,wall_seconds --stat=median |
	    csv-cut -c benchmark,base,label,copy,status,kind,median_cpu_seconds,median_wall_seconds --rename=copy=round \
	        --rename=median_cpu_seconds=cpu_seconds --rename=median_wall_seconds=wall_seconds
endef
$(inline_home)/%/few: $(inline_home)/%/exact.csv $(inline_home)/cost-asked
	@csv-where -c label --is=$(firstword $(INLINE_TABLE_BASES)) $< | csv-where -c metric --is=instructions |
	    csv-sort -k value:n | csv-sample --quiet --first=$(INLINE_COST_RUNS) | csv-calc --print=run $(aside)
$(inline_home)/%/events.csv: $(inline_home)/%/few
	@RUNS=$$(paste -sd' ' $<) METRICS="instructions events" $(TOP)/pipelines/measure count $(@D)/w \
	    $(inline_home_builds) $(aside)
$(inline_home)/%/copies.csv: $(inline_home)/%/few
	@RUNS=$$(paste -sd' ' $<) ROUNDS=$(INLINE_COST_COPIES) EACH=$(INLINE_COST_ROUNDS) SEED=$(SEED) \
	    $(TOP)/pipelines/measure time $(@D)/w $(inline_home_builds) $(aside)
$(inline_home)/%/copies-times.csv: $(inline_home)/%/copies.csv
	@$(call inline_copy_times,$<) $(aside)
$(inline_home)/cost.csv $(inline_home)/weights.csv &: $(INLINE_NAMES:%=$(inline_home)/%/events.csv) \
    $(INLINE_NAMES:%=$(inline_home)/%/copies-times.csv) $(inline_home)/asked
	@csv-cat $(filter %/copies-times.csv,$^) > $(inline_home)/cost.times
	inline-cost --base=$(firstword $(INLINE_TABLE_BASES)) --runs=$(inline_home)/cost.times \
	    --weights=$(call beside,$(inline_home)/weights.csv) -o $(call beside,$(inline_home)/cost.csv) \
	    $(filter %/events.csv,$^)
	rm $(inline_home)/cost.times
	$(call keep,$(inline_home)/weights.csv)
	$(call keep,$(inline_home)/cost.csv)
# deviations of log times: between builds, of their means; between copies of a build, and between runs of a copy
$(inline_home)/%/copies-levels.csv: $(inline_home)/%/copies.csv $(inline_home)/%/copies-times.csv
	@bench-stat --csv --metric=cpu --levels=copy $< |
	    csv-calc --set='copies=between_deviation^2' --set='runs=within_deviation^2' |
	    csv-group -g benchmark -c copies,runs --stat=mean | csv-calc --set='copies_deviation=sqrt(mean_copies)' \
	        --set='runs_deviation=sqrt(mean_runs)' | csv-cut -c benchmark,n_rows,copies_deviation,runs_deviation \
	        --rename=n_rows=builds > $@.copies
	csv-calc --set=build=label --set="label='all'" $(@D)/copies-times.csv |
	    bench-stat --csv --metric=cpu --levels=build | csv-cut -c benchmark,between_deviation \
	        --rename=between_deviation=builds_deviation | csv-join -k benchmark $@.copies - > $(new)
	rm $@.copies
	$(call keep,$@)
$(inline_home)/copies-levels.csv: $(INLINE_NAMES:%=$(inline_home)/%/copies-levels.csv) $(inline_home)/asked
	@csv-cat $(filter %.csv,$^) $(aside)
# each run of every build, in a folder of its own; how many there were, how many files they left
$(inline_home)/%/same.csv: $(inline_home)/%/built
	@inline-same -o $@ $(@D)/w $(inline_home_builds)
$(inline_home)/same.csv: $(INLINE_NAMES:%=$(inline_home)/%/same.csv) $(inline_home)/asked
	@csv-cat $(filter %.csv,$^) | csv-group -g program,state,apart -c files --stat=sum |
	    csv-cut -c program,state,apart,n_rows,sum_files --rename=n_rows=runs --rename=sum_files=files $(aside)
