# policy.mk - what decisions searched on other programs tell about one that was not, on top of LTO and a profile
#   make inline-home-policy INLINE_NAMES='bzip2 zlib gzip'   exact instructions and text of each program under a policy
#                           learned on the others' make inline-home, no search; beside thresholds, a control that
#                           learned the verdicts of other calls, and the program's own searched decisions
#   make inline-home-policy-time      CPU time of the same builds, INLINE_HOME_ROUNDS paired rounds
#   INLINE_HOME_POLICY_THRESHOLDS=  -inline-threshold of the compiler's heuristic on the same base
inline_hp = $(inline_home)/policy
INLINE_HOME_POLICY_THRESHOLDS ?= 25 100 600
inline_hp_kinds  = policy control
inline_hp_rows   = $(inline_hp_kinds) $(INLINE_HOME_POLICY_THRESHOLDS:%=threshold-%)
inline_hp_builds = lto-pgo=$(inline_home)/$*/lto-pgo $(foreach r,base learned $(inline_hp_rows),$r=$(inline_hp)/$*.$r)
inline_hp_others = csv-cat $(foreach n,$(INLINE_NAMES),$(if $(filter $n,$*),,$(inline_hp)/$n.labelled.csv)) | $(strip \
    ) csv-where -c log_heat_ratio --min=$(INLINE_POLICY_HOT)
inline_hp_fit    = $(INLINE_FIT) -y verdict --ignore=$(inline_policy_ignore)
ifneq ($(filter inline-home-policy%,$(MAKECMDGOALS)),)
$(if $(word 2,$(INLINE_NAMES)),,$(error make inline-home-policy: learns on some programs for others, so it needs two))
endif

inline-home-policy: $(inline_hp)/exact.csv
	@echo "On inputs that were not searched on, over lto-pgo; losses first"
	csv-sort -k metric,ratio:nr $< | csv-show --digits=4
	csv-where -c program --is='(geometric mean)' --not $< | csv-group -g metric,label -c ratio --stat=n,gmean,min,max |
	    csv-sort -k metric,gmean_ratio:n | csv-show --digits=4
inline-home-policy-time: $(inline_hp)/time.csv
	@csv-show --digits=4 $<
.PHONY: inline-home-policy inline-home-policy-time
$(inline_hp)/%.labelled.csv: $(inline_home)/%/learned.sexp
	@mkdir -p $(@D)
	inline-verdict --decisions=$< $(<D)/sites.csv | csv-where -c legal --is=yes | csv-where -c verdict --known |
	    csv-where -c cost --known $(aside)
$(inline_hp)/%.policy.model: $(INLINE_NAMES:%=$(inline_hp)/%.labelled.csv)
	@$(inline_hp_others) | $(inline_hp_fit) -o $@
$(inline_hp)/%.control.model: $(INLINE_NAMES:%=$(inline_hp)/%.labelled.csv)
	@$(inline_hp_others) | csv-calc --set="verdict=lag(verdict, 101)" | csv-where -c verdict --known |
	    $(inline_hp_fit) -o $@
$(inline_hp)/%.base $(inline_hp)/%.base.sexp &: $(inline_home)/%/learned.sexp
	@mkdir -p $(@D)
	inline-build --complete=$(inline_hp)/$*.base.sexp --out=$(inline_hp)/$*.base $(<D)/w > /dev/null
$(inline_hp)/%.learned: $(inline_home)/%/learned.sexp
	@mkdir -p $(@D)
	inline-build --decisions=$< --out=$@ $(<D)/w > /dev/null
# hot calls are asked about, and once more those that come to sight by it; what the profile calls rare stays the
# compiler's
define inline_hp_decide
	@csv-where -c cost --known $(inline_home)/$*/sites.csv | fit-predict -m $(inline_hp)/$*.$1.model > $@.csv
	inline-decide --hot=$(INLINE_POLICY_HOT) --otherwise=inlined --calls=$(inline_hp)/$*.base.sexp $@.csv > $@.0
	inline-build --decisions=$@.0 --complete=$@.calls --out=$@.exe $(inline_home)/$*/w > /dev/null
	inline-decide --hot=$(INLINE_POLICY_HOT) --otherwise=inlined --calls=$@.calls $@.csv > $@.1
	rm -f $@.0 $@.csv $@.calls $@.exe
	$(TOP)/pipelines/keep $@.1 $@
endef
$(inline_hp)/%.policy.sexp: $(inline_hp)/%.policy.model $(inline_hp)/%.base.sexp
	$(call inline_hp_decide,policy)
$(inline_hp)/%.control.sexp: $(inline_hp)/%.control.model $(inline_hp)/%.base.sexp
	$(call inline_hp_decide,control)
$(inline_hp)/%.built: $(inline_hp)/%.base $(inline_hp)/%.learned $(foreach k,$(inline_hp_kinds),$(inline_hp)/%.$k.sexp)
	@for kind in $(inline_hp_kinds); do
	    inline-build --decisions=$(inline_hp)/$*.$$kind.sexp --out=$(inline_hp)/$*.$$kind $(inline_home)/$*/w > /dev/null
	done
	for n in $(INLINE_HOME_POLICY_THRESHOLDS); do
	    inline-build --threshold=$$n --out=$(inline_hp)/$*.threshold-$$n $(inline_home)/$*/w > /dev/null
	done
	[ -x $(inline_home)/$*/lto-pgo ] || inline-build --stock=lto-pgo --out=$(inline_home)/$*/lto-pgo $(inline_home)/$*/w \
	    > /dev/null
	touch $@
$(inline_hp)/%.exact.csv: $(inline_hp)/%.built
	@METRICS="instructions size" $(TOP)/pipelines/measure count $(inline_home)/$*/w $(inline_hp_builds) $(aside)
$(inline_hp)/exact.csv: $(INLINE_NAMES:%=$(inline_hp)/%.exact.csv)
	@inline-compare --base=lto-pgo $^ $(aside)
$(inline_hp)/%.runs.csv: $(inline_hp)/%.built
	@ROUNDS=$(INLINE_HOME_ROUNDS) MOST_SECONDS=$(INLINE_HOME_SECONDS) SEED=$(SEED) $(TOP)/pipelines/measure time \
	    $(inline_home)/$*/w $(inline_hp_builds) $(aside)
$(inline_hp)/time.csv: $(INLINE_NAMES:%=$(inline_hp)/%.runs.csv)
	@csv-cat $^ > $@.runs
	bench-compare --quiet --base=lto-pgo --metric=cpu $@.runs > $@.all || [ $$? -le 2 ]
	csv-sort -k ratio:nr $@.all > $(new)
	rm $@.runs $@.all
	$(call keep,$@)
.PRECIOUS: $(inline_hp)/%.labelled.csv $(inline_hp)/%.model $(inline_hp)/%.sexp $(inline_hp)/%.built
