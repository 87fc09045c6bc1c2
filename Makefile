# make [all|deps|test|figures|install|lint|sanitize|fuzz|bench|list|help|clean]; settings from the command line or
# config.mk
-include config.mk
PREFIX  ?= /usr/local
B       ?= build
BIN     ?= bin
OUT     ?= out
DATA    ?=
SEED    ?= 1
SCALE   ?= default
JOBS    ?= $(shell nproc)

# where this file and what belongs to it are, when make is run from elsewhere; rules and shells read it as a word
TOP     := $(patsubst %/,%,$(dir $(abspath $(firstword $(MAKEFILE_LIST)))))
ifneq ($(words $(TOP) $(CURDIR)),2)
$(error make cannot work in a folder whose name has a blank: $(CURDIR))
endif
hash     := \#
comma    := ,
empty    :=
space    := $(empty) $(empty)
dollar   := $$
left     := (
right    := )
signs    := $(dollar) $(hash) $(left) $(right) ' " ` & ; | < > * ? [ ] \ : ! %
$(foreach s,$(signs),$(if $(findstring $s,$(TOP) $(CURDIR)),$(error \
    make cannot work in a folder whose name has a '$s': $(CURDIR))))
# a release is a tag vVERSION; between two of them the commit is part of the version (not by `describe --dirty`: it
# rewrites the index, and killed then leaves a lock that stops the user's next commit)
# and what belongs to somebody else git does not read
COMMIT  := $(shell [ ! -e $(TOP)/.git ] || git -C $(TOP) describe --always --exclude='*' 2> /dev/null)
CHANGED := $(if $(COMMIT),$(if $(shell git --no-optional-locks -C $(TOP) status --porcelain -uno),-dirty))
VERSION := $(shell cat $(TOP)/VERSION)$(addprefix +g,$(COMMIT)$(CHANGED))

# Recipes are not echoed (V=1 does); what is being made is said in a word, unless make -s.  The shell of a recipe is
# expanded when it starts, and knows its target.
ifndef V
.SILENT:
endif
short  := $(firstword -$(MAKEFLAGS))
verb    = $(if $(filter %.o,$1),CC $2,$(if $(filter $(PROGS) $(CTESTS),$1),LINK $1,$(if \
    $(filter $(OUT)/%,$1),MAKE $1)))
say     = $(if $(filter $1,$(spoken)),,$(if $2,$(info $2))$(eval spoken := $1))
said    = $(if $(or $V,$(findstring s,$(short)),$(findstring n,$(short))),,$(call say,$1,$(call verb,$1,$2)))
SHELL   = $(strip $(if $@,$(call said,$@,$<))/bin/bash)
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.ONESHELL:
.SECONDARY:
.DEFAULT_GOAL := all

# One way for every rule: `command $(aside)` writes beside its target, syncs and renames, so that whoever is killed,
# make included, leaves the old file or none.  $(new) is the name beside, with the same ending: `gnuplot .. $(new)` and
# then $(call keep,$@); a rule that makes several files writes $(call beside,FILE) and $(call keep,FILE) for each.
beside = $(dir $(1)).millrace-$$$$-$(notdir $(1))
keep   = $(TOP)/pipelines/keep $(beside) $(1)
new    = $(call beside,$@)
aside  = > $(new); $(call keep,$@)
# $(call asked,FILE,VARIABLES): a file that changes when one of these does.  What is made of a list is made of it: since
# .SECONDARY lets make overlook a file of a list that is not there, tables depend on what was asked for.
define asked
$(1): force
	@mkdir -p $$(@D)
	$$(TOP)/pipelines/asked $$@ $(foreach v,$(2),'$v=$(strip $($v))')
endef

# $(call draw,PLOT,TABLE,ARGUMENTS): the target by plots/PLOT.gp, with the machine at its foot
MACHINE ?= $(shell $(BIN)/bench-machine --line 2> /dev/null)
plot = gnuplot -e "machine='$(subst ','',$(MACHINE))'" -c $(TOP)/plots/$(1).gp
draw = $(call plot,$(1)) $(2) $(new) $(3) && $(call keep,$@)

