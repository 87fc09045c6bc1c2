# policies.mk - policies for loop nests, learned and measured: 25 unseen sizes, convolutions, LoopTune's experiment

# ---- make loop-policy: a policy trained by the model on the training sizes of a grid, measured on the unseen ones ----
# make loop-transfer: the same policies on convolutions, in LOOP/transfer.csv
# make loop-table: all learners and roll-outs beside the searches, in LOOP/policy-table.csv and figures
# `policy` is the policy alone: it says which nests are measured, and nothing else does; `_by_model` where the analytic
# model does, of the states that the policy went through.  A control (untrained) has the same options.
#   LOOP_ACTIONS=moves LOOP_STARTS=3  what policies may do, and where episodes begin, as of loop-train; 
#   LOOP_LEARNER=ppo  which policy is mm.policy
#   LOOP_LEARN_STEPS=  steps to learn from, each learner's own by default
#   LOOP_LONG=60  seconds of random search on 8 of the unseen sizes;  LOOP_SHORT=2  of each search on 12 of them;
#   random search of 1 s on all
loop_learn       := $(loop)/learn
LOOP_LEARNER     ?= ppo
LOOP_ACTIONS     ?= moves
LOOP_STARTS      ?= 3
LOOP_LEARNERS    ?= ppo dqn apex
LOOP_LEARN_STEPS ?=
LOOP_LONG        ?= 60
LOOP_SHORT       ?= 2
loop-policy: $(loop_learn)/summary.csv $(loop_learn)/learning.svg $(loop_learn)/learning.png $(BIN)/csv-show
	csv-show $(loop_learn)/summary.csv
loop-table: $(loop)/policy-table.csv $(loop)/policy-table.svg $(loop)/policy-table.png $(loop_learn)/learners.svg \
    $(loop_learn)/learners.png $(BIN)/csv-show
	csv-show $(loop)/policy-table.csv
.PHONY: loop-policy loop-table
$(loop_learn)/ $(loop_learn)/eval/:
	@mkdir -p $@
loop_grid = 64:256:$(LOOP_LEARN_GRID)
$(loop_learn)/problems.csv: | $(loop_learn)/
	loop-gen --kind=mm --m=$(loop_grid) --n=$(loop_grid) --k=$(loop_grid) --seed=$(SEED) $(aside)
$(loop_learn)/test.csv: $(loop_learn)/problems.csv
	csv-where -c split --is=test $< $(aside)
$(loop_learn)/test8.csv: $(loop_learn)/test.csv
	csv-sample -n 8 --seed=$(SEED) $< $(aside)
$(loop_learn)/test12.csv: $(loop_learn)/test.csv
	csv-sample -n 12 --seed=$(SEED) $< $(aside)
# the curve grows while it learns: $(TOP)/plots/loop-learning.gp draws what is there, again and again when told to
$(loop_learn)/%.policy: $(loop_learn)/problems.csv
	loop-train --algo=$* --eval=model $(LOOP_LEARN_STEPS:%=--steps=%) --seed=$(SEED) --checkpoint=$@.checkpoint \
	    --actions=$(LOOP_ACTIONS) --starts=$(LOOP_STARTS) -o $@ $< > $(@D)/$*.curve
# a network that has learned nothing
$(loop_learn)/untrained.policy: $(loop_learn)/problems.csv
	loop-train --algo=$(LOOP_LEARNER) --eval=model --steps=16 --seed=$(SEED) --actions=$(LOOP_ACTIONS) -o $@ $< > \
	    $(@D)/untrained.curve
$(loop_learn)/mm.policy: $(loop_learn)/$(LOOP_LEARNER).policy
	cp $(loop_learn)/$(LOOP_LEARNER).curve $(loop_learn)/curve.csv
	cat $< $(aside)
$(loop_learn)/policy.csv: $(loop_learn)/mm.policy $(loop_learn)/test.csv
	$(call loop_ten,$<,policy) $(word 2,$^) $(aside)
$(loop_learn)/untrained.csv: $(loop_learn)/untrained.policy $(loop_learn)/test.csv
	$(call loop_ten,$<,untrained) $(word 2,$^) $(aside)
$(loop_learn)/heuristic.csv: $(loop_learn)/test.csv
	$(loop_search) --algo=heuristic --measure=24 $< $(aside)
$(loop_learn)/random.csv: $(loop_learn)/test.csv
	$(loop_search) --algo=random --seconds=0.1 --seed=$(SEED) $< $(aside)
$(loop_learn)/traces.csv: $(patsubst %,$(loop_learn)/%.csv,policy untrained heuristic random)
	$(loop_measured_again)
