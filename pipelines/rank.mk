# rank.mk - which nests to measure first, learned from measured ones: make loop-learn for this machine, make loop-rank
# for what that is worth

# ---- make loop-learn: some minutes of measuring, kept where loop-search finds it ----
#   LOOP_LEARN_EACH=60  nests of each problem, of all ranks by the model;  LOOP_LEARN_MOST=12  problems of each kind
LOOP_LEARN_MOST ?= $(if $(filter ci,$(SCALE)),1,6)
LOOP_LEARN_EACH ?= $(if $(filter ci,$(SCALE)),6,100)
loop_rank       := $(loop)/rank
loop-learn: $(loop_rank)/store.csv
	loop-rank $<
.PHONY: loop-learn loop-rank
$(loop_rank)/:
	@mkdir -p $@
# drawn problems of the kinds that people have: seed, how many of each
loop_kinds_drawn = thin='1|2|3|4|16:1024'; deep='16:128:16'; flat='16:512:16'
define loop_rank_drawn
$(loop_kinds_drawn)
	draw() { loop-gen --test=0 --seed=$(1) --sample=$(2) "$$@"; }
	for k in mm mm_nt mm_tn mm_tt; do draw --kind=$$k --m=16:512 --n=16:512 --k=16:512 > $@.$$k; done
	draw --kind=mm --m="$$thin" --n="$$thin" --k=64:2048 > $@.mm-thin
	draw --kind=mm --m=256:1024 --n=256:1024 --k=256:1024 > $@.mm-large
	for k in conv conv_nhwc; do
	    draw --kind=$$k --c="$$flat" --m="$$flat" --h=7:60 --kh=1 --s='1|1|2' > $@.flat-$$k
	    draw --kind=$$k --c="$$deep" --m="$$deep" --h=6:58 --kh=3 --pad=1 --s='1|1|2' > $@.deep-$$k
	done
	csv-cat $@.mm* $@.flat-* $@.deep-* | csv-dedupe -k problem > $(new)
	rm -f $@.mm* $@.flat-* $@.deep-*
	$(call keep,$@)
endef
$(loop_rank)/learn.problems: | $(loop_rank)/
	$(call loop_rank_drawn,$(SEED),$(LOOP_LEARN_MOST))
# the store is appended to while the search runs, so that what is killed goes on; complete, it gets its name
$(loop_rank)/store.csv: $(loop_rank)/learn.problems
	loop-search --algo=heuristic --spread --measure=$(LOOP_LEARN_EACH) --seconds=3 --confirm=0 --seed=$(SEED) \
	    --cache=$@.part $< > $@.rows
	rm $@.rows
	$(loop_whole)

# ---- make loop-rank: the best nest after 1, 3, 10, 30 measurements over that in the model's order: LOOP/rank.csv ----
# Problems that are not learned from; all nests of a pool (the model's first 120 and 40 of all ranks) are measured in
# turns before any way is asked, so that equal picks have equal values.  Ways: trees; held_out: learned without any
# problem of the kind; seed_2 .. other draws of the trees.  Controls in the same scheme: random order, the model's own
# (untrained), and trees of labels permuted within each problem (shuffled).
#   LOOP_RANK_TRAIN=12 LOOP_RANK_TEST=9  problems of each of ten kinds;  LOOP_RANK_ISA=avx2
LOOP_RANK_TRAIN  ?= $(if $(filter ci,$(SCALE)),1,8)
LOOP_RANK_TEST   ?= $(if $(filter ci,$(SCALE)),1,8)
LOOP_RANK_POOL   ?= $(if $(filter ci,$(SCALE)),12,120)
LOOP_RANK_SPREAD ?= $(if $(filter ci,$(SCALE)),6,40)
LOOP_RANK_COUNTS ?= 1 3 10 30
LOOP_RANK_ISA    ?=
LOOP_RANK_AGAIN  ?= --again=4 --rounds=$(if $(filter ci,$(SCALE)),1,3) --leave=1.5
loop_rank_isa     = $(LOOP_RANK_ISA:%=--isa=%)
loop-rank: $(loop)/rank.csv $(BIN)/csv-show
	csv-show $(loop)/rank.csv
$(loop_rank)/test.problems: | $(loop_rank)/
	$(call loop_rank_drawn,$$(( $(SEED) + 1 )),$(LOOP_RANK_TEST))
$(loop_rank)/all.problems: | $(loop_rank)/
	$(call loop_rank_drawn,$$(( $(SEED) + 2 )),$(LOOP_RANK_TRAIN))
$(loop_rank)/train.problems: $(loop_rank)/all.problems $(loop_rank)/test.problems
	csv-join -k problem --keep=unmatched $^ $(aside)
