# pipelines.mk - what the makefiles of pipelines share: how a file is written, when one is made anew, how one is drawn

# One way for every rule: `command $(aside)` writes beside its target, syncs and renames, so that whoever is killed,
# make included, leaves the old file or none.  $(new) is the name beside, with the same ending: `gnuplot .. $(new)` and
# then $(call keep,$@); a rule that makes several files writes $(call beside,FILE) and $(call keep,FILE) for each.
here   := $(shell $(TOP)/pipelines/here)
beside = $(dir $(1)).millrace-$$$$-$(here)-$(notdir $(1))
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
SCALES   := default ci test full large
one_word  = $(if $(filter-out 1,$(words $($(1)))),$(error $(1)='$($(1))': a folder whose name has no blank))$(foreach \
    s,$(signs),$(if $(findstring $s,$($(1))),$(error $(1)='$($(1))': a folder whose name has no '$s')))
$(foreach v,OUT B BIN,$(call one_word,$v))
# what is given becomes words of recipes, and is looked at before it is expanded: a folder may be called $(shell ..)
given = $(foreach s,$(signs) =,$(if $(findstring $s,$(value $(1))),$(error $(1)='$(value $(1))': a folder whose name \
    has no '$s')))
$(foreach v,PROGRAM SOURCE FROM DATA,$(call given,$v))
ifneq ($(words $(filter $(SCALES),$(SCALE)))$(words $(SCALE)),11)
$(error SCALE='$(SCALE)': one of $(SCALES))
endif
DRAWS := figure% inline inline-% flambda-% learning loop loop-% place-% prof prof-% pca-data bench-demo \
    bench-prof-whatif
PIPELINE_GOALS := $(DRAWS) bench-aa bench-identical bench-guard-replay bench-planted gallery host optimal \
    optimal-% torch torch-% $(OUT)/%
ifneq ($(filter $(DRAWS),$(MAKECMDGOALS)),)
ifeq ($(filter deps,$(MAKECMDGOALS))$(shell command -v gnuplot),)
$(error gnuplot is not here, and $(filter $(DRAWS),$(MAKECMDGOALS)) draws at the end: make deps installs it)
endif
endif
# what killed recipes and filters left under OUT
ifeq ($(MAKELEVEL),0)
$(if $(wildcard $(OUT)/.),$(shell $(TOP)/pipelines/sweep $(OUT)))
endif

# From another folder, and where millrace is installed, pipelines are all there is: nothing of the programs is touched.
ifneq ($(CURDIR),$(TOP))
no_pipeline := $(or $(filter gallery host learning torch torch-% place-torch bench-aa bench-identical \
    bench-guard-replay bench-planted bench-prof-whatif,$(MAKECMDGOALS)),$(filter-out $(PIPELINE_GOALS) figures,$(or \
    $(MAKECMDGOALS),all)))
$(if $(no_pipeline),$(error $(no_pipeline): no pipeline; `millrace help pipelines` lists them))
endif

# A pipeline begins when every filter is there, whichever its recipes and scripts use, and nothing is compiled beside
# what it measures.  make sees to included files before all else (with -n too); this one says nothing.
asked_pipelines := $(if $(findstring n,$(short)),,$(filter-out prof-recorder% prof-viewer,$(filter $(PIPELINE_GOALS),\
    $(MAKECMDGOALS))))
# Two makes of one family into one OUT, here or on two hosts that share a disk, work one after the other; who makes more
# families than one holds all of them, in the order of their names.
family_of = $(foreach g,$(patsubst $(OUT)/%,%,$1),$(firstword $(subst -, ,$(subst /, ,$(patsubst figure%,place,$g)))))
ifeq ($(MAKELEVEL)$(MAKE_RESTARTS),0)
$(foreach f,$(sort $(call family_of,$(asked_pipelines))),$(shell mkdir -p $(OUT) && \
    $(TOP)/pipelines/alone $(OUT)/$f.lock $$PPID))
endif
ifneq ($(and $(FILTERS),$(asked_pipelines)),)
include $B/ready
# Two that are begun at once build one after the other.
$B/ready: force
	@mkdir -p $B
	flock -o $B/ready.lock $(MAKE) --no-print-directory $(filter deps,$(MAKECMDGOALS)) all
	[ -e $@ ] || { : $(aside); }
endif
