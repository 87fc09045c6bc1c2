# inline.mk - rewards, trees and features from data of the flambda study's layout, DATA=DIR (or DIR/inline):
#   decisions-v0/G/results_I.sexp -> make inline-decisions, OUT/inline/decisions.csv
#   decisions-v1/*.sexp           -> make inline-trees,     OUT/inline/trees.csv
#   features-v3/*.sexp, training-logs/*/{correct,incorrect}.log, rewards/KIND/PROGRAM/rewards_dump.sexp -> make inline-features, OUT/inline/features.csv
# All tables are item,key,value.
inline_data = $(firstword $(wildcard $(DATA)/inline/$(1) $(DATA)/$(1)))
INLINE_GAMMAS  ?= 0.4 0.9 0.99 1.0
INLINE_LAMBDAS ?= 0.005 0.05 0.5
INLINE_ALPHAS  ?= 0.5 0.05 0.005 0.0005 0.00005 auto cv
INLINE_TAUS    ?= 0.00001 0.00005 0.0001 0.0005 0.001 0.005 0.01 0.05

inline-decisions: $(OUT)/inline/decisions.csv
inline-trees: $(OUT)/inline/trees.csv
inline-features: $(OUT)/inline/features.csv
.PHONY: inline-decisions inline-trees inline-features

# settings are part of the result, so a change of DATA makes it anew
$(OUT)/inline/settings: inline-force
	@mkdir -p $(@D)
	printf '%s\n' 'data $(abspath $(DATA))' 'gammas $(INLINE_GAMMAS)' 'lambdas $(INLINE_LAMBDAS)' 'alphas $(INLINE_ALPHAS)' 'taus $(INLINE_TAUS)' > $@.new
	cmp -s $@.new $@ && rm $@.new || mv $@.new $@
inline-force:
.PHONY: inline-force

# ---- decisions: one problem for every decay, then every fit on it ----
$(OUT)/inline/problem-%.csv $(OUT)/inline/times-%.csv &: $(OUT)/inline/settings $(BIN)/inline-problem
	@[ -n '$(call inline_data,decisions-v0)' ] || { echo 'no decisions-v0 in DATA=$(DATA)' >&2; exit 1; }
	cd $(call inline_data,decisions-v0)
	find . -name '*.sexp' -printf '%P\0' | sort -zV | xargs -0 inline-problem --gamma=$* --times=$(abspath $(OUT))/inline/times-$*.csv -o $(abspath $(OUT))/inline/problem-$*.csv

# one fit: what inline-reward and inline-best report of it, as item,key,value
define inline_fit
inline-reward --times=$< --method=$(1) $(2) --target=$$target --samples=0 --report=$@.fit $(subst /times-,/problem-,$<) |
inline-best --gamma=$* --report=$@.best -o $@.decisions
awk -F, -v key="gamma=$* $(3) target=$$target" -v method=$(1) 'FNR > 1 {
    item = $$1
    if (item == "value" || item == "mse" || item == "objective" || item == "nonzeros" || item == "r_squared") item = method "_" item
    if (item == "n_inlined" || item == "n_apply" || item == "n_decl") item = (method == "ridge" ? "" : "lasso_") item
    print item "," key "," $$2
    if (item ~ /^lasso_/ && key ~ /alpha=[0-9]/) { also = key; sub("alpha=", "lambda=", also); print item "," also "," $$2 } }' $@.fit $@.best >> $@
endef
$(OUT)/inline/fits-%.csv: $(OUT)/inline/times-%.csv $(BIN)/inline-reward $(BIN)/inline-best
	@echo 'fits at gamma $*'; : > $@
	over="mean$$(csv-where -c initial --min=1 $< | awk 'NR == 2 { print " baseline" }')"
	for x in $$over; do for f in linear log tanh; do target=$${f}_over_$$x
	for l in $(INLINE_LAMBDAS); do
	$(call inline_fit,ridge,--lambda=$$l,lambda=$$l)
	done
	for a in $(INLINE_ALPHAS); do
	$(call inline_fit,lasso,--alpha=$$a,alpha=$$a)
	done; done; done
	rm -f $@.fit $@.best $@.decisions
$(OUT)/inline/decisions.csv: $(INLINE_GAMMAS:%=$(OUT)/inline/fits-%.csv)
	@(echo item,key,value
	awk -F, '!seen[$$1]++ && /^(n_runs|n_groups|n_distinct|n_nodes|n_columns|rank|n_twins),/ { print $$1 ",all," $$3 }' $<
	cat $^) > $@

