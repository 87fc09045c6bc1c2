# the recorder: a CPython extension (where the headers are), a preload library, CUPTI's injection library (where cupti.h is)
PYTHON  ?= /usr/bin/python3
PYINC   := $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)
PROFLIB := $B/prof
RECFLAGS = -fPIC -fvisibility=hidden -shared -std=gnu11 $(WARN) -D_GNU_SOURCE -Ilib $(CFLAGS) -MMD -MP -MF $@.d
PROF_TARGETS :=
ifneq ($(wildcard $(PYINC)/Python.h),)
PROF_TARGETS += $(PROFLIB)/_millrace.so $(PROFLIB)/libmillrace-e2e.so $(patsubst lib/prof/rec/python/%,$(PROFLIB)/%,$(wildcard lib/prof/rec/python/*.py lib/prof/rec/python/*/*.py))
endif

$(PROFLIB)/_millrace.so: lib/prof/rec/pyrec.c lib/prof/rec/rec.c
	@mkdir -p $(@D)
	$(CC) $(RECFLAGS) -Wno-cast-qual -isystem $(PYINC) -o $@ $^ -lpthread -ldl
$(PROFLIB)/libmillrace-e2e.so: lib/prof/rec/e2e.c
	@mkdir -p $(@D)
	$(CC) $(RECFLAGS) -o $@ $^ -lpthread
$(PROFLIB)/%.py: lib/prof/rec/python/%.py
	@mkdir -p $(@D)
	cp $< $@

all: $(PROF_TARGETS)

# sweep and import against Python, at the size of the claims: 2 GB
bench: bench-prof
bench-prof: all
	t/bench/prof.sh $B/bench-prof $(or $(GIGABYTES),2)
.PHONY: bench-prof
