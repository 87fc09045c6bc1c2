# live.mk - learn to inline real C programs with a stock compiler
#   make inline                        the programs of data/programs.csv, fetched as Debian source packages
#   make inline PROGRAM=DIR            a program of your own: DIR/program holds the lines build, search, confirm
#   make inline SCALE=ci               the small program in data/demo
#   make inline-list | inline-one NAME=lua DECISIONS=FILE | inline-policy FIT='fit-boost --depth=3'
# Exact costs steer the search, so it does not mind a busy machine; CPU time, paired and interleaved, only confirms.
LIVE          = $(OUT)/inline/live
LIVE_TABLE   ?= data/programs.csv
LIVE_EVALS   ?= $(if $(filter ci,$(SCALE)),12,$(if $(filter full,$(SCALE)),1000,60))
LIVE_SIZE    ?= $(if $(filter ci,$(SCALE)),12,$(if $(filter full,$(SCALE)),4000,80))
LIVE_ROUNDS  ?= $(if $(filter ci,$(SCALE)),3,$(if $(filter full,$(SCALE)),100,20))
FIT          ?= fit-boost --rounds=60 --depth=3
LIVE_ALL     := $(shell awk -F, 'NR > 1 { print $$1 }' $(LIVE_TABLE))
LIVE_TRAIN   := $(shell awk -F, 'NR > 1 && $$2 == "train" { print $$1 }' $(LIVE_TABLE))
NAMES        ?= $(if $(PROGRAM),$(notdir $(abspath $(PROGRAM))),$(if $(filter ci,$(SCALE)),demo,$(LIVE_TRAIN)))
POLICY_NAMES ?= $(if $(LIVE_OWN),,$(LIVE_ALL))
LIVE_OWN      = $(if $(PROGRAM),$(abspath $(PROGRAM)),$(if $(filter ci,$(SCALE)),data/demo))
LIVE_FIGURES  = $(foreach f,trace frontier compare rewards,$(LIVE)/figure-$f.svg $(LIVE)/figure-$f.png)
LIVE_LABELS   = O2 O3 Os Oz threshold learned small

inline: $(LIVE)/exact.csv $(LIVE)/time.csv $(LIVE)/guard.csv $(LIVE)/obeyed.csv $(if $(POLICY_NAMES),inline-policy) $(LIVE_FIGURES)
inline-list:
	@csv-show $(LIVE_TABLE)
# one program under a decisions file of yours: its exact costs and what was not obeyed
inline-one: $(LIVE)/$(NAME)/w/program.csv
	inline-build --decisions=$(DECISIONS) --out=$(LIVE)/$(NAME)/one $(<D) | csv-where -c inlined --is=no
	inline-jobs $(<D) one=$(LIVE)/$(NAME)/one | while IFS=$$'\t' read -r name args; do eval "bench-count $$args"; done
.PHONY: inline inline-list inline-one

# ---- one module for each program; cross references between sources (inputs) want all of them first
ifeq ($(LIVE_OWN),)
$(LIVE)/sources: $(LIVE_TABLE) | $(PROGS)
	@mkdir -p $(LIVE)/src
	awk -F, 'NR > 1 { print $$1, $$3 }' $< | while read -r name package; do pipelines/fetch-source $$package $(LIVE)/src/$$name $(CURDIR)/data; done
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
$(LIVE)/%/explored: $(LIVE)/%/w/program.csv | $(PROGS)
	@echo "exploring $*: $(LIVE_EVALS) sets of decisions"
	pipelines/explore $(<D) $(@D) $(LIVE_EVALS) $(SEED) $(JOBS) --max-text=1.5
	touch $@
$(LIVE)/%/size/explored: $(LIVE)/%/w/program.csv $(LIVE)/%/explored
	@echo "exploring $* for size: $(LIVE_SIZE) sets of decisions"
	mkdir -p $(@D)
	cp $(LIVE)/$*/sites.csv $(@D)/sites.csv
	RUN_OPTIONS='--level=-Oz --text-only' pipelines/explore $(<D) $(@D) $(LIVE_SIZE) $(SEED) $(JOBS) --level=-Oz --text-weight=1
	touch $@

