# flambda.mk - rewards, trees and features from data of the flambda study's layout, DATA=DIR (or DIR/inline):
#   decisions-v0/G/results_I.sexp -> make flambda-decisions, OUT/flambda/decisions.csv
#   decisions-v1/*.sexp           -> make flambda-trees,     OUT/flambda/trees.csv
#   features-v3/*.sexp, training-logs/*/{correct,incorrect}.log, rewards/KIND/PROGRAM/rewards_dump.sexp ->
#                                    make flambda-features,  OUT/flambda/features.csv
# All tables are item,key,value.
# the folder, empty where DATA has none; files in it, none where there is no folder
flambda_data = $(if $(DATA),$(firstword $(wildcard $(DATA)/inline/$(1) $(DATA)/$(1))))
flambda_files = $(if $(call flambda_data,$(1)),$(wildcard $(call flambda_data,$(1))/$(2)))
flambda_there = [ -n '$(call flambda_data,$(1))' ] || { echo "make: no $(1) in DATA='$(DATA)'" >&2; exit 1; }
flambda_perhaps = [ -n '$(call flambda_data,$(1))' ] || \
    echo "make: no $(1) in DATA='$(DATA)', its rows are left out" >&2
FLAMBDA_GAMMAS  ?= 0.4 0.9 0.99 1.0
FLAMBDA_LAMBDAS ?= 0.005 0.05 0.5
FLAMBDA_ALPHAS  ?= 0.5 0.05 0.005 0.0005 0.00005 auto cv
FLAMBDA_TAUS    ?= 0.00001 0.00005 0.0001 0.0005 0.001 0.005 0.01 0.05

flambda-decisions: $(OUT)/flambda/decisions.csv
flambda-trees: $(OUT)/flambda/trees.csv
flambda-features: $(OUT)/flambda/features.csv
.PHONY: flambda-decisions flambda-trees flambda-features

# settings are part of the result, so a change of DATA makes it anew
$(eval $(call asked,$(OUT)/flambda/settings,DATA FLAMBDA_GAMMAS FLAMBDA_LAMBDAS FLAMBDA_ALPHAS FLAMBDA_TAUS))

# ---- decisions: one problem for every decay, then every fit on it ----
$(OUT)/flambda/problem-%.csv $(OUT)/flambda/times-%.csv &: $(OUT)/flambda/settings $(BIN)/inline-problem
	@$(call flambda_there,decisions-v0)
	cd $(call flambda_data,decisions-v0)
	find -L . -name '*.sexp' -printf '%P\0' | sort -zV | xargs -0 inline-problem --gamma=$* \
	    --times=$(abspath $(OUT))/flambda/times-$*.csv -o $(abspath $(OUT))/flambda/problem-$*.csv

# one fit: what inline-reward and inline-best report of it, as item,key,value; what a lasso was asked by alpha is told
# by lambda too
flambda_asked = value mse objective nonzeros r_squared
flambda_counted = n_inlined n_apply n_decl
flambda_is = ($(patsubst ||%,%,$(subst $(space),,$(1:%=||item=='%'))))
define flambda_fit
inline-reward --times=$< --method=$(1) $(2) --target=$$target --samples=0 --report=$@.fit \
    $(subst /times-,/problem-,$<) |
inline-best --gamma=$* --report=$@.best -o $@.decisions
csv-cat $@.fit $@.best | csv-calc --let=of="gamma=$* $(3) target=$$target" --set='item=key' --set='key=of' \
    --set="item=$(call flambda_is,$(flambda_asked)) ? concat('$(1)_', item) : item" \
    --set="item=$(call flambda_is,$(flambda_counted)) ? concat('$(filter-out ridge_,$(1)_)', item) : item" |
    csv-cut -c item,key,value > $@.rows
sed 1d $@.rows >> $(new)
csv-calc --set="key=replace(key, 'alpha=', 'lambda=')" --where="starts(item, 'lasso_') && key ~ 'lambda=[0-9]'" \
    $@.rows | sed 1d >> $(new)
endef
$(OUT)/flambda/fits-%.csv: $(OUT)/flambda/times-%.csv $(BIN)/inline-reward $(BIN)/inline-best
	@echo 'fits at gamma $*'
	echo item,key,value > $(new)
	over="mean $$(csv-calc --where='initial >= 1' --print="'baseline'" $< | sed -n 1p)"
	for x in $$over; do for f in linear log tanh; do target=$${f}_over_$$x
	for l in $(FLAMBDA_LAMBDAS); do
	$(call flambda_fit,ridge,--lambda=$$l,lambda=$$l)
	done
	for a in $(FLAMBDA_ALPHAS); do
	$(call flambda_fit,lasso,--alpha=$$a,alpha=$$a)
	done; done; done
	rm -f $@.fit $@.best $@.decisions $@.rows
	$(call keep,$@)
flambda_sizes = n_runs n_groups n_distinct n_nodes n_columns rank n_twins
$(OUT)/flambda/decisions.csv: $(FLAMBDA_GAMMAS:%=$(OUT)/flambda/fits-%.csv)
	{   csv-where -c item $(flambda_sizes:%=--is=%) $< | csv-dedupe -k item | csv-calc --set="key='all'"
	    csv-cat $^ | sed 1d
	} $(aside)

