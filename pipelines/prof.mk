# prof: make prof - the end-to-end test, the cost of recording, CartPole in Python and in C, every table and picture
#   OUT/prof/e2e       Python, C and the GPU's stand-in (the real one only with prof-record --gpu) for a known time each, three iterations; threads:
#                      the same in four threads, forks: in two forked processes of two threads; verdict.csv: against the truth
#   OUT/prof/cartpole  deep Q-learning until CartPole is solved, recorded; OUT/prof/speedup.csv: the profile's TheoreticalSpeedup beside the
#                      speed-up of the C program (an update: with its share of acting and trials), and what
#                      recording and cProfile cost the same run (one run of each, so differences of a few per cent are noise); per update: six
#                      rounds of both programs in turn, with a 95 % interval
#   OUT/prof/correct   what recording ten programs costs, taken out again, beside the same programs not recorded: table.csv, see prof-correct-bench;
#                      make prof-correct-bench PROF_REPEATS=20 for the interval's coverage (half an hour; resumes)
#   OUT/prof/functions.csv  each function's share by cProfile and by the recorder's call tree; OUT/prof/cost.csv: a call's cost beside cProfile,
#                      sys.setprofile and yappi
#   SCALE=ci           short; CARTPOLE_SEED= for both programs.  make prof-process DIR=...: all tables and pictures again from logs
prof_out      = $(OUT)/prof
PROF_PYTHON  ?= /usr/bin/python3
CARTPOLE_SEED ?= 2
prof_small    = $(filter ci test,$(SCALE))
prof_forms    = $(if $(filter test,$(SCALE)),FORMS=svg)
prof_seconds  = $(if $(prof_small),0.05,0.5)
prof_steps    = $(if $(prof_small),1500,200000)
prof_round    = $(if $(prof_small),1500,4000)
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
	$(PROF_PYTHON) -m cProfile -o $(@D)/cprofile-tree.prof $(prof_script) --seed=$(CARTPOLE_SEED) --steps=1500 > $(@D)/curve-cprofile-tree.csv
	touch $@
# what each of the recorder's hooks costs, in loops of cheap calls
$(prof_out)/pairs.csv: | $(prof_programs) all
	mkdir -p $(@D)
	rm -rf $(@D)/calibration
	PYTHONPATH=$B/prof $(PROF_PYTHON) $B/prof/millrace_cost.py pairs $(@D)/calibration $(if $(prof_small),2,10) > $@
	rm -rf $(@D)/calibration
$(prof_out)/calibration.sexp: $(prof_out)/pairs.csv
	prof-calibrate $< > $@
# not recorded, recorded, corrected; the rows of an unfinished experiment are kept
$(prof_out)/correct/table.csv: $(prof_out)/calibration.sexp pipelines/prof-correct-bench | $(prof_programs) all
	CALIBRATION=$< PYTHON=$(PROF_PYTHON) B=$(abspath $B) BIN=$(abspath $(BIN)) $(if $(prof_small),PROGRAMS=hashlib) \
	    pipelines/prof-correct-bench $(@D) $(or $(PROF_REPEATS),1) $(if $(prof_small),2,5)
$(prof_out)/corrected.svg $(prof_out)/corrected.png: $(prof_out)/correct/table.csv plots/prof-corrected.gp
	gnuplot -c plots/prof-corrected.gp $< $@
$(prof_out)/functions.csv: $(prof_out)/cartpole.done pipelines/prof-functions
	pipelines/prof-functions $(@D)/cprofile-tree.prof $(@D)/tree $(prof_script) > $@
$(prof_out)/functions.svg $(prof_out)/functions.png: $(prof_out)/functions.csv plots/prof-functions.gp
	csv-sample --quiet --first=12 $< > $@.part
	gnuplot -c plots/prof-functions.gp $@.part $@
	rm $@.part
