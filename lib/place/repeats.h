/* repeats.h - does a graph compute what another one does, in another order or some of its nodes being run twice?
 *
 * Written against graph.h only; shares nothing with recompute.h.  Every node of the original is there and
 * reads the values that it read (that they are made before, and parameters updated after, is part of graph_faults);
 * what is there besides repeats a node that has run, on the same values, before any parameter that it reads was
 * updated, and writes tensors of its own. */
#ifndef MILLRACE_PLACE_REPEATS_H
#define MILLRACE_PLACE_REPEATS_H
#include "tensor/graph.h"

/* Calls say(context, sentence) for every rule that breaks; returns how many.  Both are sound (graph_faults). */
int repeats_faults(const struct graph *, const struct graph *original, void (*say)(void *, const char *),
                   void *context);
#endif
