# prof: make prof - the end-to-end test, the cost of recording, CartPole in Python and in C, every table and picture
#   OUT/prof/e2e       Python, C and the GPU's stand-in (the real one only with prof-record --gpu) for a known time
#                      each, three iterations; threads: the same in four threads, forks: in two forked processes of two
#                      threads; verdict.csv: against the truth
#   OUT/prof/cartpole  deep Q-learning until CartPole is solved, recorded; OUT/prof/speedup.csv: the profile's
#                      TheoreticalSpeedup beside the speed-up of the C program (an update: with its share of acting and
#                      trials), and what recording and cProfile cost: per update, eight rounds of the programs in turn,
#                      intervals by bench-compare
#   OUT/prof/functions.csv  each function's share by cProfile and by the recorder's call tree; OUT/prof/cost.csv: a
#                           call's cost beside cProfile,
#                      sys.setprofile and yappi
#   SCALE=ci           short; PROF_CARTPOLE_SEED= for both programs; PROF_STEPS=, PROF_ROUND_STEPS= of each round,
#                      steps of CartPole; PROF_TREE='SCRIPT ARGUMENT...' for the call tree.  make prof-process DIR=...:
#                      all tables and pictures again from logs
prof           = $(OUT)/prof
PROF_PYTHON   ?= /usr/bin/python3
PROF_CARTPOLE_SEED ?= 2
prof_small     = $(filter ci test,$(SCALE))
PROF_FORMS    ?= svg$(if $(filter test,$(SCALE)),, png)
prof_seconds   = $(if $(prof_small),0.05,0.5)
PROF_STEPS    ?= $(if $(prof_small),1500,200000)
PROF_ROUND_STEPS ?= $(if $(prof_small),1500,4000)
prof_script    = $(TOP)/data/cartpole/cartpole.py
PROF_TREE     ?= $(prof_script) --seed=$(PROF_CARTPOLE_SEED) --steps=1500
prof_record    = prof-record --quiet --force --python=$(PROF_PYTHON)
prof_args      = --seed=$(PROF_CARTPOLE_SEED) --steps=$(PROF_STEPS)
prof_process   = $(TOP)/pipelines/prof-process

# measurements: a rebuilt filter does not throw them away
$(prof)/e2e.done:
	mkdir -p $(@D)
	rm -f $(@D)/truth.csv*
	$(prof_record) --wait -o $(@D)/e2e $B/prof/millrace_e2e.py --seconds=$(prof_seconds) \
	    --truth=$(@D)/truth.csv
	touch $@
$(prof)/cartpole.done: $(prof_script)
	mkdir -p $(@D)
	$(PROF_PYTHON) -c 'import numpy' ||
	    { echo 'make prof: $(PROF_PYTHON) has no NumPy (apt-get install python3-numpy)' >&2; exit 1; }
	$(PROF_PYTHON) $(prof_script) $(prof_args) --time=$(@D)/bare.csv > $(@D)/curve.csv
	$(prof_record) -o $(@D)/cartpole $(prof_script) $(prof_args) --time=$(@D)/recorded.csv \
	    > $(@D)/curve-recorded.csv
	cmp $(@D)/curve.csv $(@D)/curve-recorded.csv
	$(prof_record) --tree -o $(@D)/tree $(PROF_TREE) > $(@D)/curve-tree.csv
	$(PROF_PYTHON) -m cProfile -o $(@D)/cprofile-tree.prof $(PROF_TREE) > $(@D)/curve-cprofile-tree.csv
	touch $@
# what recording costs this program, by a short run of it ten times, in turn with and without what records calls
$(prof)/calibration.sexp: $(prof_script)
	mkdir -p $(@D)
	$(prof_record) --calibrate -o $(@D)/calibration $< --seed=$(PROF_CARTPOLE_SEED) \
	    --steps=$(if $(prof_small),300,1500) > $(new).log
	cp $(@D)/calibration/calibration.sexp $(new)
	rm -r $(@D)/calibration $(new).log
	$(call keep,$@)
$(prof)/functions.csv: $(prof)/cartpole.done $(TOP)/pipelines/prof-functions
	$(TOP)/pipelines/prof-functions $(@D)/cprofile-tree.prof $(@D)/tree $(firstword $(PROF_TREE)) $(aside)
$(prof)/functions.svg $(prof)/functions.png: $(prof)/functions.csv $(TOP)/plots/prof-functions.gp
	csv-sample --quiet --first=12 $< > $(new).csv
	gnuplot -e "kind='real'" -c $(TOP)/plots/prof-functions.gp $(new).csv $(new)
	rm $(new).csv
	$(call keep,$@)