$(prof_out)/cost.csv: | $(prof_programs) all
	B=$(abspath $B) SIZE=$(if $(prof_small),0.02,0.5) $(if $(prof_small),PROGRAMS=sqrt) t/bench/prof-cost.sh $(@D)/cost $(if $(prof_small),1,5) > $@
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
$(prof_out)/cartpole/summary.csv: $(prof_out)/calibration.sexp
$(prof_out)/cartpole/summary.csv: $(prof_out)/cartpole.done pipelines/prof-process $(wildcard plots/prof-*.gp)
	cp $(prof_out)/calibration.sexp $(@D)
	$(prof_forms) pipelines/prof-process $(@D)
$(prof_out)/tree/summary.csv: $(prof_out)/cartpole.done pipelines/prof-process $(wildcard plots/prof-*.gp)
	$(prof_forms) pipelines/prof-process --tree $(@D)
# each part of each iteration against what passed, within 1 % or 5 ms: alone, under four threads, in two forked processes of two threads
$(prof_out)/threads.done $(prof_out)/forks.done: $(prof_out)/%.done: | $(prof_programs) all
	mkdir -p $(@D)
	rm -f $(@D)/truth-$*.csv*
	prof-record --quiet --force --wait -o $(@D)/$* $B/prof/millrace_e2e.py --seconds=$(prof_seconds) --truth=$(@D)/truth-$*.csv \
	    $(if $(filter threads,$*),--threads=4,--threads=2 --forks=2)
	touch $@
$(prof_out)/verdict-%.csv: $(prof_out)/%.done pipelines/prof-verdict
	csv-cat $(if $(filter e2e,$*),$(@D)/truth.csv,$(@D)/truth-$*.csv*) > $(@D)/truth-$*.all
	pipelines/prof-verdict $(@D)/truth-$*.all <(prof-log $(@D)/$* | prof-split --by=on | prof-op) > $@
$(prof_out)/verdict.csv: $(foreach r,e2e threads forks,$(prof_out)/verdict-$r.csv)
	{ echo run,proc,tid,iteration,part,true_seconds,recorded_seconds,off_ratio,verdict
	  for r in e2e threads forks; do sed "1d; s/^/$$r,/" $(prof_out)/verdict-$$r.csv; done; } > $@
$(prof_out)/forks/summary.csv: $(prof_out)/forks.done pipelines/prof-process $(wildcard plots/prof-*.gp)
	$(prof_forms) pipelines/prof-process $(@D)
# the two programs in turn for the same number of steps, so that a neighbour disturbs both
$(prof_out)/rounds.csv: $(prof_script) | $(prof_programs)
	mkdir -p $(@D)
	echo round,program,seconds,updates > $@.part
	for i in $(if $(prof_small),1 2,1 2 3 4 5 6); do
	    $(PROF_PYTHON) $(prof_script) --seed=$(CARTPOLE_SEED) --steps=$(prof_round) --time=$(@D)/round.csv > /dev/null 2> $(@D)/round.log
	    awk -F, -v r=$$i 'NR == 2 { print r ",python," $$2 "," $$4 }' $(@D)/round.csv >> $@.part
	    begin=$$(date +%s%N)
	    fit-cartpole --quiet --plain --seed=$(CARTPOLE_SEED) --steps=$(prof_round) > $(@D)/round.csv
	    tail -1 $(@D)/round.csv | awk -F, -v r=$$i -v ns=$$(($$(date +%s%N) - begin)) '{ printf "%d,c,%.6f,%d\n", r, ns / 1e9, $$3 }' >> $@.part
	done
	rm $(@D)/round.csv $(@D)/round.log
	mv $@.part $@
