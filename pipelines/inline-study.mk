# inline-study.mk - the steps of the 2018 study on real C programs with a stock compiler: explore, rewards, decisions,
# a model of what was decided, tried on programs that it never saw
#   make inline-study                  the programs of data/programs.csv, each compiled to one module
#   make inline-study PROGRAM=DIR      a program of your own: DIR/program holds the lines build, search, confirm
#   make inline-study SCALE=ci         the small program in data/demo
#   make inline-study-one NAME=lua DECISIONS=FILE      one program under your decisions: costs, what was not obeyed
#   make inline-study-policy INLINE_FIT='fit-boost --depth=3'
inline_study        = $(OUT)/inline-study
INLINE_STUDY_EVALS ?= $(if $(filter ci,$(SCALE)),16,$(if $(filter full,$(SCALE)),400,60))
INLINE_STUDY_SIZE  ?= $(if $(filter ci,$(SCALE)),10,$(if $(filter full,$(SCALE)),400,120))
# a per cent of text weighs as much as a twentieth per cent of instructions; never 30 % more text than the default
INLINE_STUDY_GOAL  ?= --text-weight=0.05 --max-text=1.3
# six is the least of which a signed-rank interval at 95 % can exclude anything
INLINE_STUDY_ROUNDS ?= $(if $(filter ci test,$(SCALE)),12,$(if $(filter full,$(SCALE)),100,20))
INLINE_FIT          ?= fit-boost --rounds=60 --depth=3
INLINE_POLICY_NAMES ?= $(if $(inline_own_name)$(filter demo,$(INLINE_NAMES)),,$(inline_all))
inline_figures       = $(foreach f,trace frontier compare rewards $(if $(INLINE_POLICY_NAMES),policy),$(strip \
    $(inline_study)/figure-$f.svg $(inline_study)/figure-$f.png))
inline_study_labels  = O2 files O3 Os Oz threshold learned small

inline-study: $(inline_study)/table.csv $(inline_study)/means.csv $(inline_study)/exact.csv $(inline_study)/time.csv \
    $(inline_study)/guard.csv $(inline_study)/accepted.csv $(inline_study)/obeyed.csv \
    $(if $(INLINE_POLICY_NAMES),inline-study-policy) $(inline_figures)
	@echo "On inputs that were not searched on, over files, each source by itself at -O2; losses first:"
	csv-where -c base --is=files $(if $(word 2,$(INLINE_NAMES)),$(word 2,$^),$<) |
	    csv-cut --drop=base | csv-show --digits=4
	echo "Decisions in $(inline_study)/NAME/learned.sexp and small.sexp, figures $(inline_study)/figure-*.png"
	$(TOP)/pipelines/answer $(inline_study) $(inline_study)/accepted.csv
# costs are exact, of the runs that confirm
ifneq ($(filter inline-study-one,$(MAKECMDGOALS)),)
$(if $(filter $(NAME),$(inline_all) $(inline_own)),,$(error make inline-study-one: NAME='$(NAME)': none of \
    $(inline_all) $(inline_own)))
$(if $(wildcard $(DECISIONS)),,$(error make inline-study-one: DECISIONS='$(DECISIONS)': no file of decisions))
endif
inline-study-one: $(inline_study)/$(NAME)/w/program.csv
	inline-build --decisions=$(DECISIONS) --out=$(inline_study)/$(NAME)/one $(<D) | csv-where -c inlined --is=no
	$(TOP)/pipelines/measure count $(<D) one=$(inline_study)/$(NAME)/one
.PHONY: inline-study inline-study-one

# ---- one module for each program; cross references between sources (inputs) want all of them first
$(inline_study)/%/w/program.csv: $(inline_src)/fetched
	@mkdir -p $(@D)
	echo "compiling $*"
	inline-module --table=$(INLINE_TABLE) --program=$* --out=$(@D) $(inline_src)/$*
define inline_study_own
$(inline_study)/$1/w/program.csv: $(call inline_from,$1)/program | $(PROGS)
	@mkdir -p $$(@D)
	inline-module --out=$$(@D) $$(<D)
endef
$(foreach n,$(inline_own),$(eval $(call inline_study_own,$n)))

