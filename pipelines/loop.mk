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
LOOP_ALL         ?= openblas onednn eigen numpy gcc
LOOP_PEER_SETS   ?= attention.f32.0 ragged.f32.0 bert.u8s8.1
LOOP_PEER_MEASURE ?= 4
LOOP_PEER_SECONDS ?= 0.2
LOOP_TRANSFER_STEPS    ?= 2000
LOOP_TRANSFER_SETS     ?= resnet50-nhwc
LOOP_TRANSFER_SEARCHES ?= anneal
LOOP_RESIDUAL_SETS     ?= ragged layers
LOOP_RESIDUAL_COUNTS   ?= 1 4
LOOP_ISA_SETS          ?= ragged
LOOP_ISA_COUNTS        ?= 1
else
LOOP_STEP    ?= 32
LOOP_SECONDS ?= 0.4
endif
loop_sizes    := $(shell seq 64 $(LOOP_STEP) 256)
LOOP_ROUNDS   ?= 10
LOOP_EVAL     ?= run
LOOP_LEARN_GRID ?= 16
LOOP_SEARCHES ?= greedy1 greedy2 beam2dfs beam4dfs beam2bfs beam4bfs brute random anneal evolve mcts
LOOP_BROKEN   ?= greedy1 greedy2 beam2dfs beam4dfs beam2bfs beam4bfs random
# those that are ever the fastest; all others are asked for a few products
LOOP_PEERS ?= openblas openblas-core onednn libxsmm
LOOP_ALL   ?= $(LOOP_PEERS) blis blis-core eigen numpy halide-adams halide-li halide-mullapudi gcc gcc-graphite \
    clang clang-polly
LOOP_SETS ?= resnet50-nchw resnet50-nhwc vgg19-nchw vgg19-nhwc transposed ragged
ifeq ($(filter run model,$(LOOP_EVAL)),)
$(error LOOP_EVAL='$(LOOP_EVAL)': run or model)
endif
# the machine, measured once, before all else as what is included is; LOOP_MACHINE=built-in: not
LOOP_MACHINE ?= measured
loop_pipelines := $(filter loop loop-%,$(asked_pipelines))
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
loop: $(loop)/summary.csv $(loop)/compare.csv loop-learn $(loop_figures:%=$(loop)/%.svg) \
    $(loop_figures:%=$(loop)/%.png) $(BIN)/csv-show
	csv-show $(loop)/summary.csv
	csv-show $(loop)/compare.csv
.PHONY: loop

$(loop)/ $(loop)/search/ $(loop)/mm/ $(loop)/set/:
	@mkdir -p $@
$(loop)/peak.csv: | $(loop)/
	loop-peak $(aside)

# ---- searches, as meant and as published, and the policy, on 25 sizes that the policy has not seen ----
$(loop)/sample.csv: $(loop)/learn/test.csv | $(loop)/
	csv-sample -n 25 --seed=$(SEED) $< $(aside)
$(loop)/search/%.csv: $(loop)/sample.csv | $(loop)/search/
	$(loop_search) --algo=$* --actions=published --seconds=$(LOOP_SECONDS) --seed=$(SEED) --output=$@.part $<
	$(loop_whole)
$(loop)/search/%_published.csv: $(loop)/sample.csv | $(loop)/search/
	$(loop_search) --algo=$* --as-published --seconds=$(LOOP_SECONDS) --seed=$(SEED) --output=$@.part $<
	$(loop_whole)
$(loop)/search/heuristic.csv: $(loop)/sample.csv | $(loop)/search/
	$(loop_search) --algo=heuristic --seconds=$(LOOP_SECONDS) --output=$@.part $<
	$(loop_whole)
$(loop)/search/policy.csv: $(loop)/sample.csv $(loop)/learn/mm.policy | $(loop)/search/
	loop-roll --policy=$(word 2,$^) --eval=$(LOOP_EVAL) --measure=10 --rank=model --fallback $< $(aside)
loop_algos  := $(LOOP_SEARCHES) heuristic policy $(LOOP_BROKEN:%=%_published)
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
	loop-peak $(aside)
$(loop)/summary.csv: $(loop)/traces.csv $(loop)/again-peak.csv $(BIN)/loop-eval
	loop-eval --published --peak=$(call loop_peak_in,$(word 2,$^)) $< $(aside)

# ---- the best schedule of every product, and of the other sets, against the peers ----
$(loop)/mm/%.csv: | $(loop)/mm/
	loop-gen --kind=mm --m=$* --n=64:256:$(LOOP_STEP) --k=64:256:$(LOOP_STEP) --test=0 |
	$(loop_search) --algo=heuristic --measure=24 --output=$@.part
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
	$(loop_search) --algo=heuristic --measure=24 --seconds=3 --output=$@.part $<
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