$(loop_learn)/summary.csv: $(loop_learn)/traces.csv $(BIN)/loop-eval
	loop-eval --published $< $(aside)
$(loop_learn)/learning.svg $(loop_learn)/learning.png: $(loop_learn)/mm.policy $(TOP)/plots/loop-learning.gp
	gnuplot -c $(TOP)/plots/loop-learning.gp $(loop_learn)/curve.csv $(loop_new) $(LOOP_LEARNER) && $(loop_drawn)
$(loop_learn)/learners.csv: $(LOOP_LEARNERS:%=$(loop_learn)/%.policy) $(BIN)/csv-cat
	csv-cat $(LOOP_LEARNERS:%=$(loop_learn)/%.curve) $(aside)
$(loop_learn)/learners.svg $(loop_learn)/learners.png: $(loop_learn)/learners.csv $(TOP)/plots/loop-learning.gp
	gnuplot -c $(TOP)/plots/loop-learning.gp $< $(loop_new) '$(LOOP_LEARNERS)' && $(loop_drawn)

# the table: each policy with 10 measurements of a beam, which it or the model chooses; with the last state of a beam,
# and of its likeliest actions; searches
loop_roll = loop-roll --policy=$< --name=$(basename $(@F)) $(1) $(loop_learn)/test.csv $(aside)
loop_heads := $(LOOP_LEARNERS) untrained
$(loop_heads:%=$(loop_learn)/eval/%_ten.csv): $(loop_learn)/eval/%_ten.csv: $(loop_learn)/%.policy \
    $(loop_learn)/test.csv | $(loop_learn)/eval/
	$(call loop_roll,--measure=10)
$(loop_heads:%=$(loop_learn)/eval/%_by_model.csv): $(loop_learn)/eval/%_by_model.csv: $(loop_learn)/%.policy \
    $(loop_learn)/test.csv | $(loop_learn)/eval/
	$(call loop_roll,--measure=10 --rank=model)
$(loop_heads:%=$(loop_learn)/eval/%_beam.csv): $(loop_learn)/eval/%_beam.csv: $(loop_learn)/%.policy \
    $(loop_learn)/test.csv | $(loop_learn)/eval/
	$(call loop_roll,--measure=2)
$(loop_heads:%=$(loop_learn)/eval/%_argmax.csv): $(loop_learn)/eval/%_argmax.csv: $(loop_learn)/%.policy \
    $(loop_learn)/test.csv | $(loop_learn)/eval/
	$(call loop_roll,--measure=2 --width=1)
loop_table_searches := greedy1 greedy2 beam2dfs beam4dfs beam2bfs beam4bfs
$(loop_learn)/eval/heuristic.csv: $(loop_learn)/test.csv | $(loop_learn)/eval/
	loop-search --algo=heuristic --measure=24 $< $(aside)
$(loop_learn)/eval/random_1s.csv: $(loop_learn)/test.csv | $(loop_learn)/eval/
	loop-search --algo=random --name=random_1s --actions=published --seconds=1 --seed=$(SEED) $< $(aside)
$(loop_learn)/eval/random_$(LOOP_LONG)s.csv: $(loop_learn)/test8.csv | $(loop_learn)/eval/
	loop-search --algo=random --name=random_$(LOOP_LONG)s --actions=published --seconds=$(LOOP_LONG) --seed=$(SEED) \
	    --out=$@.part $<
	$(loop_whole)
$(loop_table_searches:%=$(loop_learn)/eval/%.csv): $(loop_learn)/eval/%.csv: $(loop_learn)/test12.csv | \
    $(loop_learn)/eval/
	loop-search --algo=$* --actions=published --seconds=$(LOOP_SHORT) --seed=$(SEED) $< $(aside)
$(loop_learn)/eval/%_published.csv: $(loop_learn)/test12.csv | $(loop_learn)/eval/
	loop-search --algo=$* --as-published --seconds=$(LOOP_SHORT) --seed=$(SEED) $< $(aside)
loop_rolls := $(foreach h,ten by_model beam argmax,$(loop_heads:%=%_$(h)))
loop_table := $(loop_rolls) heuristic random_1s random_$(LOOP_LONG)s $(loop_table_searches) \
    $(loop_table_searches:%=%_published)
$(loop_learn)/eval-traces.csv: $(loop_table:%=$(loop_learn)/eval/%.csv)
	$(loop_measured_again)
$(loop)/policy-table.csv: $(loop_learn)/eval-traces.csv $(BIN)/loop-eval
	loop-eval --published $< $(aside)