# ---- rewards from what was explored (the filters of the study), and what they propose, measured like the rest
$(LIVE)/%/rewards.csv: $(LIVE)/%/explored
	@awk -F, -v dir=$(@D)/store 'NR == 1 { print "run,decisions,time_seconds" } NR > 1 && $$7 == "ok" { print $$2 "," dir "/" $$2 ".sexp," $$9 / 1e9 }' $(@D)/history.csv > $(@D)/runs.csv
	inline-problem --runs=$(@D)/runs.csv --times=$(@D)/times.csv -o $(@D)/problem.csv
	inline-reward --times=$(@D)/times.csv --samples=50 -o $@ $(@D)/problem.csv
$(LIVE)/%/rewarded: $(LIVE)/%/rewards.csv
	@inline-best --program=$* --compiler=clang-14 -o $(@D)/rewarded.sexp $<
	printf 'file,parent,chain,step\n%s,default,reward,0\n' $(@D)/rewarded.sexp > $(@D)/rewarded.list
	inline-run --store=$(@D)/store --history=$(@D)/history.csv --complete --list=$(@D)/rewarded.list $(@D)/w
	touch $@
$(LIVE)/%/learned.sexp: $(LIVE)/%/rewarded
	@inline-search --best --max-text=1.5 --store=$(@D)/store --work=$(@D)/w $(@D)/history.csv > $@
$(LIVE)/%/small.sexp: $(LIVE)/%/size/explored
	@inline-search --best --text-weight=1 --store=$(@D)/size/store --work=$(@D)/w $(@D)/size/history.csv > $@

# ---- the programs to compare; `obeyed` says of every decision what became of it
$(LIVE)/%/built: $(LIVE)/%/learned.sexp $(LIVE)/%/small.sexp | $(PROGS)
	@for level in O2 O3 Os Oz; do inline-build --level=-$$level --out=$(@D)/$$level $(@D)/w > /dev/null; done
	best=$$(awk -F, '$$2 ~ /^threshold-/ && $$7 == "ok" && (!n || $$9 < n) { n = $$9; t = substr($$2, 11) } END { print t }' $(@D)/history.csv)
	inline-build --threshold=$$best --out=$(@D)/threshold $(@D)/w > /dev/null
	inline-build --decisions=$(@D)/learned.sexp --out=$(@D)/learned $(@D)/w > $(@D)/obeyed.csv
	inline-build --level=-Oz --decisions=$(@D)/small.sexp --out=$(@D)/small $(@D)/w > $(@D)/obeyed-small.csv
	touch $@
$(LIVE)/%/exact.csv: $(LIVE)/%/built
	@echo "counting $*"
	inline-jobs $(@D)/w $(foreach l,$(LIVE_LABELS),$l=$(@D)/$l) | while IFS=$$'\t' read -r name args; do
	    eval "bench-count --runs=1 --metric=instructions --metric=cycles --metric=size $$args" | awk -v name=$$name 'NR == 1 { print "run," $$0; next } { print name "," $$0 }'
	done | awk 'NR == 1 || !/^run,label/' > $@
$(LIVE)/%/runs.csv: $(LIVE)/%/built
	@echo "timing $*"
	rm -f $@ $@.part
	inline-jobs $(@D)/w $(foreach l,$(LIVE_LABELS),$l=$(@D)/$l) | while IFS=$$'\t' read -r name args; do
	    eval "bench-run --rounds=$(LIVE_ROUNDS) --seed=$(SEED) --benchmark=$$name $$args" | awk -v first=$$([ -s $@.part ] && echo 0 || echo 1) 'NR > 1 || first' >> $@.part
	done
	mv $@.part $@