# ---- make loop-peers: ours over the best peer for every type and set, one row each, in LOOP/peers.csv ----
#   LOOP_PEER_SETS=SET.TYPE.TOKENS ..  which; LOOP_PEER_MEASURE=100 nests measured; LOOP_PEER_RUN=cmd before loop-peer
#   LOOP_PEER_ISA=amx  ours, for products of bf16 and bytes, instead of AVX-512; OUT=DIR keeps the two apart
# Nests are searched first, then ours and the libraries take turns in one process tree; what is there is kept, so that
# one set is repeated by deleting its file.  Products of bf16 and bytes have their weights packed before the clock, ours
# and theirs.
LOOP_PEER_SETS ?= attention.f32.0 thin.f32.0 large.f32.0 ragged.f32.0 transposed.f32.0 bert.f32.128 bert.bf16.128 \
    bert.u8s8.128 llama.f32.128 llama.bf16.128 llama.u8s8.128 bert.f32.1 bert.bf16.1 bert.u8s8.1 \
    llama.f32.1 llama.bf16.1 llama.u8s8.1 bert.s8s8.128 llama.s8s8.128 bert.s8s8.1 llama.s8s8.1 \
    mobilenet2.f32.0 efficientnet.f32.0 resnet50.f32.0 vgg19.f32.0 \
    ragged.f64.0 transposed.f64.0 thin.f64.0 large.f64.0 \
    ragged.f16.0 thin.f16.0 bert.f16.128 llama.f16.128 bert.f16.1 llama.f16.1 attention.f16.0 attention.bf16.0 \
    causal.f32.0 bert.f32.128.bias-residual-layernorm bert.f32.128.bias-residual-rmsnorm \
    short.f32.0.bias-relu short.bf16.0.bias-relu short.u8s8.0.bias-relu short.s8s8.0.bias-relu
LOOP_PEER_MEASURE ?= 100
LOOP_PEER_SECONDS ?= 6
LOOP_PEER_RUN ?=
LOOP_PEER_ISA ?=
loop_peer_isa = $(if $(filter bert llama,$(call loop_word,1)),$(if $(filter bf16 u8s8 s8s8,$(call loop_word,2)),\
    $(LOOP_PEER_ISA:%=--isa=%)))
loop_word = $(word $(1),$(subst ., ,$(basename $(@F))))
loop_isa_peers = $(if $(filter f32 f64 f16,$(call loop_word,2)),$(LOOP_PEERS),onednn)
loop-peers: $(loop)/peers.csv $(BIN)/csv-show
	csv-show $(loop)/peers.csv
.PHONY: loop-peers
$(loop)/peers/:
	@mkdir -p $@
$(loop)/peers/ragged.%.problems: | $(loop)/peers/
	$(call loop_ragged,$(call loop_word,2)) $(aside)
$(loop)/peers/transposed.%.problems: | $(loop)/peers/
	$(call loop_transposed,$(call loop_word,2))
# short sums, where what follows them is a large part
loop_mm = mm$(addprefix _,$(filter-out f32,$(call loop_word,2)))
$(loop)/peers/short.%.problems: | $(loop)/peers/
	loop-gen --kind=$(loop_mm) --m=128:256:128 --n=256 --k=64 --then=$(subst -,$(comma),$(call loop_word,4)) --test=0 \
	    $(aside)
$(loop)/peers/%.problems: | $(loop)/peers/
	loop-gen --set=$(call loop_word,1) --type=$(call loop_word,2) --layout=nhwc --test=0 \
	    $(if $(filter-out 0,$(call loop_word,3)),--tokens=$(call loop_word,3)) \
	    $(if $(call loop_word,4),--then=$(subst -,$(comma),$(call loop_word,4))) $(aside)
$(loop)/peers/%.nests: $(loop)/peers/%.problems
	loop-search --algo=heuristic --measure=$(LOOP_PEER_MEASURE) --seconds=$(LOOP_PEER_SECONDS) $(loop_peer_isa) \
	    --output=$@.part $<
	$(loop_whole)
$(loop)/peers/%.times: $(loop)/peers/%.nests
	$(LOOP_PEER_RUN) loop-peer --lib=$(call loop_libs,$(loop_isa_peers)) $(loop_peer_isa) --rounds=$(LOOP_ROUNDS) \
	    $< $(aside)
$(loop)/peers/%.row: $(loop)/peers/%.times $(BIN)/loop-compare $(BIN)/csv-calc $(BIN)/csv-cut
	loop-compare $< | csv-calc --where='lib == "best"' --set='set="$(call loop_word,1)"' \
	    --set='type="$(call loop_word,2)"' --set=tokens=$(call loop_word,3) --set='then="$(call loop_word,4)"' |
	csv-cut -c set,type,tokens,then,problems,ratio,low_ratio,high_ratio,least_ratio,wins_share,kind $(aside)
