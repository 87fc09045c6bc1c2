/* again.h - nests that were measured at different times, measured once more, one right after the other.
 *
 * The clock of a machine drifts in minutes.  Nests are added with their problem in any order; each distinct one that is
 * wanted is then measured in every round, problem by problem, and its best time counts.  With `leave` a nest so many
 * times slower than the best one before it is run once, and those so much slower than the best of all in one round. */
#ifndef MILLRACE_AGAIN_H
#define MILLRACE_AGAIN_H
#include "loop/code/evaluate.h"

struct again {
    struct intern problems, nests;                       /* a nest is known by problem and tree */
    struct again_nest { uint32_t problem; struct nest t; bool wanted; double gflops; } *nest;
    struct problem *problem;
    size_t cap, problem_cap;
};

uint32_t again_add(struct again *, const struct problem *, const struct nest *);   /* its number in nest[] */
void again_run(struct again *, struct evaluator *, int runs, int rounds, double leave);
void again_free(struct again *);
#endif
