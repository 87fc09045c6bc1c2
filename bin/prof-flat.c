/* prof-flat - nested intervals as disjoint pieces of the innermost one
 *
 * Usage: prof-flat [--excl] [--only] [FILE]...
 *
 * Columns in and out: those of events; others pass through.  Rows of kind op
 * are flattened per process and thread: at each instant only the innermost
 * operation is left, the one with the latest start, then the shorter, then the
 * later in the input.  With --excl categories (kind cat) are flattened among
 * themselves too, so that the Python and C time of a thread exclude each other.
 * Rows of other kinds are copied.  An interval that outlives the one it began
 * in is cut at that one's end; such cuts and empty rows are counted.
 *
 * Output is sorted by start_ns.  Memory: all rows.
 *
 * Examples:
 *   $ prof-flat events.csv > pieces.csv
 *   $ prof-flat --excl events.csv | csv-group -g cat
 */
#include "base/filter.h"
#include "prof/nest.h"
#include HELP

static bool exclusive, only;
static const struct opt options[] = {
    { 0, "excl", FLAG, &exclusive, NULL, "flatten categories as well" },
    { 0, "only", FLAG, &only, NULL, "leave out the rows that are not flattened" },
    { 0 } };

static struct event_table t;
static struct rows out;
static struct pieces pieces;
static struct repairs repairs;

static void flatten(const struct row *row, size_t n, enum event_kind kind)
{
    nest_flatten(&pieces, row, n, kind, &repairs);
    for (size_t k = 0; k < pieces.n; k++) {
        struct row r = *pieces.v[k].of;
        r.start = pieces.v[k].start;
        r.end = pieces.v[k].end;
        rows_add(&out, &r);
    }
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    table_read(&t, argv + i);
    for (size_t k = 0; k < t.rows.n; k++) is_empty(t.rows.v[k].start, t.rows.v[k].end, &repairs, k + 2);
    table_sort_threads(&t);
    for (size_t begin, end = 0; next_thread(&t.rows, &begin, &end);) {
        const struct row *row = t.rows.v + begin;
        size_t n = end - begin;
        flatten(row, n, EVENT_OP);
        if (exclusive) flatten(row, n, EVENT_CAT);
        for (size_t k = 0; !only && k < n; k++)
            if (row[k].kind != EVENT_OP && !(exclusive && row[k].kind == EVENT_CAT) && row[k].end > row[k].start)
                rows_add(&out, &row[k]);
    }
    repairs_note(&repairs);
    return table_write(&t, &out, t.has_op);
}