$(prof)/cost.csv:
	B=$(abspath $B) SIZE=$(if $(prof_small),0.02,0.5) $(if $(prof_small),PROGRAMS=sqrt) $(TOP)/pipelines/prof-cost \
	    $(@D)/cost $(if $(prof_small),1,5) $(aside)
# the C program, best of three: the same rows each time
$(prof)/c.csv:
	mkdir -p $(@D)
	for i in 1 2 3; do
	    begin=$$(date +%s%N)
	    fit-cartpole --quiet --plain --seed=$(PROF_CARTPOLE_SEED) --steps=$(PROF_STEPS) > $(@D)/curve-c.csv
	    echo $$(($$(date +%s%N) - begin))
	done | sort -n | sed -n 1p > $(new).ns
	csv-sample --quiet --last=1 $(@D)/curve-c.csv | csv-calc --let=ns="$$(cat $(new).ns)" --set="program='c'" \
	    --set='seconds=fixed(ns/1e9, 6)' --set=mean_return=return |
	    csv-cut -c program,seconds,steps,updates,mean_return > $(new)
	rm $(new).ns
	$(call keep,$@)

$(prof)/e2e/summary.csv: $(prof)/e2e.done $(TOP)/pipelines/prof-process $(wildcard $(TOP)/plots/prof-*.gp)
	$(prof_process) $(@D) $(@D)
$(prof)/cartpole/summary.csv: $(prof)/calibration.sexp
$(prof)/cartpole/summary.csv: $(prof)/cartpole.done $(TOP)/pipelines/prof-process \
    $(wildcard $(TOP)/plots/prof-*.gp)
	cp $(prof)/calibration.sexp $(@D)
	FORMS='$(PROF_FORMS)' $(prof_process) $(@D) $(@D)
$(prof)/tree/summary.csv: $(prof)/cartpole.done $(TOP)/pipelines/prof-process $(wildcard $(TOP)/plots/prof-*.gp)
	FORMS='$(PROF_FORMS)' $(prof_process) --tree $(@D) $(@D)
# each part of each iteration against what passed, within 1 % or 5 ms: alone, under four threads, in two forked
# processes of two threads
$(prof)/threads.done $(prof)/forks.done: $(prof)/%.done:
	mkdir -p $(@D)
	rm -f $(@D)/truth-$*.csv*
	$(prof_record) --wait -o $(@D)/$* $B/prof/millrace_e2e.py --seconds=$(prof_seconds) \
	    --truth=$(@D)/truth-$*.csv \
	    $(if $(filter threads,$*),--threads=4,--threads=2 --forks=2)
	touch $@
$(prof)/verdict-%.csv: $(prof)/%.done $(TOP)/pipelines/prof-verdict
	csv-cat $(if $(filter e2e,$*),$(@D)/truth.csv,$(@D)/truth-$*.csv*) > $(@D)/truth-$*.all
	prof-log $(@D)/$* | prof-split --by=on | prof-op > $(@D)/parts-$*.csv
	$(TOP)/pipelines/prof-verdict $(@D)/truth-$*.all $(@D)/parts-$*.csv $(aside)
$(prof)/verdict.csv: $(foreach r,e2e threads forks,$(prof)/verdict-$r.csv)
	{ echo run,proc,tid,iteration,part,true_seconds,recorded_seconds,off_ratio,verdict
	  for r in e2e threads forks; do sed "1d; s/^/$$r,/" $(prof)/verdict-$$r.csv; done; } $(aside)
$(prof)/forks/summary.csv: $(prof)/forks.done $(TOP)/pipelines/prof-process $(wildcard $(TOP)/plots/prof-*.gp)
	FORMS='$(PROF_FORMS)' $(prof_process) $(@D) $(@D)
# Python, the same recorded, under cProfile, and C, in turn and for the same number of steps, so that a neighbour
# disturbs all of them
$(prof)/rounds.csv: $(prof_script)
	mkdir -p $(@D)
	echo label,round,update_seconds > $@.part
	args="$(prof_script) --seed=$(PROF_CARTPOLE_SEED) --steps=$(PROF_ROUND_STEPS) --time=$(@D)/round.csv"
	for i in $(if $(prof_small),1 2,1 2 3 4 5 6 7 8); do
	    for label in python recorded cprofile c; do
	        begin=$$(date +%s%N)
	        case $$label in
	        python) $(PROF_PYTHON) $$args ;;
	        recorded) $(prof_record) -o $(@D)/round $$args ;;
	        cprofile) $(PROF_PYTHON) -m cProfile -o $(@D)/round.prof $$args ;;
	        c) fit-cartpole --quiet --plain --seed=$(PROF_CARTPOLE_SEED) --steps=$(PROF_ROUND_STEPS) ;;
	        esac > $(@D)/round.out 2> $(@D)/round.log
	        end=$$(date +%s%N)
	        if [ $$label = c ]; then
	            csv-sample --quiet --last=1 $(@D)/round.out | csv-calc --set="seconds=$$((end - begin))/1e9"
	        else csv-cat $(@D)/round.csv
	        fi | csv-calc --print="concat('$$label,$$i,', fixed(seconds/updates, 9))" >> $@.part
	    done
	done
	rm -r $(@D)/round $(@D)/round.csv $(@D)/round.log $(@D)/round.out $(@D)/round.prof
	$(TOP)/pipelines/keep $@.part $@
