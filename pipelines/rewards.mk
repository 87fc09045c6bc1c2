# rewards.mk - can the reward model learn what each call is worth, and from which trials?
#   make inline-designs INLINE_NAMES='bzip2 zlib'   trials of several designs, ridge and lasso fitted to them, what
#                                               they propose built, beside the local search at as many builds
#   INLINE_DESIGNS=KIND-TRIALS ..   random, flip, groups, factorial (inline-design --help)
inline_design  = $(inline)/designs
INLINE_DESIGNS ?= $(if $(filter ci test,$(SCALE)),factorial-8 random-8,$(foreach n,16 32,$(foreach \
    k,factorial random flip groups,$k-$n)))
inline_design_shown = program,design,trials,factors,known,certain,model,rule,ratio,best_trial_ratio,local_ratio,kind

inline-designs: $(inline_design)/table.csv
	@echo "Instructions over the default's; local_ratio: the best of as many builds of the local search; losses first"
	csv-sort -k program,trials:n,ratio:nr $< | csv-cut -c $(inline_design_shown) | csv-show --digits=4
.PHONY: inline-designs

$(inline_design)/%/rows.csv: $(inline)/%/w/program.csv $(inline)/%/sites.csv | $(PROGS)
	@mkdir -p $(@D)
	for design in $(INLINE_DESIGNS); do
	    echo "$*: $$design" >&2
	    $(TOP)/pipelines/design $(<D) $(inline)/$*/sites.csv $(@D) $${design%-*} $${design##*-} $(SEED) \
	        > $@.part.$$design
	done
	csv-cat $(INLINE_DESIGNS:%=$@.part.%) $(aside)
	rm $(INLINE_DESIGNS:%=$@.part.%)
# the search's own first builds, all of them: heuristics, beginnings, tests, steps
$(inline_design)/%/table.csv: $(inline_design)/%/rows.csv $(inline)/%/explored
	@default=$$(csv-where -c decisions --is=default $(inline)/$*/history.csv | csv-cut -c instructions | sed -n 2p)
	for n in $(sort $(foreach d,$(INLINE_DESIGNS),$(lastword $(subst -, ,$d)))); do
	    csv-where -c chain --is=reward --not $(inline)/$*/history.csv | csv-where -c state --is=ok |
	        csv-sample --quiet --first=$$((n + 1)) | csv-group -c instructions --stat=min |
	        csv-calc --let=n=$$n --let=d=$$default --let=p=$* --set=program=p --set='trials=number(n)' \
	            --set='local_ratio=min_instructions/number(d)' | csv-cut -c program,trials,local_ratio > $@.$$n
	done
	csv-cat $(sort $(foreach d,$(INLINE_DESIGNS),$@.$(lastword $(subst -, ,$d)))) > $@.local
	csv-join -k trials $< $@.local $(aside)
	rm $@.*
$(inline_design)/table.csv: $(INLINE_NAMES:%=$(inline_design)/%/table.csv)
	@mkdir -p $(@D)
	csv-cat $^ $(aside)
