/* place-figure - the tables of the study's figures from the results of runs
 *
 * Usage: place-figure --figure=7|9|11 [RESULTS]
 *
 * Columns in: those of place-record; the last row of a network, batch,
 * formulation and ratio counts.  Rows out are in the order of the input.
 * 7: network, batch, formulation (numa, static, sync, fast), ratio,
 *   step_seconds (median), speedup_over_slow_ratio, lower_ratio, upper_ratio
 *   (the extremes over single steps), kind.  The row of formulation slow has
 *   speed-up 1, that of fast is the line no plan can cross.
 * 9: network, batch, ratio, performance_ratio (all-fast over sync time),
 *   lower_ratio, upper_ratio, cost_ratio (of memory against all fast, when fast
 *   costs 2.1 times slow), kind.
 * 11: network, batch, formulation, ratio, predicted_seconds, step_seconds,
 *   error_ratio ((predicted - measured) / measured), kind.
 * Memory: a few numbers for each row.
 *
 * Examples:
 *   $ place-figure --figure=7 out/place/results.csv
 */
#include "base/filter.h"
#include "base/num.h"
#include "table/csvio.h"
#include HELP
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *figure;
static const struct opt options[] = {
    { 'f', "figure", WORD, &figure, "7|9|11", "which one", 0, 0 },
    { 0 } };

struct row { const char *network, *formulation, *ratio, *kind; int64_t batch; double seconds, least, most, predicted; };
static struct row *rows;
static size_t nrow, cap;
static struct arena text;

/* "(1.5 1.25)": its extremes */
static void extremes(csv *t, int col, double *least, double *most)
{
    str s = csv_str(t, col);
    *least = INFINITY, *most = -INFINITY;
    for (size_t i = 0; i < s.n;) {
        size_t end = i;
        while (end < s.n && s.s[end] != ' ' && s.s[end] != '(' && s.s[end] != ')') end++;
        double v;
        if (end > i) {
            if (!num_parse(s.s + i, end - i, &v) || !(v > 0)) csv_die(t, col, "a list of seconds");
            *least = fmin(*least, v);
            *most = fmax(*most, v);
        }
        i = end + 1;
    }
    if (!(*most > 0)) csv_die(t, col, "a list of seconds");
}

static void read_rows(const char *path)
{
    csv *t = csv_open(path);
    int network = csv_need(t, "network"), batch = csv_need(t, "batch"), form = csv_need(t, "formulation"),
        ratio = csv_need(t, "ratio");
    int seconds = csv_need(t, "median_seconds"), all = csv_need(t, "step_seconds"),
        predicted = csv_need(t, "predicted_seconds"), kind = csv_need(t, "kind");
    while (csv_next(t)) {
        struct row r = { csv_cstr(t, network, &text),
                         csv_cstr(t, form, &text),
                         csv_cstr(t, ratio, &text),
                         csv_cstr(t, kind, &text),
                         csv_int(t, batch),
                         csv_num(t, seconds),
                         0,
                         0,
                         csv_num(t, predicted) };
        extremes(t, all, &r.least, &r.most);
        size_t i = 0;
        while (i < nrow && !(!strcmp(rows[i].network, r.network) && rows[i].batch == r.batch &&
                             !strcmp(rows[i].formulation, r.formulation) && !strcmp(rows[i].ratio, r.ratio)))
            i++;
        if (i == nrow) rows = grow(rows, ++nrow, &cap, sizeof *rows);
        rows[i] = r;
    }
    csv_close(t);
}

static const struct row *end_of(const struct row *r, const char *formulation)
{
    for (size_t i = 0; i < nrow; i++)
        if (!strcmp(rows[i].network, r->network) && rows[i].batch == r->batch &&
            !strcmp(rows[i].formulation, formulation))
            return &rows[i];
    die("no run of %s, batch %lld, with everything in %s memory", r->network, (long long)r->batch, formulation);
}

static void head(csvw *w, const struct row *r, bool formulation)
{
    csvw_cstr(w, r->network);
    csvw_int(w, r->batch);
    if (formulation) csvw_cstr(w, r->formulation);
    csvw_cstr(w, r->ratio);
}

static void ratio(csvw *w, const struct row *over, const struct row *r)
{
    csvw_num(w, over->seconds / r->seconds);
    csvw_num(w, over->least / r->most);
    csvw_num(w, over->most / r->least);
}

static void speedup(csvw *w, const struct row *r)
{
    head(w, r, true);
    csvw_num(w, r->seconds);
    ratio(w, end_of(r, "slow"), r);
    csvw_cstr(w, r->kind);
    csvw_end(w);
}

static void cost(csvw *w, const struct row *r)
{
    const char *colon = strchr(r->ratio, ':');
    double slow, fast;
    if (strcmp(r->formulation, "sync") || !colon) return;
    if (!num_parse(r->ratio, (size_t)(colon - r->ratio), &slow) || !num_parse(colon + 1, strlen(colon + 1), &fast))
        die("ratio '%s' is not of the form R:1", r->ratio);
    head(w, r, false);
    ratio(w, end_of(r, "fast"), r);
    csvw_num(w, (slow / 2.1 + fast) / (slow + fast));
    csvw_cstr(w, r->kind);
    csvw_end(w);
}

static void error(csvw *w, const struct row *r)
{
    if (!strcmp(r->formulation, "numa")) return;         /* first touch predicts nothing */
    head(w, r, true);
    csvw_num(w, r->predicted);
    csvw_num(w, r->seconds);
    csvw_num(w, (r->predicted - r->seconds) / r->seconds);
    csvw_cstr(w, r->kind);
    csvw_end(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!figure) usage("no figure given, see --figure");
    read_rows(filter_operand(argc, argv, i));
    csvw *w = csvw_open("-");
    int n = !strcmp(figure, "7") ? 7 : !strcmp(figure, "9") ? 9 : 11;
    csvw_names(
        w, n == 7 ? "network,batch,formulation,ratio,step_seconds,speedup_over_slow_ratio,lower_ratio,upper_ratio,kind"
           : n == 9 ? "network,batch,ratio,performance_ratio,lower_ratio,upper_ratio,cost_ratio,kind"
                    : "network,batch,formulation,ratio,predicted_seconds,step_seconds,error_ratio,kind");
    csvw_end(w);
    for (size_t k = 0; k < nrow; k++) (n == 7 ? speedup : n == 9 ? cost : error)(w, &rows[k]);
    return csvw_close(w);
}