$(prof)/compare.csv: $(prof)/rounds.csv
	bench-compare --quiet --base=python --metric=update_seconds $< > $(new) || [ $$? -le 2 ]
	$(call keep,$@)
# Python's part of a recorded step gone, and what the C program takes, by step of learning: the two solve it after
# different numbers of steps
$(prof)/speedup.csv: $(prof)/cartpole/summary.csv $(prof)/c.csv $(prof)/compare.csv
	prof-view --view=metrics $(prof)/cartpole/cells.csv > $(prof)/phases.csv
	csv-cut -c proc,phase,op,cats,total_ns,lo_ns,hi_ns,runs $(prof)/cartpole/corrected.csv |
	    prof-view --view=metrics > $(prof)/phases-corrected.csv
	$(TOP)/pipelines/prof-speedup $(@D) $(filter %/c.csv %/compare.csv,$^) $(aside)
$(prof)/speedup.svg $(prof)/speedup.png: $(prof)/speedup.csv $(TOP)/plots/prof-cost.gp
	gnuplot -e "kind='real'" -c $(TOP)/plots/prof-cost.gp $(prof)/rounds.csv $(new)
	$(call keep,$@)

prof: $(prof)/verdict.csv $(prof)/speedup.csv $(prof)/e2e/summary.csv $(prof)/tree/summary.csv \
    $(prof)/forks/summary.csv $(prof)/cost.csv \
    $(foreach f,speedup functions,$(prof)/$f.svg $(prof)/$f.png)
	@csv-calc --set="good=verdict == 'pass'" --set='off=abs(off_ratio)' $(prof)/verdict.csv |
	    csv-group -c good,off --stat=n,sum,max |
	    csv-calc --print="concat('end to end: ', sum_good, ' of ', n_good, ' parts as long as they were, furthest off ', \
	        fixed(max_off, 4))"
	csv-show $(prof)/speedup.csv
	csv-show $(prof)/cost.csv
	! grep -q ',fail' $(prof)/verdict.csv
prof-process: export DIR := $(DIR)
prof-process:
	@[ -d "$$DIR" ] || { echo "make prof-process: DIR=$$DIR is no folder; DIR= says where the logs are" >&2; exit 1; }
	$(prof_process) $(if $(TREE),--tree) "$$DIR" $(OUT)/process
	echo '$(OUT)/process/page.html: open it in a browser'
bench-prof-whatif:
	$(TOP)/t/bench/prof-whatif.sh $(prof)/whatif
	for form in svg png; do gnuplot -e "kind='real'" -c $(TOP)/plots/prof-whatif.gp $(prof)/whatif/whatif.csv \
	    $(prof)/whatif.$$form; done
.PHONY: prof prof-process bench-prof-whatif

# ---- make prof-survey: the study's survey of reinforcement learning: three simulators of different price, three
# algorithms, in PyTorch; a share is of CPU time, corrected, without what waited or was the recorder's.
#   OUT/prof/survey.csv           env, algo, op, category, seconds, share_ratio;  .svg, .png
#   OUT/prof/survey-findings.csv  each run: share of the simulation, of the backend, calls of the backend a step
#   PROF_SURVEY_STEPS=1024, a quarter for frames
prof_survey := $(prof)/survey
PROF_SURVEY_STEPS ?= $(if $(prof_small),64,1024)
prof_survey_runs  := $(foreach e,cartpole planar frames,$(foreach a,dqn a2c ppo,$e-$a))
prof_survey_part   = $(word $(1),$(subst -, ,$(basename $(@F))))
prof_survey_steps  = $$(( $(PROF_SURVEY_STEPS)$(if $(filter frames,$(call prof_survey_part,1)), / 4) ))
prof_survey_args   = --planar=$(abspath $(prof_survey))/planar.so --rlscope-directory=$(prof_survey)
prof-survey: $(prof)/survey-findings.csv $(prof)/survey.svg $(prof)/survey.png $(BIN)/csv-show
	csv-show $<
