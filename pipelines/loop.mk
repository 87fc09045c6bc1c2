# loop.mk - make loop: problems, searches, peers, comparison and figures of the loop family, in OUT/loop.
#   SCALE=default  343 matrix products, searches of 2 s;  SCALE=full  the 2197 of the study, searches of 60 s
# Every file is one measurement; what is there is not measured again, so a killed run goes on.
LOOP := $(OUT)/loop
ifeq ($(SCALE),full)
LOOP_STEP    ?= 16
LOOP_SECONDS ?= 60
else
LOOP_STEP    ?= 32
LOOP_SECONDS ?= 2
endif
LOOP_M        := $(shell seq 64 $(LOOP_STEP) 256)
LOOP_SEARCHES ?= greedy1 greedy2 beam2dfs beam4dfs beam2bfs beam4bfs brute random anneal evolve mcts
LOOP_BROKEN   ?= greedy1 greedy2 beam2dfs beam4dfs beam2bfs beam4bfs random
LOOP_PEERS    ?= openblas openblas-core onednn libxsmm
LOOP_SETS     := resnet50 vgg19 transposed ragged
comma := ,
empty :=
loop_libs = $(subst $(empty) $(empty),$(comma),$(strip ours $(1)))

loop: $(LOOP)/summary.csv $(LOOP)/compare.csv $(LOOP)/violin.svg $(LOOP)/violin.png $(LOOP)/steps.svg $(LOOP)/steps.png \
      $(LOOP)/bars.svg $(LOOP)/bars.png $(LOOP)/roofline.svg $(LOOP)/roofline.png
	csv-show $(LOOP)/summary.csv
	csv-show $(LOOP)/compare.csv
.PHONY: loop
loop: $(BIN)/csv-show

$(LOOP)/ $(LOOP)/search/ $(LOOP)/mm/ $(LOOP)/set/:
	@mkdir -p $@
$(LOOP)/peak.csv: | $(BIN)/loop-peak $(LOOP)/
	loop-peak > $@
$(LOOP)/problems.csv: $(BIN)/loop-gen | $(LOOP)/
	loop-gen --kind=mm --m=64:256:$(LOOP_STEP) --n=64:256:$(LOOP_STEP) --k=64:256:$(LOOP_STEP) --seed=$(SEED) > $@

# ---- searches, as meant and as published, on products of the published test sizes ----
$(LOOP)/sample.csv: $(BIN)/loop-gen | $(LOOP)/
	loop-gen --kind=mm --m=112$(comma)208 --n=64$(comma)224 --k=80$(comma)256 --test=1 > $@
$(LOOP)/search/%.csv: $(LOOP)/sample.csv | $(BIN)/loop-search $(LOOP)/search/
	loop-search --algo=$* --actions=published --seconds=$(LOOP_SECONDS) --seed=$(SEED) $< > $@
$(LOOP)/search/%_published.csv: $(LOOP)/sample.csv | $(BIN)/loop-search $(LOOP)/search/
	loop-search --algo=$* --as-published --seconds=$(LOOP_SECONDS) --seed=$(SEED) $< > $@
$(LOOP)/search/heuristic.csv: $(LOOP)/sample.csv | $(BIN)/loop-search $(LOOP)/search/
	loop-search --algo=heuristic --seconds=$(LOOP_SECONDS) $< > $@
LOOP_ALGOS := $(LOOP_SEARCHES) $(LOOP_BROKEN:%=%_published) heuristic
LOOP_TRACES := $(LOOP_ALGOS:%=$(LOOP)/search/%.csv) $(LOOP_MORE_TRACES)
$(LOOP)/traces.csv: $(LOOP_TRACES) $(BIN)/csv-cat
	csv-cat $(LOOP_TRACES) > $@
$(LOOP)/summary.csv: $(LOOP)/traces.csv $(LOOP)/peak.csv $(BIN)/loop-eval
	loop-eval --published --peak=$$(awk -F, '$$2 > m { m = $$2 } END { print m }' <(tail -n +2 $(LOOP)/peak.csv)) $< > $@

# ---- the best schedule of every product, and of the other sets, against the peers ----
$(LOOP)/mm/%.csv: | $(BIN)/loop-gen $(BIN)/loop-search $(LOOP)/mm/
	loop-gen --kind=mm --m=$* --n=64:256:$(LOOP_STEP) --k=64:256:$(LOOP_STEP) --test=0 |
	loop-search --algo=heuristic --measure=24 > $@
