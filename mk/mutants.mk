# mutants.mk - do the tests notice?  MODULES='guard stats' of these only, EACH=32 changes in each
EACH ?= 32
mutants: all $(patsubst %,$B/t/%.t,lib-num lib-csvio lib-guard lib-verify lib-plan lib-dag lib-correct lib-optimal)
	t/mutants $(abspath $B) $(abspath $(BIN)) --each=$(EACH) --jobs=$(JOBS) $(MODULES)
.PHONY: mutants