# ---- trees ----
$(OUT)/flambda/trees-stat.csv: $(OUT)/flambda/settings $(BIN)/flambda-tree
	@$(call flambda_there,decisions-v1)
	(cd $(call flambda_data,decisions-v1) && flambda-tree --stat --rounds *.sexp) $(aside)
# a file that cannot be expanded is said, and left out
$(OUT)/flambda/trees-pass.csv: $(OUT)/flambda/settings $(BIN)/flambda-tree
	@$(call flambda_there,decisions-v1)
	{   cd $(call flambda_data,decisions-v1)
	    for f in *.sexp; do flambda-tree --expand --count "$$f" || true; done
	} $(aside)
$(OUT)/flambda/trees.csv: $(OUT)/flambda/trees-stat.csv $(OUT)/flambda/trees-pass.csv
	{   echo item,key,value
	    csv-calc --where='known(round)' --print="concat('n_decisions_round_', round, ',', file, ',', n_decisions)" $<
	    csv-cut -c file,round,n_lost,n_decl,n_inlined,n_apply,n_unknown,depth $< |
	        csv-pivot --long -k file,round --names=item --values=value > $@.long
	    csv-calc --where='!known(round) || round == 0' --print="concat(item, ',', file, ',', value)" $@.long
	    csv-calc --where='known(round)' --print="concat(item, ',', file, ' round=', round, ',', value)" $@.long
	    rm $@.long
	    csv-calc --where="pass != 'pass'" --print="concat('n_nodes_pass_', pass, ',', file, ',', n_nodes)" $(word 2,$^)
	} $(aside)

# ---- features and labels ----
$(OUT)/flambda/pairs.csv: $(OUT)/flambda/settings $(BIN)/flambda-sites
	@$(call flambda_there,features-v3)
	flambda-sites $(call flambda_data,features-v3)/*.sexp $(aside)
$(OUT)/flambda/features.csv: $(OUT)/flambda/pairs.csv $(BIN)/flambda-label $(BIN)/fit-audit
	@$(call flambda_perhaps,training-logs)
	$(call flambda_perhaps,rewards)
	{   echo item,key,value
	    flambda-sites --standardise --scale=$@.scale $(call flambda_data,features-v3)/*.sexp |
	        csv-calc --print="concat('n_rows,,', row())" | tail -n 1
	    csv-group -g type -c kept --stat=sum $@.scale |
	        csv-calc --set="type=type == 'flag' ? 'bool' : type" --set='kept=sum_kept' > $@.kinds
	    csv-calc --print="concat('n_', type, ',,', n_rows)" $@.kinds
	    csv-calc --print="concat('n_', type, '_kept,,', kept)" $@.kinds
	    audit() {
	        fit-audit -y label --ignore=program,site,immediate,long_term,no_inline $(@D)/labels.csv |
	            csv-calc --let=of=$$1 --let=first=$$2 --set="whole=item == 'n_rows' || item == 'n_distinct'" \
	                --set="item=item == 'n_rows' ? 'n_both' : replace(item, '_ratio', '')" \
	                --where="whole ? first == '1' : item == 'ceiling' || item == 'majority'" \
	                --print="concat(item, ',', whole ? '' : of, ',', value)"
	    }
	    flambda-label --rule=lasso -o $(@D)/labels.csv $<
	    audit lasso 1
	    for t in $(FLAMBDA_TAUS); do
	        flambda-label --rule=ridge --tau=$$t -o $(@D)/labels.csv $<
	        audit $$t 0
	    done
	    for k in $(call flambda_files,training-logs,*/); do
	        flambda-sites --kind=log $$k/correct.log $$k/incorrect.log > $(@D)/log.csv
	        case $${k%/} in */lasso*) rules=lasso ;; *) rules='ridge $(FLAMBDA_TAUS:%=-T %)' ;; esac
	        flambda-label --count --rule=$$rules $(@D)/log.csv |
	            csv-calc --let=name=$$(basename $$k) --set="key=known(tau) ? concat(name, ' tau=', tau) : name" |
	            csv-cut -c key,n_rows,doesnt_matter,inline,apply,doesnt_matter_ratio,inline_ratio,apply_ratio |
	            csv-pivot --long -k key --names=item --values=value |
	            csv-calc --set="item=item == 'n_rows' ? 'labelled' : item" \
	                --print="concat(ends(item, '_ratio') ? '' : 'n_', item, ',', key, ',', value)"
	    done
	    for f in $(call flambda_files,rewards,*/*/rewards_dump.sexp); do
	        program=$$(basename $$(dirname $$f)) kind=$$(basename $$(dirname $$(dirname $$f)))
	        flambda-sites --kind=rewards --program=$$program $$f |
	            csv-calc --set='both=known(long_term) && known(no_inline)' | csv-group -c both --stat=sum |
	            csv-calc --set='nodes=n_rows' --set='both=or(sum_both, 0)' > $@.kinds
	        csv-calc --let=key="$$kind $$program" --print="concat('n_reward_nodes,', key, ',', nodes)" $@.kinds
	        csv-calc --let=key="$$kind $$program" --print="concat('n_reward_both,', key, ',', both)" $@.kinds
	    done
	} > $(new)
	rm -f $@.scale $@.kinds $(@D)/labels.csv $(@D)/log.csv
	$(call keep,$@)