$(eval $(call asked,$(loop)/peers/asked,LOOP_PEER_SETS))
$(loop)/peers.csv: $(LOOP_PEER_SETS:%=$(loop)/peers/%.row) $(loop)/peers/asked $(BIN)/csv-cat $(BIN)/csv-sort
	csv-cat $(LOOP_PEER_SETS:%=$(loop)/peers/%.row) | csv-sort -k ratio $(aside)

# ---- make loop-text: the C text of ours over its machine code, by gcc and clang, in LOOP/text.csv ----
#   LOOP_TEXT_SETS=SET.TYPE.TOKENS[.THEN] ..  as above;  LOOP_TEXT_PROBLEMS=6  of each, drawn;  LOOP_TEXT_ISAS
LOOP_TEXT_SETS ?= ragged.f32.0 transposed.f32.0 thin.f32.0 large.f32.0 attention.f32.0 mobilenet2.f32.0 resnet50.f32.0 \
    bert.bf16.128 bert.u8s8.128 bert.f32.128.bias-gelu bert.bf16.16.bias-relu-bf16 causal.f32.0 ragged.f64.0 \
    ragged.f16.0 bert.f16.16 attention.f16.0 attention.bf16.0 bert.f32.128.bias-residual-layernorm bert.f32.16.rmsnorm
LOOP_TEXT_PROBLEMS ?= 6
LOOP_TEXT_MEASURE  ?= 8
LOOP_TEXT_ISAS     ?= avx512 avx2
loop_text          := $(loop)/text
loop_text_narrow    = $(foreach s,$(LOOP_TEXT_SETS),$(if $(filter f32 f64 f16,$(word 2,$(subst ., ,$(s)))),$(s)))
loop_text_of        = $(foreach i,$(LOOP_TEXT_ISAS),$(addprefix $(loop_text)/$(i)/,$(if $(filter avx2,$(i)),\
    $(loop_text_narrow),$(LOOP_TEXT_SETS))))
loop_text_isa       = $(notdir $(@D))
loop-text: $(loop)/text.csv $(BIN)/csv-show
	csv-show $(loop)/text.csv
.PHONY: loop-text
$(loop_text)/avx2/ $(loop_text)/avx512/:
	@mkdir -p $@
loop_text_search = csv-sample -n $(LOOP_TEXT_PROBLEMS) --seed=$(SEED) $< | loop-search --algo=heuristic \
    --isa=$(loop_text_isa) --measure=$(LOOP_TEXT_MEASURE) --seconds=3 $(aside)
$(loop_text)/avx2/%.nests: $(loop)/peers/%.problems | $(loop_text)/avx2/
	$(loop_text_search)
$(loop_text)/avx512/%.nests: $(loop)/peers/%.problems | $(loop_text)/avx512/
	$(loop_text_search)
$(loop_text)/%.times: $(loop_text)/%.nests
	$(LOOP_PEER_RUN) loop-peer --lib=ours,ours-gcc,ours-clang --isa=$(loop_text_isa) --rounds=$(LOOP_ROUNDS) $< $(aside)
loop_over_code = loop-compare --of=ours-$(1) $< | csv-calc --where='lib == "ours"' --set='compiler="$(1)"'
$(loop_text)/%.row: $(loop_text)/%.times $(BIN)/loop-compare $(BIN)/csv-calc $(BIN)/csv-cut
	csv-cat <($(call loop_over_code,gcc)) <($(call loop_over_code,clang)) | csv-calc --set='set="$(notdir $*)"' \
	    --set='isa="$(loop_text_isa)"' |
	csv-cut -c set,isa,compiler,problems,ratio,low_ratio,high_ratio,least_ratio,kind $(aside)
$(eval $(call asked,$(loop)/text/asked,LOOP_TEXT_SETS LOOP_TEXT_ISAS))
$(loop)/text.csv: $(loop_text_of:%=%.row) $(loop)/text/asked $(BIN)/csv-cat $(BIN)/csv-sort
	csv-cat $(filter %.row,$^) | csv-sort -k ratio:n $(aside)

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
loop_curves := greedy1 greedy2 beam2bfs beam4bfs beam4dfs random anneal evolve mcts policy
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

# ---- make loop-learn: a policy trained by the model on the training sizes of a grid, measured on the unseen ones
#   ----
# make loop-transfer: what is learned on other shapes is worth on convolutions, in LOOP/transfer.csv
# make loop-table: all learners and roll-outs beside the searches, in LOOP/policy-table.csv and figures
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
loop-learn: $(loop_learn)/summary.csv $(loop_learn)/learning.svg $(loop_learn)/learning.png $(BIN)/csv-show
	csv-show $(loop_learn)/summary.csv