# ---- tables over all programs
define live_ratios
awk -F, 'BEGIN { print "program,label,metric,runs,ratio" } FNR == 1 { next } $$4 == "" { next }
	    { split($$1, p, "."); key = p[1] SUBSEP $$2 SUBSEP $$3; if (!(key in n)) order[++m] = key
	      if ($$2 == "O2") base[$$1 SUBSEP $$3] = $$4
	      run[key, ++n[key]] = $$1; value[key, n[key]] = $$4 }
	    END { for (i = 1; i <= m; i++) { key = order[i]; split(key, k, SUBSEP); s = 0
	        for (j = 1; j <= n[key]; j++) s += log(value[key, j] / base[run[key, j] SUBSEP k[3]])
	        printf "%s,%s,%s,%d,%.5f\n", k[1], k[2], k[3], n[key], exp(s / n[key]) } }'
endef
# ratios to whole-program -O2: geometric mean over the confirmation runs
$(LIVE)/exact.csv: $(NAMES:%=$(LIVE)/%/exact.csv)
	@$(live_ratios) $^ > $@
$(LIVE)/runs.csv: $(NAMES:%=$(LIVE)/%/runs.csv)
	@csv-cat $^ > $@
$(LIVE)/time.csv: $(LIVE)/runs.csv
	@bench-compare --base=O2 --metric=cpu $< > $@ || [ $$? -le 2 ]
$(LIVE)/guard.csv: $(LIVE)/runs.csv
	@bench-guard --base=O2 --metric=cpu <(csv-where -c label --is=small --not $<) > $@
$(LIVE)/obeyed.csv: $(NAMES:%=$(LIVE)/%/built)
	@for n in $(NAMES); do for f in obeyed obeyed-small; do awk -F, -v p=$$n -v d=$$f 'NR == 1 { print "program,decisions," $$0; next } { print p "," d "," $$0 }' $(LIVE)/$$n/$$f.csv; done; done | awk 'NR == 1 || !/^program,decisions/' > $@

# ---- a policy: what the learned decisions have in common, tried on programs that it never saw
POLICY        = $(LIVE)/policy
POLICY_IGNORE = --ignore=program,callee,caller,chain,file,line,column,heat,legal,reason,threshold
inline-policy: $(POLICY)/exact.csv $(POLICY)/time.csv $(POLICY)/guard.csv
.PHONY: inline-policy
$(POLICY)/%.labelled.csv: $(LIVE)/%/learned.sexp
	@mkdir -p $(@D)
	inline-sites --decisions=$< $(<D)/w | csv-where -c legal --is=yes | csv-where -c inlined --known | csv-where -c cost --known > $@
# trained on the training programs but the one it is for
$(POLICY)/%.model: $(LIVE_TRAIN:%=$(POLICY)/%.labelled.csv)
	@csv-cat $(foreach n,$(LIVE_TRAIN),$(if $(filter $n,$*),,$(POLICY)/$n.labelled.csv)) | $(FIT) -y inlined $(POLICY_IGNORE) -o $@
# a call that becomes visible when its caller is inlined is asked about too, three levels deep
$(POLICY)/%.sexp: $(POLICY)/%.model $(LIVE)/%/w/program.csv
	@echo '(decisions)' > $@.0
	for round in 0 1 2; do
	    inline-sites --decisions=$@.$$round $(LIVE)/$*/w | csv-where -c cost --known | fit-predict -m $< | inline-decide > $@.$$((round + 1))
	done
	mv $@.3 $@
	rm -f $@.[012]
$(POLICY)/%.built: $(POLICY)/%.sexp
	@inline-build --out=$(POLICY)/$*.O2 $(LIVE)/$*/w > /dev/null
	inline-build --decisions=$< --out=$(POLICY)/$*.policy $(LIVE)/$*/w > $(POLICY)/$*.obeyed.csv
	touch $@
$(POLICY)/%.exact.csv: $(POLICY)/%.built
	@inline-jobs $(LIVE)/$*/w O2=$(POLICY)/$*.O2 policy=$(POLICY)/$*.policy | while IFS=$$'\t' read -r name args; do
	    eval "bench-count --runs=1 --metric=instructions --metric=cycles --metric=size $$args" | awk -v name=$$name 'NR == 1 { print "run," $$0; next } { print name "," $$0 }'
	done | awk 'NR == 1 || !/^run,label/' > $@
