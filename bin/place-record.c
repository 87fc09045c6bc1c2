/* place-record - one row with everything about a planned and executed step
 *
 * Usage: place-record --plan=FILE --run=FILE [--kernels=FILE] [--profile=FILE]
 *                     [--ratio=R:1] [-o FILE] [GRAPH]
 *
 * RUN and KERNELS are what place-run wrote.  Columns out: network, batch,
 * formulation, ratio (as asked for), then time (predicted_seconds from the
 * plan, bound_seconds, gap_ratio, actual_seconds = fastest counted step,
 * median_seconds, all of them in step_seconds), memory (io_bytes, peak_bytes,
 * limit, pools, high-water mark), moves by direction, operand slots in fast
 * memory, traffic of the tier, loss of every step, and the setting (tier,
 * method, kind, threads, isa, machine, load).  Three cells are s-expressions:
 * tensor_bytes, config (tiers of every node), kernel_seconds.
 *
 * -o appends to FILE unless it holds that run of that network already.
 * Memory: graph and plan.
 *
 * Examples:
 *   $ place-record --plan=p.sexp --run=run.csv -o results.csv g.sexp
 */
#include "base/filter.h"
#include "base/num.h"
#include "measure/stats.h"
#include "place/record.h"
#include HELP
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS                                                                                                        \
    "network,batch,formulation,ratio,predicted_seconds,bound_seconds,gap_ratio,actual_seconds,median_seconds,step_"    \
    "seconds,"                                                                                                         \
    "io_bytes,peak_bytes,limit_bytes,fast_alloc_bytes,slow_alloc_bytes,fast_used_bytes,scratch_bytes,resident_bytes,"  \
    "num_move_nodes,bytes_moved,num_slow_move_nodes,num_fast_move_nodes,bytes_moved_slow,bytes_moved_fast,"            \
    "num_async_move_nodes,bytes_async_moved,move_seconds,measured_move_seconds,num_kernels,"                           \
    "num_input_tensors,num_output_tensors,num_fast_input_tensors,num_fast_output_tensors,"                             \
    "bytes_input_tensors,bytes_output_tensors,bytes_fast_input_tensors,bytes_fast_output_tensors,"                     \
    "read_bytes,written_bytes,read_bytes_per_second,write_bytes_per_second,loss,tier,method,kind,threads,isa,machine," \
    "load,"                                                                                                            \
    "tensor_bytes,config,kernel_seconds"

static const char *plan_path, *run_path, *kernels_path, *profile_path, *ratio, *output = "-";

static const struct opt options[] = {
    { 'p', "plan", STR, &plan_path, "FILE", "the plan that was executed", 0, 0 },
    { 'r', "run", STR, &run_path, "FILE", "the steps, from place-run", 0, 0 },
    { 'k', "kernels", STR, &kernels_path, "FILE", "the times of nodes, from place-run --kernels", 0, 0 },
    { 0, "profile", STR, &profile_path, "FILE", "the profile planned with, for the planned time of moves", 0, 0 },
    { 0, "ratio", STR, &ratio, "R:1", "the ratio that was asked for", 0, 0 },
    { 'o', "output", STR, &output, "FILE", "append here", 0, 0 },
    { 0 } };

struct steps { double *seconds, *loss, *moves; size_t n, cap, caploss, capmoves; };

/* counted steps; the reader stays on the last row, where what does not change is read from */
static struct steps read_steps(csv *t)
{
    struct steps s = { 0 };
    int warm = csv_need(t, "warm"), seconds = csv_need(t, "seconds"), loss = csv_need(t, "loss"),
        move = csv_need(t, "move_seconds");
    while (csv_next(t)) {
        if (csv_int(t, warm)) continue;
        s.seconds = grow(s.seconds, s.n + 1, &s.cap, sizeof *s.seconds);
        s.loss = grow(s.loss, s.n + 1, &s.caploss, sizeof *s.loss);
        s.moves = grow(s.moves, s.n + 1, &s.capmoves, sizeof *s.moves);
        s.seconds[s.n] = csv_num(t, seconds);
        s.loss[s.n] = csv_num_or(t, loss, NAN);
        s.moves[s.n++] = csv_num(t, move);
    }
    if (!s.n) die("%s: no counted step", run_path);
    return s;
}

static void list(csvw *w, const double *v, size_t n)
{
    struct buf b = { 0 };
    char number[NUM_MAX];
    buf_char(&b, '(');
    for (size_t i = 0; i < n; i++) {
        if (i) buf_char(&b, ' ');
        buf_add(&b, number, num_print(number, v[i]));
    }
    buf_char(&b, ')');
    csvw_str(w, (str){ b.s, b.n });
    free(b.s);
}

static void ints(csvw *w, size_t n, const uint64_t *v)
{
    for (size_t i = 0; i < n; i++) csvw_int(w, (int64_t)v[i]);
}

static void cell(csvw *w, struct buf *b)
{
    csvw_str(w, (str){ b->s, b->n });
    free(b->s);
    *b = (struct buf){ 0 };
}