loop-table: $(loop)/policy-table.csv $(loop)/policy-table.svg $(loop)/policy-table.png $(loop_learn)/learners.svg \
    $(loop_learn)/learners.png $(BIN)/csv-show
	csv-show $(loop)/policy-table.csv
.PHONY: loop-learn loop-table
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
# what a network that has learned nothing makes of the same roll-out: the rest is what learning is worth
$(loop_learn)/untrained.policy: $(loop_learn)/problems.csv
	loop-train --algo=$(LOOP_LEARNER) --eval=model --steps=16 --seed=$(SEED) --actions=$(LOOP_ACTIONS) -o $@ $< > \
	    $(@D)/untrained.curve
$(loop_learn)/mm.policy: $(loop_learn)/$(LOOP_LEARNER).policy
	cp $(loop_learn)/$(LOOP_LEARNER).curve $(loop_learn)/curve.csv
	cat $< $(aside)
$(loop_learn)/policy.csv: $(loop_learn)/mm.policy $(loop_learn)/test.csv
	loop-roll --policy=$< --eval=$(LOOP_EVAL) --measure=10 --rank=model --fallback $(word 2,$^) $(aside)
$(loop_learn)/heuristic.csv: $(loop_learn)/test.csv
	$(loop_search) --algo=heuristic --measure=24 $< $(aside)
$(loop_learn)/random.csv: $(loop_learn)/test.csv
	$(loop_search) --algo=random --seconds=0.1 --seed=$(SEED) $< $(aside)
$(loop_learn)/traces.csv: $(loop_learn)/policy.csv $(loop_learn)/heuristic.csv $(loop_learn)/random.csv
	$(loop_measured_again)
$(loop_learn)/summary.csv: $(loop_learn)/traces.csv $(BIN)/loop-eval
	loop-eval --published $< $(aside)
$(loop_learn)/learning.svg $(loop_learn)/learning.png: $(loop_learn)/mm.policy $(TOP)/plots/loop-learning.gp
	gnuplot -c $(TOP)/plots/loop-learning.gp $(loop_learn)/curve.csv $(loop_new) $(LOOP_LEARNER) && $(loop_drawn)
$(loop_learn)/learners.csv: $(LOOP_LEARNERS:%=$(loop_learn)/%.policy) $(BIN)/csv-cat
	csv-cat $(LOOP_LEARNERS:%=$(loop_learn)/%.curve) $(aside)
$(loop_learn)/learners.svg $(loop_learn)/learners.png: $(loop_learn)/learners.csv $(TOP)/plots/loop-learning.gp
	gnuplot -c $(TOP)/plots/loop-learning.gp $< $(loop_new) '$(LOOP_LEARNERS)' && $(loop_drawn)

# the table: each policy with 10 measurements of a beam; the first also without a beam and with fewer; searches
loop_roll = loop-roll --policy=$< --name=$(basename $(@F)) $(1) $(loop_learn)/test.csv $(aside)
$(patsubst %,$(loop_learn)/eval/%_top10.csv,$(LOOP_LEARNERS) untrained): $(loop_learn)/eval/%_top10.csv: \
    $(loop_learn)/%.policy $(loop_learn)/test.csv | $(loop_learn)/eval/
	$(call loop_roll,--measure=10 --rank=model)
$(loop_learn)/eval/$(LOOP_LEARNER)_argmax.csv: $(loop_learn)/mm.policy $(loop_learn)/test.csv | $(loop_learn)/eval/
	$(call loop_roll,--measure=2 --width=1)
$(loop_learn)/eval/$(LOOP_LEARNER)_beam.csv: $(loop_learn)/mm.policy $(loop_learn)/test.csv | $(loop_learn)/eval/
	$(call loop_roll,--measure=2 --width=16)
$(loop_learn)/eval/$(LOOP_LEARNER)_own10.csv: $(loop_learn)/mm.policy $(loop_learn)/test.csv | $(loop_learn)/eval/
	$(call loop_roll,--measure=10 --width=16)
loop_table_searches := greedy1 greedy2 beam2dfs beam4dfs beam2bfs beam4bfs
$(loop_learn)/eval/heuristic.csv: $(loop_learn)/test.csv | $(loop_learn)/eval/
	loop-search --algo=heuristic --measure=24 $< $(aside)
$(loop_learn)/eval/random_1s.csv: $(loop_learn)/test.csv | $(loop_learn)/eval/
	loop-search --algo=random --name=random_1s --actions=published --seconds=1 --seed=$(SEED) $< $(aside)
