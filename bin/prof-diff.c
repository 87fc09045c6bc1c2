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

static void read_side(struct sums *s, char *path, const char *side)
{
    struct cells *c = xcalloc(1, sizeof *c);             /* kept: names are borrowed */
    cells_read(c, (char *[]){ path, NULL });
    bool op = by != BY_CATS, cats = by != BY_OP, all = by == BY_ALL;
    for (size_t i = 0; i < c->n; i++)
        sums_add(s, &(struct sum){ { all ? c->v[i].phase : "", op ? c->v[i].op : "", cats ? c->v[i].cats : "", side },
                                   c->v[i].total });
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
    struct sums s = { 0 };
    read_side(&s, argv[i], "a");
    read_side(&s, argv[i + 1], "b");
    sums_merge(&s);
    struct pair *pair = xcalloc(s.n + 1, sizeof *pair);
    size_t npair = 0;
    for (size_t k = 0; k < s.n; k++) {                   /* both sides of a row are neighbours */
        const struct sum *x = &s.v[k];
        if (!k || sums_order(x - 1, x, 3) != 0) memcpy(pair[npair++].part, x->part, sizeof pair->part);
        struct pair *p = &pair[npair - 1];
        *(x->part[3][0] == 'a' ? &p->a : &p->b) = x->total;
        p->more = i64_sub(p->b, p->a);
    }
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