# ---- trees ----
$(OUT)/inline/trees.csv: $(OUT)/inline/settings $(BIN)/inline-tree $(BIN)/inline-expand
	@[ -n '$(call inline_data,decisions-v1)' ] || { echo 'no decisions-v1 in DATA=$(DATA)' >&2; exit 1; }
	cd $(call inline_data,decisions-v1)
	out=$(abspath $@)
	inline-tree --stat --rounds *.sexp > $$out.stat
	for f in *.sexp; do inline-expand --count "$$f" 2> $$out.why >> $$out.pass || cat $$out.why >&2; done
	awk -F, 'BEGIN { print "item,key,value"; split("n_lost n_decl n_inlined n_apply n_unknown depth", word, " ") }
	FILENAME ~ /stat$$/ && FNR > 1 {
	    round = $$4 == "" ? "" : " round=" $$4
	    if ($$4 != "") print "n_decisions_round_" $$4 "," $$1 "," $$5
	    for (i = 1; i <= 6; i++) {
	        if ($$4 == "" || $$4 == 0) print word[i] "," $$1 "," $$(5 + i)
	        if (round != "") print word[i] "," $$1 round "," $$(5 + i)
	    } }
	FILENAME ~ /pass$$/ && $$3 != "pass" { print "n_nodes_pass_" $$3 "," $$1 "," $$4 }' $$out.stat $$out.pass > $$out
	rm -f $$out.stat $$out.pass $$out.why

# ---- features and labels ----
$(OUT)/inline/pairs.csv: $(OUT)/inline/settings $(BIN)/inline-pairs
	@[ -n '$(call inline_data,features-v3)' ] || { echo 'no features-v3 in DATA=$(DATA)' >&2; exit 1; }
	inline-pairs $(call inline_data,features-v3)/*.sexp > $@
$(OUT)/inline/features.csv: $(OUT)/inline/pairs.csv $(BIN)/inline-features $(BIN)/inline-label $(BIN)/fit-audit
	@(echo item,key,value
	inline-features --prepare --scale=$@.scale $(call inline_data,features-v3)/*.sexp | awk 'END { print "n_rows,," NR - 1 }'
	awk -F, 'NR > 1 { n[$$2]++; kept[$$2] += $$3 } END {
	    print "n_numeric,," n["numeric"]; print "n_bool,," n["flag"]
	    print "n_numeric_kept,," kept["numeric"] + 0; print "n_bool_kept,," kept["flag"] + 0 }' $@.scale
	audit() { fit-audit -y label --ignore=program,site,immediate,long_term,no_inline $(@D)/labels.csv | awk -F, -v key=$$1 -v first=$$2 '
	    $$1 == "n_rows" && first { print "n_both,," $$3 }
	    $$1 == "n_distinct" && first { print "n_distinct,," $$3 }
	    $$1 == "ceiling_ratio" { print "ceiling," key "," $$3 }
	    $$1 == "majority_ratio" { print "majority," key "," $$3 }'; }
	inline-label --rule=lasso -o $(@D)/labels.csv $<
	audit lasso 1
	for t in $(INLINE_TAUS); do inline-label --rule=ridge --tau=$$t -o $(@D)/labels.csv $<; audit $$t 0; done
	for k in $(wildcard $(call inline_data,training-logs)/*/); do
	    name=$$(basename $$k)
	    inline-pairs --kind=log $$k/correct.log $$k/incorrect.log > $(@D)/log.csv
	    case $$name in lasso*) rules=lasso ;; *) rules='ridge $(INLINE_TAUS:%=-T %)' ;; esac
	    inline-label --count --rule=$$rules $(@D)/log.csv | awk -F, -v name=$$name 'NR > 1 { key = name ($$2 == "" ? "" : " tau=" $$2)
	        print "n_labelled," key "," $$3; print "n_doesnt_matter," key "," $$4; print "n_inline," key "," $$5; print "n_apply," key "," $$6
	        print "doesnt_matter_ratio," key "," $$7; print "inline_ratio," key "," $$8; print "apply_ratio," key "," $$9 }'
	done
	for f in $(wildcard $(call inline_data,rewards)/*/*/rewards_dump.sexp); do
	    program=$$(basename $$(dirname $$f)) kind=$$(basename $$(dirname $$(dirname $$f)))
	    inline-pairs --kind=rewards --program=$$program $$f | awk -F, -v key="$$kind $$program" 'NR > 1 { both += $$4 != "" && $$5 != "" } END {
	        print "n_reward_nodes," key "," NR - 1; print "n_reward_both," key "," both + 0 }'
	done) > $@
	rm -f $@.scale $(@D)/labels.csv $(@D)/log.csv
