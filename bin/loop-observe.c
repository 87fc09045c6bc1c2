/* loop-observe - what an agent may see of the nest in each row
 *
 * Usage: loop-observe [--loops] [--stride] [--prev5] [--tree] ... [FILE]
 *
 * Columns in: problem, tree, cursor, and for --prev5 actions.  Columns out:
 * all, then those asked for:
 *   --runtime  runtime_seconds, measured     --flops  flops_gflops, measured
 *   --ir       ir: nodes with their orders, an s-expression
 *   --tree     loop_tree: lines for reading, the cursor marked
 *   --ir-tree  ir_tree: loops and leaves     --ir-graph  ir_graph: with data
 *   --loops    f0..: 10 loops of cursor, size, tail, kind, 16 stride shares;
 *              with --scale=log 16 loops of 20 scaled numbers (nest.h)
 *   --stride   s0..s31: how often each power of two to 2^15 is a stride
 *   --prev5    p0..p34: the last five actions, newest first, one-hot over
 *              the published seven
 * Order is kept.
 *
 * Examples:
 *   $ loop-gen --kind=mm --m=64 --n=64 --k=64 | loop-act |
 *     loop-observe --loops --scale=log
 */
#include "base/filter.h"
#include "loop/code/evaluate.h"
#include "loop/nest/graph.h"
#include "loop/nest/rows.h"
#include HELP
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STRIDE_COLUMNS = 32, PREV_COLUMNS = OBS_PREV * ACT_PUBLISHED };
static bool runtime, flops, ir, tree, ir_tree, ir_graph, loops, stride, prev5;
static const char *cache;
static enum { SEXP, DOT } form = SEXP;
static enum { RAW, LOG } scale = RAW;
static const struct opt options[] = {
    { 0, "runtime", FLAG, &runtime, NULL, "seconds of a run" },
    { 0, "flops", FLAG, &flops, NULL, "GFLOPS of a run" },
    { 0, "ir", FLAG, &ir, NULL, "the nodes and their orders" },
    { 0, "tree", FLAG, &tree, NULL, "the tree as lines for reading" },
    { 0, "ir-tree", FLAG, &ir_tree, NULL, "the tree as a graph" },
    { 0, "ir-graph", FLAG, &ir_graph, NULL, "tree and data" },
    { 0, "loops", FLAG, &loops, NULL, "loops tensor" },
    { 0, "stride", FLAG, &stride, NULL, "stride tensor" },
    { 0, "prev5", FLAG, &prev5, NULL, "previous actions" },
    { 0, "scale", WORD, &scale, "raw|log", "as published, or scaled and with variables and the stored tensor" },
    { 0, "form", WORD, &form, "sexp|dot", "of the graphs" },
    CACHE_OPTION(cache),
    { 0 } };

static void numbered(csvw *w, char letter, int n)
{
    for (int i = 0; i < n; i++) csvw_format(w, "%c%d", letter, i);
}

static void floats(csvw *w, const float *f, int n)
{
    for (int i = 0; i < n; i++) csvw_num(w, (double)f[i]);
}

static void text(csvw *w, struct buf *b)
{
    csvw_str(w, (str){ b->s, b->n });
    b->n = 0;
}

int main(int argc, char **argv)
{
    int first = filter_init(argc, argv, help, options), taken = -1, history[4096];
    bool scaled = scale == LOG, dot = form == DOT, run = runtime || flops;
    struct nest_rows r;
    struct evaluator v;
    rows_open(&r, csv_open(filter_operand(argc, argv, first)), false);
    if (prev5) taken = csv_need(r.t, "actions");
    if (run) evaluator_open(&v, isa_best(), cache);
    csvw *w = csvw_open("-");
    csvw_copy_names(w, r.t);
    if (runtime) csvw_cstr(w, "runtime_seconds");
    if (flops) csvw_cstr(w, "flops_gflops");
    if (ir) csvw_cstr(w, "ir");
    if (tree) csvw_cstr(w, "loop_tree");
    if (ir_tree) csvw_cstr(w, "ir_tree");
    if (ir_graph) csvw_cstr(w, "ir_graph");
    int nloops = scaled ? OBS_SCALED : OBS_SIZE;
    if (loops) numbered(w, 'f', nloops);
    if (stride) numbered(w, 's', STRIDE_COLUMNS);
    if (prev5) numbered(w, 'p', PREV_COLUMNS);
    csvw_end(w);
    struct buf b = { 0 };
    while (rows_next(&r)) {
        float f[OBS_SCALED], s[STRIDE_COLUMNS] = { 0 }, p[PREV_COLUMNS];
        csvw_copy_all(w, r.t);
        if (run && r.fresh) evaluator_problem(&v, &r.p);
        struct result m = { .seconds = INFINITY };
        if (run) m = evaluate(&v, &r.nest);
        if (runtime) csvw_known(w, isfinite(m.seconds) ? m.seconds : NAN);
        if (flops) csvw_num(w, m.gflops);
        if (ir) nest_ir(&b, &r.p, &r.nest), text(w, &b);
        if (tree) nest_show(&b, &r.p, &r.nest), text(w, &b);
        if (ir_tree) nest_graph(&b, &r.p, &r.nest, false, dot), text(w, &b);
        if (ir_graph) nest_graph(&b, &r.p, &r.nest, true, dot), text(w, &b);
        if (loops) (scaled ? nest_loops_scaled : nest_loops_tensor)(&r.p, &r.nest, f), floats(w, f, nloops);
        if (stride) nest_stride_tensor(&r.p, &r.nest, scaled, s), floats(w, s, STRIDE_COLUMNS);
        if (prev5) {
            nest_prev_tensor(history, rows_actions(r.t, taken, history, 4096), ACT_PUBLISHED, p);
            floats(w, p, PREV_COLUMNS);
        }
        csvw_end(w);
    }
    free(b.s);
    if (run) evaluator_close(&v);
    rows_close(&r);
    return csvw_close(w);
}
