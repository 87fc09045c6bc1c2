/* loop-run - measure the nest in each row
 *
 * Usage: loop-run [--cache=FILE] [FILE]
 *
 * Columns in: problem, tree (absent or empty: the untiled nest).  Columns
 * out: all, then gflops, seconds, median_seconds, runs, checked (1: bit by
 * bit equal to a plain reference on small integers), kind (real, model) and
 * reason (why a nest has no code; its gflops is 0).  Order is kept.
 * A nest is run once to check it, then 4 to 8 times, at most 2 ms together,
 * and the minimum counts; a nest four times slower than the best one so far
 * of its problem is run once.  With --again=N it is N times, however long
 * that takes, whatever the cache says.  A cache is an append-only file shared
 * by processes and searches; what it knows is not measured again.
 *
 * Examples:
 *   $ loop-gen --kind=mm --m=64 --n=64 --k=64 | loop-reset |
 *     loop-act --do=split_8,down,swap_down | loop-run --cache=runs.csv
 */
#include "base/filter.h"
#include "base/progress.h"
#include "loop/code/native.h"
#include "loop/nest/rows.h"
#include HELP
#include <math.h>
#include <string.h>

static const char *cache, *isa_word, *eval = "run", *backend = "encoder";
static long least = 4, again;
static const struct opt options[] = {
    { 0, "cache", STR, &cache, "FILE", "remember measurements here" },
    { 0, "isa", WORD, &isa_word, "avx2|avx512", "instruction set instead of the best one here" },
    { 0, "eval", WORD, &eval, "run|model", "measure, or ask the model" },
    { 0, "backend", WORD, &backend, "encoder|c", "own encoder, or emitted C and the compiler $CC" },
    { 'n', "runs", INT, &least, "N", "least number of runs", 1, 64 },
    { 0, "again", INT, &again, "N", "number of fresh runs; 0: as said above", 0, 64 },
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    bool model = !strcmp(eval, "model"), c = !strcmp(backend, "c");
    enum isa isa = !isa_word ? isa_best() : strcmp(isa_word, "avx2") ? ISA_AVX512 : ISA_AVX2;
    if (!model && !isa_here(isa)) die("this machine has no %s", isa_name[isa]);
    struct evaluator v;
    struct nest_rows r;
    rows_open(&r, csv_open(filter_operand(argc, argv, i)), false);
    evaluator_open(&v, isa, cache);
    v.model = model;
    v.min_runs = (int)least;
    if (least > v.max_runs) v.max_runs = (int)least;
    csvw *w = csvw_open("-");
    csvw_copy_names(w, r.t);
    csvw_names(w, "gflops,seconds,median_seconds,runs,checked,kind,reason");
    csvw_end(w);
    progress_start("nests", 0);
    for (double done = 0; rows_next(&r); progress(++done, "%s", "")) {
        if (r.fresh) evaluator_problem(&v, &r.p);
        struct result m = c && !model ? native_evaluate(&v, &r.nest)
                          : again && !model ? evaluate_again(&v, &r.nest, (int)again) : evaluate(&v, &r.nest);
        csvw_copy_all(w, r.t);
        csvw_num(w, m.gflops);
        csvw_known(w, isfinite(m.seconds) ? m.seconds : NAN);
        csvw_known(w, isfinite(m.median_seconds) ? m.median_seconds : NAN);
        csvw_int(w, m.runs);
        csvw_int(w, m.checked);
        csvw_cstr(w, model ? "model" : "real");
        csvw_cstr(w, m.why);
        csvw_end(w);
    }
    progress_end();
    evaluator_close(&v);
    rows_close(&r);
    return csvw_close(w);
}