.PHONY: prof-survey
$(prof_survey)/planar.so: $(TOP)/data/survey/planar.c
	@mkdir -p $(@D)
	$(CC) -O2 -shared -fPIC -o $(new) $< -lm && $(swap)
$(prof_survey)/calibration.sexp: $(TOP)/data/survey/survey.py $(prof_survey)/planar.so
	$(prof_record) --calibrate -o $(@D)/calibration $< --env=cartpole --algo=a2c --steps=128 \
	    $(prof_survey_args) > $(@D)/calibration.log
	cp $(@D)/calibration/calibration.sexp $(new)
	$(call keep,$@)
$(prof_survey)/%.log: $(TOP)/data/survey/survey.py $(prof_survey)/planar.so
	$(prof_record) -o $(@D)/$* $< --env=$(call prof_survey_part,1) --algo=$(call prof_survey_part,2) \
	    --steps=$(prof_survey_steps) $(prof_survey_args) $(aside)
prof_survey_kinds = cats ~ 'Simulator' ? 'Simulator' : cats ~ 'Backend' ? 'Backend' : cats ~ 'Python' ? 'Python' : 'C'
$(prof_survey)/%.csv: $(prof_survey)/%.log $(prof_survey)/calibration.sexp
	prof-log --quiet $(@D)/$* | prof-op --quiet |
	    prof-sweep --transitions=$(@D)/$*.transitions --hooks=$(@D)/$*.hooks > $(@D)/$*.cells
	prof-correct --quiet --calibration=$(word 2,$^) --hooks=$(@D)/$*.hooks $(@D)/$*.cells |
	    csv-calc --where="op != '' && cats !~ 'Off CPU' && cats !~ 'Waiting' && cats != 'Profiler'" \
	        --set='env="$(call prof_survey_part,1)"' --set='algo="$(call prof_survey_part,2)"' \
	        --set="category=$(prof_survey_kinds)" | \
	    csv-group -g env,algo,op,category -c total_ns --stat=sum | \
	    csv-calc --set='seconds=sum_total_ns / 1e9' | csv-cut -c env,algo,op,category,seconds $(aside)
prof_survey_all = <(csv-group -g env,algo -c seconds --stat=sum $(1))
$(prof)/survey.csv: $(prof_survey_runs:%=$(prof_survey)/%.csv)
	csv-cat $^ > $(new).rows
	csv-join -k env,algo $(new).rows $(call prof_survey_all,$(new).rows) |
	    csv-calc --set='share_ratio=seconds / sum_seconds' --set='kind="real"' |
	    csv-cut -c env,algo,op,category,seconds,share_ratio,kind | csv-sort -k op,category > $(new)
	rm $(new).rows
	$(call keep,$@)
# calls of the backend a step: from Python into it
$(prof)/survey-findings.csv: $(prof)/survey.csv
	csv-calc --set="simulation=op == 'simulation' ? share_ratio : 0" \
	    --set="backpropagation=op == 'backpropagation' ? share_ratio : 0" \
	    --set="inference=op == 'inference' ? share_ratio : 0" \
	    --set="backend=category == 'Backend' ? share_ratio : 0" --set="python=category == 'Python' ? share_ratio : 0" $< |
	    csv-group -g env,algo -c simulation,inference,backpropagation,backend,python,seconds --stat=sum > $(new).shares
	for r in $(prof_survey_runs); do
	    csv-calc --where="from == 'Python' && to ~ '^Backend'" --set="env='$${r%-*}'" --set="algo='$${r$(hash)*-}'" \
	        --set="steps=env == 'frames' ? $(PROF_SURVEY_STEPS) / 4 : $(PROF_SURVEY_STEPS)" \
	        $(prof_survey)/$$r.transitions |
	        csv-group -g env,algo,steps -c count --stat=sum > $(new).$$r
	done
	csv-cat $(prof_survey_runs:%=$(new).%) > $(new).calls
	rm $(prof_survey_runs:%=$(new).%)
	csv-join -k env,algo $(new).shares $(new).calls |
	    csv-calc --set='backend_calls=round(sum_count / steps, 1)' --set='step_seconds=round(sum_seconds / steps, 7)' \
	        $(foreach c,simulation inference backpropagation backend python,--set='$c=round(sum_$c, 3)') |
	    csv-cut -c env,algo,step_seconds,simulation,inference,backpropagation,backend,python,backend_calls > $(new)
	rm $(new).shares $(new).calls
	$(call keep,$@)
$(prof)/survey.svg $(prof)/survey.png: $(prof)/survey.csv $(TOP)/plots/prof-survey.gp
	$(call draw,prof-survey,$<)
