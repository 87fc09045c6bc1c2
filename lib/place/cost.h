/* cost.h - kernel times that nobody measured here: from a stated machine model, or from a table of another machine.
 *
 * Model of a kernel (seconds): compute = flops / rate, memory = sum of bytes / bandwidth over the operands, reads and
 * writes and tiers apart; time = max(compute, memory) + 0.15 min(compute, memory) + start.  The optane model was fitted
 * to the AutoTM authors' kernel times on 24 Cascade Lake threads with Optane memory (tiers) and their STREAM figures.
 * Tables have the form of the authors' kernel cache: columns op, inshapes, outshapes (sizes joined by x, operands by
 * ;), in_tiers, out_tiers (D fast, P slow), usec; a kernel is found by operator and operand element counts.
 * Rows whose shapes are not numbers are passed over. */
#ifndef MILLRACE_PLACE_COST_H
#define MILLRACE_PLACE_COST_H
#include "tensor/graph.h"

struct cost_model {
    const char *name;
    double flops;                                        /* per second */
    double fast_read, fast_write, slow_read, slow_write; /* bytes per second, of kernels */
    double fetch, write_out;                             /* bytes per second, of copies from and to slow memory */
    double start;                                        /* seconds per kernel */
};
const struct cost_model *machine_find(const char *name);   /* NULL if unknown */
const char *machine_names(void);                         /* "optane, cxl, gpu, disk" */

/* slow: bit i set when operand i (inputs, then outputs) is in slow memory */
double machine_time(const struct cost_model *, const struct graph *, int node, uint32_t slow);
double machine_overlap(const struct cost_model *, double compute, double memory);   /* seconds of both, together */

struct cost_table;
struct cost_table *cost_table_read(const char *path);    /* dies on a bad row */
void cost_table_free(struct cost_table *);
enum cost_match { COST_NONE, COST_NEAREST, COST_EXACT }; /* not in the table | with most like tiers | as asked */
enum cost_match cost_table_time(const struct cost_table *, const struct graph *, int node, uint32_t slow,
                                double *seconds);
#endif
