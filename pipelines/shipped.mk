# shipped.mk - the policies of share/policies: used on a program of one's own, and what the clang 19 one is made from
#   make inline-policy PROGRAM=DIR [FROM=BUILD BINARY=NAME]   decided by each policy, built, beside what an expert would
#                               build: instructions and text of the runs of the line confirm, seconds to decide.  size:
#                               bytes at -Oz, no profile; static, speed: instructions at -O2, without and with what is
#                               executed in the runs of the line search; advise: bytes at -Oz, asked by clang 19
#   make optimal-advise         advise learned from the optima of other programs (OPTIMAL_NAMES), each left out; beside
#                               clang's own -Oz, thresholds of its cost, a control that learned the worth of other calls
#   make optimal-advise-model   share/policies/advise.model, from all; SCALE=ci: in OUT
#   inline-advise --model=share/policies/advise.model -- clang-19 -Oz -c x.c       uses it
INLINE_SHIPPED_STOCK ?= O2 O3 Os Oz
INLINE_SHIPPED       ?= size static speed
ifneq ($(inline_own),)
inline_shipped = $(OUT)/inline-policy/$(INLINE_NAMES)
inline_shipped_level = $$([ $$row = size ] && echo -Oz || echo -O2)
inline-policy: $(inline_shipped)/table.csv
	@echo "On the runs of the line confirm, over -O2, each source by itself; below 1 is better, seconds to decide"
	csv-show --digits=4 $<
	echo "Programs $(inline_shipped)/ROW with decisions $(inline_shipped)/{size,static,speed}.sexp"
$(inline_shipped)/w/program.csv: $(inline_own)/program | $(PROGS)
	@mkdir -p $(@D)
	inline-module $(inline_home_own) --per-file --out=$(@D) $(inline_own)
$(inline_shipped)/seconds.csv: $(inline_shipped)/w/program.csv $(INLINE_SHIPPED:%=$(TOP)/share/policies/%.model)
	@for row in $(INLINE_SHIPPED); do
	    $(TOP)/pipelines/decide $$row $(<D) $(TOP)/share/policies/$$row.model $(@D)/$$row.sexp > $@.$$row
	done
	csv-cat $(INLINE_SHIPPED:%=$@.%) > $@.all
	rm $(INLINE_SHIPPED:%=$@.%)
	$(TOP)/pipelines/keep $@.all $@
$(inline_shipped)/built: $(inline_shipped)/seconds.csv
	@for row in $(INLINE_SHIPPED_STOCK); do
	    inline-build --optional --stock=$$row --out=$(@D)/$$row $(@D)/w > /dev/null
	done
	inline-build --level=-Oz --threshold=-50 --out=$(@D)/Oz-threshold--50 $(@D)/w > /dev/null
	inline-build --level=-O2 --threshold=600 --out=$(@D)/O2-threshold-600 $(@D)/w > /dev/null
	for row in $(INLINE_SHIPPED); do
	    inline-build --level=$(inline_shipped_level) --decisions=$(@D)/$$row.sexp --out=$(@D)/$$row $(@D)/w \
	        > $(@D)/$$row.obeyed.csv
	done
	if command -v clang-19 > /dev/null; then
	    EXE=$(@D)/Oz-clang-19 $(TOP)/pipelines/advise $(@D)/w -Oz > /dev/null
	    EXE=$(@D)/advise $(TOP)/pipelines/advise $(@D)/w -Oz --model=$(TOP)/share/policies/advise.model > /dev/null
	fi
	touch $@
inline_shipped_rows = $(INLINE_SHIPPED_STOCK) O2-threshold-600 Oz-threshold--50 Oz-clang-19 $(INLINE_SHIPPED) advise
$(inline_shipped)/exact.csv: $(inline_shipped)/built
	@METRICS="instructions size" $(TOP)/pipelines/measure count $(@D)/w \
	    $$(for l in $(inline_shipped_rows); do [ ! -x $(@D)/$$l ] || echo $$l=$(@D)/$$l; done) $(aside)
$(inline_shipped)/table.csv: $(inline_shipped)/exact.csv $(inline_shipped)/seconds.csv
	@inline-compare --base=O2 $< | csv-where -c program --is='(geometric mean)' --not |
	    csv-pivot -k program,label --names=metric --values=ratio |
	    csv-join -k program,label --keep=left - $(@D)/seconds.csv $(aside)
endif

OPTIMAL_ADVISE_THRESHOLDS ?= -50 0 25 50
# under which its questions are asked that are learned from; 25 is that of -Oz
OPTIMAL_ADVISE_BASE ?= 25
optimal_adv      = $(optimal)/advise
optimal_adv_ways = policy control
optimal_adv_drop = query,inline,callee,line,column,module,program,chain,worth
optimal_adv_fit  = $(OPTIMAL_FIT) -y advice --ignore=$(optimal_adv_drop)
optimal_adv_row  = csv-calc --let=p=$* --let=l=$$row --set='program=p' --set='label=l'

