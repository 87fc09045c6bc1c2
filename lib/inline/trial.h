/* trial.h - build and measure sets of decisions side by side, a row each; what inline-run does. */
#ifndef MILLRACE_TRIAL_H
#define MILLRACE_TRIAL_H
#include "inline/history.h"
#include "inline/work.h"

struct trial {
    const char *name;                                    /* of a heuristic's row; NULL: a set from `file` */
    const char *threshold;
    bool nothing;                                        /* inline nothing at all */
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
void trials_run(struct trials *);                        /* skips what the history has; the default goes first, alone */
#endif
