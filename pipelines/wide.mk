# wide.mk - wide stages on many machines, in any pipeline: HOSTS='2/m1 4/m2 :' (slots/host, : is here) or SLURM=1
#   make host HOST=m1     bring up a host: millrace into its ~/.millrace, checked; SSH='ssh -F file' for options of ssh
#   SLURM=1               the same jobs as an array job; PARTITION= TIME= ACCOUNT= TASKS=; DRY=1 only shows the script
#   make loop-hosts       loop nests searched and run beside other libraries, each machine by itself
#   make loop-seeds       the same learner from LOOP_SEEDS='1 2 3 4'
#   make prof-logs DIRS='a b'   prof-process of each folder of logs
# A stage is a table of jobs (jobs-do says its columns): $(wide) JOBS LOG [INPUT]... does what LOG has no answer to.
HOSTS ?= :
export HOSTS SSH SLURM PARTITION TIME ACCOUNT TASKS DRY LOAD MEMFREE JOBS
wide = $(TOP)/pipelines/wide
# answers know the commands of their jobs, not what these read: a rule that makes a table of jobs anew forgets the old
# ones
wide_forget = rm -rf $(1).log $(1).log.parts

host:
	@[ -n '$(HOST)' ] || { echo "make host: which? HOST=name, as in ssh name" >&2; exit 2; }
	rm -rf $B/host && mkdir -p $B/host/bin $B/host/lib/millrace
	cp -l $(PROGS) $B/host/bin
	cp -rl $B/measure/*.so $(wildcard $B/prof/*) $B/host/lib/millrace
	$(TOP)/pipelines/host '$(HOST)' $B/host
.PHONY: host

# ---- what measures time: a search and its peers are one job, on one machine, which does nothing else meanwhile; rows
# carry its fingerprint, and machines are compared with nobody but themselves
loop_hosts      := $(loop)/hosts
LOOP_HOSTS_SET  ?= peers
LOOP_HOSTS_ALGO ?= heuristic
loop-hosts: $(loop_hosts)/compare.csv $(BIN)/csv-show
	csv-show $<
.PHONY: loop-hosts
loop_hosts_job = bash loop-problem $(LOOP_HOSTS_ALGO) $(LOOP_SECONDS) $(SEED) $(call loop_libs,$(LOOP_PEERS)) \
    $(LOOP_ROUNDS)
$(loop_hosts)/search.jobs: $(loop)/set/$(LOOP_HOSTS_SET).problems
	@mkdir -p $(@D)
	$(call wide_forget,$@)
	cp $(TOP)/pipelines/loop-problem $(@D)
	csv-calc --set='job=concat("p",text(row()))' --set='stdin=problem' --set='command="$(loop_hosts_job)"' $< |
	    csv-cut -c job,command,stdin $(aside)
$(loop_hosts)/rows.csv: $(loop_hosts)/search.jobs
	(cd $(@D) && TIMED=1 $(wide) $(<F) $(<F).log loop-problem)
	jobs-merge --log=$<.log --machine=machine $< $(aside)
$(loop_hosts)/compare.csv: $(loop_hosts)/rows.csv $(BIN)/loop-compare
	rm -rf $(@D)/machine && mkdir $(@D)/machine
	for machine in $$(csv-dedupe -k machine $< | csv-cut -c machine | tail -n +2); do
	    csv-where -c machine --is=$$machine $< | loop-compare --csv > $(@D)/machine/$$machine
	done
	(cd $(@D)/machine && csv-cat --source=machine *) $(aside)

# ---- a learner from several seeds: what of its curve is chance.  A job answers by its curve and, below, its policy
LOOP_SEEDS   ?= 1 2 3 4
loop_seeded  := $(loop)/seeds
loop_seed_job = loop-train --quiet --algo=$(LOOP_LEARNER) --eval=model --seconds=1e6 --seed={seed} \
    $(LOOP_LEARN_STEPS:%=--steps=%) --actions=$(LOOP_ACTIONS) --starts=$(LOOP_STARTS) --out=- problems.csv
loop-seeds: $(loop_seeded)/spread.csv $(BIN)/csv-show
	csv-sample --quiet --last=5 $< | csv-show
.PHONY: loop-seeds
$(loop_seeded)/train.jobs: $(loop_learn)/problems.csv
	@mkdir -p $(@D)
	$(call wide_forget,$@)
	cp $< $(@D)/problems.csv
	bench-jobs --vary='seed=$(LOOP_SEEDS)' --out='{seed}.answer' --command='$(loop_seed_job)' $(aside)
$(loop_seeded)/curves.csv: $(loop_seeded)/train.jobs
	cd $(@D)
	$(wide) $(<F) $(<F).log problems.csv
	jobs-merge --files --log=$(<F).log $(<F)
	for seed in $(LOOP_SEEDS); do
	    sed -n '/^(/,$$p' $$seed.answer > $$seed.policy
	    sed '/^(/,$$d' $$seed.answer > $$seed
	    rm $$seed.answer
	done
	cd - > /dev/null
	(cd $(@D) && csv-cat --source=seed $(LOOP_SEEDS)) $(aside)
$(loop_seeded)/spread.csv: $(loop_seeded)/curves.csv $(BIN)/csv-group
	csv-group -g algo,steps -c return --stat=n,mean,min,max $< $(aside)

# ---- logs of profiles, a job each; hosts draw the pictures, too, and want gnuplot; what is named is the machine here
prof_logs := $(OUT)/process-logs
prof_logs_named = $(foreach d,$(DIRS),$(notdir $(abspath $d)))
prof-logs:
	@[ -n '$(DIRS)' ] || { echo "make prof-logs: DIRS='a b': folders of logs" >&2; exit 2; }
	[ $(words $(prof_logs_named)) = $(words $(sort $(prof_logs_named))) ] ||
	    { echo "make prof-logs: two of DIRS='$(DIRS)' have the same name" >&2; exit 2; }
	rm -rf $(prof_logs)/in && mkdir -p $(prof_logs)/in
	ln -s $(TOP)/pipelines $(TOP)/plots $(abspath $(DIRS)) $(prof_logs)/in
	cd $(prof_logs)
	$(call wide_forget,jobs)
	bench-jobs --vary='log=$(prof_logs_named)' --out='{log}.tar' \
	    --command="env 'MACHINE=$(subst ',,$(MACHINE))' bash in/pipelines/prof-tar $(if $(TREE),--tree )in/{log}" > jobs
	$(wide) jobs jobs.log in
	jobs-merge --files --log=jobs.log jobs
	for log in $(prof_logs_named); do
	    mkdir -p $$log && tar -xf $$log.tar -C $$log && rm $$log.tar
	    echo "$(prof_logs)/$$log/page.html"
	done
	rm -rf in jobs jobs.log*
.PHONY: prof-logs