$(loop_learn)/eval/random_$(LOOP_LONG)s.csv: $(loop_learn)/test8.csv | $(loop_learn)/eval/
	loop-search --algo=random --name=random_$(LOOP_LONG)s --actions=published --seconds=$(LOOP_LONG) --seed=$(SEED) \
	    --output=$@.part $<
	$(loop_whole)
$(loop_table_searches:%=$(loop_learn)/eval/%.csv): $(loop_learn)/eval/%.csv: $(loop_learn)/test12.csv | \
    $(loop_learn)/eval/
	loop-search --algo=$* --actions=published --seconds=$(LOOP_SHORT) --seed=$(SEED) $< $(aside)
$(loop_learn)/eval/%_published.csv: $(loop_learn)/test12.csv | $(loop_learn)/eval/
	loop-search --algo=$* --as-published --seconds=$(LOOP_SHORT) --seed=$(SEED) $< $(aside)
loop_rolls := $(LOOP_LEARNERS:%=%_top10) untrained_top10 $(LOOP_LEARNER)_own10 $(LOOP_LEARNER)_beam \
    $(LOOP_LEARNER)_argmax
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
# seed, none of them a layer of these networks; 100ms: the same with measurements for at most .1 s.  Beside them the
# analytic search with 24 measurements, and searches of LOOP_SHORT seconds.  The best nest of each is measured
#   again in
# the end, all of a problem one right after the other.
LOOP_TRANSFER_STEPS    ?= 1200000
LOOP_TRANSFER_SETS     ?= resnet50-nhwc vgg19-nhwc resnet50-nchw vgg19-nchw
LOOP_TRANSFER_SEARCHES ?= anneal evolve
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
loop_top10 = loop-roll --policy=$< --name=$(1) --measure=10 --width=32 --rank=model
$(loop_transfer)/%.products: $(loop_learn)/mm.policy $(loop_transfer)/%.problems
	$(call loop_top10,products_top10) $(word 2,$^) $(aside)
$(loop_transfer)/%.shapes: $(loop_transfer)/shapes.policy $(loop_transfer)/%.problems
	$(call loop_top10,shapes_top10) $(word 2,$^) $(aside)
$(loop_transfer)/%.100ms: $(loop_transfer)/shapes.policy $(loop_transfer)/%.problems
	$(call loop_top10,shapes_100ms) --seconds=0.1 $(word 2,$^) $(aside)
$(loop_transfer)/%.heuristic: $(loop_transfer)/%.problems
	loop-search --algo=heuristic --measure=24 --seconds=3 --output=$@.part $<
	$(loop_whole)
# the algo is the end of the name
loop_transfer_search = loop-search --algo=$(subst .,,$(suffix $@)) --actions=full --steps=40 --seconds=$(LOOP_SHORT) \
    --seed=$(SEED) --output=$@.part $<
$(loop_transfer)/%.anneal: $(loop_transfer)/%.problems
	$(loop_transfer_search)
	$(loop_whole)
$(loop_transfer)/%.evolve: $(loop_transfer)/%.problems
	$(loop_transfer_search)
	$(loop_whole)
loop_transfer_ways := products shapes 100ms heuristic $(LOOP_TRANSFER_SEARCHES)
$(loop_transfer)/%.traces: $(addprefix $(loop_transfer)/%.,$(loop_transfer_ways))
	csv-cat $^ | loop-run --rewrite --last --again=8 --rounds=3 $(aside)
$(loop_transfer)/eval/%: $(loop_transfer)/%.traces $(BIN)/loop-eval | $(loop_transfer)/eval/
	loop-eval $< $(aside)
$(loop)/transfer.csv: $(LOOP_TRANSFER_SETS:%=$(loop_transfer)/eval/%) $(BIN)/csv-cat
	(cd $(loop_transfer)/eval && csv-cat --source=set $(LOOP_TRANSFER_SETS)) $(aside)

