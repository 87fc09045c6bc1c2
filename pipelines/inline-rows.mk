# inline-rows.mk - what the two pipelines of inline share: the programs, and the steps from builds to an answer
#   INLINE_TABLE=   a table of programs that are fetched as Debian source packages: name, set, package, build, search,
#                   confirm; `demo` is the small program of data/demo
INLINE_TABLE ?= $(TOP)/data/programs.csv
$(if $(word 2,$(PROGRAM)),$(error make inline: PROGRAM='$(PROGRAM)': make cannot work in a directory with a space in \
    its name))
# names become folders, targets and words of recipes
inline_bad   := $(shell sed -n '1d; s/,.*//; /^[A-Za-z0-9][A-Za-z0-9._+-]*$$/!{p;q}' $(INLINE_TABLE))
$(if $(inline_bad),$(error make inline: $(INLINE_TABLE): '$(inline_bad)' is not a plain name of a program))
inline_all   := $(shell sed -n '2,$$s/,.*//p' $(INLINE_TABLE))
inline_train := $(shell sed -n 's/^\([^,]*\),train,.*/\1/p' $(INLINE_TABLE))
INLINE_NAMES ?= $(if $(PROGRAM),$(notdir $(abspath $(PROGRAM))),$(if $(filter ci,$(SCALE)),demo,$(inline_train)))
# those that are not fetched, by name: the demo, and what PROGRAM= says
inline_own_name = $(notdir $(abspath $(PROGRAM)))
inline_own  = $(filter-out $(inline_own_name),demo) $(if $(PROGRAM),$(inline_own_name))
inline_from = $(if $(and $(PROGRAM),$(filter $(inline_own_name),$1)),$(abspath $(PROGRAM)),$(TOP)/data/$1)
inline_src  = $(OUT)/inline-src
# holds the names of those that no mirror had and nobody asked for; when somebody does, they are tried again
$(inline_src)/fetched: $(INLINE_TABLE) | $(PROGS)
	@mkdir -p $(@D)
	csv-calc --print=name --print=package $< | while IFS=$$'\t' read -r name package; do
	    $(TOP)/pipelines/fetch-source $$package $(@D)/$$name $(TOP)/data ||
	        case ' $(INLINE_NAMES) ' in *" $$name "*) exit 1 ;; *) echo $$name ;; esac
	done $(aside)
ifneq ($(filter $(INLINE_NAMES),$(shell cat $(inline_src)/fetched 2> /dev/null)),)
.PHONY: $(inline_src)/fetched
endif

# The steps from builds to an answer, of pattern FOLDER/%/built, the executables FOLDER/%/LABEL and a folder w there:
# $(call inline_rows,FOLDER,LABELS,BASES,METRICS,ROUNDS,SECONDS,GUARDED,FASTER,SMALLER[,VARIABLE OF NAMES,
# STOCK]).
# exact.csv: exact costs of the runs that confirm; runs.csv: paired rounds; rounds.csv: a program's value in each, the
# mean of its inputs, so that an interval is one over rounds; guard.csv, accepted.csv: which of FASTER and SMALLER
# surely beats GUARDED and the first of BASES (pipelines/accepted), or that nothing does; row.csv: time, instructions
# and text of every build, and of what was accepted by the rounds that did not decide, over each of BASES, losses first;
# table.csv, means.csv: of all programs.  Tables over programs are made again when their settings change.
define inline_rows
$1/%/exact.csv: $1/%/built
	@METRICS='$4' $(TOP)/pipelines/measure count $$(@D)/w $(call inline_there,$2) $$(aside)
$1/%/runs.csv: $1/%/built
	@echo 'timing $$*'
	ROUNDS=$5 MOST_SECONDS=$6 SEED=$(SEED) $(TOP)/pipelines/measure time $$(@D)/w $(call inline_there,$2) $$(aside)
# a run that went wrong stays a row of its own, and is refused
$1/%/rounds.csv: $1/%/runs.csv
	@csv-where -c phase --is=measure $$< |
	    csv-group -g label,round,status,kind -c cpu_seconds,wall_seconds --stat=gmean |
	    csv-cut -c label,round,status,kind,gmean_cpu_seconds,gmean_wall_seconds \
	        --rename=gmean_cpu_seconds=cpu_seconds --rename=gmean_wall_seconds=wall_seconds |
	    csv-calc --set="benchmark='$$*'" $$(aside)
$1/%/guard.csv $1/%/accepted.csv &: $1/%/runs.csv $1/%/exact.csv
	@PLAIN='$(firstword $3)' FASTER='$8' SMALLER='$9' STOCK='$(11)' $(TOP)/pipelines/accepted $$* $7 $$^ \
	    $$(call beside,$$(@D)/guard.csv) > $$(call beside,$$(@D)/accepted.csv)
	$$(call keep,$$(@D)/guard.csv)
	$$(call keep,$$(@D)/accepted.csv)
