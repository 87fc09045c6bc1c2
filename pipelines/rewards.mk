# rewards.mk - can the reward model learn what each call is worth, and from which trials?
#   make inline-designs NAMES='bzip2 zlib'      trials of several designs, ridge and lasso fitted to them, what they
#                                               propose built and counted, beside the local search at as many builds
#   DESIGNS=KIND-TRIALS ..   random, flip, groups, factorial (inline-design --help)
DESIGN_OUT = $(OUT)/designs
DESIGNS   ?= $(if $(filter ci test,$(SCALE)),factorial-8 random-8,$(foreach n,16 32,$(foreach \
    k,factorial random flip groups,$k-$n)))
design_shown = program,design,trials,factors,known,certain,model,rule,ratio,best_trial_ratio,local_ratio

inline-designs: $(DESIGN_OUT)/table.csv
	@echo "Instructions over the default's; local_ratio: the best of as many builds of the local search; losses first"
	csv-sort -k program,trials:n,ratio:nr $< | csv-cut -c $(design_shown) | csv-show --digits=4
.PHONY: inline-designs

$(DESIGN_OUT)/%/rows.csv: $(LIVE)/%/w/program.csv $(LIVE)/%/sites.csv | $(PROGS)
	@mkdir -p $(@D)
	for design in $(DESIGNS); do
	    echo "$*: $$design" >&2
	    $(TOP)/pipelines/design $(<D) $(LIVE)/$*/sites.csv $(@D) $${design%-*} $${design##*-} $(SEED) \
	        > $@.part.$$design
	done
	csv-cat $(DESIGNS:%=$@.part.%) $(aside)
	rm $(DESIGNS:%=$@.part.%)
# the search's own first builds, all of them: heuristics, beginnings, tests, steps
$(DESIGN_OUT)/%/table.csv: $(DESIGN_OUT)/%/rows.csv $(LIVE)/%/explored
	@default=$$(csv-where -c decisions --is=default $(LIVE)/$*/history.csv | csv-cut -c instructions | sed -n 2p)
	for n in $(sort $(foreach d,$(DESIGNS),$(lastword $(subst -, ,$d)))); do
	    csv-where -c chain --is=reward --not $(LIVE)/$*/history.csv | csv-where -c state --is=ok |
	        csv-sample --quiet --first=$$((n + 1)) | csv-group -c instructions --stat=min |
	        csv-calc --let=n=$$n --let=d=$$default --let=p=$* --set=program=p --set='trials=number(n)' \
	            --set='local_ratio=min_instructions/number(d)' | csv-cut -c program,trials,local_ratio > $@.$$n
	done
	csv-cat $(sort $(foreach d,$(DESIGNS),$@.$(lastword $(subst -, ,$d)))) > $@.local
	csv-join -k trials $< $@.local $(aside)
	rm $@.*
$(DESIGN_OUT)/table.csv: $(NAMES:%=$(DESIGN_OUT)/%/table.csv)
	@mkdir -p $(@D)
	csv-cat $^ $(aside)