# ---- make loop-residual: what a residual on the model is worth on problems never seen, and on another machine ----
# Learned from nests of all ranks of LOOP_RESIDUAL_TRAIN problems of each kind, none of them in the sets it is tried on.
# Ways: model alone; residual, which gives half of the model's picks away where it is sure; trust: the residual alone;
# shuffled: so too, but from mixed-up measurements; policy of loop-learn, fallback to the model, untrained; random.
# Each may measure 1, 4, 10, 24 nests.  What they pick is known before anything is measured, so that each nest is
# measured once for all of them: equal picks have equal values.  The best of each way is then measured again, all of a
# problem by turns.
# Two machines: AVX2 and AVX-512 on one host, stores apart.  old: learned on the other one, never sure here, so the
# model; oldtrust: followed all the same; old10, old100: with so many measurements of this one; new10, new100: these
# alone; own: learned here.  In LOOP/residual.csv and LOOP/residual-isa.csv, beside the model, problem by problem, in
# LOOP/residual-beside.csv.
#   LOOP_RESIDUAL_RUN=cmd  before measurements
loop_residual        := $(loop)/residual
LOOP_RESIDUAL_SETS   ?= ragged transposed hard resnet50 layers
LOOP_RESIDUAL_WAYS   ?= model residual trust shuffled policy fallback untrained random
LOOP_RESIDUAL_COUNTS ?= 1 4 10 24
LOOP_ISA_SETS        ?= ragged resnet50
LOOP_ISA_WAYS        ?= model old oldtrust old10 old100 new10 new100 own shuffled
LOOP_ISA_COUNTS      ?= 1 4
LOOP_RESIDUAL_TRAIN  ?= $(if $(filter ci,$(SCALE)),1,16)
LOOP_RESIDUAL_EACH   ?= $(if $(filter ci,$(SCALE)),8,60)
LOOP_RESIDUAL_TEST   ?= $(if $(filter ci,$(SCALE)),2,12)
LOOP_RESIDUAL_AGAIN  ?= $(if $(filter ci,$(SCALE)),1,8)
LOOP_RESIDUAL_RUN    ?=
loop-residual: $(loop)/residual.csv $(loop)/residual-isa.csv $(loop)/residual-beside.csv $(BIN)/csv-show
	csv-show $(loop)/residual.csv
	csv-show $(loop)/residual-isa.csv
	csv-show $(loop)/residual-beside.csv
.PHONY: loop-residual
$(loop_residual)/:
	@mkdir -p $@
loop_drawn_problems = loop-gen --test=0 --seed=$(SEED) --sample=$(LOOP_RESIDUAL_TRAIN)
loop_some = csv-sample -n $(LOOP_RESIDUAL_TEST) --seed=$(SEED) $(aside)
$(loop_residual)/ragged.problems $(loop_residual)/transposed.problems: $(loop_residual)/%.problems: \
    $(loop)/set/%.problems | $(loop_residual)/
	cat $< | $(loop_some)
$(loop_residual)/resnet50.problems: | $(loop_residual)/
	loop-gen --set=resnet50 --layout=nhwc --test=0 | $(loop_some)
$(loop_residual)/hard.problems: | $(loop_residual)/
	csv-cat <(loop-gen --set=large --test=0) <(loop-gen --set=thin --test=0) | $(loop_some)
$(loop_residual)/layers.problems: | $(loop_residual)/
	csv-cat <(loop-gen --set=bert --test=0) <(loop-gen --set=bert --type=bf16 --test=0) \
	    <(loop-gen --set=bert --type=u8s8 --test=0) <(loop-gen --set=llama --type=bf16 --tokens=16 --test=0) | $(loop_some)
$(loop_residual)/train.problems: $(LOOP_RESIDUAL_SETS:%=$(loop_residual)/%.problems)
	thin='1|2|3|4|16:1024' deep='16:128:16' flat='16:512:16'
	for k in mm mm_nt mm_tn mm_tt; do $(loop_drawn_problems) --kind=$$k --m=16:512 --n=16:512 --k=16:512 > $@.$$k; done
	$(loop_drawn_problems) --kind=mm --m="$$thin" --n="$$thin" --k=64:2048 > $@.mm-thin
	$(loop_drawn_problems) --kind=mm --m=256:1024 --n=256:1024 --k=256:1024 > $@.mm-large
	for k in conv conv_nhwc; do
	    $(loop_drawn_problems) --kind=$$k --c="$$flat" --m="$$flat" --h=7:60 --kh=1 --s='1|1|2' > $@.flat-$$k
	    $(loop_drawn_problems) --kind=$$k --c="$$deep" --m="$$deep" --h=6:58 --kh=3 --pad=1 --s='1|1|2' > $@.deep-$$k
	done
	for k in mm_bf16 mm_u8s8; do
	    $(loop_drawn_problems) --kind=$$k --m='1|16|64|128' --n=128:2048:16 --k=128:2048:16 > $@.$$k
	done
	csv-cat $(filter %.problems,$^) > $@.tried
	csv-cat $@.mm* $@.flat-* $@.deep-* | csv-dedupe -k problem | csv-join -k problem --keep=unmatched - $@.tried > $(new)
	rm -f $@.mm* $@.flat-* $@.deep-* $@.tried
	$(call keep,$@)
$(loop_residual)/avx2.problems: $(loop_residual)/train.problems
	csv-calc --where="problem !~ '^[(]mm_(bf16|u8s8|s8s8)'" $< $(aside)
$(loop_residual)/avx512.problems: $(loop_residual)/train.problems
	cat $< $(aside)