$(loop)/policy-table.svg $(loop)/policy-table.png: $(loop)/policy-table.csv $(TOP)/plots/loop-policy.gp
	csv-where -c kind --is=real $< > $(@D)/policy-real.csv
	gnuplot -c $(TOP)/plots/loop-policy.gp $(@D)/policy-real.csv $(loop_new) && $(loop_drawn)

# ---- make loop-transfer: what a policy learned is worth on convolutions of networks that it never saw ----
# products: learned on matrix products only (mm.policy); shapes: on products and convolutions whose sizes are drawn by
# seed, none of them a layer of these networks; untrained: nothing.  Each measures ten nests that it chose itself.
# Beside them the analytic search with 24 measurements, and searches of LOOP_SHORT seconds.  The best nest of each is
# measured again in the end, all of a problem one right after the other.
LOOP_TRANSFER_STEPS    ?= 1200000
LOOP_TRANSFER_SETS     ?= resnet50-nhwc vgg19-nhwc resnet50-nchw vgg19-nchw
LOOP_TRANSFER_SEARCHES ?= anneal
loop_transfer          := $(loop)/transfer
loop_layers            := $(foreach n,resnet50 vgg19,$(foreach l,nhwc nchw,$(loop_transfer)/$(n)-$(l).problems))
loop-transfer: $(loop)/transfer.csv $(BIN)/csv-show
	csv-show $(loop)/transfer.csv
.PHONY: loop-transfer
$(loop_transfer)/:
	@mkdir -p $@
$(loop_layers): $(loop_transfer)/%.problems: | $(loop_transfer)/
	loop-gen --set=$(firstword $(subst -, ,$*)) --layout=$(lastword $(subst -, ,$*)) --test=0 $(aside)
loop_sample = loop-gen --test=0 --seed=$(SEED) --sample
$(loop_transfer)/problems.csv: $(loop_layers) | $(loop_transfer)/
	deep='16:512:16|64:512:64|128:512:128' flat='16:2048:16|64:2048:64|128:1024:128'
	for k in conv conv_nhwc; do
	    $(loop_sample)=1000 --kind=$$k --c="$$flat" --m="$$flat" --h=7:60 --kh=1 --s='1|1|2' > $@.1x1-$$k
	    $(loop_sample)=1000 --kind=$$k --c="$$deep" --m="$$deep" --h=6:228 --kh=3 --pad=1 --s='1|1|2' > $@.3x3-$$k
	    $(loop_sample)=200 --kind=$$k --c=1:8 --m=16:128:16 --h=24:256 --kh='3|5|7|9' --s='1|2' > $@.first-$$k
	done
	for k in mm mm_nt mm_tn mm_tt; do $(loop_sample)=200 --kind=$$k --m=8:512 --n=8:512 --k=8:512 > $@.$$k; done
	csv-cat $(loop_layers) > $@.layers
	csv-cat $@.1x1-* $@.3x3-* $@.first-* $@.mm* | csv-join -k problem --keep=unmatched - $@.layers > $(new)
	rm -f $@.1x1-* $@.3x3-* $@.first-* $@.mm* $@.layers
	$(call keep,$@)
$(loop_transfer)/shapes.policy: $(loop_transfer)/problems.csv
	loop-train --algo=ppo --actions=moves --reward=ratio --entropy=0.03 --starts=4 --eval=model --length=12 \
	    --steps=$(LOOP_TRANSFER_STEPS) \
	    --seed=$(SEED) --checkpoint=$@.checkpoint -o $@ $< > $(@D)/shapes.curve
loop_top10 = loop-roll --policy=$< --name=$(1) --measure=10 --width=32
$(loop_transfer)/%.products: $(loop_learn)/mm.policy $(loop_transfer)/%.problems
	$(call loop_top10,products) $(word 2,$^) $(aside)
$(loop_transfer)/%.shapes: $(loop_transfer)/shapes.policy $(loop_transfer)/%.problems
	$(call loop_top10,shapes) $(word 2,$^) $(aside)
$(loop_transfer)/%.untrained: $(loop_learn)/untrained.policy $(loop_transfer)/%.problems
	$(call loop_top10,untrained) $(word 2,$^) $(aside)
$(loop_transfer)/%.heuristic: $(loop_transfer)/%.problems
	loop-search --algo=heuristic --measure=24 --seconds=3 --out=$@.part $<
	$(loop_whole)
# the algo is the end of the name
loop_transfer_search = loop-search --algo=$(subst .,,$(suffix $@)) --actions=full --steps=40 --seconds=$(LOOP_SHORT) \
    --seed=$(SEED) --out=$@.part $<
$(loop_transfer)/%.anneal: $(loop_transfer)/%.problems
	$(loop_transfer_search)
	$(loop_whole)
