# prof: make prof - the end-to-end test, the cost of recording, CartPole in Python and in C, every table and picture
#   OUT/prof/e2e       Python, C and the GPU's stand-in (the real one only with prof-record --gpu) for a known time each: verdict.csv
#   OUT/prof/cartpole  deep Q-learning until CartPole is solved, recorded; OUT/prof/speedup.csv: the profile's TheoreticalSpeedup beside the
#                      speed-up of the C program (an update: with its share of acting and trials), and what
#                      recording and cProfile cost the same run; one run of each, so differences of a few per cent are noise
#   SCALE=ci           short; CARTPOLE_SEED= for both programs.  make prof-process DIR=...: all tables and pictures again from logs
prof_out      = $(OUT)/prof
PROF_PYTHON  ?= /usr/bin/python3
CARTPOLE_SEED ?= 2
prof_seconds  = $(if $(filter ci test,$(SCALE)),0.05,0.5)
prof_steps    = $(if $(filter ci test,$(SCALE)),1500,200000)
prof_script   = data/cartpole/cartpole.py
prof_args     = --seed=$(CARTPOLE_SEED) --steps=$(prof_steps)
prof_programs = $(addprefix $(BIN)/prof-,record log op sweep check view split util emit calibrate correct) $(patsubst %.c,$(BIN)/%,$(notdir $(wildcard bin/fit-cartpole.c)))

# measurements: a rebuilt filter does not throw them away
$(prof_out)/e2e.done: | $(prof_programs) all
	mkdir -p $(@D)
	rm -f $(@D)/truth.csv*
	prof-record --quiet --force --wait -o $(@D)/e2e $B/prof/millrace_e2e.py --seconds=$(prof_seconds) --truth=$(@D)/truth.csv
	touch $@
$(prof_out)/cartpole.done: $(prof_script) | $(prof_programs) all
	mkdir -p $(@D)
	$(PROF_PYTHON) -c 'import numpy' || { echo 'make prof: $(PROF_PYTHON) has no NumPy (apt-get install python3-numpy)' >&2; exit 1; }
	$(PROF_PYTHON) $(prof_script) $(prof_args) --time=$(@D)/bare.csv > $(@D)/curve.csv
	prof-record --quiet --force -o $(@D)/cartpole $(prof_script) $(prof_args) --time=$(@D)/recorded.csv > $(@D)/curve-recorded.csv
	cmp $(@D)/curve.csv $(@D)/curve-recorded.csv
	$(PROF_PYTHON) -m cProfile -o $(@D)/cprofile.prof $(prof_script) $(prof_args) --time=$(@D)/cprofile.csv > $(@D)/curve-cprofile.csv
	prof-record --quiet --force --tree -o $(@D)/tree $(prof_script) --seed=$(CARTPOLE_SEED) --steps=1500 > $(@D)/curve-tree.csv
	touch $@
# the C program, best of three: the same rows each time
$(prof_out)/c.csv: | $(prof_programs)
	mkdir -p $(@D)
	for i in 1 2 3; do
	    begin=$$(date +%s%N)
	    fit-cartpole --quiet --plain --seed=$(CARTPOLE_SEED) --steps=$(prof_steps) > $(@D)/curve-c.csv
	    echo $$(($$(date +%s%N) - begin))
	done | sort -n | sed -n 1p > $@.part
	{ echo program,seconds,steps,updates,mean_return; tail -1 $(@D)/curve-c.csv | awk -F, -v ns="$$(cat $@.part)" '{ printf "c,%.6f,%s,%s,%s\n", ns / 1e9, $$2, $$3, $$5 }'; } > $@
	rm $@.part

$(prof_out)/e2e/summary.csv: $(prof_out)/e2e.done pipelines/prof-process $(wildcard plots/prof-*.gp)
	pipelines/prof-process $(@D)
