/* prove.h - the optimum of a program laid out by inline-module: each of its modules by worker.h and optimal.h.
 *
 * With a work directory made --per-file each source is a module, and the program's machine code is the sum of theirs;
 * else the whole program is one.  The cost is the bytes of machine code of a module's object, unwinding tables and
 * constants not counted: what llvm-size calls text is more.
 *
 * That costs add up is checked, not assumed: every `check`-th build of a sleeping module is done again awake, the best
 * decisions are built whole, and so are random ones, whose functions are compared with the tables.  A function that
 * comes out otherwise is built awake from then on, and the tables are solved again with what was really built. */
#ifndef MILLRACE_PROVE_H
#define MILLRACE_PROVE_H
#include "inline/optimal.h"
#include "inline/work.h"
#include "inline/worker.h"

struct prove {
    const struct work *work;
    const char *level, *store;                           /* store: a log of what was built; NULL: none */
    long most, builds, nodes, check, random;             /* of optimal.h; every so many; random decisions a module */
    uint64_t seed;
};

/* Rows of a table of options: how much is tried for the proof of `whole`, a module or the program. */
#define PROOF_OPTIONS(whole, most, builds, nodes, random, seed)                                                        \
    { 0, "most", INT, &(most), "N", "sets of a function that are all built", 1, 1e7 },                                 \
    { 0, "builds", INT, &(builds), "N", "budget of " whole, 1, 1e9 },                                                  \
    { 0, "nodes", INT, &(nodes), "N", "decisions that the proof of " whole " may try", 1, 1e9 },                       \
    { 0, "chance", INT, &(random), "N", "random decisions that " whole " is checked by", 0, 1e6 },                     \
    { 's', "seed", INT, &(seed), "N", "of the random decisions" }

/* what is known about a call without a search: PROVE_COLUMNS; bytes are of machine code when nothing is inlined */
enum { PROVE_FEATURES = 14 };
#define PROVE_COLUMNS                                                                                                  \
    "heuristic_yes,callee_bytes,caller_bytes,uses,callee_local,only_call,arguments,constants,callee_instructions,"    \
    "callee_blocks,callee_calls,caller_calls,others_bytes,callee_leaf"
struct prove_call {
    const struct call_row *row;
    const char *fixed;                                   /* why there is no choice; NULL: there is */
    bool inlined, by_default, closed;                    /* closed: the caller's table is full */
    double feature[PROVE_FEATURES];
    double gain;                                         /* bytes that the other way would cost more; nan: not known */
};

struct proved {
    char *module;                                        /* its source, "" for a whole program */
    size_t functions, calls, decided;                    /* calls about which there is a choice */
    size_t closed_functions, largest, entries;
    size_t recursive;                                    /* functions without a bound, see optimal.h */
    double closed_bytes;                                 /* of the code of the best, in functions with full tables */
    double none, heuristic, best, tables, lower, estimate;       /* bytes of code; none: nothing inlined */
    long builds, whole;                                  /* all; those of a module all awake */
    double seconds;
    long compared, unequal;                              /* functions in builds done twice, and random ones */
    long sums, sums_unequal;                             /* random decisions with all entries known: module's bytes */
    struct prove_call *call;
    const char *why;                                     /* it could not be done; NULL: it was */
};

/* Module k of prove_modules; adds what the best decisions inline to *did (NULL: not wanted).  Free with proved_free. */
size_t prove_modules(const struct work *);
/* Is module k that source, or does its path end so?  NULL: all are. */
bool prove_wanted(const struct work *, size_t k, const char *source);
void prove_need(const struct work *, const char *source);                /* dies where no module is */
void prove_module(const struct prove *, size_t k, struct proved *, struct live *did);
void proved_free(struct proved *);

/* The calls of module k and their features, from two builds, one by the heuristic with that threshold or
 * NULL; to->best and what a search finds stay empty. */
void prove_features(const struct prove *, size_t k, const char *threshold, struct proved *);

/* The code of module k, all of it awake, under decisions of others: yes(closure, row) of each call with a choice, NULL
 * for the heuristic with its threshold or NULL.  nan, and why in *why, where it could not be built.
 * With `did`, what the decisions inline is added to it. */
double prove_bytes(const struct prove *, size_t k, bool (*yes)(void *, const struct call_row *), void *closure,
                   const char *threshold, struct live *did, const char **why);
/* The least code of module k that `builds` of all of it find (descend.h), from nothing inlined and from what the
 * heuristic decides with each of n thresholds (NULL: its own), whose own build counts as well. */
double prove_descent(const struct prove *, size_t k, const char *const *threshold, size_t n, struct live *did,
                     long *builds, const char **why);
/* The least code over every set of decisions, each built: no tables, no sleep.  *sets: how many; nan with *why NULL
 * where there are more than `most`. */
double prove_exhaustive(const struct prove *, size_t k, double *sets, const char **why);
#endif
