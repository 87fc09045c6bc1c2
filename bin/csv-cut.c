/* csv-cut - some columns of a table
 *
 * Usage: csv-cut [-c COLS] [--drop=COLS] [--rename=OLD=NEW]... [FILE]...
 *
 * Columns in: any.  Columns out: COLS in the order given, or all but those
 * dropped.  COLS is a list a,b,c in which a..c is a range and *, ? and [..]
 * match several names, unless a column is called so.  Order of the rows and
 * bytes of the fields are kept.  Constant memory.
 *
 * Examples:
 *   $ csv-cut -c network,ratio,'*_seconds' results.csv
 *   $ csv-cut --drop=host --rename=time=time_seconds runs.csv
 */
#include "base/filter.h"
#include "table/columns.h"
#include "table/input.h"
#include HELP
#include <stdlib.h>
#include <string.h>

static const char *keep, *drop;
static struct list renames;
static const struct opt options[] = {
    { 'c', "column", STR, &keep, "COLS", "the columns to keep, in this order" },
    { 0, "drop", STR, &drop, "COLS", "the columns to leave out" },
    { 0, "rename", LIST, &renames, "OLD=NEW", "call column OLD NEW" },
    CSV_INPUT,
    { 0 } };

static str new_name(str old)
{
    for (int i = 0; i < renames.n; i++) {
        const char *eq = strchr(renames.v[i], '=');
        if (str_eq(old, (str){ renames.v[i], (size_t)(eq - renames.v[i]) })) return str_of(eq + 1);
    }
    return old;
}

static void check_renames(const csv *t)
{
    for (int i = 0; i < renames.n; i++) {
        const char *eq = strchr(renames.v[i], '=');
        if (!eq || eq == renames.v[i] || !eq[1]) usage("--rename: '%s' is not of the form OLD=NEW", renames.v[i]);
        char *old = xformat("%.*s", (int)(eq - renames.v[i]), renames.v[i]);
        csv_need(t, old);
        free(old);
    }
}

static void write_names(csvw *w, const csv *t, struct columns c)
{
    for (int i = 0; i < c.n; i++) csvw_str(w, new_name(csv_name(t, c.v[i])));
    csvw_end(w);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (keep && drop) usage("--column and --drop exclude each other");
    if (!keep && !drop && !renames.n) usage("nothing to do: give --column, --drop or --rename");
    csv *t = csv_files(argv + i);
    struct columns c = keep ? columns_matching(t, keep, "--column") : columns_all(t);
    if (drop) c = columns_without(t, columns_matching(t, drop, "--drop"));
    if (!c.n) usage("no column would be left");
    check_renames(t);
    csvw *w = csvw_open(NULL);
    write_names(w, t, c);
    while (csv_next(t)) {
        for (int k = 0; k < c.n; k++) csvw_copy(w, t, c.v[k]);
        csvw_end(w);
    }
    return csvw_close(w);
}
