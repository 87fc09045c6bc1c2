# peers.mk - ours beside the libraries that an expert would call, and the C text of ours beside its machine code

# ---- make loop-peers: ours over the best peer for every type and set, one row each, in LOOP/peers.csv, and on
# each problem, in LOOP/peers-each.csv ----
#   LOOP_PEER_SETS=SET.TYPE.TOKENS[.THEN] ..  which; LOOP_PEER_MEASURE=100 nests measured; LOOP_PEER_RUN=cmd before
#   loop-peer;  LOOP_PEER_RUNS=100 in a turn, or 20 ms: less than a millisecond is too short where a clock changes
#   LOOP_PEER_ISA=amx  ours, for products of bf16 and bytes, instead of AVX-512; OUT=DIR keeps the two apart
#   LOOP_PEER_PASSES="1 2 3 4 5 6"  all sets are judged so often, minutes apart, by new processes, since these differ by
#   more than the rounds of one do; a ratio is the passes' median, from their least to their greatest (of six: 97 %)
# Nests are searched first, then ours and the libraries take turns in one process tree; what is there is kept, so that
# one set is repeated by deleting its files.  Products of bf16 and bytes have their weights packed before the clock,
# ours and theirs.  Over oneDNN's own layout, made before the clock: ResNet-50's convolutions with zeros around (padded,
# and with their weights packed: packed), dilated ones, ResNeXt's in groups, MobileNetV2's depthwise ones.
LOOP_PEER_SETS ?= attention.f32.0 thin.f32.0 large.f32.0 ragged.f32.0 transposed.f32.0 bert.f32.128 bert.bf16.128 \
    bert.u8s8.128 llama.f32.128 llama.bf16.128 llama.u8s8.128 bert.f32.1 bert.bf16.1 bert.u8s8.1 \
    llama.f32.1 llama.bf16.1 llama.u8s8.1 bert.s8s8.128 llama.s8s8.128 bert.s8s8.1 llama.s8s8.1 \
    mobilenet2.f32.0 efficientnet.f32.0 resnet50.f32.0 vgg19.f32.0 \
    ragged.f64.0 transposed.f64.0 thin.f64.0 large.f64.0 \
    ragged.f16.0 thin.f16.0 bert.f16.128 llama.f16.128 bert.f16.1 llama.f16.1 attention.f16.0 attention.bf16.0 \
    rows.f32.0 vit.f32.0 whisper.f32.0 causal.f32.0 $(foreach t,f32 bf16 u8s8,bert.$t.128.bias-gelu) \
    bert.f32.128.bias-residual-layernorm bert.f32.128.bias-residual-rmsnorm \
    short.f32.0.bias-relu short.bf16.0.bias-relu short.u8s8.0.bias-relu short.s8s8.0.bias-relu \
    $(loop_own:%=%.f32.0)
LOOP_PEER_PASSES ?= 1 2 3 4 5 6
LOOP_PEER_MEASURE ?= 100
LOOP_PEER_SECONDS ?= 6
LOOP_PEER_RUN ?=
LOOP_PEER_RUNS ?= 100
LOOP_PEER_ISA ?=
loop_own := padded packed dilated grouped depthwise
loop_peer_isa = $(if $(filter bert llama,$(call loop_word,1)),$(if $(filter bf16 u8s8 s8s8,$(call loop_word,2)),\
    $(LOOP_PEER_ISA:%=--isa=%)))
loop_word = $(word $(1),$(subst ., ,$(basename $(@F))))
loop_set_peers = $(if $(filter $(loop_own),$(call loop_word,1)),onednn-any,\
    $(if $(filter f32 f64 f16,$(call loop_word,2)),$(LOOP_PEERS),onednn))
loop-peers: $(loop)/peers.csv $(loop)/peers-each.csv $(BIN)/csv-show
	csv-show $(loop)/peers.csv
.PHONY: loop-peers
$(loop)/peers/ $(LOOP_PEER_PASSES:%=$(loop)/peers/pass%/):
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
loop_problems_of = loop-gen --set=$(1) --type=$(call loop_word,2) --layout=nhwc --test=0
$(loop)/peers/padded.%.problems: | $(loop)/peers/ $(BIN)/csv-where
	$(call loop_problems_of,resnet50) | csv-where -c problem --like='*(pad *' $(aside)
$(loop)/peers/packed.%.problems: | $(loop)/peers/ $(BIN)/csv-where $(BIN)/csv-calc
	$(call loop_problems_of,resnet50) | csv-where -c problem --like='*(pad *' |
	csv-calc --set="problem=replace(problem, '[)]$$', ' (weights packed))')" $(aside)
$(loop)/peers/depthwise.%.problems: | $(loop)/peers/ $(BIN)/csv-where
	$(call loop_problems_of,mobilenet2) | csv-where -c problem --like='(nest *' $(aside)
