/* place-profile - time the kernels of a graph, operands in fast and slow memory
 *
 * Usage: place-profile --tier=SPEC [--threads=N] [--full] [--offload]
 *                      [--plan=FILE]... [-o FILE] [GRAPH]
 *
 * Columns out: those of the profile stream (key, op, shapes, in_tiers,
 * out_tiers, mode, staging_bytes, time_seconds, runs, method, kind) and the
 * setting: threads, tier, machine.  For each kernel: all operands fast
 * (direct), then each movable operand slow (streamed through small buffers, and
 * staged whole); --full times every combination; --offload times each parameter
 * in slow memory, too, for plans that offload.  With --plan only the
 * combinations that the plans use are added.  Copies of whole tensors are rows
 * of op Move, rows of op Interference what kernels lose by a second of copies
 * beside them, with --full also those of each operator.  Times are medians,
 * operands as warm or cold as in the step.
 *
 * -o appends: rows that FILE has already are not measured again, so that a
 * killed run goes on where it was.  Order: of the graph.  Memory: the operands
 * of the largest kernel, three times.
 *
 * Examples:
 *   $ place-net vgg19 --batch=2 | place-profile --tier=file:/var/tmp -o p.csv
 */
#include "base/filter.h"
#include "base/progress.h"
#include "measure/clock.h"
#include "measure/machine.h"
#include "place/plan.h"
#include "tensor/blas.h"
#include "tensor/probe.h"
#include "place/wanted.h"
#include HELP
#include <string.h>

#define COLUMNS PROFILE_COLUMNS ",threads,tier,machine"

static const char *tier, *output = "-", *set = NULL;
static long threads = 1, runs = 5;
static bool full, offload;
static struct list plans, tiers;

static const struct opt options[] = {
    { 't', "tier", LIST, &tiers, "SPEC", "the slow memory, see place-tier" },
    { 'j', "threads", INT, &threads, "N", "threads, pinned one to a core", 1, 256 },
    { 'n', "runs", INT, &runs, "N", "timed runs of a short kernel", 3, 60 },
    { 0, "full", FLAG, &full, NULL, "every combination of slow operands" },
    { 0, "offload", FLAG, &offload, NULL, "parameters in slow memory, too" },
    { 0, "plan", LIST, &plans, "FILE", "only the combinations that this plan uses" },
    { 0, "isa", STR, &set, "NAME", "avx512, avx2 or vector instead of the best" },
    { 'o', "out", STR, &output, "FILE", "append here what is not there yet" },
    { 0 } };

static void measure(csvw *w, struct probe *p, const struct graph *g, const struct want *x, const char *machine)
{
    if (x->kernel == WANT_INTERFERENCE) {
        struct timing t = probe_interference(p, x->op, x->to_fast);
        profile_interference_row(w, x->op, x->to_fast, t.seconds, t.runs, tier_method(probe_tier(p)),
                                 tier_kind(probe_tier(p)));
    } else if (x->kernel == WANT_COPY) {
        struct timing t = probe_move(p, x->bytes, x->to_fast, runs);
        profile_move_row(w, x->bytes, x->to_fast, t.seconds, t.runs, tier_method(probe_tier(p)),
                         tier_kind(probe_tier(p)));
    } else {
        struct timing t = probe_kernel(p, x->kernel, x->slow, (enum exec_mode)x->mode, runs);
        profile_row(w, g, x->kernel, x->slow, x->mode, t.staging, t.seconds, t.runs,
                    x->slow ? tier_method(probe_tier(p)) : "memory", x->slow ? tier_kind(probe_tier(p)) : "real");
    }
    csvw_int(w, threads);
    csvw_cstr(w, tier);
    csvw_cstr(w, machine);
    csvw_end(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    tier = tier_given(&tiers);
    tier_check(tier, 0);
    const struct kernels *k = kernels_for(set);
    if (!k) usage("this machine has no kernels '%s'", set);
    blas_for_this_cpu(argv);
    struct graph *g = graph_read(filter_operand(argc, argv, i));
    struct machine m = machine_read();
    bool append = strcmp(output, "-") != 0;
    struct wanted list = { 0 };
    if (plans.n) wanted_by_plans(&list, g, plans.v, plans.n);
    else wanted_all(&list, g, full, offload);
    csvw *w = append ? csvw_append(output, COLUMNS) : csvw_open("-");
    if (append) {
        csvw_flush(w);
        wanted_drop(&list, g, output, (int)threads, tier, m.fingerprint);   /* a row torn by a kill is gone by now */
    } else {
        csvw_names(w, COLUMNS);
        csvw_end(w);
    }
    if (!list.n) return csvw_close(w);
    uint32_t *offloaded = xcalloc((size_t)g->nkernel, sizeof *offloaded);
    for (size_t n = 0; n < list.n; n++)
        if (list.want[n].kernel >= 0) offloaded[list.want[n].kernel] |= list.want[n].slow;
    measure_lock();
    struct probe *p = probe_open(g, k, (int)threads, tier, offloaded);
    progress_start("place-profile", (double)list.n);
    for (size_t n = 0; n < list.n; n++) {
        progress((double)n, "%s", g->name);
        if (list.want[n].mode == EXEC_STREAMED && !probe_streams(p, list.want[n].kernel)) continue;
        measure(w, p, g, &list.want[n], m.fingerprint);
    }
    progress_end();
    probe_close(p);
    return csvw_close(w);
}
