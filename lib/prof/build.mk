# the recorder: a CPython extension for each version whose headers are there (make python PYTHON=/path/of/python: those
# of that one), a preload library, CUPTI's injection library (where cupti.h is)
ifneq ($(PYTHON),)
PYINC := $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)
endif
PYENV_ROOT ?= $(HOME)/.pyenv
PYVERSIONS := 39 310 311 312 313
PYHEADERS  := $(wildcard $(if $(PYINC),$(PYINC)/Python.h) $(foreach p,/usr /usr/local $(PYENV_ROOT)/versions/*, \
    $(PYVERSIONS:3%=$p/include/python3.%/Python.h)))
pytag       = $(subst python3.,3,$(notdir $(patsubst %/,%,$(dir $1))))
PYTAGS     := $(filter $(PYVERSIONS),$(sort $(foreach h,$(PYHEADERS),$(call pytag,$h))))
PROFLIB := $B/prof
GUEST    = $B/lib/prof/guest
GUESTCC  = $(CC) -fPIC -fvisibility=hidden -std=gnu11 $(WARN) -D_GNU_SOURCE -Ilib $(CFLAGS) $(HERE) -MMD -MP \
    -MF $(@:.o=).d -MT $@
RECFLAGS = $(GUESTCC) -shared
PROF_TARGETS :=
PYSUFFIX := $(shell uname -m)-linux-gnu.so
PYRECS   := $(PYTAGS:%=$(PROFLIB)/_millrace.cpython-%-$(PYSUFFIX))
ifneq ($(PYRECS),)
PROF_TARGETS += $(PYRECS) $(PROFLIB)/libmillrace-e2e.so \
    $(patsubst lib/prof/guest/python/%,$(PROFLIB)/%,$(wildcard lib/prof/guest/python/*.py \
    lib/prof/guest/python/*/*.py))
endif

PROF_TARGETS += $(PROFLIB)/libmillrace-prof.so $(PROFLIB)/millrace_prof.h
ifeq ($(shell uname -m),x86_64)
PROF_TARGETS += $(PROFLIB)/libmillrace-calls.so
endif
CUPTI_DIR := $(firstword \
    $(dir $(wildcard /usr/local/cuda*/include/cupti.h /usr/local/cuda*/extras/CUPTI/include/cupti.h)))
ifneq ($(CUPTI_DIR),)
PROF_TARGETS += $(PROFLIB)/libmillrace-gpu.so
endif

# What does not know Python is compiled once, what does once for each version.  A sanitizer's runtime must come first in
# a process, so only Python's part is built with one: those objects lie beside.
GUEST_ONCE := rec apart say lock got hide links api calls e2e
GUEST_PYTHON := pyrec wrap threads ops frames see patch ranges
PLAIN_ONCE := $(if $(findstring -fsanitize,$(CFLAGS)),plain/)
$(GUEST_ONCE:%=$(GUEST)/%.o): $(GUEST)/%.o: lib/prof/guest/%.c
	@mkdir -p $(@D)
	$(GUESTCC) -c -o $(new) $< && $(swap)
ifneq ($(PLAIN_ONCE),)
$(GUEST_ONCE:%=$(GUEST)/plain/%.o): $(GUEST)/plain/%.o: lib/prof/guest/%.c
	@mkdir -p $(@D)
	$(filter-out -fsanitize%,$(GUESTCC)) -c -o $(new) $< && $(swap)
endif
pyheader = $(firstword $(foreach h,$(PYHEADERS),$(if $(filter $1,$(call pytag,$h)),$h)))
define guest_for_python
$(GUEST_PYTHON:%=$(GUEST)/$1/%.o): $(GUEST)/$1/%.o: lib/prof/guest/%.c
	@mkdir -p $$(@D)
	$$(GUESTCC) -Wno-cast-qual -isystem $(patsubst %/,%,$(dir $(call pyheader,$1))) -c -o $$(new) $$< && $$(swap)
$(PROFLIB)/_millrace.cpython-$1-$(PYSUFFIX): $(GUEST_PYTHON:%=$(GUEST)/$1/%.o) \
    $(patsubst %,$(GUEST)/%.o,got hide links lock rec apart say)
	@mkdir -p $$(@D)
	$$(RECFLAGS) -o $$(new) $$^ -lpthread -ldl && $$(swap)
endef
$(foreach v,$(PYTAGS),$(eval $(call guest_for_python,$v)))

