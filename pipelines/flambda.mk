# inline.mk - rewards, trees and features from data of the flambda study's layout, DATA=DIR (or DIR/inline):
#   decisions-v0/G/results_I.sexp -> make flambda-decisions, OUT/flambda/decisions.csv
#   decisions-v1/*.sexp           -> make flambda-trees,     OUT/flambda/trees.csv
#   features-v3/*.sexp, training-logs/*/{correct,incorrect}.log, rewards/KIND/PROGRAM/rewards_dump.sexp -> make flambda-features, OUT/flambda/features.csv
# All tables are item,key,value.
# the folder, empty where DATA has none; files in it, none where there is no folder
flambda_data = $(if $(DATA),$(firstword $(wildcard $(DATA)/inline/$(1) $(DATA)/$(1))))
flambda_files = $(if $(call flambda_data,$(1)),$(wildcard $(call flambda_data,$(1))/$(2)))
flambda_there = [ -n '$(call flambda_data,$(1))' ] || { echo "make: no $(1) in DATA='$(DATA)'" >&2; exit 1; }
flambda_perhaps = [ -n '$(call flambda_data,$(1))' ] || echo "make: no $(1) in DATA='$(DATA)', its rows are left out" >&2
FLAMBDA_GAMMAS  ?= 0.4 0.9 0.99 1.0
FLAMBDA_LAMBDAS ?= 0.005 0.05 0.5
FLAMBDA_ALPHAS  ?= 0.5 0.05 0.005 0.0005 0.00005 auto cv
FLAMBDA_TAUS    ?= 0.00001 0.00005 0.0001 0.0005 0.001 0.005 0.01 0.05

flambda-decisions: $(OUT)/flambda/decisions.csv
flambda-trees: $(OUT)/flambda/trees.csv
flambda-features: $(OUT)/flambda/features.csv
.PHONY: flambda-decisions flambda-trees flambda-features

# settings are part of the result, so a change of DATA makes it anew
$(OUT)/flambda/settings: flambda-force
	@mkdir -p $(@D)
	printf '%s\n' 'data $(abspath $(DATA))' 'gammas $(FLAMBDA_GAMMAS)' 'lambdas $(FLAMBDA_LAMBDAS)' 'alphas $(FLAMBDA_ALPHAS)' 'taus $(FLAMBDA_TAUS)' > $(new)
	cmp -s $(new) $@ && rm $(new) || $(call keep,$@)
flambda-force:
.PHONY: flambda-force

# ---- decisions: one problem for every decay, then every fit on it ----
$(OUT)/flambda/problem-%.csv $(OUT)/flambda/times-%.csv &: $(OUT)/flambda/settings $(BIN)/inline-problem
	@$(call flambda_there,decisions-v0)
	cd $(call flambda_data,decisions-v0)
	find -L . -name '*.sexp' -printf '%P\0' | sort -zV | xargs -0 inline-problem --gamma=$* --times=$(abspath $(OUT))/flambda/times-$*.csv -o $(abspath $(OUT))/flambda/problem-$*.csv

# one fit: what inline-reward and inline-best report of it, as item,key,value
define flambda_fit
inline-reward --times=$< --method=$(1) $(2) --target=$$target --samples=0 --report=$@.fit $(subst /times-,/problem-,$<) |
inline-best --gamma=$* --report=$@.best -o $@.decisions
awk -F, -v key="gamma=$* $(3) target=$$target" -v method=$(1) 'FNR > 1 {
    item = $$1
    if (item == "value" || item == "mse" || item == "objective" || item == "nonzeros" || item == "r_squared") item = method "_" item
    if (item == "n_inlined" || item == "n_apply" || item == "n_decl") item = (method == "ridge" ? "" : "lasso_") item
    print item "," key "," $$2
    if (item ~ /^lasso_/ && key ~ /alpha=[0-9]/) { also = key; sub("alpha=", "lambda=", also); print item "," also "," $$2 } }' $@.fit $@.best >> $(new)
endef
$(OUT)/flambda/fits-%.csv: $(OUT)/flambda/times-%.csv $(BIN)/inline-reward $(BIN)/inline-best
	@echo 'fits at gamma $*'; : > $(new)
	over="mean$$(csv-where -c initial --min=1 $< | awk 'NR == 2 { print " baseline" }')"
	for x in $$over; do for f in linear log tanh; do target=$${f}_over_$$x
	for l in $(FLAMBDA_LAMBDAS); do
	$(call flambda_fit,ridge,--lambda=$$l,lambda=$$l)
	done
	for a in $(FLAMBDA_ALPHAS); do
	$(call flambda_fit,lasso,--alpha=$$a,alpha=$$a)
	done; done; done
	rm -f $@.fit $@.best $@.decisions
	$(call keep,$@)
