/* place-run - really execute training steps as planned
 *
 * Usage: place-run --plan=FILE --tier=SPEC [--tier=SPEC] [--steps=N]
 *                  [--warm=N] [--threads=N] [--kernels=FILE] [--seed=N] [GRAPH]
 *
 * Every tensor lies at its planned address in memory or at its planned offset
 * in the tier (see place-tier), moves are made, staging areas are those of the
 * plan.  A plan with a middle tier (place-plan --middle) takes two: the middle
 * one, then the last.  Images, labels and parameters are drawn from the seed,
 * so the losses of a graph are the same to the last bit under every plan.
 * --values takes them from the ONNX file that the graph was imported from,
 * --value from raw files of 32-bit words; both may be given.  --save writes the
 * ONNX file of --values once more, with what the parameters are after the last
 * step.
 *
 * A step that other programs kept from its core for 3 % of its time, or beside
 * which they used CPU for 15 % of it (a busy neighbour core alone costs kernels
 * 10 to 20 %), is made once more, so that there are N undisturbed ones if
 * --again allows.
 *
 * Columns out, one row per step: step, warm (1: not to be counted, one before
 * the others or disturbed), seconds, loss, kernel_seconds, move_seconds
 * (kernels waited for moves), delay_seconds (waited for a core),
 * others_seconds (CPU that other programs used meanwhile), moves,
 * read_bytes and written_bytes (from and to the tier), fetched_bytes and
 * evicted_bytes (the part that moves made),
 * fast_bytes (high-water mark of the pool, staging included), scratch_bytes
 * (of kernels, beside the pool), limit_bytes, resident_bytes (of the process,
 * most so far), read_bytes_per_second and write_bytes_per_second (of the tier,
 * before the first step; of the last one), threads, isa, tier, method, kind,
 * load, machine, middle_bytes, middle_read_bytes, middle_written_bytes.
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
#include "measure/stats.h"
#include "tensor/blas.h"
#include "place/engine.h"
#include "place/record.h"
#include "place/values.h"
#include HELP
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static struct list values, tiers;
static const char *values_path, *save_path;
static const char *plan_path, *tier, *middle, *kernels_path, *set, *paged;
static long steps = 4, warm = 1, threads = 1, seed = 1, delay = 0, again = 2;

/* parts of a step: waiting for a core; CPU of others, on any core */
static const double DISTURBED = 0.03, BESIDE_OTHERS = 0.15;

static const struct opt options[] = {
    { 0, "plan", STR, &plan_path, "FILE", "the plan to execute" },
    { 't', "tier", LIST, &tiers, "SPEC", "the slow memory, see place-tier; with three, middle and last" },
    { 0, "paged", STR, &paged, "DIR", "let the operating system page fast memory to a file here" },
    { 'n', "steps", INT, &steps, "N", "counted steps", 1, 1e6 },
    { 0, "warm", INT, &warm, "N", "steps before them", 0, 1e6 },
    { 0, "again", INT, &again, "N", "disturbed steps that are made once more, for each counted one", 0, 100 },
    { 'j', "threads", INT, &threads, "N", "threads, pinned one to a core", 1, 256 },
    { 0, "kernels", STR, &kernels_path, "FILE", "write the time of every node here" },
    { 0, "values", STR, &values_path, "FILE", "begin with the initialisers of this ONNX file" },
    { 0, "value", LIST, &values, "NAME=FILE", "begin with these little-endian words for the tensor NAME" },
    { 0, "save", STR, &save_path, "FILE", "write --values here, trained" },
    { 0, "isa", STR, &set, "NAME", "avx512, avx2, vector or plain instead of the best" },
    { 's', "seed", INT, &seed, "N", "of parameters and inputs" },
    { 0, "delay", INT, &delay, "USEC", "test: moves beside kernels wait up to this, at random", 0, 1000000 },
    { 0 } };

