/* executed.h - the fewest instructions that a program executes under any inlining decisions, as far as they are proven.
 *
 * Of a program laid out --per-file, on its search runs, in its own functions: what libraries execute is counted beside
 * it (`other`).  A function executes what its code is times how often it is called from where it is not inlined: its
 * table (optimal.h, `called`) has an entry for each set of calls within its reach and of calls of it.  Components of
 * the call graph do not fall apart as they do for size, where a function's code is its own affair; that the costs of
 * functions still add up is checked in every build that is compared, and by random decisions, not assumed.
 * A function that no run executes costs nothing under any decisions and needs no table. */
#ifndef MILLRACE_EXECUTED_H
#define MILLRACE_EXECUTED_H
#include "inline/prove.h"

struct executed_order {
    bool search;                                         /* false: only the level's own decisions, and none */
    double exhaustive;                                   /* build all sets, where there are no more */
    const char *threshold;                               /* of the heuristic; NULL: its own */
    struct intern *verdicts;                             /* also these (verdicts.h); NULL: none */
    long descent;                                        /* also so many builds without a proof (descend.h); 0: none */
};

/* a call about which there is a choice; instructions of its two functions when nothing is inlined */
struct executed_call {
    const struct call_row *row;                          /* NULL: not known */
    bool inlined;
    double caller, callee, gain;                         /* gain: what the other way would add; nan: not known */
};

struct executed {
    size_t functions, idle, calls, decided, closed_functions, largest, entries;
    double closed;                                       /* instructions of the best, in functions with full tables */
    double none, heuristic, best, tables, lower;         /* instructions, all runs; none: nothing inlined */
    double chosen;                                       /* under verdicts, or found by a descent */
    struct executed_call *call;                          /* decided of them */
    double other;                                        /* outside of the program's functions, in the best's build */
    long builds, other_differs;                          /* builds whose `other` was not that of the first */
    long compared, unequal;                              /* functions whose entry was there already */
    long sums, sums_unequal;                             /* random decisions with all entries known */
    double seconds, exhaustive, sets;                    /* the least of all sets, each built; nan: not asked for */
    const char *why;                                     /* it could not be done; NULL: it was */
};

/* Of p: work, level, most, builds, nodes, random, seed.  Free with executed_free. */
void prove_executed(const struct prove *p, const struct executed_order *, struct executed *);
/* A row for each call about which there is a choice, as inline-executed says; searched: with what is optimal. */
void executed_write_calls(const char *path, const char *program, const struct executed *, bool searched);
void executed_free(struct executed *);
#endif
