# inline.mk - which calls to inline, on top of LTO and a profile, beside what an expert would build instead
#   make inline PROGRAM=DIR                   yours: DIR/program holds the lines build, search, confirm
#   make inline PROGRAM=DIR FROM=BUILD BINARY=jq   yours, built by CC=inline-cc below BUILD; no line build
#   make inline                               the programs of data/programs.csv that search (INLINE_NAMES= some of them)
#   make inline SCALE=ci                      the small program in data/demo
#   make inline-experts                       programs of both tables, built as their own build systems do
#                                             (INLINE_EXPERTS=)
#   make inline-results                       their times as the 2018 study kept its own: results/PROGRAM.K/live/ROW.csv
#   make inline-corpus                        what can be built with CC=inline-cc at all: Debian sources, a row each
#   make inline-frontier                      instructions against text of every build, exact: no clock
#   make inline-list                          the programs of INLINE_TABLE
#   INLINE_BASE=lto-pgo   what must be beaten      INLINE_PROFILE=irn|fe|none   what the search stands on
#   INLINE_ROWS=          the stock builds         INLINE_EVALS=  builds for the search     INLINE_COMPILER=clang
# Leaves OUT/inline/NAME/home: compile.replay, link.replay, flags, flags.mk, make.args and the profile, for your build.
# Exact costs steer the search, so it does not mind a busy machine; CPU time, paired and interleaved, only confirms.
inline            = $(OUT)/inline
INLINE_BASE      ?= lto-pgo
INLINE_PROFILE   ?= irn
INLINE_COMPILER  ?= clang
# the first is what the user has; the base of what is let out comes second
INLINE_BASES     ?= O2 $(INLINE_BASE)
INLINE_ROWS      ?= O2 O3 Os Oz thinlto lto pgo lto-pgo lto-pgo-size gcc-O2 gcc-O3 gcc-lto gcc-pgo gcc-lto-pgo bolt
INLINE_EVALS     ?= $(if $(filter ci,$(SCALE)),18,$(if $(filter full,$(SCALE)),300,60))
# one per cent of text weighs as much as a twentieth per cent of instructions; small: least text that executes no more
# instructions than what an expert would build
INLINE_GOAL      ?= --text-weight=0.05 --max-text=1.3
INLINE_SMALL     ?= --text-weight=0.8 --within=$(INLINE_WITHIN)
# gcc decides nothing within -flto, and its rows are no rows of a search of clang's
INLINE_WITHIN    ?= $(if $(filter gcc-%,$(INLINE_BASE)),lto-pgo,$(INLINE_BASE))
# heuristics' sets that the search begins with; for a program that takes a minute to build, fewer
INLINE_STARTS    ?= --none --threshold=0 --threshold=25 --threshold=100 --threshold=600
# what is searched for: speed; least text at equal speed; text alone, whatever it costs in instructions
INLINE_GOALS     ?= learned small tiny
INLINE_SIZE      ?= 8
# each of copies of its own (measure); half of them decide, half say what the decision is worth
INLINE_ROUNDS    ?= $(if $(filter ci,$(SCALE)),6,40)
# no round of a program begins after so many seconds; 0: as long as its rounds take
INLINE_SECONDS   ?= 0
INLINE_EXPERTS   ?= $(if $(filter ci,$(SCALE)),gzip,gzip bzip2 zlib lua lz4 zopfli cmark mawk jq)
inline_corpus     = $(OUT)/corpus
INLINE_CORPUS_TABLE ?= $(TOP)/data/corpus.csv
inline_of_corpus  = $(filter-out $(inline_all) $(inline_own),$(INLINE_NAMES))
inline_recorded   = $(if $(FROM),--from-build=$(abspath $(FROM)) --program=$(or $(BINARY),$(inline_own_name)))
inline_lto        = --compiler=$(INLINE_COMPILER) --lto --profile=$(INLINE_PROFILE)
inline_labels     = $(INLINE_ROWS) $(if $(filter none,$(INLINE_PROFILE)),,lto-$(INLINE_PROFILE)) learned small lean tiny
ifeq ($(if $(and $(PROGRAM),$(filter inline inline-%,$(MAKECMDGOALS))),$(or $(wildcard $(PROGRAM)/program),none)),none)
$(error make inline: no file $(PROGRAM)/program; it holds the lines `build', `search' and `confirm', see docs/inline.md)
endif

