/* flambda-pca - what the counters of compiled variants say, one row a program
 *
 * Usage: flambda-pca [--points=FILE] [FILE]...
 *
 * Columns in: benchmark, step, seconds, static_instructions, and counters, as
 * flambda-counters writes them.  Out: benchmark, n_rows, n_steps
 * (distinct), n_na (rows without a static instruction count or another value
 * that others have), initial_seconds (geometric mean over the steps named
 * initial), best_seconds, saved_ratio = (initial - best) / initial, and the
 * shares of variance of the first three components of --counters, and of
 * --per-instruction divided by static_instructions (the study's 14 of the
 * garbage collector and 7 of perf): pca_raw_N in their own units, where the
 * largest numbers win, pca_z_N by z-scores; kind, of the rows of the program.
 * Every step counts once.  Steps with a missing value take no part in the
 * components; counters that no step has are left out.  A program without
 * rows has empty values.  --points writes benchmark, step, initial, seconds,
 * saved_ratio, raw_1, raw_2, z_1, z_2, kind for scatter plots.  All rows in
 * memory.
 *
 * Examples:
 *   $ flambda-counters pca-data/fft.csv | flambda-pca --points=points.csv
 */
#include "base/filter.h"
#include "base/checked.h"
#include HELP
#include "flambda/counters.h"
#include "fit/data.h"
#include "fit/pca.h"
#include "table/kind.h"
#include <math.h>
#include <stdlib.h>

enum { COMPONENTS = 3 };

static const char *points_path;
static struct list plain, per_instruction;
static const struct opt options[] = {
    { 0, "counters", LIST, &plain, "COLS", "counters taken as they are (default: the study's)" },
    { 0, "per-instruction", LIST, &per_instruction, "COLS", "counters divided by static_instructions" },
    { 0, "points", STR, &points_path, "FILE", "write the scatter there" },
    { 0 } };

struct matrix { double *x; size_t *row, rows, cols; };  /* row: number of the step of each matrix row */

/* the columns some step knows, the steps that know them all */
static struct matrix gather(const struct counters *k, const struct counter_table *t)
{
    size_t *from = xmalloc(k->cols + 1, sizeof *from);
    bool *divide = xcalloc(k->cols + 1, sizeof *divide);
    struct matrix m = { 0 };
    struct intern names = { 0 };
    for (size_t c = 0; c < k->cols; c++) intern(&names, str_of(k->name[c]));
    for (size_t c = 0; c < k->cols; c++) {
        bool known = false;
        for (size_t i = 0; i < t->n; i++) known = known || !isnan(t->row[i].value[c]);
        divide[m.cols] = data_matches(&per_instruction, str_of(k->name[c]), &names);
        if (known && (divide[m.cols] || data_matches(&plain, str_of(k->name[c]), &names))) from[m.cols++] = c;
    }
    m.x = xmalloc(size_mul(t->n, m.cols) + 1, sizeof *m.x);
    m.row = xmalloc(t->n + 1, sizeof *m.row);
    for (size_t i = 0; i < t->n; i++) {
        const struct counter_row *r = &t->row[i];
        bool whole = !isnan(r->instructions);
        for (size_t j = 0; j < m.cols; j++) {
            double *x = &m.x[m.rows * m.cols + j];
            *x = divide[j] ? r->value[from[j]] / r->instructions : r->value[from[j]];
            whole = whole && isfinite(*x);
        }
        if (whole) m.row[m.rows++] = i;
    }
    free(from);
    free(divide);
    return m;
}

static void write_points(csvw *w, const struct counter_table *t, double initial, const struct matrix *m,
                         const struct pca *raw, const struct pca *z)
{
    for (size_t i = 0, k = 0; i < t->n; i++) {
        bool in = k < m->rows && m->row[k] == i && raw->cols > 1;
        const double *x = m->x + k * m->cols;
        csvw_cstr(w, t->benchmark);
        csvw_str(w, t->row[i].step);
        csvw_int(w, t->row[i].initial);
        csvw_num(w, t->row[i].seconds);
        csvw_known(w, 1 - t->row[i].seconds / initial);
        for (size_t c = 0; c < 2; c++) csvw_known(w, in ? pca_score(raw, x, c) : NAN);
        for (size_t c = 0; c < 2; c++) csvw_known(w, in ? pca_score(z, x, c) : NAN);
        kind_write(w, t->kinds);
        csvw_end(w);
        k += k < m->rows && m->row[k] == i;
    }
}

static void write_table(csvw *w, csvw *points, const struct counters *k, struct counter_table *t)
{
    csvw_cstr(w, t->benchmark);
    if (!t->n) {
        for (int c = 0; c < 6 + 2 * COMPONENTS; c++) csvw_empty(w);
        kind_write(w, t->kinds);
        csvw_end(w);
        return;
    }
    size_t n;
    double variance, best = INFINITY;
    counters_dedupe(t, k->cols);
    double initial = counters_initial(t, &n, &variance);
    for (size_t i = 0; i < t->n; i++) best = fmin(best, t->row[i].seconds);
    struct matrix m = gather(k, t);
    struct pca raw = pca_fit(m.x, m.rows, m.cols, false), z = pca_fit(m.x, m.rows, m.cols, true);
    csvw_int(w, (int64_t)t->n_rows);
    csvw_int(w, (int64_t)t->n);
    csvw_int(w, (int64_t)t->n_na);
    csvw_known(w, initial);
    csvw_num(w, best);
    csvw_known(w, (initial - best) / initial);
    for (size_t c = 0; c < COMPONENTS; c++) csvw_known(w, c < m.cols && m.rows > 1 ? raw.ratio[c] : NAN);
    for (size_t c = 0; c < COMPONENTS; c++) csvw_known(w, c < m.cols && m.rows > 1 ? z.ratio[c] : NAN);
    kind_write(w, t->kinds);
    csvw_end(w);
    if (points) write_points(points, t, initial, &m, &raw, &z);
    pca_free(&raw);
    pca_free(&z);
    free(m.x);
    free(m.row);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    const char *study[2] = { counters_plain, counters_per_instruction };
    if (!plain.n && !per_instruction.n) {
        plain = (struct list){ study, 1 };
        per_instruction = (struct list){ study + 1, 1 };
    }
    struct counters k = counters_read(argv + i);
    csvw *w = csvw_open(NULL), *points = points_path ? csvw_open(points_path) : NULL;
    csvw_names(w, "benchmark,n_rows,n_steps,n_na,initial_seconds,best_seconds,saved_ratio,pca_raw_1,pca_raw_2,pca_raw_"
                  "3,pca_z_1,pca_z_2,pca_z_3,kind");
    csvw_end(w);
    if (points) {
        csvw_names(points, "benchmark,step,initial,seconds,saved_ratio,raw_1,raw_2,z_1,z_2,kind");
        csvw_end(points);
    }
    for (size_t b = 0; b < k.n; b++) write_table(w, points, &k, &k.table[b]);
    if (points) csvw_close(points);
    return csvw_close(w);
}