static void row(csvw *w, struct engine *e, const struct plan *p, const struct kernels *k, const char *machine,
                struct calibration c, long n, bool counts, const struct step_result *s)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    csvw_int(w, n);
    csvw_int(w, !counts);
    csvw_num(w, s->seconds);
    csvw_known(w, s->loss);
    csvw_num(w, s->kernel_seconds);
    csvw_num(w, s->move_seconds);
    csvw_known(w, s->delay_seconds);
    csvw_known(w, s->others_seconds);
    csvw_int(w, s->moves);
    csvw_int(w, (int64_t)s->read_bytes);
    csvw_int(w, (int64_t)s->written_bytes);
    csvw_int(w, (int64_t)s->fetched_bytes);
    csvw_int(w, (int64_t)s->evicted_bytes);
    csvw_int(w, (int64_t)engine_fast_bytes(e));
    csvw_int(w, (int64_t)engine_scratch_bytes(e));
    csvw_int(w, (int64_t)p->limit);
    csvw_int(w, (int64_t)use.ru_maxrss * 1024);
    csvw_known(w, c.read_bytes_per_second);
    csvw_known(w, c.write_bytes_per_second);
    csvw_int(w, threads);
    csvw_cstr(w, k->name);
    csvw_format(w, "%s%s%s", middle ? middle : "", middle ? "+" : "", tier);
    csvw_cstr(w, paged ? "paged" : tier_method(engine_tier(e)));
    csvw_cstr(w, p->slow_bytes ? tier_kind(engine_tier(e)) : "real");
    csvw_known(w, machine_load());
    csvw_cstr(w, machine);
    if (middle) csvw_int(w, (int64_t)p->middle);
    else csvw_empty(w);
    for (int write = 0; write < 2; write++) {
        if (middle) csvw_int(w, (int64_t)s->middle_bytes[write]);
        else csvw_empty(w);
    }
    csvw_end(w);
}

/* one tier, or that of the plan's middle and the last */
static void take_tiers(const struct plan *p)
{
    if (p->middle && tiers.n != 2)
        usage("the plan has a middle tier of %llu bytes: want --tier=MIDDLE --tier=LAST",
              (unsigned long long)p->middle);
    if (!p->middle && tiers.n == 2)
        usage("--tier: '%s' and '%s', but the plan knows one slow tier (place-plan --middle plans two)", tiers.v[0],
              tiers.v[1]);
    if (p->middle) middle = tiers.v[0];
    tier = tiers.v[tiers.n - 1];
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!plan_path) usage("no plan given, see --plan");
    if (save_path && !values_path) usage("--save needs the file of --values");
    if (!tiers.n) usage("no tier given, see --tier");
    if (tiers.n > 2) usage("--tier: %d of them, two at most", tiers.n);
    const struct kernels *k = kernels_for(set);
    if (!k) usage("this machine has no kernels '%s'", set);
    blas_for_this_cpu(argv);
    struct graph *g = graph_read(filter_operand(argc, argv, i));
    struct plan *p = plan_read(plan_path, g);
    take_tiers(p);
    struct machine m = machine_read();
    csvw *w = csvw_open("-");
    csvw_names(
        w,
        "step,warm,seconds,loss,kernel_seconds,move_seconds,delay_seconds,others_seconds,moves,read_bytes,"
        "written_bytes,fetched_bytes,evicted_bytes,fast_bytes,scratch_bytes,limit_bytes,resident_bytes,"
        "read_bytes_per_second,"
        "write_bytes_per_second,threads,isa,tier,method,kind,load,machine,middle_bytes,middle_read_bytes,"
        "middle_written_bytes");
    csvw_end(w);
    measure_lock();
    struct engine *e = engine_open(g, p, k, (int)threads, middle, tier, (uint64_t)seed, (unsigned)delay, paged);
    if (values_path) values_from_onnx(e, g, values_path);
    for (int v = 0; v < values.n; v++) value_from_file(e, g, values.v[v]);
    struct calibration c = engine_calibrate(e, 0.2);
    double *seconds = xcalloc(size_mul((size_t)steps, (size_t)g->nnode) + 1, sizeof *seconds);
    long spare = again * steps;
    for (long n = 0, counted = 0; counted < steps; n++) {
        struct step_result s = engine_step(e, seconds + (size_t)counted * (size_t)g->nnode);
        bool others = !(s.others_seconds < DISTURBED * s.seconds);   /* else it waited for threads of its own */
        bool disturbed = s.delay_seconds > DISTURBED * s.seconds && others;
        disturbed = disturbed || s.others_seconds > BESIDE_OTHERS * s.seconds;
        disturbed = disturbed && n >= warm && spare-- > 0;
        row(w, e, p, k, m.fingerprint, c, n, n >= warm && !disturbed, &s);
        counted += n >= warm && !disturbed;
    }
    if (save_path) values_to_onnx(e, g, values_path, save_path);
    engine_close(e);
    if (kernels_path) record_kernels(kernels_path, g, p, seconds, steps);
    return csvw_close(w);
}
