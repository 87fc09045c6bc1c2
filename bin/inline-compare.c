/* inline-compare - ratios of exact costs to a base, one program at a time
 *
 * Usage: inline-compare [--base=LABEL] [FILE]...
 *
 * Columns in: run (PROGRAM.K), label, metric, value; rows without a value
 * are left out, and so are runs for which the base has none.  Columns out:
 * program, label, metric, runs, ratio (geometric mean over the runs of the
 * program, 1: as the base), least, most (of the ratios); then the same over
 * the programs, as program `(geometric mean)`, where runs counts programs.
 * Order: first appearance.  Memory: all rows.
 *
 * Examples:
 *   $ inline-compare --base=O2 lua/exact.csv bzip2/exact.csv
 */
#include "base/filter.h"
#include "base/checked.h"
#include "base/str.h"
#include "table/csvio.h"
#include HELP
#include <math.h>
#include <string.h>

static const char *base = "O2", *out;
static const struct opt options[] = {
    { 'b', "base", STR, &base, "LABEL", "what is 1" },
    OUTPUT_OPTION(out),
    { 0 } };

struct row { uint32_t run, program, label, metric; double value; };
struct mean { double sum, least, most; long n; };

static struct row *row;
static size_t n_row, cap_row;
static struct intern runs, programs, labels, metrics;

static void read_rows(char **files)
{
    csv *t = csv_files(files);
    int run = csv_need(t, "run"), label = csv_need(t, "label"), metric = csv_need(t, "metric"),
        value = csv_need(t, "value");
    while (csv_next(t)) {
        str name = csv_str(t, run), l = csv_str(t, label), m = csv_str(t, metric);
        const char *dot = memrchr(name.s, '.', name.n);
        struct row r = { intern(&runs, name), intern(&programs, (str){ name.s, dot ? (size_t)(dot - name.s) : name.n }),
                         intern(&labels, l), intern(&metrics, m), csv_num_or(t, value, NAN) };
        if (isnan(r.value)) continue;
        if (r.value <= 0) csv_die(t, value, "more than 0");
        row = grow(row, n_row + 1, &cap_row, sizeof *row);
        row[n_row++] = r;
    }
    csv_close(t);
}

static void add(struct mean *m, double ratio)
{
    if (m->n == 0 || ratio < m->least) m->least = ratio;
    if (m->n == 0 || ratio > m->most) m->most = ratio;
    m->sum += log(ratio);
    m->n++;
}

static void put(csvw *w, str program, str label, str metric, const struct mean *m)
{
    if (m->n == 0) return;
    csvw_str(w, program);
    csvw_str(w, label);
    csvw_str(w, metric);
    csvw_int(w, m->n);
    csvw_num(w, exp(m->sum / (double)m->n));
    csvw_num(w, m->least);
    csvw_num(w, m->most);
    csvw_end(w);
}

int main(int argc, char **argv)
{
    read_rows(argv + filter_init(argc, argv, help, options));
    long first = intern_find(&labels, str_of(base));
    if (n_row && first < 0) die("no label '%s'", base);
    size_t n = programs.n * labels.n * metrics.n;
    struct mean *mean = xcalloc(n + 1, sizeof *mean);
    double *one = xcalloc(size_mul(runs.n, metrics.n) + 1, sizeof *one);     /* what is 1: of each run and metric */
    for (size_t i = n_row; i-- > 0;)
        if (row[i].label == first) one[row[i].run * metrics.n + row[i].metric] = row[i].value;
    for (size_t i = 0; i < n_row; i++) {
        double b = one[row[i].run * metrics.n + row[i].metric];
        if (b > 0) add(&mean[(row[i].program * labels.n + row[i].label) * metrics.n + row[i].metric], row[i].value / b);
    }
    csvw *w = csvw_open(out);
    csvw_names(w, "program,label,metric,runs,ratio,least,most");
    csvw_end(w);
    struct mean *all = xcalloc(size_mul(labels.n, metrics.n) + 1, sizeof *all);
    for (size_t k = 0; k < n; k++) {
        const struct mean *m = &mean[k];
        size_t cell = k % (labels.n * metrics.n);
        put(w, programs.name[k / (labels.n * metrics.n)], labels.name[cell / metrics.n],
            metrics.name[cell % metrics.n], m);
        if (m->n) add(&all[cell], exp(m->sum / (double)m->n));
    }
    for (size_t cell = 0; programs.n > 1 && cell < labels.n * metrics.n; cell++)
        put(w, str_of("(geometric mean)"), labels.name[cell / metrics.n], metrics.name[cell % metrics.n], &all[cell]);
    return csvw_close(w);
}
