/* prof-diff - cells of two profiles side by side
 *
 * Usage: prof-diff [--tolerance=RATIO] [--by=op|cats|all] A.csv B.csv
 *
 * Columns in: those of cells.  Columns out: phase, op, cats (as --by asks, the
 * others are summed up; processes always are), a_ns, b_ns, diff_ns, ratio
 * (b/a), in order of the absolute difference, largest first.  Exit status: 0
 * when no row differs by more than the tolerance, 1 when one does, 2 trouble.
 * Memory: all rows.
 *
 * Examples:
 *   $ prof-diff --by=op before.csv after.csv
 */
#include "base/checked.h"
#include "base/compare.h"
#include "base/filter.h"
#include "prof/cells.h"
#include "table/csvio.h"
#include HELP
#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum { BY_OP, BY_CATS, BY_ALL } by = BY_ALL;
static double tolerance;
static const struct opt options[] = {
    { 0, "tolerance", NUM,  &tolerance, "RATIO", "rows closer than this share of the larger one are equal", 0, 1 },
    {  0,  "by",        WORD, &by, "op|cats|all", "what tells rows apart" },
    { 0 } };

struct pair { const char *part[3]; int64_t a, b, more; };
static struct pair *pair;
static size_t npair, cap;

static void add(const struct sum *s, bool second)
{
    size_t i = 0;
    while (i < npair && (strcmp(pair[i].part[0], s->part[0]) != 0 || strcmp(pair[i].part[1], s->part[1]) != 0
                         || strcmp(pair[i].part[2], s->part[2]) != 0)) i++;
    if (i == npair) {
        pair = grow(pair, npair + 1, &cap, sizeof *pair);
        pair[npair++] = (struct pair){ .part = { s->part[0], s->part[1], s->part[2] } };
    }
    *(second ? &pair[i].b : &pair[i].a) = s->total;      /* once a side: its sums are merged */
    pair[i].more = i64_sub(pair[i].b, pair[i].a);
}

static void read_side(char *path, bool second)
{
    struct cells *c = xcalloc(1, sizeof *c);             /* kept: names are borrowed */
    struct sums s = { 0 };
    cells_read(c, (char *[]){ path, NULL });
    bool op = by != BY_CATS, cats = by != BY_OP, all = by == BY_ALL;
    for (size_t i = 0; i < c->n; i++)
        sums_add(&s, &(struct sum){ { all ? c->v[i].phase : "", op ? c->v[i].op : "", cats ? c->v[i].cats : "" },
                                    c->v[i].total });
    sums_merge(&s);
    for (size_t i = 0; i < s.n; i++) add(&s.v[i], second);
    free(s.v);
}

static int by_difference(const void *x, const void *y)
{
    const struct pair *p = x, *q = y;
    uint64_t a = p->more < 0 ? 0 - (uint64_t)p->more : (uint64_t)p->more;
    uint64_t b = q->more < 0 ? 0 - (uint64_t)q->more : (uint64_t)q->more;
    int order = ORDER(b, a);
    for (int k = 0; k < 3 && !order; k++) order = strcmp(p->part[k], q->part[k]);
    return order;
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (argc - i != 2) usage("two tables of cells expected");
    fail_status = EXIT_USAGE;                            /* 1 is an answer */
    read_side(argv[i], false);
    read_side(argv[i + 1], true);
    if (npair) qsort(pair, npair, sizeof *pair, by_difference);
    csvw *w = csvw_open("-");
    csvw_names(w, "phase,op,cats,a_ns,b_ns,diff_ns,ratio");
    csvw_end(w);
    bool differ = false;
    for (size_t k = 0; k < npair; k++) {
        const struct pair *p = &pair[k];
        double larger = fmax((double)p->a, (double)p->b);
        differ |= fabs((double)p->more) > tolerance * larger;
        for (int f = 0; f < 3; f++) csvw_cstr(w, p->part[f]);
        csvw_int(w, p->a);
        csvw_int(w, p->b);
        csvw_int(w, p->more);
        csvw_known(w, p->a ? (double)p->b / (double)p->a : NAN);
        csvw_end(w);
    }
    csvw_close(w);
    return differ;
}
