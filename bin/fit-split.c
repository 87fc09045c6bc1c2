/* fit-split - draw rows, or whole groups of rows, into training and test
 *
 * Usage: fit-split [-g GROUP] [--test=SHARE | --folds=N] [FILE]...
 *
 * Columns in: GROUP, if given.  Out: all columns, and `part`, train or test;
 * with --folds=N instead `fold`, 1 to N, each the test part of one round.
 * A row's part depends on the seed and its group's name (without --group: on
 * its number) alone, so it does not change when other rows are added or put
 * in another order.  The share is therefore met on average, not exactly;
 * --exact draws exactly (rounded) that share of the groups or rows, or folds
 * that differ by one at most, and needs all rows in memory.  Else constant
 * memory.
 *
 * Examples:
 *   $ fit-split -g program --test=0.3 sites.csv | csv-where -c part --is=test
 *   $ fit-split --folds=5 --exact runs.csv > folds.csv
 */
#include "base/filter.h"
#include "base/compare.h"
#include HELP
#include "base/rng.h"
#include "table/csvio.h"
#include "table/input.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *group;
static double share = 0.2;
static long seed = 1, folds;
static bool exact;
static const struct opt options[] = {
    { 'g', "group", STR, &group, "COL", "keep its groups together" },
    { 0, "test", NUM, &share, "SHARE", "share of the test part", 0, 1 },
    { 0, "folds", INT, &folds, "N", "folds instead of two parts; 0: none", 0, 1e6 },
    { 0, "exact", FLAG, &exact, NULL, "exactly that share, or folds of equal size" },
    { 's', "seed", INT, &seed, "N", "for the draw" },
    CSV_INPUT,
    { 0 } };

struct unit { double draw; uint32_t id; };

static double draw_of(str key)
{
    struct rng g = rng_for((uint64_t)seed, key);
    return rng_unit(&g);
}

/* from a place in 0 .. 1 */
static void write_part(csvw *w, double draw)
{
    if (folds) csvw_int(w, 1 + (int64_t)(draw * (double)folds));
    else csvw_cstr(w, draw < share ? "test" : "train");
    csvw_end(w);
}

static int by_draw(const void *a, const void *b)
{
    const struct unit *x = a, *y = b;
    return ORDER(x->draw, y->draw) ?: ORDER(x->id, y->id);
}

static str key_of(const csv *t, int col, uint64_t row, char b[32])
{
    if (col >= 0) return csv_str(t, col);
    return (str){ b, (size_t)snprintf(b, 32, "row %llu", (unsigned long long)row) };
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    csv *t = csv_files(argv + i);
    csvw *w = csvw_open(NULL);
    int col = group ? csv_need(t, group) : -1;
    csvw_copy_names(w, t);
    csvw_names(w, folds ? "fold" : "part");
    csvw_end(w);
    struct intern units = { 0 };
    uint32_t *unit = NULL;
    struct buf fields = { 0 };                           /* --exact: the rows, field by field, each with its length */
    size_t cap = 0, rows = 0;
    char b[32];
    while (csv_next(t)) {
        str key = key_of(t, col, rows++, b);
        if (!exact) {
            csvw_copy_all(w, t);
            write_part(w, draw_of(key));
            continue;
        }
        unit = grow(unit, rows, &cap, sizeof *unit);
        unit[rows - 1] = intern(&units, key);
        for (int c = 0; c < csv_ncol(t); c++) {
            str s = csv_str(t, c);
            buf_add(&fields, (const char *)&s.n, sizeof s.n);
            buf_str(&fields, s);
        }
    }
    if (!exact) return csvw_close(w);
    struct unit *order = xmalloc(units.n + 1, sizeof *order);
    double *place = xcalloc(units.n + 1, sizeof *place); /* in the order drawn */
    for (size_t u = 0; u < units.n; u++) order[u] = (struct unit){ draw_of(units.name[u]), (uint32_t)u };
    qsort(order, units.n, sizeof *order, by_draw);
    size_t tested = (size_t)lround(share * (double)units.n);
    for (size_t u = 0; u < units.n; u++)
        place[order[u].id] = folds ? ((double)(u * (size_t)folds / units.n) + 0.5) / (double)folds   /* mid-fold */
                                   : u < tested ? -1 : 2;
    const char *p = fields.s;
    for (size_t r = 0; r < rows; r++) {
        for (int c = 0; c < csv_ncol(t); c++) {
            str s = { .s = p + sizeof s.n };
            memcpy(&s.n, p, sizeof s.n);
            csvw_str(w, s);
            p += sizeof s.n + s.n;
        }
        write_part(w, place[unit[r]]);
    }
    return csvw_close(w);
}
