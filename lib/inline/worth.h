/* worth.h - what each call is worth, told from trials by what every function of the program executed in them.
 *
 * A build answers with one number for the program, but with as many as there are functions (parts.h).  When a call is
 * inlined, what the callee executed for it moves to the caller, less what that saves: two unknowns for each copy that
 * can come to lie in a function (up to three calls deep), in the equations of two functions.  What moves is large and
 * cancels in the sum, what is saved is small: ridge regression with a scale for each, its strength by leaving trials
 * out.  So a few trials tell apart what the whole program's number cannot.  What a set of decisions would cost is then
 * searched one call at a time, from the best trial.
 *
 * Trials are rows trial, decisions, site, callee, inlined of inline-design; site is callee@chain. */
#ifndef MILLRACE_WORTH_H
#define MILLRACE_WORTH_H
#include "base/str.h"
#include "table/csvio.h"
#include <stdbool.h>
#include <stdint.h>

struct worth_call {
    str site, callee, caller;
    double worth;                                        /* what inlining it saves, around the best trial */
    int sure;                                            /* draws of the trials, of eight, that agree on its sign */
    bool known, matters;                                 /* the trials tell its effect from all others'; it has one */
    unsigned char sign, best, careful;                   /* verdicts: by its worth; of the search; only by sure steps */
};
struct worth {
    struct worth_call *call;
    size_t n, trials;                                    /* trials that were built */
    struct worth_model *model;
};

/* Trials of which the store has no parts are left out.  Dies where fewer than two are left. */
void worth_read(struct worth *, csv *trials, const char *store);
/* sample: not 0: from trials drawn with replacement, with this seed, so that what the model proposes varies as much as
 * it does not know. */
void worth_fit(struct worth *, uint64_t sample);
void worth_free(struct worth *);
#endif