$(OUT)/flambda/decisions.csv: $(FLAMBDA_GAMMAS:%=$(OUT)/flambda/fits-%.csv)
	@(echo item,key,value
	awk -F, '!seen[$$1]++ && /^(n_runs|n_groups|n_distinct|n_nodes|n_columns|rank|n_twins),/ { print $$1 ",all," $$3 }' $<
	cat $^) $(aside)

# ---- trees ----
$(OUT)/flambda/trees.csv: $(OUT)/flambda/settings $(BIN)/flambda-tree $(BIN)/flambda-expand
	@$(call flambda_there,decisions-v1)
	cd $(call flambda_data,decisions-v1)
	out=$(abspath $@)
	flambda-tree --stat --rounds *.sexp > $$out.stat
	for f in *.sexp; do flambda-expand --count "$$f" 2> $$out.why >> $$out.pass || cat $$out.why >&2; done
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
$(OUT)/flambda/pairs.csv: $(OUT)/flambda/settings $(BIN)/flambda-pairs
	@$(call flambda_there,features-v3)
	flambda-pairs $(call flambda_data,features-v3)/*.sexp $(aside)
$(OUT)/flambda/features.csv: $(OUT)/flambda/pairs.csv $(BIN)/flambda-features $(BIN)/flambda-label $(BIN)/fit-audit
	@$(call flambda_perhaps,training-logs)
	$(call flambda_perhaps,rewards)
	(echo item,key,value
	flambda-features --prepare --scale=$@.scale $(call flambda_data,features-v3)/*.sexp | awk 'END { print "n_rows,," NR - 1 }'
	awk -F, 'NR > 1 { n[$$2]++; kept[$$2] += $$3 } END {
	    print "n_numeric,," n["numeric"]; print "n_bool,," n["flag"]
	    print "n_numeric_kept,," kept["numeric"] + 0; print "n_bool_kept,," kept["flag"] + 0 }' $@.scale
	audit() { fit-audit -y label --ignore=program,site,immediate,long_term,no_inline $(@D)/labels.csv | awk -F, -v key=$$1 -v first=$$2 '
	    $$1 == "n_rows" && first { print "n_both,," $$3 }
	    $$1 == "n_distinct" && first { print "n_distinct,," $$3 }
	    $$1 == "ceiling_ratio" { print "ceiling," key "," $$3 }
	    $$1 == "majority_ratio" { print "majority," key "," $$3 }'; }
	flambda-label --rule=lasso -o $(@D)/labels.csv $<
	audit lasso 1
	for t in $(FLAMBDA_TAUS); do flambda-label --rule=ridge --tau=$$t -o $(@D)/labels.csv $<; audit $$t 0; done
	for k in $(call flambda_files,training-logs,*/); do
	    name=$$(basename $$k)
	    flambda-pairs --kind=log $$k/correct.log $$k/incorrect.log > $(@D)/log.csv
	    case $$name in lasso*) rules=lasso ;; *) rules='ridge $(FLAMBDA_TAUS:%=-T %)' ;; esac
	    flambda-label --count --rule=$$rules $(@D)/log.csv | awk -F, -v name=$$name 'NR > 1 { key = name ($$2 == "" ? "" : " tau=" $$2)
	        print "n_labelled," key "," $$3; print "n_doesnt_matter," key "," $$4; print "n_inline," key "," $$5; print "n_apply," key "," $$6
	        print "doesnt_matter_ratio," key "," $$7; print "inline_ratio," key "," $$8; print "apply_ratio," key "," $$9 }'
	done
	for f in $(call flambda_files,rewards,*/*/rewards_dump.sexp); do
	    program=$$(basename $$(dirname $$f)) kind=$$(basename $$(dirname $$(dirname $$f)))
	    flambda-pairs --kind=rewards --program=$$program $$f | awk -F, -v key="$$kind $$program" 'NR > 1 { both += $$4 != "" && $$5 != "" } END {
	        print "n_reward_nodes," key "," NR - 1; print "n_reward_both," key "," both + 0 }'
	done) $(aside)
	rm -f $@.scale $(@D)/labels.csv $(@D)/log.csv
