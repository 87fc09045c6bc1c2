/* problem.h - many (inlining tree, time) pairs as one sparse linear problem.
 *
 * Nodes are the distinct paths over all runs; node 0 is the root.  Node i has two unknowns: column 2i is the value
 * of inlining it (also used for declarations and the root), column 2i + 1 that of calling it.  A run's row holds,
 * for every node of its tree, the product of the decay gamma down from the root (with `divide` also 1 / number of
 * siblings) in the column that took part.  Method: the reward learning of the flambda experiments (2018).
 *
 * Streams: entries run,node,kind,factor,callee (a node is its steps joined by blanks, the root is /; kind is root,
 * decl, inlined or apply; callee may be empty) and times run,group,initial,time_seconds,n_timings. */
#ifndef MILLRACE_INLINE_PROBLEM_H
#define MILLRACE_INLINE_PROBLEM_H
#include "decisions/itree.h"
#include "fit/sparse.h"
#include "table/csvio.h"

struct pnode {
    uint32_t parent, callee;
    long depth;
    bool decl;
    size_t n_inlined, n_apply;
}; /* callee: text or NAME_NONE */
struct prun { double seconds; uint32_t group; bool initial, timed; long n_timings; };

struct sparse_problem {
    struct intern node, run, text;                       /* texts of nodes; names of runs; groups and callees */
    struct pnode *info;                                  /* per node */
    struct prun *runs;                                   /* per run */
    struct sparse a;                                     /* runs x (2 nodes) */
    size_t cap_info, cap_runs;
    struct map64 child, seen;                            /* while building */
};

void problem_free(struct sparse_problem *);

/* Identity of declarations and V0 calls: by_name leaves out the stamps of functions, which change between builds. */
void problem_add(struct sparse_problem *, struct names *, const struct itree *, str run, double gamma, bool divide,
                 bool by_name);

/* Gives a run its time, once; dies when it is there already or not positive. */
void problem_time(struct sparse_problem *, str run, str group, bool initial, double seconds, long n_timings);

void problem_write(const struct sparse_problem *, csvw *entries, csvw *times);   /* times may be NULL */
/* every run must have a time; times may be NULL */
void problem_read(struct sparse_problem *, csv *entries, csv *times);

size_t problem_columns(const struct sparse_problem *);   /* columns used by some run */

/* What a fit explains.  weight: one per run or NULL; a run's weight also counts in the mean and the baseline, which
 * is the geometric mean over initial runs.  Dies when there is no initial run and a baseline is wanted. */
#define TARGETS "linear_over_mean|log_over_mean|tanh_over_mean|sigmoid_over_mean|" \
                "linear_over_baseline|log_over_baseline|tanh_over_baseline|sigmoid_over_baseline"
enum problem_target {                                    /* indices of TARGETS */
    LINEAR_OVER_MEAN, LOG_OVER_MEAN, TANH_OVER_MEAN, SIGMOID_OVER_MEAN,
    LINEAR_OVER_BASELINE, LOG_OVER_BASELINE, TANH_OVER_BASELINE, SIGMOID_OVER_BASELINE
};
void problem_target(const struct sparse_problem *, enum problem_target, const double *weight, double *b);
#endif