$(LOOP)/mm/%.peers: $(LOOP)/mm/%.csv | $(BIN)/loop-peer
	loop-peer --lib=$(call loop_libs,$(LOOP_PEERS)) --rounds=12 $< > $@
$(LOOP)/mm.csv: $(LOOP_M:%=$(LOOP)/mm/%.peers) $(BIN)/csv-cat
	csv-cat $(filter %.peers,$^) > $@
$(LOOP)/set/resnet50.problems $(LOOP)/set/vgg19.problems: $(LOOP)/set/%.problems: $(BIN)/loop-gen | $(LOOP)/set/
	loop-gen --set=$* --layout=nhwc --test=0 > $@
$(LOOP)/set/transposed.problems: $(BIN)/loop-gen $(BIN)/csv-cat | $(LOOP)/set/
	for k in mm_nt mm_tn mm_tt; do loop-gen --kind=$$k --m=64:256:96 --n=64:256:96 --k=64:256:96 --test=0 > $@.$$k; done
	csv-cat $@.mm_nt $@.mm_tn $@.mm_tt > $@
	rm $@.mm_*
$(LOOP)/set/ragged.problems: $(BIN)/loop-gen | $(LOOP)/set/
	loop-gen --kind=mm --m=50:250:67 --n=61:251:63 --k=53:253:67 --test=0 > $@
$(LOOP)/set/%.csv: $(LOOP)/set/%.problems | $(BIN)/loop-search
	loop-search --algo=heuristic --measure=24 --seconds=3 $< > $@
$(LOOP)/set/%.peers: $(LOOP)/set/%.csv | $(BIN)/loop-peer
	loop-peer --lib=$(call loop_libs,$(LOOP_PEERS)) --rounds=8 $< > $@
$(LOOP)/compare.csv: $(LOOP)/mm.csv $(LOOP_SETS:%=$(LOOP)/set/%.peers) $(LOOP)/peak.csv $(BIN)/loop-compare
	peak=$$(awk -F, '$$2 > m { m = $$2 } END { print m }' <(tail -n +2 $(LOOP)/peak.csv))
	for s in $(LOOP)/mm.csv $(LOOP_SETS:%=$(LOOP)/set/%.peers); do
	    loop-compare --peak=$$peak $$s | awk -v s=$$(basename $$s | sed 's/\..*//') 'NR == 1 { print "set," $$0 } NR > 1 { print s "," $$0 }'
	done | awk 'NR == 1 || !/^set,/' > $@

# ---- figures: each from the table beside it ----
$(LOOP)/violin.csv: $(LOOP)/traces.csv
	awk -F, 'NR == 1 { print "algo,position,speedup"; next }
	function flush() { if (p != "" && base > 0) print a "," pos[a] "," last / base }
	{ n = split($$0, f, ","); g = f[n - 2]; if ($$1 != p || $$2 != a) { flush(); p = $$1; a = $$2; base = last = ""; if (!(a in pos)) pos[a] = ++k }
	  if ($$3 == 0 && g != "") { base = g; known[p] = g } if (base == "" && p in known) base = known[p]; if (g != "") last = g }
	END { flush() }' $< > $@
$(LOOP)/steps.csv: $(LOOP)/traces.csv $(BIN)/csv-cut
	csv-cut -c algo,seconds,gflops $< > $@
$(LOOP)/roofline.csv: $(LOOP)/mm.csv
	awk -F, 'NR == 1 { print "lib,intensity,gflops" } NR > 1 { split($$1, s, /[ )]/); m = s[2]; n = s[3]; k = s[4]
	  print $$2 "," 2 * m * n * k / 4 / (m * k + k * n + m * n) "," $$3 }' $< > $@
$(LOOP)/bars.csv: $(LOOP)/mm.csv
	cp $< $@
LOOP_SHOWN = ours $(LOOP_PEERS)
$(LOOP)/violin.svg $(LOOP)/violin.png: $(LOOP)/violin.csv plots/loop-violin.gp
	gnuplot -c plots/loop-violin.gp $< $@
