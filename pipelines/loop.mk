# loop.mk - make loop: problems, searches, training, peers, comparison and figures of the loop family, in OUT/loop.
#   SCALE=default  343 matrix products, searches of 0.4 s;  SCALE=full  the 2197 of the study, searches of 60 s
#   LOOP_EVAL=model  searches and the policy ask the model, an evaluation counts as 0.1 ms: what they find is the same
#                    each time, and of kind simulated; only what the peers are compared with is measured
# Every file is one measurement, written aside and renamed; what is there is not measured again, and a search goes on
# where it was killed (.part).
loop := $(OUT)/loop
ifeq ($(SCALE),full)
LOOP_STEP    ?= 16
LOOP_SECONDS ?= 60
else ifeq ($(SCALE),ci)
LOOP_STEP        ?= 96
LOOP_SECONDS     ?= 0.02
LOOP_ROUNDS      ?= 1
LOOP_SETS        ?= transposed ragged
LOOP_LEARN_STEPS ?= 2000
LOOP_LEARN_GRID  ?= 48
LOOP_LONG        ?= 0.5
LOOP_SHORT       ?= 0.02
LOOP_PEERS       ?= openblas onednn
LOOP_ALL         ?= openblas onednn numpy gcc
LOOP_PEER_SETS   ?= attention.f32.0 ragged.f32.0 bert.u8s8.1
LOOP_PEER_MEASURE ?= 4
LOOP_PEER_SECONDS ?= 0.2
LOOP_TRANSFER_STEPS    ?= 2000
LOOP_TRANSFER_SETS     ?= resnet50-nhwc
LOOP_TRANSFER_SEARCHES ?= anneal
LOOP_STUDY_SECONDS     ?= 0.02
else
LOOP_STEP    ?= 32
LOOP_SECONDS ?= 0.4
endif
loop_sizes    := $(shell seq 64 $(LOOP_STEP) 256)
LOOP_ROUNDS   ?= 10
LOOP_EVAL     ?= run
LOOP_LEARN_GRID ?= 16
LOOP_SEARCHES ?= greedy1 greedy2 beam2dfs beam4dfs beam2bfs beam4bfs random anneal
LOOP_BROKEN   ?= greedy1 greedy2 beam2dfs beam4dfs beam2bfs beam4bfs random
# those that are ever the fastest; all others are asked for a few products
LOOP_PEERS ?= openblas openblas-core onednn libxsmm
LOOP_ALL   ?= $(LOOP_PEERS) blis blis-core numpy gcc clang
LOOP_SETS ?= resnet50-nchw resnet50-nhwc vgg19-nchw vgg19-nhwc transposed ragged
ifeq ($(filter run model,$(LOOP_EVAL)),)
$(error LOOP_EVAL='$(LOOP_EVAL)': run or model)
endif
# the machine, measured once, before all else as what is included is; LOOP_MACHINE=built-in: not.  What loop-rank learns
# is for searches as a user types them, which ask the built-in one.
LOOP_MACHINE ?= measured
loop_pipelines := $(filter-out loop-learn loop-rank,$(filter loop loop-%,$(asked_pipelines)))
ifneq ($(if $(findstring n,$(short)),,$(if $(filter measured,$(LOOP_MACHINE)),$(filter run,$(LOOP_EVAL)))),)
ifneq ($(loop_pipelines),)
include $(loop)/machine.mk
$(loop)/machine.csv: | $B/ready $(loop)/
	loop-machine $(aside)
$(loop)/machine.mk: $(loop)/machine.csv
	echo 'export MILLRACE_LOOP_MACHINE := $(abspath $<)' $(aside)
endif
endif
loop_search = loop-search --eval=$(LOOP_EVAL)
# a search goes on in FILE.part where it was killed; whole, it gets its name
loop_whole = $(TOP)/pipelines/keep $@.part $@
loop_libs = $(subst $(empty) $(empty),$(comma),$(strip ours $(1)))
loop_peak_in = $$(csv-group -c gflops --stat=max $(1) | csv-cut -c max_gflops | tail -n 1)
loop_peak = $(call loop_peak_in,$(loop)/peak.csv)

loop_bars    := $(LOOP_SETS:%=bars-%) bars-peers
loop_figures := violin steps roofline curve $(loop_bars)
loop: $(loop)/summary.csv $(loop)/compare.csv loop-policy $(loop_figures:%=$(loop)/%.svg) \
    $(loop_figures:%=$(loop)/%.png) $(BIN)/csv-show
	csv-show $(loop)/summary.csv
	csv-show $(loop)/compare.csv
.PHONY: loop

$(loop)/ $(loop)/search/ $(loop)/mm/ $(loop)/set/:
	@mkdir -p $@
$(loop)/peak.csv: | $(loop)/
	loop-machine --peak $(aside)

# ---- searches, as meant and as published, and the policy, on 25 sizes that the policy has not seen; beside the policy,
# with the same options, a network that has learned nothing ----
$(loop)/sample.csv: $(loop)/learn/test.csv | $(loop)/
	csv-sample -n 25 --seed=$(SEED) $< $(aside)
$(loop)/search/%.csv: $(loop)/sample.csv | $(loop)/search/
	$(loop_search) --algo=$* --actions=published --seconds=$(LOOP_SECONDS) --seed=$(SEED) --out=$@.part $<
	$(loop_whole)
$(loop)/search/%_published.csv: $(loop)/sample.csv | $(loop)/search/
	$(loop_search) --algo=$* --as-published --seconds=$(LOOP_SECONDS) --seed=$(SEED) --out=$@.part $<
	$(loop_whole)
$(loop)/search/heuristic.csv: $(loop)/sample.csv | $(loop)/search/
	$(loop_search) --algo=heuristic --seconds=$(LOOP_SECONDS) --out=$@.part $<
	$(loop_whole)
loop_ten = loop-roll --policy=$(1) --name=$(2) --eval=$(LOOP_EVAL) --measure=10
$(loop)/search/policy.csv: $(loop)/sample.csv $(loop)/learn/mm.policy | $(loop)/search/
	$(call loop_ten,$(word 2,$^),policy) $< $(aside)
$(loop)/search/untrained.csv: $(loop)/sample.csv $(loop)/learn/untrained.policy | $(loop)/search/
	$(call loop_ten,$(word 2,$^),untrained) $< $(aside)
loop_algos  := $(LOOP_SEARCHES) heuristic policy untrained $(LOOP_BROKEN:%=%_published)
loop_traces := $(loop_algos:%=$(loop)/search/%.csv)
# the clock of a machine drifts in minutes: all nests of a problem are measured once more, one right after the other,
# in three rounds of which the best counts; what the model said stays so
loop_again_run      = loop-run --rewrite --again=8 --rounds=3
loop_again_model    = cat
loop_measured_again = csv-cat $(filter %.csv,$^) | $(loop_again_$(LOOP_EVAL)) $(aside)
loop_asked := loop_algos loop_sizes LOOP_EVAL LOOP_SECONDS LOOP_SETS LOOP_PEERS LOOP_ALL LOOP_ROUNDS
$(eval $(call asked,$(loop)/asked,$(loop_asked)))
$(loop)/traces.csv: $(loop_traces) $(loop)/asked
	$(loop_measured_again)
$(loop)/again-peak.csv: $(loop)/traces.csv
	loop-machine --peak $(aside)
$(loop)/summary.csv: $(loop)/traces.csv $(loop)/again-peak.csv $(BIN)/loop-eval
	loop-eval --published --peak=$(call loop_peak_in,$(word 2,$^)) $< $(aside)

# ---- the best schedule of every product, and of the other sets, against the peers ----
$(loop)/mm/%.csv: | $(loop)/mm/
	loop-gen --kind=mm --m=$* --n=64:256:$(LOOP_STEP) --k=64:256:$(LOOP_STEP) --test=0 |
	$(loop_search) --algo=heuristic --measure=24 --out=$@.part
	$(loop_whole)
$(loop)/mm/%.peers: $(loop)/mm/%.csv
	loop-peer --lib=$(call loop_libs,$(LOOP_PEERS)) --rounds=$(LOOP_ROUNDS) $< $(aside)
$(loop)/mm.csv: $(loop_sizes:%=$(loop)/mm/%.peers) $(loop)/asked $(BIN)/csv-cat
	csv-cat $(filter %.peers,$^) $(aside)
$(loop)/set/resnet50-%.problems: | $(loop)/set/
	loop-gen --set=resnet50 --layout=$* --test=0 $(aside)
$(loop)/set/vgg19-%.problems: | $(loop)/set/
	loop-gen --set=vgg19 --layout=$* --test=0 $(aside)
# of elements of a type
define loop_transposed
for k in mm_nt mm_tn mm_tt; do
	    loop-gen --kind=$$k --m=64:256:96 --n=64:256:96 --k=64:256:96 --type=$(1) --test=0 > $@.$$k
	done
	csv-cat $@.mm_nt $@.mm_tn $@.mm_tt > $(new)
	rm $@.mm_*
	$(call keep,$@)
endef
loop_ragged = loop-gen --kind=mm --m=50:250:67 --n=61:251:63 --k=53:253:67 --type=$(1) --test=0
$(loop)/set/transposed.problems: | $(loop)/set/
	$(call loop_transposed,f32)
