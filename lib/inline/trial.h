/* trial.h - build and measure sets of decisions, a row each; what inline-run does.
 *
 * A trial may be done here, or anywhere: then it is a job (measure/jobs.h), a command that reads the set on its
 * standard input and answers by one row, TRIAL_COLUMNS: that of the history, and the texts of the two files which the
 * store keeps of it, as they are.  Wherever it is done, all but build_seconds is the same to the last byte. */
#ifndef MILLRACE_TRIAL_H
#define MILLRACE_TRIAL_H
#include "inline/history.h"
#include "inline/work.h"

#define TRIAL_COLUMNS HISTORY_COLUMNS ",parts,set"

struct trial {
    const char *name;                                    /* of a heuristic's row; NULL: a set from `file` */
    const char *threshold;
    bool nothing;                                        /* inline nothing at all */
    bool stock;                                          /* name is one of STOCK_WORDS; its row has the chain `stock` */
    const char *file;
    const char *parent, *chain, *step;                   /* as inline-search gave them; NULL: empty */
};

struct trials {
    const struct work *work;
    const char *store, *history, *level;
    bool run;                                            /* false: text size alone */
    bool complete;                                       /* store also the calls that were left */
    double limit_seconds;
    long jobs;
    struct trial *v;
    size_t n, cap;
    struct history known;
    char reference[17];                                  /* hash of the default's output, "" until it is known */
};

void trials_begin(struct trials *);                      /* reads the history, makes the store */
void trials_add(struct trials *, struct trial);
void trial_answer(const struct trials *, const struct trial *); /* do it; a table of one row to standard output */
/* A table of jobs for those that the history does not have; only the default, while that is not known, since the
 * others compare their output with it. */
void trials_plan(struct trials *);
void trials_take(struct trials *, const char *path);     /* a table of answers into store and history */
void trials_run(struct trials *);                        /* skips what the history has; the default goes first, alone */
#endif