# Python's part of a recorded step gone, and what the C program takes, by step of learning: the two solve it after different numbers of steps
$(prof_out)/speedup.csv: $(prof_out)/cartpole/summary.csv $(if $(wildcard bin/fit-cartpole.c),$(prof_out)/c.csv $(prof_out)/rounds.csv)
	prof-view --view=metrics $(prof_out)/cartpole/cells.csv > $(prof_out)/phases.csv
	csv-cut -c proc,phase,op,cats,total_ns,lo_ns,hi_ns,runs $(prof_out)/cartpole/corrected.csv | prof-view --view=metrics > $(prof_out)/phases-corrected.csv
	awk -F, 'function all(file,    t, c, k) { for (k in total) if (k ~ "^" file) { t += total[k]; c += native[k] } return c ? t / c : 0 }
	    BEGIN { print "quantity,value" } { f = FILENAME; sub(/.*\//, "", f); sub(/\.csv/, "", f) }
	    f ~ /^phases/ { if ($$2 == "learn" || $$2 == "trial") { if ($$3 == "TotalTimeSec") total[f " " $$2] += $$4; if ($$3 == "CppAndGPUTimeSec") native[f " " $$2] += $$4 } next }
	    f == "rounds" { if ($$2 == "python") p[$$1] = $$3 / $$4; if ($$2 == "c" && $$4) { r = log(p[$$1] / ($$3 / $$4)); n++; sum += r; square += r * r } next }
	    $$1 == "program" { next } { t[f] = $$2; u[f] = $$4; print f "_seconds," $$2; print f "_updates," $$4; print f "_mean_return," $$5 }
	    END { print "theoretical_speedup," all("phases "); print "theoretical_speedup_corrected," all("phases-corrected ")
	        print "recording_slowdown_ratio," t["recorded"] / t["bare"]; print "cprofile_slowdown_ratio," t["cprofile"] / t["bare"]
	        if (n > 1) { m = sum / n; s = sqrt((square - n * m * m) / (n - 1) / n) * (n == 2 ? 12.71 : n == 6 ? 2.571 : 2.2)
	            print "achieved_speedup_per_update," exp(m); print "achieved_speedup_low," exp(m - s); print "achieved_speedup_high," exp(m + s) }
	        if (t["c"]) print "achieved_speedup_until_solved," t["bare"] / t["c"] }' \
	    $(prof_out)/phases.csv $(prof_out)/phases-corrected.csv $(prof_out)/bare.csv $(prof_out)/recorded.csv $(prof_out)/cprofile.csv $(filter %/c.csv %/rounds.csv,$^) > $@
$(prof_out)/speedup.svg $(prof_out)/speedup.png: $(prof_out)/speedup.csv plots/prof-cost.gp
	gnuplot -c plots/prof-cost.gp $< $@

prof: $(prof_out)/verdict.csv $(prof_out)/speedup.csv $(prof_out)/e2e/summary.csv $(prof_out)/tree/summary.csv $(prof_out)/forks/summary.csv $(prof_out)/correct/table.csv $(prof_out)/cost.csv \
    $(foreach f,speedup corrected functions,$(prof_out)/$f.svg $(prof_out)/$f.png)
	@awk -F, 'NR > 1 { n++; good += $$9 == "pass"; d = $$8 < 0 ? -$$8 : $$8; if (d > m) m = d } END { printf "end to end: %d of %d parts as long as they were, furthest off %.4f\n", good, n, m }' $(prof_out)/verdict.csv
	csv-show $(prof_out)/speedup.csv
	csv-show $(prof_out)/correct/table.csv
	csv-show $(prof_out)/cost.csv
	! grep -q ',fail' $(prof_out)/verdict.csv
prof-correct-bench: $(prof_out)/calibration.sexp | $(prof_programs) all
	rm -f $(prof_out)/correct/table.csv
	$(MAKE) -s $(prof_out)/correct/table.csv $(prof_out)/corrected.svg $(prof_out)/corrected.png PROF_REPEATS=$(or $(PROF_REPEATS),4)
	csv-show $(prof_out)/correct/table.csv
prof-process:
	pipelines/prof-process $(DIR)
.PHONY: prof prof-process prof-correct-bench