# the store is appended to while the search runs, so that what is killed goes on; complete, it gets its name
$(loop_residual)/%.store: $(loop_residual)/%.problems
	loop-search --algo=heuristic --spread --isa=$* --measure=$(LOOP_RESIDUAL_EACH) --seconds=3 --confirm=0 \
	    --seed=$(SEED) --cache=$@.part $< > $@.rows
	rm $@.rows
	$(loop_whole)
# so many measurements of a new machine: five nests of each of some problems
loop_isa = $(firstword $(subst -, ,$(@F)))
loop_few = csv-sample -n $$(($* / 5)) --seed=$(SEED) $< | loop-search --algo=heuristic --spread --isa=$(loop_isa) \
    --measure=5 --seconds=3 --confirm=0 --seed=$(SEED) --cache=$@.part > $@.rows && rm $@.rows && $(loop_whole)
$(loop_residual)/avx2-%.few: $(loop_residual)/avx2.problems
	$(loop_few)
$(loop_residual)/avx512-%.few: $(loop_residual)/avx2.problems
	$(loop_few)
loop_learned = loop-residual --seed=$(SEED) -o $@
$(loop_residual)/%.residual: $(loop_residual)/%.store
	$(loop_learned) $<
$(loop_residual)/%.shuffled: $(loop_residual)/%.store
	$(loop_learned) --shuffle $<
# a few rows of the new machine count ten times
loop_often = $(foreach k,1 2 3 4 5 6 7 8 9 10,$(word 1,$^))
$(loop_residual)/avx2-old%.residual: $(loop_residual)/avx2-%.few $(loop_residual)/avx512.store
	$(loop_learned) $(loop_often) $(word 2,$^)
$(loop_residual)/avx512-old%.residual: $(loop_residual)/avx512-%.few $(loop_residual)/avx2.store
	$(loop_learned) $(loop_often) $(word 2,$^)
$(loop_residual)/avx2-new%.residual: $(loop_residual)/avx2-%.few
	$(loop_learned) $<
$(loop_residual)/avx512-new%.residual: $(loop_residual)/avx512-%.few
	$(loop_learned) $<
# SET.ISA.WAY.COUNT.picks: what a way would measure.  A roll-out measures the untiled nest first, and so does random
# search: one more for them.
loop_ways          = $(loop_residual)/$(1).residual
loop_other         = $(if $(filter avx2,$(call loop_word,2)),avx512,avx2)
loop_look          = loop-search --algo=heuristic --list --measure=$(call loop_word,4)
loop_follow        = loop-roll --list --rank=model --measure=$$(($(call loop_word,4) + 1)) --policy=$(loop_learn)
loop_way_model     = $(loop_look)
loop_way_residual  = $(loop_look) --residual=$(call loop_ways,$(call loop_word,2))
loop_way_own       = $(loop_way_residual)
loop_way_trust     = $(loop_way_residual) --trust
loop_way_shuffled  = $(loop_look) --trust --residual=$(loop_residual)/$(call loop_word,2).shuffled
loop_way_old       = $(loop_look) --residual=$(call loop_ways,$(loop_other))
loop_way_oldtrust  = $(loop_way_old) --trust
loop_way_old10     = $(loop_look) --residual=$(call loop_ways,$(call loop_word,2)-old10)
loop_way_old100    = $(loop_look) --residual=$(call loop_ways,$(call loop_word,2)-old100)
loop_way_new10     = $(loop_look) --residual=$(call loop_ways,$(call loop_word,2)-new10)
loop_way_new100    = $(loop_look) --residual=$(call loop_ways,$(call loop_word,2)-new100)
loop_way_policy    = $(loop_follow)/mm.policy
loop_way_fallback  = $(loop_follow)/mm.policy --fallback
loop_way_untrained = $(loop_follow)/untrained.policy
loop_way_random    = loop-search --algo=random --list --steps=40 --seconds=1000 --seed=$(SEED) \
    --evaluations=$$(($(call loop_word,4) + 1))
loop_models := $(foreach i,avx2 avx512,$(addprefix $(loop_residual)/$(i),.residual .shuffled -old10.residual \
    -old100.residual -new10.residual -new100.residual)) $(loop_learn)/mm.policy $(loop_learn)/untrained.policy
$(loop_residual)/%.picks: $(loop_models) $(loop_residual)/train.problems
	$(loop_way_$(call loop_word,3)) --name=$(call loop_word,3)_$(call loop_word,4) \
	    $(if $(findstring loop-roll,$(loop_way_$(call loop_word,3))),,--isa=$(call loop_word,2)) \
	    $(loop_residual)/$(call loop_word,1).problems $(aside)
