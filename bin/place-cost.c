/* place-cost - kernel times of a graph from a machine model or a foreign table
 *
 * Usage: place-cost [--model=NAME] [--table=FILE] [--offload] [GRAPH]
 *
 * Writes a profile without measuring anything: every row says simulated.
 * Columns out: key, op, shapes, in_tiers, out_tiers, mode, staging_bytes,
 * time_seconds, runs (0), method (model; table: found in --table; nearest:
 * found there with other tiers), kind.  One row for every kernel of the graph
 * and every placement of its operands that can move, with --offload of its
 * parameters, too, then the copies (op Move).  A model's kernel takes
 * max(compute, memory) + 0.15 min(compute, memory) + start; --flops, --slow and
 * the like replace its constants.
 * FILE has the columns op, inshapes, outshapes, in_tiers, out_tiers, usec;
 * kernels that are not in it come from the model.
 *
 * Examples:
 *   $ place-net vgg19 --batch=64 | place-cost --model=optane > profile.csv
 *   $ place-cost --model=cxl --slow-read=20G graph.sexp > profile.csv
 */
#include "base/filter.h"
#include "place/cost.h"
#include "place/profile.h"
#include HELP

static const char *model = "optane", *table_path;
static double flops;
static bool offload;
static uint64_t fast_read, fast_write, slow_read, slow_write, fetch, write_out;
static const struct opt options[] = {
    { 0, "model", STR, &model, "NAME", "constants of optane, cxl, gpu or disk" },
    { 0, "table", STR, &table_path, "FILE", "kernel times of another machine" },
    { 0, "offload", FLAG, &offload, NULL, "parameters may lie in slow memory" },
    { 0, "flops", NUM, &flops, "N", "operations per second; 0: the model's", 0, 1e18 },
    { 0, "fast-read", SIZE, &fast_read, "N", "bytes per second of kernels in fast memory" },
    { 0, "fast-write", SIZE, &fast_write, "N", "the same, writing" },
    { 0, "slow-read", SIZE, &slow_read, "N", "bytes per second of kernels in slow memory" },
    { 0, "slow-write", SIZE, &slow_write, "N", "the same, writing" },
    { 0, "fetch", SIZE, &fetch, "N", "bytes per second of copies to fast memory" },
    { 0, "write-out", SIZE, &write_out, "N", "bytes per second of copies to slow memory" },
    { 0 } };

static void replace(double *rate, uint64_t by)
{
    if (by > 0) *rate = (double)by;
}

static void kernel_rows(csvw *w, const struct graph *g, int k, const struct cost_model *m,
                        const struct cost_table *table)
{
    static const char *const methods[] = { [COST_NONE] = "model", [COST_NEAREST] = "nearest", [COST_EXACT] = "table" };
    const struct graph_kernel *kernel = &g->kernel[k];
    uint32_t slow = 0, may = kernel->movable;
    for (int n = kernel->node; offload && n < g->nnode; n++)
        for (int i = 0; g->node[n].kernel == k && i < g->node[n].nin + g->node[n].nout && i < 32; i++)
            if (graph_offloadable(g, g->node[n].operand[i])) may |= 1u << i;
    do {                                                 /* all subsets of the operands that may be slow in some node */
        double seconds;
        enum cost_match match = table ? cost_table_time(table, g, kernel->node, slow, &seconds) : COST_NONE;
        if (match == COST_NONE) seconds = machine_time(m, g, kernel->node, slow);
        profile_row(w, g, k, slow, 0, 0, seconds, 0, methods[match], "simulated");
        csvw_end(w);
        slow = (slow - may) & may;
    } while (slow != 0);
}

int main(int argc, char **argv)
{
    const char *path = filter_operand(argc, argv, filter_init(argc, argv, help, options));
    const struct cost_model *known = machine_find(model);
    if (!known) usage("unknown model '%s', one of %s", model, machine_names());
    struct cost_model m = *known;
    if (flops > 0) m.flops = flops;
    replace(&m.fast_read, fast_read);
    replace(&m.fast_write, fast_write);
    replace(&m.slow_read, slow_read);
    replace(&m.slow_write, slow_write);
    replace(&m.fetch, fetch);
    replace(&m.write_out, write_out);
    struct cost_table *table = table_path ? cost_table_read(table_path) : NULL;
    struct graph *g = graph_read(path);
    csvw *w = csvw_open("-");
    csvw_names(w, PROFILE_COLUMNS);
    csvw_end(w);
    for (int k = 0; k < g->nkernel; k++) kernel_rows(w, g, k, &m, table);
    for (uint64_t bytes = 4096, top = graph_peak(g); bytes / 4 < top; bytes *= 4)
        for (int to_fast = 0; to_fast < 2; to_fast++) {
            profile_move_row(w, bytes, to_fast, (double)bytes / (to_fast ? m.fetch : m.write_out), 0, "model",
                             "simulated");
            csvw_end(w);
        }
    cost_table_free(table);
    graph_free(g);
    return csvw_close(w);
}
