# layouts.mk - is a build faster by its decisions, or by the places where its code came to lie?
#   make inline-layouts INLINE_NAMES='gawk lua'   the winners of inline-home and what they are compared with, each
#                             linked in INLINE_LAYOUTS orders of its functions (inline-build --layouts)
#   INLINE_LAYOUT_ROUNDS=5    runs of each executable and input, all interleaved
#   INLINE_LAYOUT_LABELS=     of these builds: lto-pgo lto-irn learned small lean, or a list of decisions
#                             OUT/inline-home/NAME/LABEL.sexp
# What is compared is a layout: the median of its runs is one value, a pair is one layout of the base and one of the
# candidate, and intervals are over layouts.
INLINE_LAYOUTS       ?= $(if $(filter ci test,$(SCALE)),6,12)
INLINE_LAYOUT_ROUNDS ?= $(if $(filter ci test,$(SCALE)),2,5)
INLINE_LAYOUT_LABELS ?= $(INLINE_BASE) lto-$(INLINE_PROFILE) learned small lean

inline-layouts: $(inline_home)/layouts.csv $(inline_home)/layouts-guard.csv $(inline_home)/layouts-levels.csv
	@echo "CPU time over $(INLINE_BASE), each pair two layouts, intervals over layouts; losses first:"
	csv-show --digits=4 $<
	echo "One program goes out, for all inputs, if it is the better one in any layout:"
	csv-cut -c program,label,decision,reason,ratio,lower_ratio,upper_ratio,worst,worst_ratio \
	    $(inline_home)/layouts-guard.csv | csv-show --digits=4
	echo "What time differs by between layouts of one build, and between runs of one layout (standard deviations):"
	csv-show --digits=4 $(inline_home)/layouts-levels.csv
.PHONY: inline-layouts

$(eval $(call asked,$(inline_home)/layouts-asked,INLINE_LAYOUTS INLINE_LAYOUT_ROUNDS INLINE_LAYOUT_LABELS))
inline_layout_sets = $(sort $(patsubst lean,small,$(filter learned small tiny lean,$(INLINE_LAYOUT_LABELS))))
$(inline_home)/%/layouts/built: $(inline_home)/%/w/program.csv $(inline_layout_sets:%=$(inline_home)/\%/%.sexp) \
    $(inline_home)/layouts-asked | $(PROGS)
	@mkdir -p $(@D)
	for label in $(INLINE_LAYOUT_LABELS); do
	    set=$(inline_home)/$*/$$label.sexp
	    case $$label in
	    lto-$(INLINE_PROFILE)) how=() ;;
	    lean) how=(--cold-small --decisions=$(inline_home)/$*/small.sexp) ;;
	    *) if [ -s $$set ]; then how=(--decisions=$$set); else how=(--stock=$$label); fi ;;
	    esac
	    inline-build "$${how[@]}" --layouts=$(INLINE_LAYOUTS) --out=$(@D)/$$label $(<D) > /dev/null
	done
	touch $@
# every layout of every build is a label of the same rounds, and must put out the same
$(inline_home)/%/layouts/runs.csv: $(inline_home)/%/layouts/built
	@builds=()
	for k in $$(seq $(INLINE_LAYOUTS)); do
	    for label in $(INLINE_LAYOUT_LABELS); do builds+=("$$label@$$k=$(@D)/$$label.$$k"); done
	done
	ROUNDS=$(INLINE_LAYOUT_ROUNDS) SEED=$(SEED) $(TOP)/pipelines/measure time $(inline_home)/$*/w "$${builds[@]}" |
	    csv-calc --set="layout=part(label, '@', 2)" --set="label=part(label, '@', 1)" --set="base='$(INLINE_BASE)'" \
	    $(aside)
# a layout is a round: a run that went wrong stays a row of its own, and is refused
$(inline_home)/%/layouts/times.csv: $(inline_home)/%/layouts/runs.csv
	@csv-where -c phase --is=measure $< |
	    csv-group -g benchmark,base,label,layout,status,kind -c cpu_seconds,wall_seconds --stat=median |
	    csv-cut -c benchmark,base,label,layout,status,kind,median_cpu_seconds,median_wall_seconds \
	        --rename=layout=round --rename=median_cpu_seconds=cpu_seconds \
	        --rename=median_wall_seconds=wall_seconds $(aside)
$(inline_home)/layouts-times.csv: $(INLINE_NAMES:%=$(inline_home)/%/layouts/times.csv)
	@csv-cat $^ $(aside)
$(inline_home)/layouts.csv: $(inline_home)/layouts-times.csv
	@bench-compare --quiet --csv --base=$(INLINE_BASE) --metric=cpu $< > $@.all || [ $$? -le 2 ]
	csv-sort -k ratio:nr $@.all > $(new)
	rm $@.all
	$(call keep,$@)
$(inline_home)/layouts-guard.csv: $(inline_home)/layouts-times.csv
	@inline-guard --metric=cpu --base=$(INLINE_BASE) $< $(aside)
$(inline_home)/layouts-levels.csv: $(INLINE_NAMES:%=$(inline_home)/%/layouts/runs.csv)
	@csv-cat $^ | bench-stat --csv --metric=cpu --levels=layout $(aside)
