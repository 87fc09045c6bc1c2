/* loop-reset - the untiled nest of each problem
 *
 * Usage: loop-reset [FILE]
 *
 * Columns in: problem.  Columns out: all, then tree, cursor, mask (the legal
 * actions, separated by blanks; see loop-act) and actions (empty: none taken
 * yet).  Order is kept.  Constant memory.
 *
 * Examples:
 *   $ loop-gen --kind=mm --m=64 --n=64 --k=64 | loop-reset
 */
#include "base/filter.h"
#include "loop/nest/rows.h"
#include HELP

static bool published;
static const struct opt options[] = {
    { 0, "as-published", FLAG, &published, NULL, "legality as published: 10 loops, innermost a multiple of 8" },
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    struct nest_rows r;
    rows_open(&r, csv_open(filter_operand(argc, argv, i)), false);
    if (r.tree >= 0) usage("the table has a column 'tree' already");
    csvw *w = csvw_open("-");
    csvw_copy_names(w, r.t);
    csvw_names(w, "tree,cursor,mask,actions");
    csvw_end(w);
    while (rows_next(&r)) {
        csvw_copy_all(w, r.t);
        rows_write_tree(w, &r.p, &r.nest);
        csvw_int(w, 0);
        rows_write_mask(w, &r.p, &r.nest, rules_of(published));
        csvw_empty(w);
        csvw_end(w);
    }
    rows_close(&r);
    return csvw_close(w);
}
