/* runs.h - the table of runs that bench-run writes, in memory: benchmark x round x label, checked while it is read.
 *
 * Columns read: label, round, one metric; and, where present, base, kind, benchmark, position, phase, status, exit,
 * signal, machine, stop, order, wall_seconds, cpu_seconds, voluntary_switches, involuntary_switches. Rounds of phase
 * warmup and calibrate are left out, those of phase aa are kept apart. Dies at file:line on a time that is not a
 * positive number, a label twice in a round, a label missing in a round, and a round measured on two machines; warns
 * where the machine changes between rounds. Order of labels, benchmarks and rounds is that of first appearance. */
#ifndef MILLRACE_RUNS_H
#define MILLRACE_RUNS_H
#include "base/str.h"
#include <stdbool.h>
#include <stddef.h>

struct run {
    double value, wall, cpu;                             /* metric and both times; nan when not known */
    /* wrong exit, signal or output | a timeout: value is a lower bound | phase calibrate, an empty command */
    bool error, censored, empty;
    int position;                                        /* place in its round, -1 not known */
    long round;                                          /* as the table has it */
    size_t line;
    uint32_t file;
};

struct runs {
    struct intern label, benchmark, file, word, given;   /* word: status texts; given: column base */
    struct run *run;
    uint32_t *status;                                    /* of each run, in word */
    /* per benchmark: cell[round * labels + label], 0: none, else run + 1 */
    struct run_grid { size_t *cell, rounds; } *main, *aa;
    const char *base;                                    /* column base: the label given first; NULL: not said */
    unsigned kinds;                                      /* of the rows that are compared, see table/kind.h */
    const char *metric;                                  /* cpu, wall or the column */
    /* some labels ran in blocks, not in random rounds (column order) */
    bool blocks;
    bool sequential;                                     /* the number of rounds was chosen while looking */
    size_t n, warmups, left_out;
    /* an empty command, by the metric: median of phase calibrate; nan unknown */
    double empty_seconds, empty_least, empty_most;
    double subtracted;                                   /* from each time before its ratio is taken; 0 unless set */
};

struct runs_options {
    /* cpu, wall or a column; NULL: CPU time, but wall time where processes use several cores (median cpu / wall above
       1.05) or mostly wait (below 0.2, and not because others had the CPU: they gave it up more often than it was
       taken from them) */
    const char *metric;
    const char *group;                                   /* column of the benchmark */
    bool skip_incomplete;                                /* leave out rounds with a label missing instead of dying */
};

/* rows of tables of options */
#define METRIC_OPTION(metric)                                                                                          \
    { 0, "metric", STR, &(metric), "cpu|wall|COL", "default: cpu, or wall where processes mostly wait" }
#define PROGRAM_OPTION(group)                                                                                          \
    { 'g', "group", STR, &(group), "COL", "column of the program; default: benchmark, if any" }

struct runs *runs_read(char **paths, const struct runs_options *);
void runs_free(struct runs *);
bool runs_use(struct runs *, const char *metric);        /* from now on cpu or wall; false: not every run has it */

long runs_label(const struct runs *, const char *label); /* -1 if absent */
/* What the others are compared with: the label given, else what the table says; a table that does not say (older, or of
 * another tool) has its first label taken, and that is said.  The order of rows is random and decides nothing. */
size_t runs_base(const struct runs *, const char *given);

/* Log-ratios candidate / base of one benchmark, one per round; lower and upper differ from d where one is censored. */
struct pairs { double *d, *lower, *upper; long *round; size_t n, censored, errors; const struct run *first_error; };
struct pairs runs_pairs(const struct runs *, const struct run_grid *, size_t base, size_t label);
void pairs_free(struct pairs *);

/* good values in order, and, unless NULL, the rounds they are of; caller frees */
size_t runs_values(const struct runs *, const struct run_grid *, size_t label, double **v, long **round);
const char *runs_status(const struct runs *, const struct run *);
#endif
