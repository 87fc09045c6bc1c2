/* repeats.h - does a graph compute what another one does, some of its nodes being run twice?
 *
 * Written against graph.h only; shares nothing with recompute.h.  Every node of the original is there, in its order,
 * and reads the values that it read; what is there besides repeats a node that has run, on the same values, before any
 * parameter that it reads was updated, and writes tensors of its own. */
#ifndef MILLRACE_PLACE_REPEATS_H
#define MILLRACE_PLACE_REPEATS_H
#include "tensor/graph.h"

/* Calls say(context, sentence) for every rule that breaks; returns how many.  Both are sound (graph_faults). */
int repeats_faults(const struct graph *, const struct graph *original, void (*say)(void *, const char *),
                   void *context);
#endif