$(prof_out)/cartpole/summary.csv: $(prof_out)/cartpole.done pipelines/prof-process $(wildcard plots/prof-*.gp)
	pipelines/prof-process $(@D)
$(prof_out)/tree/summary.csv: $(prof_out)/cartpole.done pipelines/prof-process $(wildcard plots/prof-*.gp)
	pipelines/prof-process --tree $(@D)
# each part of each iteration against what passed: within 1 % or 5 ms
$(prof_out)/verdict.csv: $(prof_out)/e2e/summary.csv
	awk -F, 'BEGIN { print "iteration,part,true_seconds,recorded_seconds,off_ratio,verdict" }
	    FNR == 1 { next } FILENAME ~ /truth/ { want[$$3 + 1, $$4] = $$5; next }
	    $$3 == "c" && $$4 == "Backend" || $$3 == "python" && $$4 == "Python" || $$3 == "gpu" && $$4 ~ /GPU/ { got[$$2, $$3] += $$5 / 1e9 }
	    END { for (i = 1; i <= 3; i++) for (k = split("python c gpu", p, " "); k > 0; k--) { w = want[i, p[k]]; g = got[i, p[k]]; d = g > w ? g - w : w - g
	        good = w > 0 && (d <= 0.005 || d <= w / 100); bad += !good
	        printf "%d,%s,%.6f,%.6f,%.5f,%s\n", i, p[k], w, g, (w > 0 ? g / w - 1 : 0), (good ? "pass" : "fail") } }' \
	    $(prof_out)/truth.csv $(prof_out)/e2e/iterations.csv > $@
# Python's part of a recorded step gone, and what the C program takes, by step of learning: the two solve it after different numbers of steps
$(prof_out)/speedup.csv: $(prof_out)/cartpole/summary.csv $(if $(wildcard bin/fit-cartpole.c),$(prof_out)/c.csv)
	prof-view --view=metrics $(prof_out)/cartpole/cells.csv > $(prof_out)/phases.csv
	awk -F, 'BEGIN { print "quantity,value" } FILENAME ~ /phases/ { if ($$3 == "TheoreticalSpeedup" && $$2 != "") print "theoretical_speedup_" $$2 "," $$4
	        if ($$2 == "learn" || $$2 == "trial") { if ($$3 == "TotalTimeSec") all += $$4; if ($$3 == "CppAndGPUTimeSec") c += $$4 } next }
	    $$1 == "program" { next } { n = FILENAME; sub(/.*\//, "", n); sub(/\.csv/, "", n); t[n] = $$2; s[n] = $$4; r[n] = $$5; print n "_seconds," $$2; print n "_updates," $$4; print n "_mean_return," $$5 }
	    END { if (c) print "theoretical_speedup_all," all / c; print "recording_slowdown_ratio," t["recorded"] / t["bare"]; print "cprofile_slowdown_ratio," t["cprofile"] / t["bare"]
	        if (t["c"] && s["c"] && s["bare"]) { print "achieved_speedup_per_update," t["bare"] / s["bare"] / (t["c"] / s["c"]); print "achieved_speedup_until_solved," t["bare"] / t["c"] } }' \
	    $(prof_out)/phases.csv $(prof_out)/bare.csv $(prof_out)/recorded.csv $(prof_out)/cprofile.csv $(filter %/c.csv,$^) > $@
$(prof_out)/speedup.svg $(prof_out)/speedup.png: $(prof_out)/speedup.csv plots/prof-cost.gp
	gnuplot -c plots/prof-cost.gp $< $@

prof: $(prof_out)/verdict.csv $(prof_out)/speedup.csv $(prof_out)/speedup.svg $(prof_out)/speedup.png $(prof_out)/tree/summary.csv
	@csv-show $(prof_out)/verdict.csv
	csv-show $(prof_out)/speedup.csv
	! grep -q ',fail' $(prof_out)/verdict.csv
prof-process:
	pipelines/prof-process $(DIR)
.PHONY: prof prof-process
