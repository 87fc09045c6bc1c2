/* evaluate.h - how fast is a nest: by running it, or by the model; with a memory of what was measured.
 *
 * A run: once on small integers, compared bit by bit with a plain reference (that run is also the warm-up); then the
 * minimum of 4 to 32 runs, at most 2 ms together (20 ms if 4 take that long); only one when it is four times slower
 * than the best of this problem, as a second one says if that takes less than 2 ms.  The third cache of Zen 5 has 8 MB
 * after a dozen runs.
 * Measured here and elsewhere (spec of LoopTune's repetition): the minimum of four varies by 0.6 %, single runs by far
 * more on a busy machine.  Each measurement holds the machine-wide lock.  By AMX, runs of a core whose loads of tiles
 * are slow (measure/pace.h) are made again when they are not.
 *
 * The store is an append-only CSV shared by processes; a row is known by machine, instruction set, encoder version,
 * problem and tree.  Unencodable nests are results too: 0 GFLOPS and a reason. */
#ifndef MILLRACE_EVALUATE_H
#define MILLRACE_EVALUATE_H
#include "base/rng.h"
#include "loop/code/kernel.h"
#include "loop/code/machine.h"
#include "measure/pace.h"

/* rows of tables of options */
#define EVAL_OPTION(eval) { 0, "eval", WORD, &(eval), "run|model", "measure, or ask the model" }
#define CACHE_OPTION(cache) { 0, "cache", STR, &(cache), "FILE", "remember measurements here" }
#define ISA_OPTION(isa) { 0, "isa", WORD, &(isa), "avx2|avx512|amx", "instead of the best one here for each problem" }

struct result {
    double seconds, median_seconds, gflops;              /* infinite and 0 when there is no code */
    int runs;                                            /* 0: from the model or no code */
    bool checked;                                        /* compared with the reference */
    const char *why;                                     /* NULL, or why there is no code */
};

struct evaluator {
    enum isa isa;                                        /* opened with ISAS: isa_for each problem */
    bool each;
    bool model;                                          /* never run anything */
    bool hold;                                           /* the caller holds the measurement lock */
    bool prepared; /* operands are in the nest's own layout: time the nest alone */
    bool check;                                          /* compare with the reference; default of evaluator_open */
    int min_runs, max_runs;
    double cap_seconds, early_ratio;
    const struct problem *p;                             /* the present problem */
    double best_seconds;                                 /* of the present problem */
    struct pace pace;
    size_t measured;
    void (*watch)(void *, const struct evaluator *, const struct nest *);    /* NULL, or told of what is asked for */
    void *watching;
    struct kernel kernel;
    float *x[3], *more[3], *want, *within;               /* more: bias and residual of what follows the sum, V */
    struct entry {                                       /* open addressing; key 0: free */
        uint64_t key;
        double seconds, median;
        int32_t runs;
    } *slot;
    size_t nslot, used;
    struct csvw *store;
    char machine[64];
};

void evaluator_open(struct evaluator *, enum isa, const char *store_path);   /* NULL: no file */
void evaluator_recall(struct evaluator *, const char *path);   /* what a store knows; dies at a foreign or broken one */
void evaluator_problem(struct evaluator *, const struct problem *);          /* p must stay */
struct result evaluate(struct evaluator *, const struct nest *);
/* fresh runs, whatever is known: as many as take 2 ms together; early: one where it is slow */
struct result evaluate_again(struct evaluator *, const struct nest *, int least, int most, bool early);
void evaluator_operands(struct evaluator *);             /* makes x and want now, not at the first run */
double evaluator_once(struct evaluator *);               /* seconds of one more run of the nest that ran last */
void evaluator_close(struct evaluator *);

/* Cycles by a model of register tiles, latency and two levels of cache (roofline of each loop level); seconds at a
 * nominal 4 GHz.  Deterministic: searches with it are reproducible by seed. */
const char *model_seconds(double *seconds, const struct problem *, const struct nest *, enum isa,
                          bool prepared); /* NULL or why not */
/* the same in terms: cycles of the instructions (plan), of what comes into each cache, of transposing, of all */
enum { MODEL_LEVELS = 3 };
struct model_terms { struct kernel_plan plan; double traffic[MODEL_LEVELS], packing, cycles, seconds; };
const char *model_terms(struct model_terms *, const struct problem *, const struct nest *, enum isa, bool prepared);
const char *model_asked(struct model_terms *, const struct problem *, const struct nest *, const struct plan_ask *);

/* GFLOPS of independent fused multiply-adds in registers, the best of `rounds` short rounds; one thread */
double peak_gflops(enum isa, int rounds);
#endif
