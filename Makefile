# make [all|deps|test|figures|install|lint|sanitize|fuzz|bench|list|help|clean]; settings from the command line or config.mk
-include config.mk
VERSION := $(shell git describe --always --dirty 2>/dev/null || cat VERSION 2>/dev/null || echo 0)
PREFIX  ?= /usr/local
B       ?= build
BIN     ?= bin
OUT     ?= out
DATA    ?=
SEED    ?= 1
SCALE   ?= default
JOBS    ?= $(shell nproc)

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.ONESHELL:
.SECONDARY:
.DEFAULT_GOAL := all

CFLAGS   ?= -O2 -g
WARN      = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wformat=2 -Wundef -Wvla -Wcast-qual -Wno-missing-field-initializers
CPPFLAGS += -D_GNU_SOURCE -Ilib -I$B -DVERSION='"$(VERSION)"'
# not 'pkg-config --libs gsl': it puts -lgslcblas before OpenBLAS, and dgemm is then 7 times slower
LDLIBS   += -lgsl -lopenblas -lcsv -lpfm -larchive -lsqlite3 -lz -lm -lpthread -ldl
COMPILE   = $(CC) -std=gnu11 $(WARN) $(CPPFLAGS) $(CFLAGS) $(ISA) -MMD -MP
LINK      = $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -Wl,--as-needed $(LDLIBS)

FILTERS := $(basename $(notdir $(wildcard bin/*.c)))
LIBSRC  := $(wildcard lib/*/*.c)
LIBOBJ  := $(LIBSRC:%.c=$B/%.o)
PROGS   := $(FILTERS:%=$(BIN)/%)
CTESTS  := $(patsubst t/%.c,$B/t/%.t,$(wildcard t/lib-*.c))

all: $(PROGS)

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
# kernels for one instruction set live in files named after it; they are chosen at run time by cpuid
$B/%_avx2.o: ISA = -O3 -mavx2 -mfma
$B/%_avx512.o: ISA = -O3 -mavx512f -mavx512vl -mavx512bw -mavx512dq -mfma
# the first comment of a filter is its help text
$B/help/%.h: bin/%.c
	@mkdir -p $(@D)
	sed -n -e '1s|^/\* ||' -e '/^ \*\//q' -e 's|^ \* \{0,1\}||' -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/p' $< | sed -e '1i static const char help[] =' -e '$$a ;' > $@
$B/t/%.t: $B/t/%.o $B/libmillrace.a
	$(LINK)
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
	$$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$${missing[@]}" || cannot "apt-get install failed"

test: all $(CTESTS)
	B=$(abspath $B) BIN=$(abspath $(BIN)) prove -j$(JOBS) -e '' $(or $(T),t/*.t $(CTESTS))

list:
	@for f in bin/*.c; do sed -n '1s|^/\* ||p' "$$f"; done
clean:
	rm -rf $B $(PROGS)
.PHONY: all deps test list clean
# `make deps figure7` installs first, also with -j
ifneq ($(filter deps,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif

-include $(wildcard lib/*/*.mk)
include $(wildcard pipelines/*.mk)
-include $(shell find $B -name '*.d' 2>/dev/null)
export PATH := $(abspath $(BIN)):$(PATH)
export LC_ALL := C
export OPENBLAS_NUM_THREADS ?= 1