# ---- explore: instructions first, then text size; logs are append-only and a killed search goes on
$(inline_study)/%/sites.csv: $(inline_study)/%/w/program.csv
	@inline-sites -o $@ $(<D)
$(inline_study)/%/explored: $(inline_study)/%/w/program.csv $(inline_study)/%/sites.csv | $(PROGS)
	@echo "exploring $*: $(INLINE_STUDY_EVALS) sets of decisions"
	$(TOP)/pipelines/explore $(<D) $(@D) $(INLINE_STUDY_EVALS) $(SEED) $(JOBS) $(INLINE_STUDY_GOAL)
	touch $@
$(inline_study)/%/size/explored: $(inline_study)/%/w/program.csv $(inline_study)/%/explored
	@echo "exploring $* for size: $(INLINE_STUDY_SIZE) sets of decisions"
	mkdir -p $(@D)
	cp $(inline_study)/$*/sites.csv $(@D)/sites.csv
	GOAL=size $(TOP)/pipelines/explore $(<D) $(@D) $(INLINE_STUDY_SIZE) $(SEED) $(JOBS)
	touch $@

# ---- rewards from what was explored (the filters of the study), and what they propose, measured like the rest; sets in
# byte order, since trials side by side end in any order, and without what rewards proposed before
$(inline_study)/%/rewards.csv: $(inline_study)/%/explored
	@csv-where -c chain --is=reward --not $(@D)/history.csv | csv-where -c state --is=ok | csv-sort -k decisions |
	    csv-calc --set=run=decisions --set="decisions=concat('$(@D)/store/', run, '.sexp')" \
	        --set='time_seconds=instructions/1e9' | csv-cut -c run,decisions,time_seconds > $(@D)/tried.csv
	inline-problem --runs=$(@D)/tried.csv --times=$(@D)/times.csv -o $(@D)/problem.csv
	inline-reward --times=$(@D)/times.csv --samples=50 -o $@ $(@D)/problem.csv
$(inline_study)/%/rewarded: $(inline_study)/%/rewards.csv
	@inline-best --program=$* -o $(@D)/rewarded.sexp $<
	printf 'file,parent,chain,step\n%s,default,reward,0\n' $(@D)/rewarded.sexp > $(@D)/rewarded.list
	inline-run --store=$(@D)/store --history=$(@D)/history.csv --complete --list=$(@D)/rewarded.list $(@D)/w
	touch $@
$(inline_study)/%/learned.sexp: $(inline_study)/%/rewarded
	@inline-search --best $(INLINE_STUDY_GOAL) --store=$(@D)/store --work=$(@D)/w $(@D)/history.csv $(aside)
$(inline_study)/%/small.sexp: $(inline_study)/%/size/explored
	@inline-search --best --text-weight=1 --store=$(@D)/size/store --work=$(@D)/w $(@D)/size/history.csv $(aside)

# ---- the programs to compare; `obeyed` says of every decision what became of it.  O2, O3, Os, Oz are whole-program
# builds; `files` is what most users have, each source compiled by itself at -O2 and linked
$(inline_study)/%/built: $(inline_study)/%/learned.sexp $(inline_study)/%/small.sexp | $(PROGS)
	@for level in O2 O3 Os Oz; do inline-build --level=-$$level --out=$(@D)/$$level $(@D)/w > /dev/null; done
	inline-build --stock=O2 --out=$(@D)/files $(@D)/w > /dev/null
	best=$$(csv-where -c state --is=ok $(@D)/history.csv | csv-sort -k instructions:n,decisions |
	    csv-where -c decisions --like='threshold-*' | csv-sample --quiet --first=1 |
	    csv-calc --print="part(decisions, '-', -1)")
	inline-build --threshold=$$best --out=$(@D)/threshold $(@D)/w > /dev/null
	inline-build --decisions=$(@D)/learned.sexp --out=$(@D)/learned $(@D)/w > $(@D)/obeyed.csv
	inline-build --level=-Oz --decisions=$(@D)/small.sexp --out=$(@D)/small $(@D)/w > $(@D)/obeyed-small.csv
	touch $@
$(eval $(call inline_rows,$(inline_study),$(inline_study_labels),files O2 Oz,instructions cycles size,$(strip \
    )$(INLINE_STUDY_ROUNDS),0,O2,learned threshold,small))
$(inline_study)/obeyed.csv: $(INLINE_NAMES:%=$(inline_study)/%/built) $(inline_study)/asked
	@csv-cat --source=decisions $(foreach n,$(INLINE_NAMES),$(inline_study)/$n/obeyed.csv \
	    $(inline_study)/$n/obeyed-small.csv) $(aside)

# ---- policies: what the learned decisions have in common, tried on programs that they never saw.  `heat` decides about
# the calls that an exact profile of the search runs says are executed often, and leaves the others to the compiler's
# heuristic; `control` is the same, learned from the decisions of other calls; `rule` has nothing to learn: LLVM's cost
# below a threshold where it is hot
inline_policy         = $(inline_study)/policy
INLINE_POLICY_HOT    ?= -13
INLINE_POLICY_RULE   ?= 1000
inline_policy_ignore  = program,callee,caller,chain,file,line,column,heat,legal,reason,threshold,inlined
inline_policy_learned = heat control
inline_policy_kinds   = $(inline_policy_learned) rule
inline_policy_hot     = --hot=$(INLINE_POLICY_HOT) --otherwise=inlined
inline-study-policy: $(inline_policy)/table.csv $(inline_policy)/means.csv $(inline_policy)/exact.csv \
    $(inline_policy)/time.csv $(inline_policy)/accepted.csv
	@csv-where -c base --is=O2 $(word 2,$^) | csv-cut --drop=base | csv-show --digits=4
ifeq ($(filter inline-study-policy,$(MAKECMDGOALS))$(strip $(INLINE_POLICY_NAMES)),inline-study-policy)
$(error make inline-study-policy: learns on some programs for others, so it needs two: \
    INLINE_POLICY_NAMES='bzip2 zlib')
endif
.PHONY: inline-study-policy
$(inline_policy)/%/labelled.csv: $(inline_study)/%/learned.sexp $(inline_study)/%/sites.csv
	@mkdir -p $(@D)
	ln -sfn ../../$*/w $(@D)/w
	inline-verdict --decisions=$< $(<D)/sites.csv | csv-where -c legal --is=yes | csv-where -c verdict --known |
	    csv-where -c cost --known $(aside)
# trained on the training programs but the one it is for
inline_policy_train = csv-cat $(foreach n,$(inline_train),$(if $(filter $n,$*),,$(inline_policy)/$n/labelled.csv)) | \
    csv-where -c log_heat_ratio --min=$(INLINE_POLICY_HOT)
inline_policy_fit   = $(INLINE_FIT) -y verdict --ignore=$(inline_policy_ignore)
$(inline_policy)/%/heat.model: $(inline_train:%=$(inline_policy)/%/labelled.csv)
	@mkdir -p $(@D)
	$(inline_policy_train) | $(inline_policy_fit) -o $@
$(inline_policy)/%/control.model: $(inline_train:%=$(inline_policy)/%/labelled.csv)
	@mkdir -p $(@D)
	$(inline_policy_train) | csv-calc --set='verdict=lag(verdict, 101)' | csv-where -c verdict --known |
	    $(inline_policy_fit) -o $@
$(inline_policy)/%/sites.csv: $(inline_study)/%/sites.csv
	@mkdir -p $(@D)
	ln -sfn ../../$*/w $(@D)/w
	csv-where -c cost --known $< $(aside)
# a call that becomes visible when its caller is inlined is asked about too, two levels deep
define inline_policy_rounds
	@$1 > $@.csv
	inline-decide $2 $(inline_policy_hot) $@.csv > $@.0
	for round in 0 1; do
	    inline-build --decisions=$@.$$round --complete=$@.calls --out=$@.exe $(@D)/w > /dev/null
	    inline-decide $2 $(inline_policy_hot) --calls=$@.calls $@.csv > $@.$$((round + 1))
	done
	rm -f $@.[01] $@.csv $@.calls $@.exe
	$(TOP)/pipelines/keep $@.2 $@
