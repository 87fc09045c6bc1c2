# bench: what the measuring filters are worth, on this machine.  Times are real; each target takes a few minutes.
#   bench-demo       two commands that differ by 1 %: rounds, verdict, rounds needed, three pictures
#   bench-aa         a program against itself under two busy neighbours: ours and hyperfine (peer)
#   bench-planted    slow-downs of 1, 2 and 5 %, found or not; run it again for more comparisons
#   bench-identical  the best of 100 identical configurations, and what is left of it
#   bench-guard-replay DATA=...   the never-worse rule on published timings of inlining policies
BENCH_AA       ?= $(if $(bench_small),5,300)
BENCH_TIMES    ?= $(if $(bench_small),1,8)
BENCH_ROUNDS   ?= $(if $(bench_small),20,100)
BENCH_CONFIGURATIONS ?= $(if $(bench_small),8,100)
bench_small    = $(filter ci test,$(SCALE))

$(OUT)/bench/work: $(TOP)/pipelines/bench-work.c | $(OUT)/bench
	$(CC) -O2 -o $(new) $< && $(swap)
$(OUT)/bench:
	mkdir -p $@

# measurements: a rebuilt filter does not throw them away
$(OUT)/bench/demo-runs.csv: | $(OUT)/bench $(OUT)/bench/work
	bench-run --rounds=$(BENCH_ROUNDS) --aa --seed=$(SEED) -o $@.log --label=plain '$(OUT)/bench/work 1000' \
	    --label=slower '$(OUT)/bench/work 1010'
	csv-cat $@.log $(aside)
$(OUT)/bench/aa.csv: | $(OUT)/bench $(OUT)/bench/work
	bash $(TOP)/t/bench/aa.sh $(BENCH_AA) $(new) $(OUT)/bench/work
	$(call keep,$@)
$(OUT)/bench/identical.csv: | $(OUT)/bench $(OUT)/bench/work
	bash $(TOP)/t/bench/identical.sh $(BENCH_TIMES) $(new) $(OUT)/bench/work $(BENCH_CONFIGURATIONS)
	$(call keep,$@)
# derived; bench-compare says by its status what it found
$(OUT)/bench/demo-compare.csv: $(OUT)/bench/demo-runs.csv $(BIN)/bench-compare
	bench-compare --base=plain $< > $(new) || [ $$? -le 2 ]
	$(call keep,$@)
$(OUT)/bench/demo-power.csv: $(OUT)/bench/demo-runs.csv $(BIN)/bench-power
	bench-power --base=plain --label=slower --seed=$(SEED) $< $(aside)
$(OUT)/bench/demo-stat.csv: $(OUT)/bench/demo-runs.csv $(BIN)/bench-stat
	bench-stat --seed=$(SEED) $< $(aside)
$(OUT)/bench/guard-replay.csv: $(TOP)/t/bench/guard.sh $(BIN)/bench-guard | $(OUT)/bench
	bash $(TOP)/t/bench/guard.sh $(bench_results) $(new)
	$(call keep,$@)
bench_results = $(or $(firstword $(wildcard $(addsuffix /results,$(DATA)/inline $(DATA)))),$(error no inline/results \
    in DATA='$(DATA)'))

$(OUT)/bench/ratio.%: $(OUT)/bench/demo-compare.csv $(TOP)/plots/bench-ratio.gp
	$(call draw,bench-ratio,$<,label 'one per cent more work')
$(OUT)/bench/sequence.%: $(OUT)/bench/demo-runs.csv $(TOP)/plots/bench-sequence.gp
	$(call draw,bench-sequence,$<,cpu_seconds plain slower)
$(OUT)/bench/distribution.%: $(OUT)/bench/demo-runs.csv $(TOP)/plots/bench-distribution.gp
	$(call draw,bench-distribution,$<,cpu_seconds plain slower)

bench-demo: $(OUT)/bench/demo-compare.csv $(OUT)/bench/demo-power.csv $(OUT)/bench/demo-stat.csv \
    $(foreach p,ratio sequence distribution,$(OUT)/bench/$p.svg $(OUT)/bench/$p.png)
	csv-show $(OUT)/bench/demo-compare.csv
	csv-show $(OUT)/bench/demo-power.csv
bench-aa: $(OUT)/bench/aa.csv
	csv-show $<
bench-planted: | $(OUT)/bench $(OUT)/bench/work
	bash $(TOP)/t/bench/planted.sh $(BENCH_TIMES) $(OUT)/bench/planted.csv $(OUT)/bench/work \
	    $(if $(bench_small),50)
	csv-show $(OUT)/bench/planted.csv
bench-identical: $(OUT)/bench/identical.csv
	csv-show $<
bench-guard-replay: $(OUT)/bench/guard-replay.csv
	csv-show $<
.PHONY: bench-demo bench-aa bench-planted bench-identical bench-guard-replay