loop_transfer_ways := products shapes untrained heuristic $(LOOP_TRANSFER_SEARCHES)
$(loop_transfer)/%.traces: $(addprefix $(loop_transfer)/%.,$(loop_transfer_ways))
	csv-cat $^ | loop-run --rewrite --last --again=8 --rounds=3 $(aside)
$(loop_transfer)/eval/%: $(loop_transfer)/%.traces $(BIN)/loop-eval | $(loop_transfer)/eval/
	loop-eval $< $(aside)
$(loop)/transfer.csv: $(LOOP_TRANSFER_SETS:%=$(loop_transfer)/eval/%) $(BIN)/csv-cat
	(cd $(loop_transfer)/eval && csv-cat --source=set $(LOOP_TRANSFER_SETS)) $(aside)

# ---- make loop-study: LoopTune's experiment: seven actions, ten steps, APEX on products of 64 to 256, 25 unseen ----
# Quality against the time of a search, in LOOP/study.csv and a picture with a logarithmic axis, every method in it.
# Searches have LOOP_STUDY_SECONDS, each; 60 is the study's (SCALE=full).  The policy and the network that has learned
# nothing follow their likeliest actions, or measure ten nests; the analytic search measures 1, 10 and 24.
LOOP_STUDY_SECONDS ?= $(if $(filter full,$(SCALE)),60,1 4)
LOOP_STUDY_STEPS   ?= $(if $(filter ci,$(SCALE)),500)
loop_study         := $(loop)/study
loop-study: $(loop)/study.csv $(loop)/study.svg $(loop)/study.png $(BIN)/csv-show
	csv-show $(loop)/study.csv
.PHONY: loop-study
$(loop_study)/:
	@mkdir -p $@
$(loop_study)/apex.policy: $(loop_learn)/problems.csv | $(loop_study)/
	loop-train --algo=apex --actions=published --eval=model $(LOOP_STUDY_STEPS:%=--steps=%) --seed=$(SEED) \
	    --checkpoint=$@.checkpoint -o $@ $< > $(@D)/apex.curve
$(loop_study)/untrained.policy: $(loop_learn)/problems.csv | $(loop_study)/
	loop-train --algo=apex --actions=published --eval=model --steps=16 --seed=$(SEED) -o $@ $< > $(@D)/untrained.curve
loop_study_part = $(word $(1),$(subst -, ,$(basename $(@F))))
$(loop_study)/%-argmax.csv: $(loop_study)/%.policy $(loop)/sample.csv
	loop-roll --policy=$< --name=$*-argmax --measure=2 --width=1 --confirm=0 $(word 2,$^) $(aside)
$(loop_study)/%-ten.csv: $(loop_study)/%.policy $(loop)/sample.csv
	loop-roll --policy=$< --name=$*-ten --measure=10 --confirm=0 $(word 2,$^) $(aside)
$(loop_study)/heuristic-%.csv: $(loop)/sample.csv | $(loop_study)/
	loop-search --algo=heuristic --name=heuristic-$* --measure=$* --confirm=0 $< $(aside)
$(loop_study)/search-%.csv: $(loop)/sample.csv | $(loop_study)/
	loop-search --algo=$(call loop_study_part,2) --name=$* --actions=published --seconds=$(call loop_study_part,3) \
	    --confirm=0 --seed=$(SEED) --out=$@.part $<
	$(loop_whole)
loop_study_searches := greedy1 greedy2 beam2dfs beam4dfs beam2bfs beam4bfs random
loop_study_rows := $(foreach h,apex untrained,$(h)-argmax $(h)-ten) $(foreach n,1 10 24,heuristic-$(n)) \
    $(foreach a,$(loop_study_searches),$(LOOP_STUDY_SECONDS:%=search-$(a)-%))
$(eval $(call asked,$(loop_study)/asked,LOOP_STUDY_SECONDS))
$(loop_study)/traces.csv: $(loop_study_rows:%=$(loop_study)/%.csv) $(loop_study)/asked
	csv-cat $(filter %.csv,$^) | loop-run --rewrite --last --again=8 --rounds=3 $(aside)
$(loop)/study.csv: $(loop_study)/traces.csv $(BIN)/loop-eval $(BIN)/csv-calc
	loop-eval $< | csv-calc --set="method=part(algo, '-', 1)" | \
	    csv-cut -c method,algo,problems,best_ratio,least_best_ratio,mean_seconds,max_seconds,kind | \
	    csv-sort -k mean_seconds $(aside)
$(loop)/study.svg $(loop)/study.png: $(loop)/study.csv $(TOP)/plots/loop-study.gp
	$(call draw,loop-study,$<)