# questions about calls whose other way the tables price; a number above a half is yes
$(optimal_adv)/%/labelled.csv: $(optimal)/%/labelled.csv
	@mkdir -p $(@D)
	QUESTIONS=$@.asked $(TOP)/pipelines/advise $(OPTIMAL_WORKS)/$* -Oz --threshold=$(OPTIMAL_ADVISE_BASE) > $@.size
	csv-cut -c module,callee,chain,worth $< > $@.worth
	csv-cut -c callee,chain,line,column $(OPTIMAL_WORKS)/$*/calls.csv > $@.places
	csv-join -k callee,line,column $@.asked $@.places | csv-join -k module,callee,chain - $@.worth |
	    csv-calc --let=p=$* --set='program=p' --set='advice=0.5 - worth' > $@.all
	rm $@.asked $@.size $@.worth $@.places
	$(TOP)/pipelines/keep $@.all $@
optimal_adv_others = csv-cat $(foreach n,$(OPTIMAL_NAMES),$(if $(filter $n,$*),,$(optimal_adv)/$n/labelled.csv))
$(optimal_adv)/%/policy.model: $(OPTIMAL_NAMES:%=$(optimal_adv)/%/labelled.csv) $(optimal)/asked
	@$(optimal_adv_others) | $(optimal_adv_fit) -o $@
$(optimal_adv)/%/control.model: $(OPTIMAL_NAMES:%=$(optimal_adv)/%/labelled.csv) $(optimal)/asked
	@$(optimal_adv_others) | csv-calc --set='advice=lag(advice, $(optimal_lag))' | csv-where -c advice --known |
	    $(optimal_adv_fit) -o $@
$(optimal_adv)/%/rows.csv: $(optimal)/%/labelled.csv
	@mkdir -p $(@D)
	row=Oz
	$(TOP)/pipelines/advise $(OPTIMAL_WORKS)/$* -Oz | $(optimal_adv_row) > $@.Oz
	for row in $(OPTIMAL_ADVISE_THRESHOLDS); do
	    $(TOP)/pipelines/advise $(OPTIMAL_WORKS)/$* -Oz --threshold=$$row | $(optimal_adv_row) |
	        csv-calc --set="label=concat('threshold-', label)" > $@.$$row
	done
	csv-cat $@.Oz $(OPTIMAL_ADVISE_THRESHOLDS:%=$@.%) > $@.all
	rm $@.Oz $(OPTIMAL_ADVISE_THRESHOLDS:%=$@.%)
	$(TOP)/pipelines/keep $@.all $@
$(optimal_adv)/%/ways.csv: $(optimal_adv_ways:%=$(optimal_adv)/\%/%.model)
	@for row in $(optimal_adv_ways); do
	    $(TOP)/pipelines/advise $(OPTIMAL_WORKS)/$* -Oz --model=$(@D)/$$row.model | $(optimal_adv_row) > $@.$$row
	done
	csv-cat $(optimal_adv_ways:%=$@.%) > $@.all
	rm $(optimal_adv_ways:%=$@.%)
	$(TOP)/pipelines/keep $@.all $@
$(optimal_adv)/gaps.csv: $(foreach f,rows ways,$(OPTIMAL_NAMES:%=$(optimal_adv)/%/$f.csv)) $(optimal)/asked
	@csv-cat $(filter %.csv,$^) > $@.rows
	csv-where -c label --is=policy $@.rows | csv-cut -c program,code_bytes --rename=code_bytes=policy_bytes > $@.policy
	csv-where -c label --is=Oz $@.rows | csv-cut -c program,code_bytes --rename=code_bytes=oz_bytes |
	    csv-join -k program $@.rows - | csv-join -k program - $@.policy > $@.all
	rm $@.rows $@.policy
	$(TOP)/pipelines/keep $@.all $@
optimal-advise: $(optimal_adv)/gaps.csv
	@echo "Machine code of clang 19 over its own -Oz, programs not learned from; losses first"
	csv-calc --where="label == 'policy'" --set='ratio=code_bytes/oz_bytes' $< | csv-sort -k ratio:nr |
	    csv-cut -c program,code_bytes,oz_bytes,ratio | csv-show --digits=4
	csv-calc --set='ratio=code_bytes/oz_bytes' --set='log_ratio=log(ratio)' $< | $(optimal_mean) | csv-show --digits=5
	echo "The policy over each, paired"
	csv-calc --set='ratio=policy_bytes/code_bytes' --set='log_ratio=log(ratio)' $< | $(optimal_mean) | csv-show --digits=5
optimal-advise-model: $(OPTIMAL_NAMES:%=$(optimal_adv)/%/labelled.csv)
	@mkdir -p $(optimal_ships)
	csv-cat $^ | $(optimal_adv_fit) -o $(optimal_ships)/advise.model
.PHONY: optimal-advise optimal-advise-model
.PRECIOUS: $(optimal_adv)/%/labelled.csv $(optimal_adv)/%/rows.csv $(optimal_adv)/%/ways.csv $(optimal_adv)/%.model
