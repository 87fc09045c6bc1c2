/* fit-pca - principal components of numeric columns
 *
 * Usage: fit-pca [-x COLS] [--raw] [--table=ratios|loadings|scores] [FILE]...
 *
 * Columns in: numbers or true / false.  Every column counts by its own
 * deviation (z-scores); with --raw in its own units, where the largest
 * numbers win.  Columns that do not vary are kept with loading 0.
 * Out: ratios    component, variance, ratio (share of all variance)
 *      loadings  component, feature, loading
 *      scores    GROUP, if given, then pc_1, pc_2, ... for every row
 * The sign of a component makes its largest loading positive.  All rows in
 * memory.
 *
 * Examples:
 *   $ fit-pca --ignore=label,site --table=ratios -n 3 sites.csv
 */
#include "base/filter.h"
#include HELP
#include "fit/data.h"
#include "fit/pca.h"
#include "table/input.h"

static struct data_columns columns;
static enum { RATIOS, LOADINGS, SCORES } table = RATIOS;
static long components = 2;
static bool raw;
static const struct opt options[] = {
    { 'x', "features", LIST, &columns.features, "COLS", "columns, a,b,c* (default: all)" },
    { 0, "ignore", LIST, &columns.ignore, "COLS", "columns left out" },
    { 'g', "group", STR, &columns.group, "COL", "a column left out, kept in the scores" },
    { 'n', "components", INT, &components, "N", "how many", 1, 1e6 },
    { 0, "raw", FLAG, &raw, NULL, "in the columns' own units" },
    { 0, "table", WORD, &table, "ratios|loadings|scores", "what to write" },
    CSV_INPUT,
    { 0 } };

static void write_scores(const struct data *d, const struct pca *p, csvw *w)
{
    if (columns.group) csvw_cstr(w, columns.group);
    for (long k = 1; k <= components; k++) csvw_format(w, "pc_%ld", k);
    csvw_end(w);
    for (size_t i = 0; i < d->rows; i++) {
        if (columns.group) csvw_str(w, d->groups.name[d->group[i]]);
        for (long k = 0; k < components; k++) csvw_num(w, pca_score(p, d->x + i * d->cols, (size_t)k));
        csvw_end(w);
    }
}

static void write_loadings(const struct data *d, const struct pca *p, csvw *w)
{
    csvw_names(w, "component,feature,loading");
    csvw_end(w);
    for (long k = 0; k < components; k++)
        for (size_t j = 0; j < d->cols; j++) {
            csvw_int(w, k + 1);
            csvw_cstr(w, d->feature[j]);
            csvw_num(w, p->loading[j * d->cols + (size_t)k]);
            csvw_end(w);
        }
}

static void write_ratios(const struct pca *p, csvw *w)
{
    csvw_names(w, "component,variance,ratio");
    csvw_end(w);
    for (long k = 0; k < components; k++) {
        csvw_int(w, k + 1);
        csvw_num(w, p->variance[k]);
        csvw_known(w, p->ratio[k]);
        csvw_end(w);
    }
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    struct data d = data_read(argv + i, &columns);
    struct pca p = pca_fit(d.x, d.rows, d.cols, !raw);
    if ((size_t)components > d.cols) components = (long)d.cols;
    csvw *w = csvw_open(NULL);
    if (table == SCORES) write_scores(&d, &p, w);
    else if (table == LOADINGS) write_loadings(&d, &p, w);
    else write_ratios(&p, w);
    return csvw_close(w);
}
