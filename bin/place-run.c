/* place-run - really execute training steps as planned
 *
 * Usage: place-run [--plan=FILE --tier=SPEC] [--steps=N] [--warm=N] [--threads=N]
 *                  [--kernels=FILE] [--seed=N] [GRAPH]
 *
 * Every tensor lies at its planned address in memory or at its planned offset
 * in the tier (see place-tier), moves are made, staging areas are those of the
 * plan; without one all tensors are in fast memory.  Images, labels and
 * parameters are drawn from the seed, so the losses of a graph are the same to
 * the last bit under every plan.  --values takes them from the ONNX file that
 * the graph was imported from, --value from raw files of 32-bit words; both
 * may be given; labels that are no class and indices that are no row are
 * refused.  --save writes the ONNX file of --values once more, with what the
 * parameters are after the last step.
 *
 * A step that other programs kept from its core for 3 % of its time, or beside
 * which they used CPU for 15 % of it (a busy neighbour core alone costs kernels
 * 10 to 20 %), is made once more, so that there are N undisturbed ones if
 * --again allows.
 *
 * Columns out, one row per step: step, warm (1: not to be counted, one before
 * the others or disturbed), seconds, loss (nan: it diverged; empty: the graph
 * has none; of CrossEntropy, as place-net has it, at most 69), kernel_seconds,
 * move_seconds (kernels waited for moves), delay_seconds (waited for a core),
 * others_seconds (CPU that other programs used meanwhile), moves,
 * read_bytes and written_bytes (from and to the tier), fetched_bytes and
 * evicted_bytes (the part that moves made),
 * fast_bytes (high-water mark of the pool, staging included), scratch_bytes
 * (of kernels, beside the pool), limit_bytes, resident_bytes (of the process,
 * most so far), read_bytes_per_second and write_bytes_per_second (of the tier,
 * before the first step), threads, isa, tier, method, kind, load, machine.
 * --kernels also writes node, name, op, key, seconds (median over counted
 * steps), planned_seconds.  Memory: pools and parameters.
 *
 * Examples:
 *   $ place-run --plan=plan.sexp --tier=file:/var/tmp g.sexp
 */
#include "base/checked.h"
#include "base/filter.h"
#include "measure/clock.h"
#include "measure/machine.h"
#include "tensor/blas.h"
#include "place/fast.h"
#include "place/record.h"
#include "place/steps.h"
#include "place/values.h"
#include HELP
#include <stdio.h>
#include <string.h>

static struct list values, tiers;
static const char *values_path, *save_path;
static const char *plan_path, *tier, *kernels_path, *set, *paged;
static long steps = 4, warm = 1, threads = 1, seed = 1, delay = 0, again = 2;

/* parts of a step: waiting for a core; CPU of others, on any core */
static const double DISTURBED = 0.03, BESIDE_OTHERS = 0.15;

static const struct opt options[] = {
    { 0, "plan", STR, &plan_path, "FILE", "the plan to execute; without one all tensors are in fast memory" },
    { 't', "tier", LIST, &tiers, "SPEC", "the slow memory, see place-tier" },
    { 0, "paged", STR, &paged, "DIR", "let the operating system page fast memory to a file here" },
    { 'n', "steps", INT, &steps, "N", "counted steps", 1, 1e6 },
    { 0, "warm", INT, &warm, "N", "steps before them", 0, 1e6 },
    { 0, "again", INT, &again, "N", "disturbed steps that are made once more, for each counted one", 0, 100 },
    { 'j', "threads", INT, &threads, "N", "threads, pinned one to a core", 1, 256 },
    { 0, "kernels", STR, &kernels_path, "FILE", "write the time of every node here" },
    { 0, "values", STR, &values_path, "FILE", "begin with the initialisers of this ONNX file" },
    { 0, "value", LIST, &values, "NAME=FILE", "begin with these little-endian words for the tensor NAME" },
    { 0, "save", STR, &save_path, "FILE", "write --values here, trained" },
    { 0, "isa", STR, &set, "NAME", "avx512, avx2 or vector instead of the best" },
    { 's', "seed", INT, &seed, "N", "of parameters and inputs" },
    { 0, "delay", INT, &delay, "USEC", "test: moves beside kernels wait up to this, at random", 0, 1000000 },
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (save_path && !values_path) usage("--save needs the file of --values");
    static const char *memory[] = { "dram" };
    if (!plan_path && !tiers.n) tiers = (struct list){ memory, 1 };
    tier = tier_given(&tiers);
    const struct kernels *k = kernels_for(set);
    if (!k) usage("this machine has no kernels '%s'", set);
    blas_for_this_cpu(argv);
    struct graph *g = graph_read(filter_operand(argc, argv, i));
    struct plan *p = plan_path ? plan_read(plan_path, g) : plan_all_fast(g);
    struct machine m = machine_read();
    csvw *w = csvw_open("-");
    steps_names(w);
    measure_lock();
    struct engine *e = engine_open(g, p, k, (int)threads, tier, (uint64_t)seed, (unsigned)delay, paged);
    if (values_path) values_from_onnx(e, g, values_path);
    for (int v = 0; v < values.n; v++) value_from_file(e, g, values.v[v]);
    struct step_row row = { .threads = (int)threads, .limit = p->limit, .before = engine_calibration(e),
                            .isa = k->name, .tier = tier,
                            .method = paged ? "paged" : NULL, .kind = p->slow_bytes ? NULL : "real",
                            .machine = m.fingerprint };
    double *seconds = xcalloc(size_mul((size_t)steps, (size_t)g->nnode) + 1, sizeof *seconds);
    long spare = again * steps;
    for (long n = 0, counted = 0; counted < steps; n++) {
        struct step_result s = engine_step(e, seconds + (size_t)counted * (size_t)g->nnode);
        bool others = !(s.others_seconds < DISTURBED * s.seconds);   /* else it waited for threads of its own */
        bool disturbed = s.delay_seconds > DISTURBED * s.seconds && others;
        disturbed = disturbed || s.others_seconds > BESIDE_OTHERS * s.seconds;
        disturbed = disturbed && n >= warm && spare-- > 0;
        row.step = n;
        row.warm = n < warm || disturbed;
        row.ran = s;
        steps_row(w, &row, e);
        counted += !row.warm;
    }
    if (save_path) values_to_onnx(e, g, values_path, save_path);
    engine_close(e);
    if (kernels_path) record_kernels(kernels_path, g, p, seconds, steps);
    return csvw_close(w);
}
