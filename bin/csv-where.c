/* csv-where - rows in which a column has certain values
 *
 * Usage: csv-where -c COL [CONDITION]... [--not] [FILE]...
 *
 * Columns in: COL.  Columns out: the same.  A row is kept when all conditions
 * given hold: --min and --max for numbers (an empty field and nan never lie in
 * a range), --is for one of several texts, --like for a pattern of *, ?, [..],
 * --known for fields that are not empty.  --not keeps the others.  Order and
 * bytes of the rows are kept.  Constant memory.
 *
 * Examples:
 *   $ csv-where -c time_seconds --max=60 runs.csv
 *   $ csv-where -c network --is=vgg19 --is=resnet200 results.csv
 *   $ csv-where -c error --known --not runs.csv
 */
#include "base/filter.h"
#include "table/csvio.h"
#include "table/input.h"
#include HELP
#include <math.h>
#include <string.h>

static const char *column, *like, *least, *most;
static struct list is;
static struct exact_number min = { .x = -INFINITY }, max = { .x = INFINITY };
static bool known, invert;
static const struct opt options[] = {
    { 'c', "column", STR, &column, "COL", "the column to look at" },
    { 0, "min", STR, &least, "X", "least number kept" },
    { 0, "max", STR, &most, "X", "greatest number kept" },
    { 0, "is", LIST, &is, "TEXT", "exactly this text; may be given several times" },
    { 0, "like", STR, &like, "GLOB", "a text that matches, such as 'vgg*'" },
    { 0, "known", FLAG, &known, NULL, "not empty" },
    { 0, "not", FLAG, &invert, NULL, "keep the rows in which that is not so" },
    CSV_INPUT,
    { 0 } };

/* an integer stays one, as those of the table; false: not given */
static bool bound(const char *option, const char *text, struct exact_number *v)
{
    if (!text) return false;
    if (exact_wrong(text, strlen(text), v)) usage("--%s: '%s' is not a number", option, text);
    if (isnan(v->x)) usage("--%s takes a number, not nan", option);
    return true;
}

static bool is_one_of(str s)
{
    for (int i = 0; i < is.n; i++) if (str_is(s, is.v[i])) return true;
    return false;
}

static bool holds(const csv *t, int c, bool range)
{
    str s = csv_str(t, c);
    if (known && !s.n) return false;
    if (is.n && !is_one_of(s)) return false;
    if (range) {
        if (!s.n) return false;
        struct exact_number v = csv_exact(t, c);
        if (isnan(v.x) || exact_cmp(v, min) < 0 || exact_cmp(v, max) > 0) return false;
    }
    return !like || str_like(s, str_of(like));
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!column) usage("no column given, see --column");
    bool lower = bound("min", least, &min), upper = bound("max", most, &max), range = lower || upper;
    if (!range && !is.n && !like && !known) usage("no condition given, see --min, --max, --is, --like, --known");
    csv *t = csv_files(argv + i);
    int c = csv_need(t, column);
    csvw *w = csvw_open(NULL);
    csvw_copy_names(w, t);
    csvw_end(w);
    while (csv_next(t)) {
        if (holds(t, c, range) == invert) continue;
        csvw_copy_all(w, t);
        csvw_end(w);
    }
    return csvw_close(w);
}