endef
$(inline_policy)/%/heat.sexp: $(inline_policy)/%/sites.csv $(inline_policy)/%/heat.model
	$(call inline_policy_rounds,fit-predict -m $(@D)/heat.model $<,)
$(inline_policy)/%/control.sexp: $(inline_policy)/%/sites.csv $(inline_policy)/%/control.model
	$(call inline_policy_rounds,fit-predict -m $(@D)/control.model $<,)
$(inline_policy)/%/rule.sexp: $(inline_policy)/%/sites.csv
	$(call inline_policy_rounds,cat $<,-c cost --under=$(INLINE_POLICY_RULE))
$(inline_policy)/%/built: $(foreach k,$(inline_policy_kinds),$(inline_policy)/%/$k.sexp)
	@inline-build --level=-O2 --out=$(@D)/O2 $(@D)/w > /dev/null
	inline-build --stock=O2 --out=$(@D)/files $(@D)/w > /dev/null
	for kind in $(inline_policy_kinds); do
	    inline-build --decisions=$(@D)/$$kind.sexp --out=$(@D)/$$kind $(@D)/w > $(@D)/$$kind.obeyed.csv
	done
	touch $@
$(eval $(call inline_rows,$(inline_policy),O2 files $(inline_policy_kinds),files O2,instructions cycles size,$(strip \
    )$(INLINE_STUDY_ROUNDS),0,O2,$(inline_policy_kinds),,INLINE_POLICY_NAMES))
.PRECIOUS: $(inline_policy)/%/labelled.csv $(inline_policy)/%/heat.model $(inline_policy)/%/control.model \
    $(inline_policy)/%/heat.sexp $(inline_policy)/%/control.sexp $(inline_policy)/%/rule.sexp

# ---- figures, each with the table it was drawn from
$(inline_study)/figure-trace.csv: $(INLINE_NAMES:%=$(inline_study)/%/rewarded) $(inline_study)/asked
	@inline-trace --steps=$$((1 + $(INLINE_STUDY_EVALS) / 10)) --t-max=0.002 --t-min=0.0001 \
	    $(INLINE_NAMES:%=$(inline_study)/%/history.csv) $(aside)
$(inline_study)/figure-frontier.csv: $(inline_study)/figure-trace.csv
	@csv-where -c text_ratio --known $< $(aside)
$(inline_study)/figure-compare.csv: $(inline_study)/time.csv
	@csv-where -c verdict --known $< $(aside)
$(inline_study)/figure-policy.csv: $(inline_policy)/time.csv
	@csv-where -c verdict --known $< $(aside)
$(inline_study)/figure-rewards.csv: $(INLINE_NAMES:%=$(inline_study)/%/rewards.csv) $(inline_study)/asked
	@csv-cat --source=file $(filter %.csv,$^) | csv-where -c immediate --known | csv-sort -k immediate:nr |
	    csv-calc --set="program=part(file, '/', -2)" | csv-calc -g program --set='rank=run_count()' |
	    csv-sort -k rank:nr | csv-calc -g program --set='left=run_count()' --where='rank <= 30 || left <= 30' |
	    csv-sort -k rank:n | csv-calc -g program --set='place=run_count()' |
	    csv-cut -c program,place,rank,immediate,immediate_lower,immediate_upper \
	        --rename=immediate_lower=lower --rename=immediate_upper=upper $(aside)
# some tables do not say how the counts were obtained that they come from
inline_kind = $$($(TOP)/pipelines/kinds $(INLINE_NAMES:%=$(inline_study)/%/history.csv))
inline_draw = gnuplot -e "kind='$(inline_kind)'" -c $(TOP)/plots
$(inline_study)/figure-%.svg $(inline_study)/figure-%.png &: $(inline_study)/figure-%.csv $(TOP)/plots/inline-%.gp \
    $(TOP)/plots/inline-rows.gp
	@$(inline_draw)/inline-$*.gp $< $(call beside,$(inline_study)/figure-$*.svg) '$(INLINE_NAMES)'
	$(call keep,$(inline_study)/figure-$*.svg)
	$(inline_draw)/inline-$*.gp $< $(call beside,$(inline_study)/figure-$*.png) '$(INLINE_NAMES)'
	$(call keep,$(inline_study)/figure-$*.png)
