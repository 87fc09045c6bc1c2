/* bench.h - the measuring loop behind bench-run: warm-up, noise floor, balanced random rounds, stopping, resuming.
 *
 * One row per execution is written and flushed before the next begins, so a kill loses the running one only; started
 * again on its own table the loop completes the interrupted round and goes on, in the same orders.  `execute` is
 * child_run, or a fake in tests. */
#ifndef MILLRACE_BENCH_H
#define MILLRACE_BENCH_H
#include "base/filter.h"
#include "measure/child.h"
#include "measure/events.h"
#include "measure/machine.h"
#include "table/csvio.h"

struct subject {
    const char *label;
    char **argv;
    char build[17];                                      /* hash of the program file, empty if it was not found */
    uint64_t output_hash;                                /* what its output must be, once known */
    bool output_known;
    size_t errors;
};

/* all labels alike | each label like its first run | unchecked */
enum output_rule { OUTPUT_SAME, OUTPUT_OWN, OUTPUT_ANY };

struct bench {
    struct subject *subject;                             /* [0] is the base */
    size_t n;
    /* warmup < 0: until the times no longer fall, at most 10 rounds */
    long rounds, warmup;
    uint64_t seed;
    bool aa;                                             /* first the base against itself, as many rounds */
    /* stop when every label is told from the base, or equal within margin */
    bool decide;
    double half_width;                                   /* > 0: stop when every log-ratio is known this well */
    double margin, confidence, max_seconds;              /* max_seconds 0: no limit */
    bool by_wall;                                        /* metric of stopping and warm-up: wall, else CPU time */
    enum output_rule output;
    int expect_exit;
    char **prepare;                                      /* argv run before each execution, not timed; NULL: none */
    struct child child;                                  /* limits, directory, input; argv is filled in */
    struct counted_event *event;
    size_t events;
    const char *benchmark;
    struct machine machine;
    struct ran (*execute)(const struct child *);
    csvw *out;
    /* results and state */
    size_t errors, warmup_rounds;
    double first_over_last;                              /* warm-up: how much slower the first round was */
    long rounds_run;
    const char *stopped;                                 /* rounds, decided, width, time */
    double *d;                                           /* log-ratios, [round * n + label] */
    /* found in the table on resuming: [round * n + label] | [2 * round + place] */
    bool *done, *aa_done;
    long warmup_done;
};

char *bench_columns(const struct bench *);               /* "label,round,..." ; caller frees */
void bench_resume(struct bench *, const char *path);     /* take over what the table already holds */
void bench_run(struct bench *);
/* usage() when unsound */
void bench_subjects(struct bench *, const struct list *labels, char **commands, size_t n, bool shell);
void bench_only(struct bench *, const char *const *label, size_t n);     /* these, in this order; usage() lacking one */
/* the whole: machine, columns, what path holds already ("-": standard output, nothing), lock, run; exit status */
int bench_to(struct bench *, const char *path);
char **bench_words(const char *command, bool shell);     /* its argv, by sh -c with shell; usage() when it has none */
#endif