inline: $(inline)/table.csv $(inline)/means.csv $(inline)/exact.csv $(inline)/time.csv $(inline)/guard.csv \
    $(inline)/accepted.csv $(INLINE_NAMES:%=$(inline)/%/home.csv)
	@plain=$(firstword $(INLINE_BASES))
	echo "On inputs that were not searched on, over -$$plain; losses first; cpu: paired rounds, 95 % intervals"
	for name in $(INLINE_NAMES); do
	    csv-where -c base --is=$$plain $< | csv-where -c program --is=$$name |
	        csv-cut -c program,label,cpu,cpu_lower,cpu_upper,instructions,text_bytes | csv-show --digits=3
	done
	[ $(words $(INLINE_NAMES)) = 1 ] || { echo 'Geometric means:'; csv-show --digits=3 $(inline)/means.csv; }
	$(TOP)/pipelines/answer $(inline) $(inline)/accepted.csv $(if $(PROGRAM),$(abspath $(or $(SOURCE),$(PROGRAM))))
inline-list:
	@csv-show $(INLINE_TABLE)
inline-results: $(INLINE_NAMES:%=$(inline)/%/runs.csv)
	@for runs in $^; do $(TOP)/pipelines/results $$runs $(inline)/results live; done
inline-experts:
	@$(MAKE) --no-print-directory INLINE_NAMES='$(INLINE_EXPERTS)' inline
# one at a time: a build that takes the whole machine would make the seconds of the others mean nothing
INLINE_CORPUS_NAMES ?= $(if $(filter ci,$(SCALE)),ncompress dos2unix,$(shell sed -n \
    '1d; s/,.*//; /^[A-Za-z0-9][A-Za-z0-9._+-]*$$/p' $(INLINE_CORPUS_TABLE)))
inline-corpus: $(inline_corpus)/table.csv
	@csv-show $<
$(inline_corpus)/table.csv: $(INLINE_CORPUS_NAMES:%=$(inline_corpus)/%.csv)
	@csv-cat $^ $(aside)
$(inline_corpus)/%.csv: | $(PROGS)
	@echo "building $*"
	mkdir -p $(@D)
	$(TOP)/pipelines/corpus $(INLINE_CORPUS_TABLE) $* $(@D) $(TOP)/data $(aside)
.PHONY: inline inline-list inline-results inline-experts inline-corpus

$(inline)/%/w/program.csv: $(inline_src)/fetched
	@mkdir -p $(@D)
	inline-module --table=$(INLINE_TABLE) --program=$* $(inline_lto) --out=$(@D) $(inline_src)/$*
# programs that the first table does not have, as the corpus built them; their runs begin beside the table's sources,
# whose files they read as ../NAME: in a copy, since .. of a link is where it points to
$(inline_of_corpus:%=$(inline)/%/w/program.csv): $(inline)/%/w/program.csv: $(inline_corpus)/%.csv $(inline_src)/fetched
	@mkdir -p $(@D)
	[ -e $(inline_src)/$* ] || { rm -rf $(inline_src)/.$*.new && \
	    cp -a $(inline_corpus)/$* $(inline_src)/.$*.new && mv $(inline_src)/.$*.new $(inline_src)/$*; }
	inline-module --from-build=$(inline_corpus)/$* --table=$(INLINE_CORPUS_TABLE) --program=$* $(inline_lto) \
	    --out=$(@D) $(inline_src)/$*
define inline_own_rule
$(inline)/$1/w/program.csv: $(call inline_from,$1)/program | $(PROGS)
	@mkdir -p $$(@D)
	inline-module $(if $(PROGRAM),$(inline_recorded)) $(inline_lto) --out=$$(@D) $$(<D)
endef
$(foreach n,$(inline_own),$(eval $(call inline_own_rule,$n)))
$(inline)/%/explored: $(inline)/%/w/program.csv
	@GOAL=home BASE=$(INLINE_WITHIN) STARTS='$(INLINE_STARTS)' $(TOP)/pipelines/explore $(<D) $(@D) $(INLINE_EVALS) \
	    $(SEED) $(JOBS) $(INLINE_GOAL)
	touch $@
$(inline)/%/learned.sexp: $(inline)/%/explored
	@inline-search --best $(INLINE_GOAL) --store=$(@D)/store --work=$(@D)/w $(@D)/history.csv $(aside)
$(inline)/%/small.sexp: $(inline)/%/explored
	@inline-search --best $(INLINE_SMALL) --store=$(@D)/store --work=$(@D)/w $(@D)/history.csv $(aside)