$(LOOP)/steps.svg $(LOOP)/steps.png: $(LOOP)/steps.csv plots/loop-steps.gp
	gnuplot -c plots/loop-steps.gp $< $@ '$(LOOP_ALGOS)'
$(LOOP)/bars.svg $(LOOP)/bars.png: $(LOOP)/bars.csv plots/loop-bars.gp
	gnuplot -c plots/loop-bars.gp $< $@ 'matrix products 64 to 256' '$(LOOP_SHOWN)'
$(LOOP)/roofline.svg $(LOOP)/roofline.png: $(LOOP)/roofline.csv $(LOOP)/peak.csv plots/loop-roofline.gp
	gnuplot -c plots/loop-roofline.gp $< $@ $$(awk -F, '$$2 > m { m = $$2 } END { print m }' <(tail -n +2 $(LOOP)/peak.csv)) '$(LOOP_SHOWN)'

# ---- make loop-learn: a policy trained by the model on the training sizes of a grid, measured on the unseen ones ----
LOOP_LEARN_STEPS ?= 100000
LOOP_LEARN       := $(LOOP)/learn
loop-learn: $(LOOP_LEARN)/summary.csv $(LOOP_LEARN)/ratio.csv $(BIN)/csv-show
	csv-show $(LOOP_LEARN)/summary.csv
	csv-show $(LOOP_LEARN)/ratio.csv
.PHONY: loop-learn
$(LOOP_LEARN)/:
	@mkdir -p $@
$(LOOP_LEARN)/problems.csv: $(BIN)/loop-gen | $(LOOP_LEARN)/
	loop-gen --kind=mm --m=64:256:16 --n=64:256:16 --k=64:256:16 --seed=$(SEED) > $@
$(LOOP_LEARN)/test.csv: $(LOOP_LEARN)/problems.csv
	awk 'NR == 1 || /,test$$/' $< > $@
$(LOOP_LEARN)/mm.policy: $(LOOP_LEARN)/problems.csv | $(BIN)/loop-train
	loop-train --eval=model --steps=$(LOOP_LEARN_STEPS) --seed=$(SEED) --checkpoint=$@.checkpoint -o $@ $< > $(LOOP_LEARN)/curve.csv
$(LOOP_LEARN)/policy.csv: $(LOOP_LEARN)/mm.policy $(LOOP_LEARN)/test.csv | $(BIN)/loop-roll
	loop-roll --policy=$< --measure=10 $(word 2,$^) > $@
$(LOOP_LEARN)/ranked.csv: $(LOOP_LEARN)/mm.policy $(LOOP_LEARN)/test.csv | $(BIN)/loop-roll
	loop-roll --policy=$< --measure=10 --rank=model --name=policy_ranked $(word 2,$^) > $@
$(LOOP_LEARN)/heuristic.csv: $(LOOP_LEARN)/test.csv | $(BIN)/loop-search
	loop-search --algo=heuristic --measure=24 $< > $@
$(LOOP_LEARN)/random.csv: $(LOOP_LEARN)/test.csv | $(BIN)/loop-search
	loop-search --algo=random --seconds=0.1 --seed=$(SEED) $< > $@
$(LOOP_LEARN)/traces.csv: $(LOOP_LEARN)/policy.csv $(LOOP_LEARN)/ranked.csv $(LOOP_LEARN)/heuristic.csv $(LOOP_LEARN)/random.csv $(BIN)/csv-cat
	csv-cat $(filter %.csv,$^) > $@
$(LOOP_LEARN)/summary.csv: $(LOOP_LEARN)/traces.csv $(BIN)/loop-eval
	loop-eval --published $< > $@
# each algorithm's nests over the best that any of them found for the problem
$(LOOP_LEARN)/ratio.csv: $(LOOP_LEARN)/traces.csv
	awk -F, 'NR > 1 { g = $$(NF - 2); if (g != "") last[$$2, $$1] = g; algo[$$2]; problem[$$1] }
	  END { print "algo,problems,of_best_known_geomean,of_best_known_least"
	        for (p in problem) for (a in algo) if (last[a, p] > best[p]) best[p] = last[a, p]
	        for (a in algo) { n = s = 0; least = 1
	            for (p in problem) { r = last[a, p] / best[p]; s += log(r); n++; if (r < least) least = r }
	            print a "," n "," exp(s / n) "," least | "sort" } }' $< > $@
