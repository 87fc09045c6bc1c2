# make [all|FAMILY=csv|deps|test|figure7|install|help|list|clean]; settings from the command line or config.mk
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
ifneq ($(filter-out x86_64,$(shell uname -m 2> /dev/null)),)
$(error millrace is built for x86-64 alone; what loop-emit --c writes compiles on aarch64, too)
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

# what a user's shell sets must not change what recipes do
export LC_ALL := C
export OPENBLAS_NUM_THREADS ?= 1
# filters leave their memory to exit, where the optimiser has hidden the last pointers to it
export ASAN_OPTIONS ?= detect_leaks=0
unexport CDPATH GREP_OPTIONS PARALLEL BASH_ENV ENV POSIXLY_CORRECT

CFLAGS   ?= -O2 -g
WARN      = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings \
    -Wformat=2 -Wundef -Wvla -Wcast-qual -Wno-missing-field-initializers
CPPFLAGS += -D_GNU_SOURCE -Ilib -I$B
# not 'pkg-config --libs gsl': it puts -lgslcblas before OpenBLAS, and dgemm is then 7 times slower
LDLIBS   += $(LIBRARIES:%=-l%) -lm -lpthread -ldl
# the same bytes from every folder
HERE     := -ffile-prefix-map=$(TOP)=.
COMPILE   = $(CC) -std=gnu11 $(WARN) $(CPPFLAGS) $(CFLAGS) $(HERE) $(ISA)
LINK      = $(CC) $(CFLAGS) $(LDFLAGS) -o $(new) $(filter %.o %.a,$^) -Wl,--as-needed $(LDLIBS)
# beside its target and renamed, as every recipe: a compiler that is killed leaves no half an object
swap      = mv -f $(new) $@
compile   = $(COMPILE) -MMD -MP -MF $(new).d -MT $@ -c -o $(new) $< && mv -f $(new).d $(@:.o=.d) && $(swap)
link      = $(LINK) && $(swap)

# What is built is built where the sources are.  From another folder, and where millrace is installed, pipelines run
# with the filters that are there already; `millrace figure7` is that.
ifeq ($(CURDIR),$(TOP))
# one name for one file, however it was given: an object that was made by another name would not be made anew when a
# header changes
override B   := $(patsubst $(TOP)/%,%,$B)
override BIN := $(patsubst $(TOP)/%,%,$(BIN))
# a family alone: make FAMILY='csv bench' compiles the rooms that it uses, and wants only their libraries
rooms_csv       := base table tree
rooms_bench     := base table tree measure
rooms_fit       := base table tree net fit rl
rooms_flambda   := $(rooms_fit) measure decisions flambda
rooms_inline    := $(rooms_flambda) inline
rooms_loop      := $(rooms_fit) measure loop
rooms_place     := $(rooms_bench) tensor place
rooms_prof      := $(rooms_bench) prof
rooms_sexp      := $(rooms_csv)
rooms_jobs      := $(rooms_bench)
libraries_csv   := csv z
libraries_bench := gsl openblas csv pfm z
libraries_fit   := gsl openblas csv z
libraries_sexp  := csv z
libraries_jobs  := csv z
FAMILY ?= $(filter csv bench,$(MAKECMDGOALS))
LIBRARIES := $(if $(FAMILY),$(if $(filter-out csv sexp jobs bench fit,$(FAMILY)),,$(sort \
    $(foreach f,$(FAMILY),$(libraries_$f)))))