$(loop)/set/ragged.problems: | $(loop)/set/
	$(call loop_ragged,f32) $(aside)
$(loop)/set/peers.problems: | $(loop)/set/
	loop-gen --kind=mm --m=64$(comma)208 --n=96$(comma)256 --k=80$(comma)240 --test=0 $(aside)
$(loop)/set/%.csv: $(loop)/set/%.problems
	$(loop_search) --algo=heuristic --measure=24 --seconds=3 --out=$@.part $<
	$(loop_whole)
$(loop)/set/%.peers: $(loop)/set/%.csv
	loop-peer --lib=$(call loop_libs,$(LOOP_PEERS)) --rounds=$(LOOP_ROUNDS) $< $(aside)
$(loop)/set/peers.peers: $(loop)/set/peers.csv
	loop-peer --lib=$(call loop_libs,$(LOOP_ALL)) --rounds=$(LOOP_ROUNDS) $< $(aside)
loop_compared := $(loop)/mm.csv $(LOOP_SETS:%=$(loop)/set/%.peers) $(loop)/set/peers.peers
$(loop)/compared/ $(loop)/transfer/eval/:
	@mkdir -p $@
$(loop)/compared/mm: $(loop)/mm.csv $(loop)/peak.csv $(BIN)/loop-compare | $(loop)/compared/
	loop-compare --peak=$(loop_peak) --published $< $(aside)
$(loop)/compared/%: $(loop)/set/%.peers $(loop)/peak.csv $(BIN)/loop-compare | $(loop)/compared/
	loop-compare --peak=$(loop_peak) $< $(aside)
loop_compared := mm $(LOOP_SETS) peers
$(loop)/compare.csv: $(loop_compared:%=$(loop)/compared/%) $(loop)/asked $(BIN)/csv-cat
	(cd $(loop)/compared && csv-cat --source=set $(loop_compared)) $(aside)

# ---- figures: each from the table beside it; the end of a name says which kind of picture it is ----
loop_new   = $(@D)/new-$(@F)
loop_drawn = $(TOP)/pipelines/keep $(loop_new) $@
$(loop)/violin.csv: $(loop)/traces.csv $(BIN)/loop-eval
	loop-eval --table=violin $< $(aside)
# means over the problems: the best nest and the time after at most so many actions of the path
$(loop)/steps.csv: $(loop)/traces.csv $(BIN)/loop-eval
	loop-eval --table=steps $< $(aside)
$(loop)/roofline.csv: $(loop)/mm.csv $(BIN)/csv-cut
	csv-cut -c lib,intensity,gflops,kind $< $(aside)
$(loop)/bars-%.csv: $(loop)/set/%.peers $(BIN)/csv-cut
	csv-cut -c problem,lib,gflops,kind $< $(aside)
$(loop)/curve.csv: $(loop)/learn/mm.policy
	cat $(loop)/learn/curve.csv $(aside)
$(loop)/violin.svg $(loop)/violin.png: $(loop)/violin.csv $(TOP)/plots/loop-violin.gp
	$(call draw,loop-violin,$<,'$(LOOP_SECONDS)')
loop_curves := greedy1 greedy2 beam2bfs beam4bfs beam4dfs random anneal heuristic policy untrained
$(loop)/steps.svg $(loop)/steps.png: $(loop)/steps.csv $(TOP)/plots/loop-steps.gp
	gnuplot -c $(TOP)/plots/loop-steps.gp $< $(loop_new) '$(filter $(loop_algos),$(loop_curves))' && $(loop_drawn)
$(loop)/curve.svg $(loop)/curve.png: $(loop)/curve.csv $(TOP)/plots/loop-curve.gp
	$(call draw,loop-curve,$<)
$(loop)/bars-%.svg: $(loop)/bars-%.csv $(TOP)/plots/loop-bars.gp
	$(call draw,loop-bars,$<,'$*' $(loop_peak))
$(loop)/bars-%.png: $(loop)/bars-%.csv $(TOP)/plots/loop-bars.gp
	$(call draw,loop-bars,$<,'$*' $(loop_peak))
$(loop)/memory.csv: | $(loop)/
	place-tier dram $(aside)
$(loop)/roofline.svg $(loop)/roofline.png: $(loop)/roofline.csv $(loop)/peak.csv $(loop)/memory.csv \
    $(TOP)/plots/loop-roofline.gp
	$(call draw,loop-roofline,$<,$(loop_peak) 'ours $(LOOP_PEERS)' \
	    "$$(csv-calc --print=read_bytes_per_second $(loop)/memory.csv)")