# What cannot work is said before anything is made.
SCALES   := default ci test full
one_word  = $(if $(filter-out 1,$(words $($(1)))),$(error $(1)='$($(1))': a folder whose name has no blank))$(foreach \
    s,$(signs),$(if $(findstring $s,$($(1))),$(error $(1)='$($(1))': a folder whose name has no '$s')))
$(foreach v,OUT B BIN,$(call one_word,$v))
ifneq ($(words $(filter $(SCALES),$(SCALE)))$(words $(SCALE)),11)
$(error SCALE='$(SCALE)': one of $(SCALES))
endif
DRAWS := figure% inline inline-% flambda-% loop loop-% place-% prof prof-% pca-data bench-demo
PIPELINE_GOALS := $(DRAWS) bench-aa bench-identical bench-guard-replay bench-planted gallery host optimal \
    optimal-% torch $(OUT)/%
ifneq ($(filter $(DRAWS),$(MAKECMDGOALS)),)
ifeq ($(filter deps,$(MAKECMDGOALS))$(shell command -v gnuplot),)
$(error gnuplot is not here, and $(filter $(DRAWS),$(MAKECMDGOALS)) draws at the end: make deps installs it)
endif
endif
# what killed recipes and filters left under OUT
ifeq ($(MAKELEVEL),0)
$(if $(wildcard $(OUT)/.),$(shell $(TOP)/pipelines/sweep $(OUT)))
endif

CFLAGS   ?= -O2 -g
WARN      = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings \
    -Wformat=2 -Wundef -Wvla -Wcast-qual -Wno-missing-field-initializers
CPPFLAGS += -D_GNU_SOURCE -Ilib -I$B
# not 'pkg-config --libs gsl': it puts -lgslcblas before OpenBLAS, and dgemm is then 7 times slower
LDLIBS   += -lgsl -lopenblas -lcsv -lpfm -larchive -lsqlite3 -lz -lm -lpthread -ldl
COMPILE   = $(CC) -std=gnu11 $(WARN) $(CPPFLAGS) $(CFLAGS) $(ISA) -MMD -MP
LINK      = $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -Wl,--as-needed $(LDLIBS)