loop_picks      = $(foreach w,$(1),$(foreach n,$(2),$(loop_residual)/%.$(w).$(n).picks))
loop_by_turns   = $(LOOP_RESIDUAL_RUN) loop-run --rewrite --isa=$(call loop_word,2) --again=4
loop_pool       = csv-cat $^ | csv-dedupe -k problem,tree | csv-calc --set=gflops=0 --set='kind=""' | \
    $(loop_by_turns) --rounds=3 --leave=3 $(aside)
loop_best_picks = csv-cat $(filter %.picks,$^) | \
    csv-join -k problem,tree - <(csv-cut -c problem,tree,gflops,kind $<) | \
    csv-sort -k problem,algo,gflops:nr | csv-dedupe -k problem,algo | csv-calc --set=step=0 --set=seconds=0 | \
    $(loop_by_turns) --rounds=$(LOOP_RESIDUAL_AGAIN) $(aside)
loop_isa_picks  := $(call loop_picks,$(LOOP_ISA_WAYS),$(LOOP_ISA_COUNTS))
loop_set_picks  := $(call loop_picks,$(LOOP_RESIDUAL_WAYS),$(LOOP_RESIDUAL_COUNTS))
$(loop_residual)/%.machine-pool: $(loop_isa_picks)
	$(loop_pool)
$(loop_residual)/%.pool: $(loop_set_picks)
	$(loop_pool)
$(loop_residual)/%.machine: $(loop_residual)/%.machine-pool $(loop_isa_picks)
	$(loop_best_picks)
$(loop_residual)/%.traces: $(loop_residual)/%.pool $(loop_set_picks)
	$(loop_best_picks)
loop_what_way = csv-calc --set='set="$(call loop_word,1)"' --set='isa="$(call loop_word,2)"' \
    --set="way=part(algo, '_', 1)" --set="measurements=number(part(algo, '_', 2))"
loop_judged = loop-eval $< | $(loop_what_way) | \
    csv-cut -c set,isa,measurements,way,problems,best_ratio,least_best_ratio,kind $(aside)
# the mean of the logarithms, and what is 95 % sure of 12 problems by Student's t
loop_beside = csv-join --suffix=_model -k problem,measurements <($(loop_what_way) $<) \
    <($(loop_what_way) --where='way == "model"' $< | csv-cut -c problem,measurements,gflops) | \
    csv-calc --where='way != "model"' --set='ratio=log(gflops / gflops_model)' | \
    csv-group -g set,isa,measurements,way,kind -c ratio --stat=n,mean,sd,min | \
    csv-calc --set='ratio=round(exp(mean_ratio), 4)' --set='about=2.2 * sd_ratio / sqrt(n_ratio)' \
	--set='low_ratio=round(exp(mean_ratio - about), 4)' --set='high_ratio=round(exp(mean_ratio + about), 4)' \
	--set='least_ratio=round(exp(min_ratio), 4)' --set='problems=n_ratio' | \
    csv-cut -c set,isa,measurements,way,problems,ratio,low_ratio,high_ratio,least_ratio,kind $(aside)
$(loop_residual)/%.machine-row: $(loop_residual)/%.machine $(BIN)/loop-eval $(BIN)/csv-calc
	$(loop_judged)
$(loop_residual)/%.row: $(loop_residual)/%.traces $(BIN)/loop-eval $(BIN)/csv-calc
	$(loop_judged)
$(loop_residual)/%.machine-beside: $(loop_residual)/%.machine $(BIN)/csv-group $(BIN)/csv-calc
	$(loop_beside)
$(loop_residual)/%.beside: $(loop_residual)/%.traces $(BIN)/csv-group $(BIN)/csv-calc
	$(loop_beside)
loop_isa_all := $(foreach s,$(LOOP_ISA_SETS),$(foreach i,avx2 avx512,$(loop_residual)/$(s).$(i).machine))
$(loop)/residual.csv: $(LOOP_RESIDUAL_SETS:%=$(loop_residual)/%.avx512.row) $(BIN)/csv-pivot
	csv-cat $(filter %.row,$^) | $(call loop_side_by_side,$(LOOP_RESIDUAL_WAYS))
$(loop)/residual-isa.csv: $(loop_isa_all:%=%-row) $(BIN)/csv-pivot
	csv-cat $(filter %.machine-row,$^) | $(call loop_side_by_side,$(LOOP_ISA_WAYS))
$(loop)/residual-beside.csv: $(LOOP_RESIDUAL_SETS:%=$(loop_residual)/%.avx512.beside) $(loop_isa_all:%=%-beside)
	csv-cat $^ $(aside)
loop_side_by_side = csv-calc --set='best_ratio=round(best_ratio, 4)' | \
    csv-pivot -k set,isa,measurements,kind --names=way --values=best_ratio | \
    csv-cut -c set,isa,measurements,kind,$(subst $(space),$(comma),$(strip $(1))) $(aside)
