/* csv-sample - a part of the rows, first, last or drawn
 *
 * Usage: csv-sample --first=N | --last=N | --every=N | --even=N | -n N | --rate=P
 *                   [-s SEED] [FILE]...
 *
 * Columns in: any.  Columns out: the same.  Order and bytes of the rows are
 * kept.  --every=N keeps rows 1, N+1, 2N+1 ..; --even=N keeps N rows that are
 * evenly spread over the table, the first among them, or all where there are
 * fewer.  -n draws N rows without replacement, each set equally likely
 * (Vitter's reservoir, 1985); --rate keeps each row with probability P.  The
 * input is always read to its end, so that a pipeline never ends with a broken
 * pipe.  Memory: constant with --first, --every and --rate; the N rows kept
 * with --last and -n; all rows with --even.
 *
 * Examples:
 *   $ csv-sample --first=10 results.csv
 *   $ csv-sample -n 1000 --seed=7 events.csv
 */
#include "base/filter.h"
#include "base/compare.h"
#include "base/rng.h"
#include "table/input.h"
#include "table/table.h"
#include HELP
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static long first = LONG_MIN, last = LONG_MIN, every = LONG_MIN, even = LONG_MIN, count = LONG_MIN, seed = 1;
static double rate = NAN;
static const struct opt options[] = {
    { 0, "first", INT, &first, "N", "the first N rows", 0, 1e15 },
    { 0, "last", INT, &last, "N", "the last N rows", 0, 1e15 },
    { 0, "every", INT, &every, "N", "every N-th row, from the first on", 1, 1e15 },
    { 0, "even", INT, &even, "N", "N rows evenly spread", 0, 1e15 },
    { 'n', "count", INT, &count, "N", "N rows drawn at random", 0, 1e15 },
    { 0, "rate", NUM, &rate, "P", "each row with probability P", 0, 1 },
    { 's', "seed", INT, &seed, "N", "seed of the draw" },
    CSV_INPUT,
    { 0 } };

/* a row kept for later: its number and its fields, lengths first */
struct kept { size_t row; struct buf b; };

static void keep(struct kept *k, size_t row, const csv *t)
{
    k->row = row;
    k->b.n = 0;
    for (int i = 0; i < csv_ncol(t); i++) {
        str s = csv_str(t, i);
        buf_add(&k->b, (const char *)&s.n, sizeof s.n);
        buf_str(&k->b, s);
    }
}

static void write_kept(csvw *w, const struct kept *k)
{
    for (size_t at = 0; at < k->b.n;) {
        str s;
        memcpy(&s.n, k->b.s + at, sizeof s.n);
        s.s = k->b.s + at + sizeof s.n;
        csvw_str(w, s);
        at += sizeof s.n + s.n;
    }
    csvw_end(w);
}

static int by_row(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    return ORDER(x->row, y->row);
}

static void stream(csvw *w, csv *t, struct rng *r)
{
    for (long row = 0; csv_next(t); row++) {
        if (first >= 0 ? row >= first : every >= 0 ? row % every : !(rng_unit(r) < rate)) continue;
        csvw_copy_all(w, t);
        csvw_end(w);
    }
}

static void reservoir(csvw *w, csv *t, struct rng *r)
{
    size_t want = (size_t)(last >= 0 ? last : count), row = 0, n = 0, cap = 0;
    struct kept *kept = NULL;
    for (; csv_next(t); row++) {
        size_t place = row < want ? row : last >= 0 ? row % (want ? want : 1) : rng_below(r, row + 1);
        if (place >= want) continue;
        if (place == n) {
            kept = grow(kept, ++n, &cap, sizeof *kept);
            kept[place].b = (struct buf){ 0 };
        }
        keep(&kept[place], row, t);
    }
    if (n) qsort(kept, n, sizeof *kept, by_row);
    for (size_t i = 0; i < n; i++) write_kept(w, &kept[i]);
}

static void spread(csvw *w, csv *t)
{
    struct table all = table_load(t);
    size_t want = (size_t)even < all.nrow ? (size_t)even : all.nrow;
    for (size_t k = 0; k < want; k++)                    /* floor(k * rows / want) without overflow */
        table_write_row(w, &all, k * (all.nrow / want) + k * (all.nrow % want) / want);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if ((first >= 0) + (last >= 0) + (every >= 0) + (even >= 0) + (count >= 0) + (rate >= 0) != 1)
        usage("give one of --first, --last, --every, --even, --count, --rate");
    csv *t = csv_files(argv + i);
    csvw *w = csvw_open(NULL);
    csvw_copy_names(w, t);
    csvw_end(w);
    struct rng r = rng_for((uint64_t)seed, str_of("csv-sample"));
    if (first >= 0 || every >= 0 || rate >= 0) stream(w, t, &r);
    else if (even >= 0) spread(w, t);
    else reservoir(w, t, &r);
    return csvw_close(w);
}