# a program that does not link at -Oz has no least text there: nothing to build, and no row; any other failure stops
$(inline)/%/tiny.sexp: $(inline)/%/explored
	@mkdir -p $(@D)/size
	inline-build --optional --stock=Oz --out=$(@D)/size/Oz $(@D)/w > /dev/null
	[ -e $(@D)/size/Oz ] || { : $(aside); exit 0; }
	cp $(@D)/sites.csv $(@D)/size
	GOAL=size $(TOP)/pipelines/explore $(@D)/w $(@D)/size $(INLINE_SIZE) $(SEED) $(JOBS)
	inline-search --best --text-weight=1 --store=$(@D)/size/store --work=$(@D)/w $(@D)/size/history.csv $(aside)

# what an expert would build; a row that a program cannot have (it does not link, no bolt here) is said and left out
$(inline)/%/stocked: $(inline)/%/w/program.csv
	@for row in $(INLINE_ROWS); do
	    [ $(@D)/$$row -nt $< ] || inline-build --optional --stock=$$row --out=$(@D)/$$row $(@D)/w > /dev/null
	done
	touch $@
# winners are built from their decision lists, as everybody else will; lto-irn is what they stand on; lean is small with
# code that the profile calls cold made for size, as gcc does by itself, an expert's lto-pgo-size likewise
$(inline)/%/built: $(inline)/%/stocked $(foreach g,$(INLINE_GOALS),$(inline)/%/$g.sexp)
	@inline-build --out=$(@D)/lto-$(INLINE_PROFILE) $(@D)/w > /dev/null
	for set in $(INLINE_GOALS); do
	    [ -s $(@D)/$$set.sexp ] || continue
	    level=-O2
	    [ $$set != tiny ] || level=-Oz
	    inline-build --level=$$level --decisions=$(@D)/$$set.sexp --out=$(@D)/$$set $(@D)/w > $(@D)/$$set.obeyed.csv
	done
	[ ! -e $(@D)/small.sexp ] ||
	    inline-build --cold-small --decisions=$(@D)/small.sexp --out=$(@D)/lean $(@D)/w > /dev/null
	touch $@
$(eval $(call inline_rows,$(inline),$(inline_labels),$(INLINE_BASES),instructions size,$(INLINE_ROUNDS),$(strip \
    )$(INLINE_SECONDS),$(INLINE_BASE),learned,small lean,,$(filter-out $(INLINE_BASES),$(INLINE_ROWS))))
# ---- make inline-frontier: instructions against text of every build, exact, on the runs that confirm; no clock
inline-frontier: $(inline)/frontier.svg $(inline)/frontier.png
	csv-show --digits=3 $(inline)/frontier.csv
.PHONY: inline-frontier
$(inline)/frontier.csv: $(INLINE_NAMES:%=$(inline)/%/exact.csv) $(inline)/asked
	@$(TOP)/pipelines/ratios $(firstword $(INLINE_BASES)) $(filter %.csv,$^) |
	    csv-where -c program --is='(geometric mean)' --not | csv-pivot -k program,label --names=metric --values=ratio |
	    csv-sort -k program,text_bytes:n,instructions:n |
	    csv-calc -g program --set='least=run_min(instructions)' \
	        --set="frontier=instructions <= least ? 'yes' : 'no'" |
	    csv-cut -c program,label,text_bytes,instructions,frontier --rename=label=decisions \
	        --rename=text_bytes=text_ratio --rename=instructions=instructions_ratio $(aside)
$(inline)/frontier.svg $(inline)/frontier.png: $(inline)/frontier.csv $(TOP)/plots/inline-frontier.gp
	gnuplot -e "kind='real'" -c $(TOP)/plots/inline-frontier.gp $< $(new) '$(INLINE_NAMES)' $(firstword $(INLINE_BASES))
	$(call keep,$@)
# what was accepted, for the user's own build; of what was not, the fastest set, to be looked at
$(inline)/%/home.csv: $(inline)/%/accepted.csv $(foreach g,$(INLINE_GOALS),$(inline)/%/$g.sexp)
	@set=learned cold=
	case $$(csv-calc --print=label $<) in
	    small) set=small ;;
	    lean) set=small cold=--cold-small ;;
	esac
	inline-emit --to=replay $$cold --decisions=$(@D)/$$set.sexp --out=$(@D)/home $(@D)/w > $(new)
	sed -n 's/^\(AR\|RANLIB\) = \(.*\)/\1=\2/p' $(@D)/home/flags.mk > $(@D)/home/make.args
	echo "'CC=$$(sed -n 's/^CC = //p' $(@D)/home/flags.mk) @$(abspath $(@D))/home/flags'" >> $(@D)/home/make.args
	{ sed -n 's/^\(CFLAGS\|LDFLAGS\) = //p' $(@D)/home/flags.mk; echo -Wno-unused-command-line-argument; } | \
	    tr ' ' '\n' > $(@D)/home/flags
	$(call keep,$@)
