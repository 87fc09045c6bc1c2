/* loop-run - measure the nest in each row
 *
 * Usage: loop-run [--cache=FILE] [FILE]
 *        loop-run --rewrite [--last] [--again=N] [--rounds=N] [FILE]
 *
 * Columns in: problem, tree (absent or empty: the untiled nest).  Columns
 * out: all, then gflops, seconds, median_seconds, runs, checked (1: bit by
 * bit equal to a plain reference on small integers), kind (real, or simulated
 * by the model) and reason (why a nest has no code; its gflops is 0).  Order
 * is kept.
 * A nest is run once to check it, then 4 to 32 times, at most 2 ms together,
 * and the minimum counts; a nest four times slower than the best one so far
 * of its problem is run once.  With --again=N it is N times, however long
 * that takes, whatever the cache says.  A cache is an append-only file shared
 * by processes and searches; what it knows is not measured again.
 * --rewrite is for rows that were measured at different times (columns
 * problem, tree, gflops, kind, and algo with --last): each distinct nest of
 * a row with gflops is measured afresh, those of a problem in turn, N rounds
 * of --again=N runs, and its best replaces the row's gflops; kind becomes
 * real.  With --last only the last row of each problem and algo, whose rows
 * stand together, is measured, the gflops of the others become empty.  Memory:
 * all rows.
 *
 * Examples:
 *   $ loop-gen --kind=mm --m=64 --n=64 --k=64 |
 *     loop-act --do=split_8,down,swap_down | loop-run --cache=runs.csv
 */
#include "base/filter.h"
#include "base/checked.h"
#include "base/progress.h"
#include "loop/code/native.h"
#include "loop/nest/rows.h"
#include "loop/search/again.h"
#include HELP
#include <math.h>
#include <string.h>

static const char *cache;
static enum { ENCODER, EMITTED } backend = ENCODER;
static enum { RUN, MODEL } eval = RUN;
static int isa_given = -1;
static long least = 4, again, rounds = 3;
static double leave;
static bool rewrite, last;
static const struct opt options[] = {
    CACHE_OPTION(cache),
    ISA_OPTION(isa_given),
    EVAL_OPTION(eval),
    { 0, "backend", WORD, &backend, "encoder|c", "own encoder, or emitted C and the compiler $CC" },
    { 'n', "runs", INT, &least, "N", "least number of runs", 1, 64 },
    { 0, "again", INT, &again, "N", "number of fresh runs; 0: as said above", 0, 64 },
    { 0, "rewrite", FLAG, &rewrite, NULL, "replace the gflops of rows, see above" },
    { 0, "last", FLAG, &last, NULL, "with --rewrite: only the last row of each problem and algo" },
    { 0, "rounds", INT, &rounds, "N", "with --rewrite: turns of each nest", 1, 1000 },
    { 0, "leave", NUM, &leave, "X", "with --rewrite: one turn, if X times as slow as another; 0: all", 0, 1e9 },
    { 0 } };

struct line { str *field; int64_t nest; bool blank; };   /* a row, kept; nest: whose number replaces its own, or -1 */

static int rewritten(struct nest_rows *r, struct evaluator *v)
{
    csv *t = r->t;
    int gflops = csv_need(t, "gflops"), kind = csv_find(t, "kind"), algo = last ? csv_need(t, "algo") : -1;
    struct again g = { 0 };
    struct arena text = { 0 };
    struct line *line = NULL;
    size_t n = 0, room = 0;
    csvw *w = csvw_open("-");
    csvw_copy_names(w, t);
    csvw_end(w);
    for (str before = { 0 }; rows_next(r); n++) {
        line = grow(line, n + 1, &room, sizeof *line);
        struct line *l = &line[n];
        *l = (struct line){ .field = arena_get(&text, size_mul((size_t)csv_ncol(t), sizeof(str))), .nest = -1 };
        for (int i = 0; i < csv_ncol(t); i++) l->field[i] = (str){ csv_cstr(t, i, &text), csv_str(t, i).n };
        if (last && n && !r->fresh && str_eq(before, l->field[algo])) l[-1].blank = true;
        if (csv_has(t, gflops)) l->nest = again_add(&g, &r->p, &r->nest);
        if (last) before = l->field[algo];
    }
    for (size_t k = 0; k < n; k++)
        if (line[k].nest >= 0 && !line[k].blank) g.nest[line[k].nest].wanted = true;
    again_run(&g, v, again ? (int)again : 8, (int)rounds, leave);
    for (size_t k = 0; k < n; k++) {
        const struct line *l = &line[k];
        for (int i = 0; i < csv_ncol(t); i++)
            if (i == gflops && l->blank) csvw_empty(w);
            else if (i == gflops && l->nest >= 0) csvw_num(w, g.nest[l->nest].gflops);
            else if (i == kind && l->nest >= 0) csvw_cstr(w, "real");
            else csvw_str(w, l->field[i]);
        csvw_end(w);
    }
    again_free(&g);
    return csvw_close(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    bool model = eval == MODEL, c = backend == EMITTED;
    enum isa isa = isa_given < 0 ? ISAS : (enum isa)isa_given;
    if (!model && isa < ISAS && !isa_here(isa)) die("this machine has no %s", isa_name[isa]);
    if (last && !rewrite) usage("--last is for --rewrite");
    if (rewrite && (model || c || cache)) usage("--rewrite measures: no --eval=model, --backend=c or --cache");
    struct evaluator v;
    struct nest_rows r;
    rows_open(&r, csv_open(filter_operand(argc, argv, i)), false);
    evaluator_open(&v, isa, cache);
    v.model = model;
    v.min_runs = (int)least;
    if (least > v.max_runs) v.max_runs = (int)least;
    if (rewrite) return rewritten(&r, &v);
    csvw *w = csvw_open("-");
    csvw_copy_names(w, r.t);
    csvw_names(w, "gflops,seconds,median_seconds,runs,checked,kind,reason");
    csvw_end(w);
    progress_start("nests", 0);
    for (double done = 0; rows_next(&r); progress(++done, "%s", "")) {
        if (r.fresh) evaluator_problem(&v, &r.p);
        struct result m = c && !model ? native_evaluate(&v, &r.nest)
                          : again && !model ? evaluate_again(&v, &r.nest, (int)again, (int)again, false)
                                            : evaluate(&v, &r.nest);
        csvw_copy_all(w, r.t);
        csvw_num(w, m.gflops);
        csvw_known(w, isfinite(m.seconds) ? m.seconds : NAN);
        csvw_known(w, isfinite(m.median_seconds) ? m.median_seconds : NAN);
        csvw_int(w, m.runs);
        csvw_int(w, m.checked);
        csvw_cstr(w, model ? "simulated" : "real");
        csvw_cstr(w, m.why);
        csvw_end(w);
    }
    progress_end();
    evaluator_close(&v);
    rows_close(&r);
    return csvw_close(w);
}
