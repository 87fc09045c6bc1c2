# wide.mk - wide stages on many machines, in any pipeline: HOSTS='2/m1 4/m2 :' (slots/host, : is here) or SLURM=1
#   make host HOST=m1     bring up a host: millrace into its ~/.millrace, checked; SSH='ssh -F file' for options of ssh
#   SLURM=1               the same jobs as an array job; PARTITION= TIME= ACCOUNT=; DRY=1 only shows the script
# A stage is a table of jobs (jobs-do says its columns): $(wide) JOBS LOG [INPUT]... does what LOG has no answer to.
HOSTS ?= :
export HOSTS SSH SLURM PARTITION TIME ACCOUNT DRY LOAD MEMFREE JOBS
wide = $(TOP)/pipelines/wide

host: all
	@[ -n '$(HOST)' ] || { echo "make host: which? HOST=name, as in ssh name" >&2; exit 2; }
	rm -rf $B/host && mkdir -p $B/host/bin $B/host/lib/millrace
	cp -l $(PROGS) $B/host/bin
	cp -rl $B/measure/*.so $(wildcard $B/prof/*) $B/host/lib/millrace
	$(TOP)/pipelines/host '$(HOST)' $B/host
.PHONY: host