LIBRARIES := $(or $(LIBRARIES),gsl openblas csv pfm archive sqlite3 z)
# $(call wanted,FAMILY): is it built?
wanted   = $(if $(FAMILY),$(filter $1,$(FAMILY)),$1)
FILTERS := $(basename $(notdir $(if $(FAMILY),$(wildcard $(FAMILY:%=bin/%-*.c)),$(wildcard bin/*.c))))
$(if $(FILTERS),,$(error FAMILY='$(FAMILY)': one or more of bench csv fit flambda inline jobs loop place prof sexp))
# what is loaded into other programs, or compiled when a user asks for it, is not part of the library
LIBSRC  := $(filter-out $(wildcard lib/*/guest/*.c lib/*/*/guest/*.c), \
    $(wildcard $(foreach r,$(sort $(or $(foreach f,$(FAMILY),$(rooms_$f)),*)),lib/$r/*.c lib/$r/*/*.c)))
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
all: $(PROGS)
csv bench: all
force:
.PHONY: force
export PATH := $(abspath $(BIN)):$(PATH)
# what a user set for his shell and his tools
unexport CDPATH PARALLEL GREP_OPTIONS POSIXLY_CORRECT BASH_ENV
include $(TOP)/mk/pipelines.mk

ifeq ($(CURDIR),$(TOP))
# link only what is used: the archive keeps small filters small, and OpenBLAS costs 1.6 ms at every start
$(BIN)/%: $B/bin/%.o $B/libmillrace.a | $(BIN)
	$(link)
$B/libmillrace.a: $(LIBOBJ) $B/objects
	$(AR) rcs $(new) $(LIBOBJ) && $(swap)
# which they are: a family alone has fewer, and make takes those that are missing for made
$B/objects: force
	@mkdir -p $(@D)
	[ "$$(cat $@ 2> /dev/null)" = '$(LIBOBJ)' ] || { [ -e $@ ] && [ ! -w $(@D) ]; } || { echo '$(LIBOBJ)' $(aside); }
$B/%.o: %.c
	@mkdir -p $(@D)
	$(compile)
# a static rule: an implicit one would lose to $B/%.o, since the help text does not exist yet
$(FILTERS:%=$B/bin/%.o): CPPFLAGS += -DHELP='"help/$(*F).h"'
$(FILTERS:%=$B/bin/%.o): $B/bin/%.o: bin/%.c $B/help/%.h
	@mkdir -p $(@D)
	$(compile)
# the one file that knows the version, so that a commit does not compile everything anew
$B/lib/base/filter.o: CPPFLAGS += -DVERSION='"$(VERSION)"'
$B/lib/base/filter.o: $B/version
# Who may not write here runs what was built.
$B/version: force
	@mkdir -p $(@D)
	[ "$$(cat $@ 2> /dev/null)" = '$(VERSION)' ] || { [ -e $@ ] && [ ! -w $(@D) ]; } || { echo '$(VERSION)' $(aside); }
# kernels for one instruction set live in files named after it; they are chosen at run time by cpuid
$B/%_avx2.o: ISA = -O3 -mavx2 -mfma
$B/%_avx512.o: ISA = -O3 -mavx512f -mavx512vl -mavx512bw -mavx512dq -mfma
# the first comment of a filter is its help text
$B/help/%.h: bin/%.c
	@mkdir -p $(@D)
	sed -n -e '1s|^/\* ||' -e '/^ \*\//q' -e 's|^ \* \{0,1\}||' -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/p' $< |
	    sed -e '1i static const char help[] =' -e '$$a ;' $(aside)
# what bin/millrace.c knows of the others
$B/help/millrace-list.h: share/help/header share/internal share/help/groups $(wildcard bin/*.c share/help/*.txt)
	@mkdir -p $(@D)
	share/help/header share/internal share/help/groups $(wildcard bin/*.c) -- $(wildcard share/help/*.txt) $(aside)
$B/bin/millrace.o: $B/help/millrace-list.h
$B/t/%.t: $B/t/%.o $B/libmillrace.a
	$(link)
# preloaded by tests: counts writes, and lets the N-th fail
$B/t/shim.so: t/shim/shim.c
	@mkdir -p $(@D)
	$(CC) -O1 -g $(HERE) -Wall -Wextra -shared -fPIC -o $(new) $< -ldl && $(swap)
# a stand-in for NVIDIA's driver
$B/t/cuda/libcuda.so.1: t/shim/cuda.c $(wildcard lib/place/*/kernels.h)
	@mkdir -p $(@D)
	$(CC) -O2 -g $(HERE) -Wall -Wextra -shared -fPIC -o $(new) $< && $(swap)
$(BIN):
	mkdir -p $@
test:
	$(MAKE) $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS)) all $B/t/shim.so $B/t/cuda/libcuda.so.1 \
	    $(filter $(or $(T),%),$(CTESTS))
	B=$(abspath $B) BIN=$(abspath $(BIN)) prove -j$(JOBS) -e '' $(or $(T),t/*.t $(CTESTS))
clean:
	rm -rf $B $(PROGS)

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
	install="$${as_root:+$$as_root }apt-get install --no-install-recommends"
	echo "make deps: $${as_root:+$$as_root }apt-get update && $$install $${missing[*]}"
	$$as_root apt-get update -qq || cannot "apt-get update failed"
	# what this release of Debian does not have is not compared with
	here=()
	for package in "$${missing[@]}"; do
	    ! grep -q "^$$package,peer," packages.csv || apt-cache show "$$package" > /dev/null 2>&1 ||
	        { echo "make deps: left out, not in this release: $$package"; continue; }
	    here+=("$$package")
	done
	missing=("$${here[@]}")
	[ $${#missing[@]} -gt 0 ] || exit 0
	$$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$${missing[@]}" ||
	    cannot "apt-get install failed"
list:
	@for f in bin/*.c; do sed -n '1s|^/\* ||p' "$$f"; done
.PHONY: all csv bench deps test list clean
include mk/dev.mk mk/mutants.mk mk/install.mk $(wildcard lib/*/build.mk lib/*/bench.mk)
-include $(shell find $B -name '[!.]*.d' 2> /dev/null)
endif
include $(wildcard $(TOP)/pipelines/*.mk)
# `make deps figure7` installs first, also with -j
ifneq ($(filter deps,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif
