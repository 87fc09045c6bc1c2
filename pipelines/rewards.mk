# rewards.mk - can the reward model learn what each call is worth, and from which trials?
#   make inline-designs INLINE_NAMES='bzip2 zlib'   trials of several designs, ridge and lasso fitted to them, what
#                                               they propose built, beside the local search at as many builds
#   INLINE_DESIGNS=KIND-TRIALS ..   random, flip, groups, factorial (inline-design --help)
#   INLINE_DESIGN_SEEDS='1 2 3'     all of it again with each
# Models: ridge and lasso of the program's instructions (inline-reward), functions of each function's (inline-worth)
inline_design  = $(inline)/designs
INLINE_DESIGNS ?= $(if $(filter ci test,$(SCALE)),factorial-8 random-8,$(foreach n,16 32,$(foreach \
    k,factorial random flip groups,$k-$n)))
INLINE_DESIGN_SEEDS ?= $(SEED)
inline_design_sizes = $(sort $(foreach d,$(INLINE_DESIGNS),$(lastword $(subst -, ,$d))))
inline_design_mean  = csv-group -g program,design,trials,model,rule,kind $(strip \
    ) -c ratio,best_trial_ratio,local_ratio,known,certain,factors --stat=mean,min,max $(strip \
    ) | csv-cut -c program,design,trials,model,rule,mean_factors,mean_known,mean_certain,mean_ratio,$(strip \
    )min_ratio,max_ratio,mean_best_trial_ratio,mean_local_ratio,kind

inline-designs: $(inline_design)/table.csv
	@echo "Instructions over the default's, means of seeds; local_ratio: the local search with one build more, as the"
	echo "models had for what they propose; losses first"
	$(inline_design_mean) $< | csv-sort -k program,trials:n,mean_ratio:nr | csv-show --digits=4
.PHONY: inline-designs

$(inline_design)/%/rows.csv: $(inline)/%/w/program.csv $(inline)/%/sites.csv | $(PROGS)
	@mkdir -p $(@D)
	for seed in $(INLINE_DESIGN_SEEDS); do
	    for design in $(INLINE_DESIGNS); do
	        echo "$*: $$design, seed $$seed" >&2
	        $(TOP)/pipelines/design $(<D) $(inline)/$*/sites.csv $(@D) $${design%-*} $${design##*-} $$seed \
	            > $@.part.$$design-$$seed
	    done
	done
	csv-cat $@.part.* > $(new)
	rm $@.part.*
	$(call keep,$@)
# the search's own first builds, all of them: heuristics, beginnings, tests, steps
$(inline_design)/%/local.csv: $(inline)/%/w/program.csv $(inline)/%/sites.csv | $(PROGS)
	@mkdir -p $(@D)
	for seed in $(INLINE_DESIGN_SEEDS); do
	    mkdir -p $(@D)/local-$$seed
	    cp $(inline)/$*/sites.csv $(@D)/local-$$seed/
	    $(TOP)/pipelines/explore $(<D) $(@D)/local-$$seed $$(($(lastword $(inline_design_sizes)) + 2)) $$seed 1 \
	        $(INLINE_GOAL) >&2
	    history=$(@D)/local-$$seed/history.csv
	    default=$$(csv-where -c decisions --is=default $$history | csv-cut -c instructions | sed -n 2p)
	    for n in $(inline_design_sizes); do
	        csv-where -c state --is=ok $$history | csv-sample --quiet --first=$$((n + 2)) |
	            csv-group -c instructions --stat=min | csv-calc --let=n=$$n --let=d=$$default --let=p=$* --let=s=$$seed \
	                --set=program=p --set='trials=number(n)' --set='seed=number(s)' \
	                --set='local_ratio=min_instructions/number(d)' |
	            csv-cut -c program,seed,trials,local_ratio > $@.part.$$seed-$$n
	    done
	done
	csv-cat $@.part.* > $(new)
	rm $@.part.*
	$(call keep,$@)
$(inline_design)/%/table.csv: $(inline_design)/%/rows.csv $(inline_design)/%/local.csv
	@csv-join -k seed,trials $^ $(aside)
$(inline_design)/table.csv: $(INLINE_NAMES:%=$(inline_design)/%/table.csv)
	@mkdir -p $(@D)
	csv-cat $^ $(aside)
