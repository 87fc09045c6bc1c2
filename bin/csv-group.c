/* csv-group - statistics of columns, per group
 *
 * Usage: csv-group [-g COLS] [-c COLS] [--stat=WORDS] [--missing=WHAT] [FILE]...
 *
 * Columns in: the group columns -g, any text, and the columns -c, numbers.
 * Columns out: the group columns, n_rows, then for every column and word
 * WORD_COLUMN.  Words: n (values), mean, sum, min, max, sd (of a sample), gmean
 * (geometric mean), median, first, last, p0 .. p100 (percentiles, linear
 * between neighbours, as in numpy and R), corr:COL (Pearson's correlation with
 * that column).  One row per group, in order of first appearance; without -g
 * one row in all, of no rows none.  Sums are compensated.  An empty field is an
 * error, or skipped with --missing=skip; a nan makes everything but n nan; a
 * statistic that is not defined, such as the sd of one value, is empty.
 * Memory: per group; all values where a median or percentile is wanted.
 *
 * Examples:
 *   $ csv-group -g network,ratio -c step_seconds --stat=n,median,p5,p95 runs.csv
 *   $ csv-group -g network -c step_seconds --stat=corr:batch runs.csv
 */
#include "base/filter.h"
#include "base/checked.h"
#include "table/columns.h"
#include "table/input.h"
#include "table/summary.h"
#include HELP
#include <string.h>

static const char *group_names, *column_names, *stats = "n,mean";
static enum { DIE, SKIP } missing = DIE;
static const struct opt options[] = {
    { 'g', "group", STR, &group_names, "COLS", "columns whose values make a group" },
    { 'c', "column", STR, &column_names, "COLS", "columns of numbers" },
    { 0, "stat", STR, &stats, "WORDS", "what to compute" },
    { 0, "missing", WORD, &missing, "die|skip", "what an empty field does" },
    CSV_INPUT,
    { 0 } };

/* other: the column that it is correlated with, or -1; pair: which of the pairs of a column */
struct stat { enum statistic what; double percent; str name; int other, pair; };

static struct stat *stat;
static int nstat, npair;
static bool keep_values;

static struct columns group, column;
static struct intern keys;
static struct summary *cell;                             /* cell[group * columns + column] */
static struct correlation *pair;                         /* pair[(group * columns + column) * npair + k] */
static str *label;                                       /* label[group * group columns + column] */
static int64_t *rows;
static struct arena text;

static void parse_stats(const csv *t)
{
    for (const char *p = stats;; p++) {
        size_t n = strcspn(p, ",");
        struct stat s = { .name = { p, n }, .other = -1 };
        if (n > 5 && memcmp(p, "corr:", 5) == 0) {
            s.other = csv_need(t, arena_copy(&text, p + 5, n - 5));
            s.pair = npair++;
            s.name = (str){ xformat("corr_%.*s", (int)n - 5, p + 5), n };
        } else if (!statistic_parse(p, n, &s.what, &s.percent))
            usage("--stat: '%.*s' is none of n mean sum min max sd gmean median first last p0 .. p100 corr:COL", (int)n,
                  p);
        keep_values = keep_values || s.what == STAT_MEDIAN || s.what == STAT_PERCENTILE;
        stat = xrealloc(stat, (size_t)nstat + 1, sizeof *stat);
        stat[nstat++] = s;
        p += n;
        if (!*p) return;
    }
}

static void new_group(const csv *t, size_t g)
{
    static size_t cell_cap, pair_cap, label_cap, rows_cap;
    size_t width = (size_t)column.n, labels = (size_t)group.n;
    cell = grow(cell, size_mul(g + 1, width), &cell_cap, sizeof *cell);
    label = grow(label, size_mul(g + 1, labels), &label_cap, sizeof *label);
    rows = grow(rows, g + 1, &rows_cap, sizeof *rows);
    rows[g] = 0;
    for (size_t k = 0; k < width; k++) cell[g * width + k] = (struct summary){ .keep = keep_values };
    size_t pairs = size_mul(width, (size_t)npair);
    pair = grow(pair, size_mul(g + 1, pairs), &pair_cap, sizeof *pair);
    for (size_t k = 0; k < pairs; k++) pair[g * pairs + k] = (struct correlation){ 0 };
    for (size_t k = 0; k < labels; k++) {
        str s = csv_str(t, group.v[k]);
        label[g * labels + k] = (str){ arena_copy(&text, s.s, s.n), s.n };
    }
}

static void add_pairs(const csv *t, size_t g, int k, bool skip)
{
    for (int s = 0; s < nstat; s++) {
        int a = column.v[k], b = stat[s].other;
        if (b < 0 || (skip && (!csv_has(t, a) || !csv_has(t, b)))) continue;
        correlation_add(pair + (g * (size_t)column.n + (size_t)k) * (size_t)npair + stat[s].pair, csv_exact(t, a),
                        csv_exact(t, b));
    }
}

static void read_all(csv *t)
{
    bool skip = missing == SKIP;
    struct buf b = { 0 };
    buf_add(&b, "", 0);
    while (csv_next(t)) {
        size_t seen = keys.n, g = intern(&keys, columns_key(t, group, &b));
        if (g == seen) new_group(t, g);
        rows[g]++;
        struct summary *c = cell + g * (size_t)column.n;
        for (int k = 0; k < column.n; k++) {
            if (!skip || csv_has(t, column.v[k])) summary_add(c + k, csv_exact(t, column.v[k]));
            if (npair) add_pairs(t, g, k, skip);
        }
    }
}

static void write_names(csvw *w, const csv *t)
{
    for (int k = 0; k < group.n; k++) csvw_str(w, csv_name(t, group.v[k]));
    csvw_cstr(w, "n_rows");
    for (int k = 0; k < column.n; k++) {
        str c = csv_name(t, column.v[k]);
        for (int s = 0; s < nstat; s++) csvw_format(w, "%.*s_%.*s", (int)stat[s].name.n, stat[s].name.s, (int)c.n, c.s);
    }
    csvw_end(w);
}

static void write_group(csvw *w, size_t g)
{
    struct exact_number v;
    for (int k = 0; k < group.n; k++) csvw_str(w, label[g * (size_t)group.n + (size_t)k]);
    csvw_int(w, rows[g]);
    for (int k = 0; k < column.n; k++) {
        for (int s = 0; s < nstat; s++) {
            size_t at = g * (size_t)column.n + (size_t)k;
            bool defined = stat[s].other < 0 ? summary_get(cell + at, stat[s].what, stat[s].percent, &v)
                                             : correlation_get(pair + at * (size_t)npair + stat[s].pair, &v.x);
            if (stat[s].other >= 0) v.big = false;
            if (defined) csvw_exact(w, v);
            else csvw_empty(w);
        }
    }
    csvw_end(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!group_names && !column_names) usage("nothing to do: give --group, --column or both");
    csv *t = csv_files(argv + i);
    parse_stats(t);
    if (group_names) group = columns_of(t, group_names, "--group");
    if (column_names) column = columns_of(t, column_names, "--column");
    read_all(t);
    csvw *w = csvw_open(NULL);
    write_names(w, t);
    for (size_t g = 0; g < keys.n; g++) write_group(w, g);
    return csvw_close(w);
}
