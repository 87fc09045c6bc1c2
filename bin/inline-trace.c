/* inline-trace - the course of searches for inlining decisions, as a table
 *
 * Usage: inline-trace [OPTION]... HISTORY...
 *
 * Reads the rows of inline-run, a file per program or several.  Columns out,
 * a row for each set that was tried, in the order of the files: program,
 * evaluation (1, 2, ...), algorithm (heuristic, or the chain's name),
 * decisions, state, instructions_ratio (to the row `default`, geometric mean
 * over the runs), text_ratio, best_ratio (least instructions so far),
 * temperature (of chains called anneal, by --t-max, --t-min and --steps as
 * given to inline-search), frontier (yes: nothing tried is at most as large
 * and as slow, and better in one), parent and step of the set in its search.
 * Memory: all rows.
 *
 * Examples:
 *   $ inline-trace lua/history.csv bzip2/history.csv > trace.csv
 */
#include "base/filter.h"
#include "base/compare.h"
#include "inline/history.h"
#include "table/csvio.h"
#include HELP
#include <math.h>
#include <stdlib.h>

static double t_max = 0.04, t_min = 0.001;
static long steps = 300;
static const char *out;
static const struct opt options[] = {
    { 0, "t-max", NUM, &t_max, "T", "first temperature", 1e-9, 1e9 },
    { 0, "t-min", NUM, &t_min, "T", "last temperature", 1e-9, 1e9 },
    { 0, "steps", INT, &steps, "N", "length of a chain", 1, 1e9 },
    OUTPUT_OPTION(out),
    { 0 } };

static int by_row(const void *a, const void *b)
{
    const struct tried *x = a, *y = b;
    return ORDER(x->row, y->row);
}

static struct history load(const char *path)
{
    struct history h = { 0 };
    char *paths[] = { (char *)(uintptr_t)path, NULL };
    history_read(&h, paths);
    return h;
}

static void one(csvw *w, struct history h, const char *path)
{
    if (h.n) qsort(h.v, h.n, sizeof *h.v, by_row);
    struct objective speed = { .base = history_find(&h, str_of("default")) }, size = { speed.base, 1, 0, 0 };
    if (!speed.base) die("%s: no row `default`", path);
    double *x = xmalloc(h.n, sizeof *x), *y = xmalloc(h.n, sizeof *y), best = INFINITY;
    for (size_t i = 0; i < h.n; i++) {
        x[i] = exp(history_energy(&size, &h.v[i]));
        y[i] = exp(history_energy(&speed, &h.v[i]));
    }
    for (size_t i = 0; i < h.n; i++) {
        const struct tried *t = &h.v[i];
        bool frontier = isfinite(x[i]) && isfinite(y[i]);
        for (size_t j = 0; j < h.n && frontier; j++)
            frontier = !(x[j] <= x[i] && y[j] <= y[i] && (x[j] < x[i] || y[j] < y[i]));
        if (y[i] < best) best = y[i];
        csvw_str(w, t->program);
        csvw_int(w, (int64_t)i + 1);
        csvw_str(w, t->chain.n ? t->chain : str_of("heuristic"));
        csvw_str(w, t->decisions);
        csvw_str(w, t->state);
        csvw_known(w, isfinite(y[i]) ? y[i] : NAN);
        csvw_known(w, isfinite(x[i]) ? x[i] : NAN);
        csvw_known(w, isfinite(best) ? best : NAN);
        double part = (double)t->step / (double)steps;
        csvw_known(w, str_is(t->chain, "anneal") ? t_max * exp(-log(t_max / t_min) * part) : NAN);
        csvw_cstr(w, frontier ? "yes" : "no");
        csvw_str(w, t->parent);
        if (t->step >= 0) csvw_int(w, t->step);
        else csvw_empty(w);
        csvw_end(w);
    }
    free(x);
    free(y);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (i == argc) usage("no history given");
    struct history *h = xmalloc((size_t)(argc - i), sizeof *h);
    for (int k = i; k < argc; k++) h[k - i] = load(argv[k]);
    csvw *w = csvw_open(out);
    csvw_names(w, "program,evaluation,algorithm,decisions,state,instructions_ratio,text_ratio,best_ratio,temperature,"
                  "frontier,parent,step");
    csvw_end(w);
    for (int k = i; k < argc; k++) one(w, h[k - i], argv[k]);
    return csvw_close(w);
}