$(POLICY)/%.runs.csv: $(POLICY)/%.built
	@echo "timing the policy on $*"
	rm -f $@.part
	inline-jobs $(LIVE)/$*/w O2=$(POLICY)/$*.O2 policy=$(POLICY)/$*.policy | while IFS=$$'\t' read -r name args; do
	    eval "bench-run --rounds=$(LIVE_ROUNDS) --seed=$(SEED) --benchmark=$$name $$args" | awk -v first=$$([ -s $@.part ] && echo 0 || echo 1) 'NR > 1 || first' >> $@.part
	done
	mv $@.part $@
$(POLICY)/exact.csv: $(POLICY_NAMES:%=$(POLICY)/%.exact.csv)
	@$(live_ratios) $^ > $@
$(POLICY)/runs.csv: $(POLICY_NAMES:%=$(POLICY)/%.runs.csv)
	@csv-cat $^ > $@
$(POLICY)/time.csv: $(POLICY)/runs.csv
	@bench-compare --quiet --base=O2 --metric=cpu $< > $@ || [ $$? -le 2 ]
$(POLICY)/guard.csv: $(POLICY)/runs.csv
	@bench-guard --quiet --base=O2 --metric=cpu $< > $@
.PRECIOUS: $(POLICY)/%.labelled.csv $(POLICY)/%.model $(POLICY)/%.sexp $(POLICY)/%.runs.csv

# ---- figures, each with the table it was drawn from
$(LIVE)/figure-trace.csv: $(NAMES:%=$(LIVE)/%/rewarded)
	@echo program,evaluation,algorithm,instructions_ratio,best_ratio,temperature > $@
	for n in $(NAMES); do awk -F, -v p=$$n -v evals=$(LIVE_EVALS) -v jobs=$(JOBS) 'NR == 1 { next } $$2 == "default" { base = $$9; best = 1 }
	    { k++; r = $$7 == "ok" ? $$9 / base : ""; if (r != "" && r < best) best = r
	      t = $$4 == "anneal" ? 0.004 * exp(-log(20) * $$5 / (evals / jobs)) : ""
	      print p "," k "," ($$4 == "" ? "heuristic" : $$4) "," r "," best "," t }' $(LIVE)/$$n/history.csv; done >> $@
$(LIVE)/figure-frontier.csv: $(NAMES:%=$(LIVE)/%/rewarded)
	@echo program,decisions,text_ratio,instructions_ratio,frontier > $@
	for n in $(NAMES); do awk -F, -v p=$$n 'NR == 1 { next } $$2 == "default" { base = $$9; text = $$10 }
	    $$7 == "ok" { name[++k] = $$2; x[k] = $$10; y[k] = $$9 }
	    END { for (i = 1; i <= k; i++) { best = "yes"
	        for (j = 1; j <= k; j++) if (x[j] <= x[i] && y[j] <= y[i] && (x[j] < x[i] || y[j] < y[i])) best = "no"
	        print p "," name[i] "," x[i] / text "," y[i] / base "," best } }' $(LIVE)/$$n/history.csv; done >> $@
$(LIVE)/figure-compare.csv: $(LIVE)/time.csv
	@csv-where -c verdict --known $< > $@
$(LIVE)/figure-rewards.csv: $(NAMES:%=$(LIVE)/%/rewards.csv)
	@echo program,rank,immediate,lower,upper > $@
	for n in $(NAMES); do csv-where -c immediate --known $(LIVE)/$$n/rewards.csv | csv-cut -c immediate,immediate_lower,immediate_upper |
	    awk 'NR > 1' | sort -t, -k1,1gr | awk -F, -v p=$$n '{ print p "," NR "," $$0 }'; done >> $@
$(LIVE)/figure-%.svg $(LIVE)/figure-%.png &: $(LIVE)/figure-%.csv plots/live-%.gp
	@gnuplot -c plots/live-$*.gp $< $(LIVE)/figure-$*.svg '$(NAMES)'
	gnuplot -c plots/live-$*.gp $< $(LIVE)/figure-$*.png '$(NAMES)'