loop_rank_list = loop-search --algo=heuristic --list $(loop_rank_isa) --seed=$(SEED)
$(loop_rank)/%.pool: $(loop_rank)/%.problems
	csv-cat <($(loop_rank_list) --measure=$(LOOP_RANK_POOL) $<) \
	    <($(loop_rank_list) --measure=$(LOOP_RANK_SPREAD) --spread $<) |
	csv-sort -k problem | csv-dedupe -k problem,tree | csv-calc --set=gflops=0 --set='kind=""' $(aside)
$(loop_rank)/%.runs: $(loop_rank)/%.pool
	loop-run --rewrite $(loop_rank_isa) $(LOOP_RANK_AGAIN) $< $(aside)
loop_rank_fit = loop-rank $(loop_rank_isa) -o $@
$(loop_rank)/seed_%.rank: $(loop_rank)/train.runs
	$(loop_rank_fit) --seed=$* $<
$(loop_rank)/shuffled.rank: $(loop_rank)/train.runs
	$(loop_rank_fit) --shuffle $<
# a kind is the first word of a problem; its file lacks it
loop_rank_kinds := mm mm_nt mm_tn mm_tt conv conv_nhwc
$(loop_rank)/without_%.rank: $(loop_rank)/train.runs
	csv-calc --where="problem !~ '^[(]$* '" $< | $(loop_rank_fit) -
loop_rank_order = loop-rank $(loop_rank_isa) --model=$(1)
loop_rank_orders := trees model untrained random
$(loop_rank_orders:%=$(loop_rank)/%.places): $(loop_rank)/%.places: $(loop_rank)/test.runs $(loop_rank)/seed_1.rank
	$(call loop_rank_order,$(word 2,$^)) --order=$* $< $(aside)
$(loop_rank)/seed_%.places: $(loop_rank)/test.runs $(loop_rank)/seed_%.rank
	$(call loop_rank_order,$(word 2,$^)) $< $(aside)
$(loop_rank)/shuffled.places: $(loop_rank)/test.runs $(loop_rank)/shuffled.rank
	$(call loop_rank_order,$(word 2,$^)) $< $(aside)
$(loop_rank)/kind-%.places: $(loop_rank)/test.runs $(loop_rank)/without_%.rank
	csv-calc --where="problem ~ '^[(]$* '" $< | $(call loop_rank_order,$(word 2,$^)) - $(aside)
$(loop_rank)/held_out.places: $(loop_rank_kinds:%=$(loop_rank)/kind-%.places)
	csv-cat $^ $(aside)
loop_rank_ways := trees held_out untrained random shuffled seed_2 seed_3 seed_4 seed_5
# the best of the first of each, over that of the model's
loop_rank_best = csv-calc --where='place < $(1)' $(2) | csv-group -g problem -c gflops --stat=max
loop_rank_over = csv-join --quiet --suffix=_model -k problem <($(call loop_rank_best,$(2),$(1))) \
    <($(call loop_rank_best,$(2),$(loop_rank)/model.places)) | \
    csv-calc --set='way="$(notdir $(basename $(1)))"' --set='measurements=$(2)' \
	--set='ratio=log(max_gflops / max_gflops_model)' --set="kind=part(part(problem, ' ', 1), '(', 2)"
$(loop_rank)/over.csv: $(patsubst %,$(loop_rank)/%.places,model $(loop_rank_ways))
	csv-cat $(foreach w,$(loop_rank_ways),$(foreach n,$(LOOP_RANK_COUNTS),\
	    <($(call loop_rank_over,$(loop_rank)/$(w).places,$(n))))) $(aside)
loop_rank_mean = csv-group -g $(1),way,measurements -c ratio --stat=n,mean,sd,min | \
    csv-calc --set='ratio=round(exp(mean_ratio), 4)' --set='about=2 * sd_ratio / sqrt(n_ratio)' \
	--set='low_ratio=round(exp(mean_ratio - about), 4)' --set='high_ratio=round(exp(mean_ratio + about), 4)' \
	--set='least_ratio=round(exp(min_ratio), 4)' --set='problems=n_ratio' --set='result="real"' | \
    csv-cut -c $(1),way,measurements,problems,ratio,low_ratio,high_ratio,least_ratio
$(loop)/rank.csv: $(loop_rank)/over.csv
	csv-cat <(csv-calc --set='kind="all"' $< | $(call loop_rank_mean,kind)) \
	    <(csv-calc --where='way == "trees" || way == "held_out"' $< | $(call loop_rank_mean,kind)) |
	csv-sort -k way,kind,measurements:n $(aside)