# its rounds are those that did not decide
$1/%/odd.csv: $1/%/rounds.csv $1/%/accepted.csv
	@label=$$$$(csv-calc --print=label $$(@D)/accepted.csv)
	csv-where -c label --is="$$$$label" $$< | csv-calc --set="label='accepted'" | csv-cat $$< - |
	    csv-calc --where='round % 2 == 1' $$(aside)
$1/%/row.csv: $1/%/exact.csv $1/%/odd.csv
	@label=$$$$(csv-calc --print=label $$(@D)/accepted.csv)
	csv-where -c label --is="$$$$label" $$< | csv-calc --set="label='accepted'" | csv-cat $$< - > $$@.costs
	for base in $3; do
	    $(call inline_times,$$(@D)/rounds.csv,$$(@D)/odd.csv) | csv-cut -c label,ratio,lower_ratio,upper_ratio,rounds \
	        --rename=ratio=cpu --rename=lower_ratio=cpu_lower --rename=upper_ratio=cpu_upper > $$@.cpu
	    $(TOP)/pipelines/ratios "$$$$base" $$@.costs | csv-where -c program --is='$$*' |
	        csv-pivot -k program,label --names=metric --values=ratio | csv-join -k label --keep=left - $$@.cpu |
	        csv-calc --set="base='$$$$base'" | csv-sort -k cpu:nr > $$@.of-$$$$base
	done
	csv-cat $(3:%=$$@.of-%) > $$(new)
	rm $$@.*
	$$(call keep,$$@)
$(eval $(call asked,$1/asked,$(or $(10),INLINE_NAMES)))
$1/table.csv: $(call inline_of,$1,row,$(10)) $1/asked
	@csv-cat $$(filter %.csv,$$^) $$(aside)
$1/means.csv: $1/table.csv
	@csv-group -g base,label -c cpu,instructions,text_bytes,code_bytes --stat=gmean --missing=skip $$< |
	    csv-cut -c base,label,n_rows,gmean_cpu,gmean_instructions,gmean_text_bytes,gmean_code_bytes \
	        --rename=n_rows=programs --rename=gmean_cpu=cpu --rename=gmean_instructions=instructions \
	        --rename=gmean_text_bytes=text_bytes --rename=gmean_code_bytes=code_bytes > $$@.exact
	for base in $3; do
	    $(call inline_times,$(call inline_of,$1,rounds,$(10)),$(call inline_of,$1,odd,$(10))) |
	        csv-where -c benchmark --is='(geometric mean)' |
	        csv-cut -c base,label,lower_ratio,upper_ratio --rename=lower_ratio=cpu_lower \
	            --rename=upper_ratio=cpu_upper > $$@.of-$$$$base
	done
	csv-cat $(3:%=$$@.of-%) | csv-join -k base,label --keep=left $$@.exact - | csv-sort -k base,cpu:nr > $$(new)
	rm $$@.*
	$$(call keep,$$@)
$1/exact.csv: $(call inline_of,$1,exact,$(10)) $1/asked
	@$(TOP)/pipelines/ratios $7 $$(filter %.csv,$$^) $$(aside)
$1/guard.csv: $(call inline_of,$1,guard,$(10)) $1/asked
	@csv-cat $$(filter %.csv,$$^) $$(aside)
$1/accepted.csv: $(call inline_of,$1,accepted,$(10)) $1/asked
	@csv-cat $$(filter %.csv,$$^) $$(aside)
$1/time.csv: $(call inline_of,$1,runs,$(10)) $1/asked
	@csv-cat $$(filter %.csv,$$^) > $$@.runs
	{ bench-compare --quiet --base=$7 --metric=cpu $$@.runs || [ $$$$? -le 2 ]; } |
	    csv-sort -k ratio:nr > $$(new)
	rm $$@.runs
	$$(call keep,$$@)
endef
inline_of = $$($(or $3,INLINE_NAMES):%=$1/%/$2.csv)
inline_there = $$$$(for l in $1; do [ ! -x $$(@D)/$$$$l ] || echo $$$$l=$$(@D)/$$$$l; done)
# times over base $base: of the rounds $1; of what was accepted, of $2
inline_compare = { bench-compare --quiet --csv --incomplete=skip --base=$$$$base --metric=cpu $1 || [ $$$$? -le 2 ]; }
inline_times = { $(call inline_compare,$1); $(call inline_compare,$2) | csv-where -c label --is=accepted | sed 1d; }