loop_dilated = (nest (sizes (y $(1)) (x $(1)) (m 64) (c 64) (p 3) (q 3)) (A (pad 6 6 (+ y (* 6 p))) \
    (pad 6 6 (+ x (* 6 q))) c) (B p q c m) (C y x m))
$(loop)/peers/dilated.%.problems: | $(loop)/peers/
	printf '%s\n' problem '$(call loop_dilated,28)' '$(call loop_dilated,56)' $(aside)
$(loop)/peers/%.problems: | $(loop)/peers/
	$(call loop_problems_of,$(call loop_word,1)) \
	    $(if $(filter-out 0,$(call loop_word,3)),--tokens=$(call loop_word,3)) \
	    $(if $(call loop_word,4),--then=$(subst -,$(comma),$(call loop_word,4))) $(aside)
$(loop)/peers/%.nests: $(loop)/peers/%.problems
	loop-search --algo=heuristic --measure=$(LOOP_PEER_MEASURE) --seconds=$(LOOP_PEER_SECONDS) $(loop_peer_isa) \
	    --out=$@.part $<
	$(loop_whole)
define loop_pass
$(loop)/peers/pass$(1)/%.times: $(loop)/peers/%.nests | $(loop)/peers/pass$(1)/
	$$(LOOP_PEER_RUN) loop-peer --lib=$$(call loop_libs,$$(loop_set_peers)) $$(loop_peer_isa) --rounds=$$(LOOP_ROUNDS) \
	    --runs=$$(LOOP_PEER_RUNS) $$< $$(aside)
endef
$(foreach p,$(LOOP_PEER_PASSES),$(eval $(call loop_pass,$(p))))
loop_pass_times = $(foreach p,$(LOOP_PEER_PASSES),$(loop)/peers/pass$(p)/$(1).times)
$(loop)/peers/%.times: $(call loop_pass_times,%) $(BIN)/csv-cat $(BIN)/csv-group $(BIN)/csv-calc $(BIN)/csv-cut
	csv-cat $(filter %.times,$^) | csv-group -g problem,lib,kind -c ratio --stat=n,median,min,max --missing=skip |
	csv-calc --set=passes=n_ratio --set=ratio=median_ratio --set=low_ratio=min_ratio --set=high_ratio=max_ratio |
	csv-cut -c problem,lib,passes,ratio,low_ratio,high_ratio,kind $(aside)
# the best peer of each problem; then ours over it on all of a set: quotients alone are looked at, so that a speed over
# ours does
loop_of_set = --set='set="$(call loop_word,1)"' --set='type="$(call loop_word,2)"' --set=tokens=$(call loop_word,3) \
    --set='then="$(call loop_word,4)"'
$(loop)/peers/%.each: $(loop)/peers/%.times $(BIN)/csv-where $(BIN)/csv-sort $(BIN)/csv-dedupe $(BIN)/csv-calc \
    $(BIN)/csv-cut
	csv-where -c lib --is=ours --not $< | csv-where -c ratio --known | csv-sort -k ratio:n | csv-dedupe -k problem |
	csv-calc $(loop_of_set) --set=over=lib |
	csv-cut -c set,type,tokens,then,problem,over,passes,ratio,low_ratio,high_ratio,kind $(aside)
$(loop)/peers/%.row: $(loop)/peers/%.times $(BIN)/loop-compare $(BIN)/csv-calc $(BIN)/csv-cut
	csv-calc --set=gflops=1/ratio $< | loop-compare | csv-calc --where='lib == "best"' $(loop_of_set) \
	    --set=passes=$(words $(LOOP_PEER_PASSES)) \
	    --set="over=$(if $(filter $(loop_own),$(call loop_word,1)),'onednn-any','best')" |
	csv-cut -c set,type,tokens,then,over,problems,passes,ratio,low_ratio,high_ratio,least_ratio,least_problem,kind $(aside)
$(eval $(call asked,$(loop)/peers/asked,LOOP_PEER_SETS LOOP_PEER_PASSES))
# a pass of all sets before the next one
loop_passes = $(foreach p,$(LOOP_PEER_PASSES),$(LOOP_PEER_SETS:%=$(loop)/peers/pass$(p)/%.times))
$(loop)/peers.csv: $(loop_passes) $(LOOP_PEER_SETS:%=$(loop)/peers/%.row) $(loop)/peers/asked $(BIN)/csv-cat \
    $(BIN)/csv-sort
	csv-cat $(filter %.row,$^) | csv-sort -k ratio:n $(aside)
$(loop)/peers-each.csv: $(loop_passes) $(LOOP_PEER_SETS:%=$(loop)/peers/%.each) $(loop)/peers/asked $(BIN)/csv-cat \
    $(BIN)/csv-sort
	csv-cat $(filter %.each,$^) | csv-sort -k ratio:n $(aside)

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