static void kernel_cell(csvw *w)
{
    struct buf b = { 0 };
    if (!kernels_path) {
        csvw_empty(w);
        return;
    }
    csv *t = csv_open(kernels_path);
    int name = csv_need(t, "name"), seconds = csv_need(t, "seconds");
    buf_char(&b, '(');
    while (csv_next(t)) {
        if (b.n > 1) buf_char(&b, ' ');
        buf_char(&b, '(');
        buf_str(&b, csv_str(t, name));
        buf_char(&b, ' ');
        buf_str(&b, csv_str(t, seconds));
        buf_char(&b, ')');
    }
    buf_char(&b, ')');
    csv_close(t);
    cell(w, &b);
}

/* what the last row of the run says in these columns */
struct last { const char *name; char *value; };
static struct last setting[] = { { "fast_bytes", 0 },
                                 { "scratch_bytes", 0 },
                                 { "resident_bytes", 0 },
                                 { "read_bytes", 0 },
                                 { "written_bytes", 0 },
                                 { "read_bytes_per_second", 0 },
                                 { "write_bytes_per_second", 0 },
                                 { "tier", 0 },
                                 { "method", 0 },
                                 { "kind", 0 },
                                 { "threads", 0 },
                                 { "isa", 0 },
                                 { "machine", 0 },
                                 { "load", 0 } };

static const char *said(const char *name)
{
    for (size_t i = 0; i < sizeof setting / sizeof *setting; i++)
        if (!strcmp(setting[i].name, name)) return setting[i].value;
    return NULL;
}

static void read_setting(void)
{
    csv *t = csv_open(run_path);
    while (csv_next(t)) {
        for (size_t i = 0; i < sizeof setting / sizeof *setting; i++) {
            free(setting[i].value);
            str s = csv_str(t, csv_need(t, setting[i].name));
            setting[i].value = xformat("%.*s", (int)s.n, s.s);
        }
    }
    csv_close(t);
}

static bool is_there(const struct graph *g, const struct plan *p)
{
    csv *t = csv_open(output);
    int network = csv_need(t, "network"), batch = csv_need(t, "batch"), form = csv_need(t, "formulation"),
        at = csv_need(t, "ratio"), limit = csv_need(t, "limit_bytes");
    bool there = false;
    while (csv_next(t))
        there |= str_is(csv_str(t, network), g->name) && csv_int(t, batch) == g->batch &&
                 str_is(csv_str(t, form), p->formulation) && str_is(csv_str(t, at), ratio ? ratio : "") &&
                 csv_int(t, limit) == (int64_t)p->limit;
    csv_close(t);
    return there;
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!plan_path) usage("no plan given, see --plan");
    if (!run_path) usage("no run given, see --run");
    struct graph *g = graph_read(filter_operand(argc, argv, i));
    struct plan *p = plan_read(plan_path, g);
    struct record r = record_of(g, p, profile_path ? profile_read(profile_path) : NULL);
    csv *t = csv_open(run_path);
    struct steps s = read_steps(t);
    csv_close(t);
    read_setting();
    bool append = strcmp(output, "-") != 0;
    csvw *w = append ? csvw_append(output, COLUMNS) : csvw_open("-");
    csvw_flush(w);
    if (append && is_there(g, p)) return csvw_close(w);
    if (!append) {
        csvw_names(w, COLUMNS);
        csvw_end(w);
    }
    double least = INFINITY;
    for (size_t n = 0; n < s.n; n++) least = fmin(least, s.seconds[n]);
    csvw_cstr(w, g->name);
    csvw_int(w, g->batch);
    csvw_cstr(w, p->formulation);
    csvw_cstr(w, ratio);
    csvw_num(w, p->objective);
    csvw_num(w, p->bound);
    csvw_num(w, p->gap);
    csvw_num(w, least);
    csvw_num(w, median(s.seconds, s.n));
    list(w, s.seconds, s.n);
    ints(w, 5, (uint64_t[]){ r.io_bytes, r.peak_bytes, p->limit, p->fast_bytes, p->slow_bytes });
    csvw_cstr(w, said("fast_bytes"));
    csvw_cstr(w, said("scratch_bytes"));
    csvw_cstr(w, said("resident_bytes"));
    ints(w, 8,
         (uint64_t[]){ (uint64_t)r.moves, r.moved, (uint64_t)r.moves_to_slow, (uint64_t)r.moves_to_fast,
                       r.moved_to_slow, r.moved_to_fast, 0, 0 });
    csvw_known(w, r.move_seconds);
    csvw_num(w, median(s.moves, s.n));
    ints(w, 9,
         (uint64_t[]){ (uint64_t)r.kernels, (uint64_t)r.inputs, (uint64_t)r.outputs, (uint64_t)r.fast_inputs,
                       (uint64_t)r.fast_outputs, r.input_bytes, r.output_bytes, r.fast_input_bytes,
                       r.fast_output_bytes });
    for (size_t n = 3; n < 7; n++) csvw_cstr(w, setting[n].value);
    list(w, s.loss, s.n);
    for (size_t n = 7; n < 14; n++) csvw_cstr(w, setting[n].value);
    struct buf b = { 0 };
    record_sizes(g, &b);
    cell(w, &b);
    record_tiers(g, p, &b);
    cell(w, &b);
    kernel_cell(w);
    csvw_end(w);
    return csvw_close(w);
}