# the interface for C and C++
$(PROFLIB)/libmillrace-prof.so: $(patsubst %,$(GUEST)/$(PLAIN_ONCE)%.o,api rec apart say)
	@mkdir -p $(@D)
	$(filter-out -fsanitize%,$(RECFLAGS)) -o $(new) $^ -lpthread && $(swap)
$(PROFLIB)/libmillrace-calls.so: $(patsubst %,$(GUEST)/$(PLAIN_ONCE)%.o,calls lock rec apart say)
	@mkdir -p $(@D)
	$(filter-out -fsanitize%,$(RECFLAGS)) -o $(new) $^ -lpthread -ldl && $(swap)
$(PROFLIB)/millrace_prof.h: lib/prof/guest/millrace_prof.h
	@mkdir -p $(@D)
	cp $< $(new) && $(swap)
# its own rpath: the driver loads it into programs that know nothing of CUPTI
CUPTI_LIB := $(firstword $(wildcard $(CUPTI_DIR:include/=)lib64 $(CUPTI_DIR:include/=)lib))
$(PROFLIB)/libmillrace-gpu.so: lib/prof/guest/gpurec.c
	@mkdir -p $(@D)
	$(filter-out -fsanitize% -Wundef -Wcast-qual,$(RECFLAGS)) -isystem $(CUPTI_DIR) -o $(new) $^ \
	    -L$(CUPTI_LIB) -Wl,-rpath,$(CUPTI_LIB) -lcupti -lpthread && $(swap)
$(PROFLIB)/libmillrace-e2e.so: $(GUEST)/e2e.o
	@mkdir -p $(@D)
	$(RECFLAGS) -o $(new) $^ -lpthread && $(swap)
$(PROFLIB)/%.py: lib/prof/guest/python/%.py
	@mkdir -p $(@D)
	cp $< $(new) && $(swap)

# bytecode: where the recorder is installed nobody but root may write it, and every start would compile again
PYFILES    := $(filter %.py,$(PROF_TARGETS))
PYCOMPILED := $(PYTAGS:%=$(PROFLIB)/__pycache__/%.done)
$(PYCOMPILED): $(PROFLIB)/__pycache__/%.done: $(PYFILES)
	p=$(firstword $(foreach h,$(PYHEADERS),$(if $(filter $*,$(call pytag,$h)),$(subst /include/,/bin/,$(h:/Python.h=)))))
	! [ -x $$p ] || $$p -m compileall -q --invalidation-mode checked-hash $(PROFLIB)
	mkdir -p $(@D) && touch $@

prof-recorder: $(PROF_TARGETS) $(PYCOMPILED)
python: prof-recorder
	$(if $(PYTAGS),@echo the recorder is there for Python $(PYTAGS:3%=3.%),$(error no headers of a Python were found))
# what deps installs was not there when this was read: look again afterwards
ifneq ($(filter deps,$(MAKECMDGOALS)),)
all: $(if $(call wanted,prof),prof-recorder-afterwards)
prof-recorder-afterwards:
	$(MAKE) prof-recorder
else
all: $(if $(call wanted,prof),prof-recorder)
endif
.PHONY: python prof-recorder prof-recorder-afterwards

# sweep and import against Python, at the size of the claims: 2 GB
benchmarks: bench-prof
bench-prof: all
	t/bench/prof.sh $B/bench-prof $(or $(GIGABYTES),2)
# what prof-emit writes, opened in Chromium's and speedscope's viewers (make deps PEERS=1)
prof-viewer: all
	t/bench/prof-viewer.sh $B/prof-viewer
# programs of the system, and those that lock themselves in, under each option: the same output, status and files
bench-prof-harmless: all
	export B=$(abspath $B) BIN=$(abspath $(BIN))
	for MORE in --ring=5000 --max-events=1000 --max-passes=1 --limit=50000 --delay=0.01 --skip-after=10 --each \
	    --judge=1000 --judge=0 --wait --bare --tree --wrap=math.* --gpu --force --python=/usr/bin/python3; do
	    export MORE
	    echo "== prof-record --calls=* $$MORE"
	    prove -q t/pipeline-harmless.t t/pipeline-locked.t
	done
.PHONY: bench-prof bench-prof-harmless prof-viewer

# the page of prof-page is part of the program
$B/prof-page.h: lib/prof/page.html
	@mkdir -p $(@D)
	sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $< | sed -e '1i static const char page_template[] =' -e '$$a ;' $(aside)
$B/lib/prof/page.o: $B/prof-page.h
