# names.mk - settings that had another name in the release before: refused with the new one, not passed over
renamed = $(if $(filter command file,$(origin $(1))),$(error $(1)=: its name is $(2)= now))
$(foreach n,AGAIN LARGE LARGE_FORMS LARGE_LIMIT NETS PRICE RATIOS ROUNDS STEPS STUDY STUDY_FORMS STUDY_RATIOS THREADS \
    TIER,$(call renamed,$n,PLACE_$n))
$(call renamed,FORMS,PLACE_FORMS= or PROF_FORMS)
$(foreach n,TABLE EVALS SIZE GOAL ROUNDS,$(call renamed,LIVE_$n,INLINE_$n))
$(foreach n,NAMES HOT RULE KINDS TRIALS TEXT,$(call renamed,POLICY_$n,INLINE_POLICY_$n))
$(foreach n,EVALS GOAL ROUNDS ROWS SMALL STARTS WITHIN,$(call renamed,HOME_$n,INLINE_HOME_$n))
$(foreach n,BASE COMPILER CORPUS_NAMES CORPUS_TABLE EXPERTS FIT NAMES PROFILE TABLE_BASE,$(call renamed,$n,INLINE_$n))
$(foreach n,CLASS_LOG CLASS_TAUS EXPERIMENT GENERAL GENERALISE_RULES GENERALISE_TAU HAND SETTINGS, \
    $(call renamed,$n,FLAMBDA_$n))
$(call renamed,POLICY_PLOT,FLAMBDA_PLOT)
$(call renamed,ORACLE_MOST,OPTIMAL_ORACLE_MOST)
$(call renamed,CARTPOLE_SEED,PROF_CARTPOLE_SEED)