# What is built is built where the sources are.  From another folder, and where millrace is installed, pipelines run
# with the filters that are there already; `millrace figure7` is that.
ifeq ($(CURDIR),$(TOP))
FILTERS := $(basename $(notdir $(wildcard bin/*.c)))
# what is loaded into other programs, or compiled when a user asks for it, is not part of the library
LIBSRC  := $(filter-out $(wildcard lib/*/plugin/*.c lib/loop/code/peer/*.c lib/prof/record/*.c), \
    $(wildcard lib/*/*.c lib/*/*/*.c))
LIBOBJ  := $(LIBSRC:%.c=$B/%.o)
PROGS   := $(FILTERS:%=$(BIN)/%)
CTESTS  := $(patsubst t/%.c,$B/t/%.t,$(wildcard t/lib-*.c))
else
-include $(TOP)/installed.mk
BIN := $(if $(filter bin,$(BIN)),$(TOP)/bin,$(BIN))
B   := $(if $(filter build,$B),$(TOP)/build,$B)
ifeq ($(wildcard $(BIN)/csv-calc),)
$(error no filters in $(BIN): make -C $(TOP) first)
endif
endif

# names of the release before, as links for one more
RENAMED := $(addprefix inline-,artifacts collapse counters expand features import label pairs pca policies results tree)
all: $(PROGS) $(RENAMED:%=$(BIN)/%)
$(RENAMED:%=$(BIN)/%): $(BIN)/inline-%: | $(BIN)
	ln -sf flambda-$* $@

# A pipeline begins when every filter is there, whichever its recipes and scripts use, and nothing is compiled beside
# what it measures.  make sees to included files before all else (with -n too); this one says nothing.  From another
# folder, or installed, they are there already.
asked_pipelines := $(filter-out prof-recorder% prof-viewer,$(filter $(PIPELINE_GOALS),$(MAKECMDGOALS)))
ifneq ($(and $(FILTERS),$(if $(findstring n,$(short)),,$(asked_pipelines))),)
include $B/ready
# Two that are begun at once build one after the other.
$B/ready: force
	@mkdir -p $B
	flock -o $B $(MAKE) --no-print-directory $(filter deps,$(MAKECMDGOALS)) all
	[ -e $@ ] || { : $(aside); }
endif

# link only what is used: the archive keeps small filters small, and OpenBLAS costs 1.6 ms at every start
$(BIN)/%: $B/bin/%.o $B/libmillrace.a | $(BIN)
	$(LINK)
$B/libmillrace.a: $(LIBOBJ)
	rm -f $@ && $(AR) rcs $@ $^
$B/%.o: %.c
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<
# a static rule: an implicit one would lose to $B/%.o, since the help text does not exist yet
$(FILTERS:%=$B/bin/%.o): $B/bin/%.o: bin/%.c $B/help/%.h
	@mkdir -p $(@D)
	$(COMPILE) -DHELP='"help/$*.h"' -c -o $@ $<
# the one file that knows the version, so that a commit does not compile everything anew
$B/lib/base/filter.o: CPPFLAGS += -DVERSION='"$(VERSION)"'
$B/lib/base/filter.o: $B/version
# Who may not write here runs what was built.
$B/version: force
	@mkdir -p $(@D)
	[ "$$(cat $@ 2> /dev/null)" = '$(VERSION)' ] || { [ -e $@ ] && [ ! -w $(@D) ]; } || { echo '$(VERSION)' $(aside); }
force:
.PHONY: force
# kernels for one instruction set live in files named after it; they are chosen at run time by cpuid
$B/%_avx2.o: ISA = -O3 -mavx2 -mfma
$B/%_avx512.o: ISA = -O3 -mavx512f -mavx512vl -mavx512bw -mavx512dq -mfma
# the first comment of a filter is its help text
$B/help/%.h: bin/%.c
	@mkdir -p $(@D)
	sed -n -e '1s|^/\* ||' -e '/^ \*\//q' -e 's|^ \* \{0,1\}||' -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/p' $< |
	    sed -e '1i static const char help[] =' -e '$$a ;' $(aside)
$B/t/%.t: $B/t/%.o $B/libmillrace.a
	$(LINK)
# preloaded by tests: counts writes, and lets the N-th fail
$B/t/shim.so: t/shim/shim.c
	@mkdir -p $(@D)
	$(CC) -O1 -g -Wall -Wextra -shared -fPIC -o $@ $< -ldl
# a stand-in for NVIDIA's driver
$B/t/cuda/libcuda.so.1: t/shim/cuda.c lib/place/plugin/kernels.h
	@mkdir -p $(@D)
	$(CC) -O2 -g -Wall -Wextra -shared -fPIC -o $@ $<
$(BIN):
	mkdir -p $@

# install what packages.csv lists and this machine lacks; PEERS=1 adds the programs that ours are only compared with
deps:
	@missing=()
	while IFS=, read -r package class _; do
	    [[ $$class = need || ( $$class = peer && -n "$(PEERS)" ) ]] || continue
	    dpkg-query -W -f '$${Status}' "$$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$$package")
	done < packages.csv
	[ $${#missing[@]} -gt 0 ] || exit 0
	cannot() { echo "make deps: $$1; still missing: $${missing[*]}" >&2; exit 1; }
	command -v apt-get > /dev/null || cannot "no apt-get here, install these with your package manager"
	as_root=; [ "$$(id -u)" = 0 ] || as_root=sudo
	[ -z "$$as_root" ] || command -v sudo > /dev/null || cannot "not root and no sudo"
	echo "installing $${missing[*]}"
	$$as_root apt-get update -qq || cannot "apt-get update failed"
	$$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$${missing[@]}" ||
	    cannot "apt-get install failed"

test: all $B/t/shim.so $B/t/cuda/libcuda.so.1 $(filter $(or $(T),%),$(CTESTS))
	B=$(abspath $B) BIN=$(abspath $(BIN)) prove -j$(JOBS) -e '' $(or $(T),t/*.t $(CTESTS))

list:
	@for f in bin/*.c; do sed -n '1s|^/\* ||p' "$$f"; done
clean:
	rm -rf $B $(PROGS) $(RENAMED:%=$(BIN)/%)
.PHONY: all deps test list clean

# ---- looking after the house

help:
	@sed 's/^  //' <<- 'END'
	  make [all]        build the filters into bin/
	  make deps         install missing Debian packages (apt-get, through sudo when not root);
	                    PEERS=1: also what we compare with
	  make test         all tests; T='t/csv-cut.t build/t/lib-num.t' runs some
	  make figure7      and 9, 11, inline, loop, prof, pca-data: the pipelines, see README.md;
	                    OUT= DATA= SEED= SCALE= JOBS=
	  make install      PREFIX=/usr/local DESTDIR=: programs, man pages, completion, plots, pipelines
	  make dist         a release as build/millrace-VERSION.tar.gz; make deb: a package for Debian
	  make list         the filters, a line each; make readme puts them into README.md
	  make lint         warnings of gcc and clang as errors, gcc's and cppcheck's analysis, shellcheck
	  make sanitize     all tests under AddressSanitizer and UBSan
	  make format       the C lines changed since the last commit (SINCE=COMMIT) by clang-format-19
	  make debug        the filters without optimisation, in build/debug/bin
	  make valgrind     the first runs of each filter in its test, every access to memory watched;
	                    T='csv-cut prof-op': of these
	  make coverage     lines and branches that the tests reach, by module, in build/coverage.csv;
	                    ROOM=lib/inline: by the tests of that room, beside what was counted before
	  make fuzz         the readers against random input, FUZZ_SECONDS=60 each; see t/fuzz/README.md
	  make bench        speed against the floors we promise
	  make clean        remove what was built (out/ stays)
	Settings: CC CFLAGS CPPFLAGS LDFLAGS LDLIBS, B=build BIN=bin for another place; config.mk is read where there is one.
	END

readme: $(addprefix $(BIN)/,csv-calc csv-sort csv-cut csv-show)
	grep -q '^<!-- list -->' README.md && grep -q '^<!-- end of list -->' README.md
	mkdir -p $B
	for f in bin/*.c; do sed -n '1s|^/\* \([^ ]*\) - \(.*\)|- `\1` \2|p' "$$f"; done > $B/readme.list
	pipelines/results-table data/results.csv > $B/readme.results
	sed -i -e '/^<!-- list -->/,/^<!-- end of list -->/{//!d}' -e '/^<!-- list -->/r $B/readme.list' \
	    -e '/^<!-- results -->/,/^<!-- end of results -->/{//!d}' -e '/^<!-- results -->/r $B/readme.results' README.md

# everything that is compiled, but nothing linked
objects: $(LIBOBJ) $(FILTERS:%=$B/bin/%.o) $(patsubst t/%.c,$B/t/%.o,$(wildcard t/lib-*.c))
lint:
	$(MAKE) B=$B/lint/gcc CC=gcc CFLAGS='-O2 -Werror' objects
	! command -v clang > /dev/null || $(MAKE) B=$B/lint/clang CC=clang CFLAGS='-O1 -Werror -Wno-unknown-warning-option' \
	    objects
	$(MAKE) B=$B/lint/analyzer CC=gcc CFLAGS='-O1 -Werror -fanalyzer' \
	    $(patsubst %.c,$B/lint/analyzer/%.o,$(wildcard lib/base/*.c))
	! command -v cppcheck > /dev/null || cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,portability \
	    --inline-suppr --suppress=unknownMacro --suppress=readdirCalled --library=posix,t/lint.cfg \
	    -Ilib lib/base lib/table lib/tree/sexp.c
	! command -v shellcheck > /dev/null ||
	    shellcheck -s bash -S warning -e SC1010,SC1087,SC2034,SC2046,SC2053,SC2120,SC2154,SC2164,SC2192,SC2210,SC2238 \
	    t/*.t t/*.sh t/bench/*.sh $(filter-out %.mk %/explore-steps,$(wildcard pipelines/*))

SANITIZE = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined
# memory that lives till the end is not given back at the end, so leaks are not looked for
sanitize:
	export ASAN_OPTIONS=detect_leaks=0
	$(MAKE) B=$B/san BIN=$B/san/bin CFLAGS='$(SANITIZE)' test T='$(T)'

# as they are debugged: no optimisation, all symbols, in build/debug/bin
debug:
	$(MAKE) B=$B/debug BIN=$B/debug/bin CFLAGS='-O0 -g3' all
# each filter's first runs in its own test under valgrind; ten minutes for all of them, twelve seconds for each at most
valgrind: all $B/t/shim.so
	BIN=$(abspath $(BIN)) LOGS=$(abspath $B)/valgrind t/valgrind.sh $(T)
# C lines that were changed since the last commit, or since SINCE=; the others stay as they are, since no formatter
# keeps tables, and structs and loops on one line
CLANG_FORMAT ?= clang-format-19
format:
	git clang-format --force --binary=$(CLANG_FORMAT) --extensions=c,h $(or $(SINCE),HEAD)
# Lines and branches that the tests reach, a row a module; those below 85 % of their lines are named.  ROOM=lib/inline
# runs the tests of that room alone: its family's, and those of its modules; what was counted before is kept, so that
# room after room makes the whole table.
ROOM ?=
family-base      = all filter
family-table     = csv
family-tree      = sexp
family-measure   = bench jobs
family-net       = fit
family-rl        = loop-train loop-policy loop-search
family-tensor    = place
family-decisions = inline flambda
of_room = $(foreach f,$(or $(family-$1),$(firstword $(subst /, ,$1))),$(wildcard t/$f.t t/$f-*.t)) \
    $(patsubst t/%.c,$B/coverage/t/%.t,$(shell grep -l '^.include "$1/' t/lib-*.c))
coverage:
	mkdir -p $B/coverage
	$(CC) -O1 -fPIC -c -o $B/coverage/counted.o t/shim/counted.c
	-$(MAKE) B=$B/coverage BIN=$B/coverage/bin CFLAGS='-O0 -g --coverage' \
	    LDFLAGS='--coverage $(abspath $B/coverage/counted.o) -Wl$(comma)--wrap=_exit' test \
	    T='$(or $(T),$(sort $(foreach r,$(ROOM:lib/%=%),$(call of_room,$r))))'
	$(TOP)/t/coverage $B/coverage $(aside)
	csv-where -c lines_ratio --max=0.85 $B/coverage.csv | csv-show
coverage: new = $(call beside,$B/coverage.csv)
coverage: aside = > $(new); $(call keep,$B/coverage.csv)
.PHONY: debug valgrind format coverage

FUZZ_SECONDS ?= 60
FUZZ ?= $(filter-out fuzz mutate,$(basename $(notdir $(wildcard t/fuzz/*.c))))
# FUZZ_QUICK=1 for numbers: comparisons are not traced, and what UBSan finds traps without a word; half as long an input
FZ = $B/fuzz$(if $(FUZZ_QUICK),-quick)
FUZZ_HOW = $(if $(FUZZ_QUICK),-O2 -fsanitize=address$(comma)undefined -fsanitize-trap=undefined \
    -fsanitize-coverage=inline-8bit-counters$(comma)pc-table,-O1 \
    -fsanitize=fuzzer-no-link$(comma)address$(comma)undefined -fno-sanitize-recover=undefined)
FUZZ_RUN = -detect_leaks=0 -timeout=20 -rss_limit_mb=8192 -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 \
    -verbosity=0 $(if $(FUZZ_QUICK),-entropic=0 -max_len=500)
FUZZ_FLAGS = -g -fdata-sections $(FUZZ_HOW) \
    $(foreach f,exit malloc calloc realloc free fopen fdopen fclose gzdopen gzclose_r vasprintf,-D$f=fuzz_$f)
# the large kernels take minutes to compile so and read nothing
FUZZ_SRC = $(filter-out lib/tensor/kernels%,$(LIBSRC))
# what reads text is also given changes that keep to its grammar
FUZZ_BYTES = num onnx logread recorded elf
FUZZ_OWN = $(if $(filter $(FUZZ_BYTES),$*),,$(FZ)/mutate.o)
# the harness itself is not instrumented: it would take most of the time
$(FZ)/harness.o: t/fuzz/fuzz.c t/fuzz/fuzz.h
	clang -std=gnu11 $(WARN) -g -O2 -c -o $@ $<
$(FZ)/mutate.o: t/fuzz/mutate.c t/fuzz/fuzz.h
	clang -std=gnu11 $(WARN) -g -O2 -c -o $@ $<
# the library's variables come into one section, which the harness puts back after each input
$(FZ)/%: t/fuzz/%.c t/fuzz/state.ld $(FZ)/harness.o $(FZ)/mutate.o $(FZ)/libmillrace.a
	clang -std=gnu11 $(CPPFLAGS) -It/fuzz $(FUZZ_FLAGS) -c -o $@.target.o $<
	ld -r -T t/fuzz/state.ld -o $@.o $@.target.o $(FZ)/libmillrace.a
	clang -g -fsanitize=fuzzer,address,undefined -o $@ $@.o $(FZ)/harness.o $(FUZZ_OWN) \
	    -Wl,--as-needed $(LDLIBS)
# what libc allocated is lost when an input is refused: a minute may cost some GB
fuzz:
	$(MAKE) B=$(FZ) CC=clang CFLAGS='$(FUZZ_FLAGS)' LIBSRC='$(FUZZ_SRC)' $(FZ)/libmillrace.a
	$(MAKE) $(FUZZ:%=$(FZ)/%)
	export ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=8:malloc_context_size=4
	for f in $(FUZZ); do
	    mkdir -p $B/fuzz/corpus/$$f
	    [ ! -x t/fuzz/$$f.sh ] || t/fuzz/$$f.sh $B/fuzz/corpus/$$f
	    echo "fuzz: $$f, $(FUZZ_SECONDS) s"
	    case $$f in
	    csv|jobs|tables|runs|calc|store|events|page|machine) dict=csv ;;
	    sexp|policy|nest|decisions|trees|place-*) dict=sexp ;;
	    *) dict= ;;
	    esac
	    $(FZ)/$$f $${dict:+-dict=t/fuzz/$$dict.dict} \
	        $(FUZZ_RUN) \
	        -artifact_prefix=$(FZ)/$$f- -close_fd_mask=2 $B/fuzz/corpus/$$f 2>&1 | grep -a 'executed_units\|^fuzz:' ||
	        { echo "fuzz: $$f failed; see $(FZ)/$$f-*"; exit 1; }
	done

# families add their own: bench: bench-NAME
bench: bench-csv bench-sexp
bench-csv bench-sexp: bench-%: $B/t/bench/house
	$< $*
$B/t/bench/house: $B/t/bench/house.o $B/libmillrace.a
	$(LINK)

# man pages come from --help; bin/*.c and completion from the tables of options
bindir  = $(DESTDIR)$(PREFIX)/bin
datadir = $(DESTDIR)$(PREFIX)/share
libdir  = $(DESTDIR)$(PREFIX)/lib/millrace
# where Debian's python3 looks: dist-packages of its version under /usr/local, of all versions under /usr
pyversion = $(shell /usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || echo 3)
pydir   = $(DESTDIR)$(PREFIX)/lib/python$(if $(filter /usr,$(PREFIX)),3,$(pyversion))/dist-packages
$B/man/%.1: $(BIN)/%
	@mkdir -p $(@D)
	help2man --no-info --no-discard-stderr --name="$$(sed -n '1s|^/\* [^ ]* - ||p' bin/$*.c)" -o $@ $<
man: $(FILTERS:%=$B/man/%.1)
# what a release is: the files of the last commit
dist:
	mkdir -p $B
	git -C $(TOP) archive --prefix=millrace-$$(cat $(TOP)/VERSION)/ HEAD |
	    gzip -9n > $B/millrace-$$(cat $(TOP)/VERSION).tar.gz
	echo $B/millrace-$$(cat $(TOP)/VERSION).tar.gz
deb:
	mkdir -p $B
	dpkg-buildpackage --build=binary --no-sign --jobs=$(JOBS)
install: all
	@command -v help2man > /dev/null || { echo 'make install: help2man not found (make deps)' >&2; exit 1; }
	$(MAKE) -s man
	install -d $(bindir) $(datadir)/man/man1 $(datadir)/man/man7 $(datadir)/bash-completion/completions \
	    $(datadir)/millrace/share $(libdir)
	install $(PROGS) $(bindir)
	for f in $(RENAMED); do ln -sf flambda-$${f#inline-} $(bindir)/$$f; done
	install -m 644 $B/man/*.1 $(datadir)/man/man1
	for f in $(RENAMED); do ln -sf flambda-$${f#inline-}.1 $(datadir)/man/man1/$$f.1; done
	install -m 644 share/millrace.7 $(datadir)/man/man7
	{ cat share/completion.bash
	  echo complete -o default -F _millrace $(FILTERS); } > $(datadir)/bash-completion/completions/millrace
	for f in $(FILTERS); do ln -sf millrace $(datadir)/bash-completion/completions/$$f; done
	cp -r plots pipelines data Makefile VERSION packages.csv $(datadir)/millrace
	cp -r share/policies $(datadir)/millrace/share
	cp docs/pipelines.md $(datadir)/millrace
	printf 'BIN := %s\nB := %s\n' $(PREFIX)/bin $(PREFIX)/lib/millrace > $(datadir)/millrace/installed.mk
	sed 's|@DATADIR@|$(PREFIX)/share/millrace|' share/millrace.sh > $(bindir)/millrace
	chmod 755 $(bindir)/millrace
	! ls $B/measure/*.so > /dev/null 2>&1 || install $B/measure/*.so $(libdir)
	! [ -d $B/prof ] || cp -r $B/prof/. $(libdir)
	rm -f $(libdir)/*.d
	install -d $(pydir)/millrace_place
	install -m 644 lib/place/torch/millrace_place/*.py $(pydir)/millrace_place
	install $B/place/mover.so $(pydir)/millrace_place
.PHONY: help readme objects lint sanitize fuzz bench bench-csv bench-sexp man install dist deb
# `make deps figure7` installs first, also with -j
ifneq ($(filter deps,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif

ifeq ($(CURDIR),$(TOP))
-include $(wildcard lib/*/build.mk lib/*/bench.mk)
-include $(shell find $B -name '*.d' 2>/dev/null)
endif
include $(wildcard $(TOP)/pipelines/*.mk)
export PATH := $(abspath $(BIN)):$(PATH)
export LC_ALL := C
export OPENBLAS_NUM_THREADS ?= 1
# filters leave their memory to exit, where the optimiser has hidden the last pointers to it
export ASAN_OPTIONS ?= detect_leaks=0
