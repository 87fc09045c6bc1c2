/* sexp-from-csv - rows to records in s-expressions
 *
 * Usage: sexp-from-csv [--head=WORD] [--items=COLS] [--wrap=WORD] [FILE]...
 *
 * Columns in: any.  Every row becomes a line (HEAD ITEM... (COLUMN VALUE)...);
 * empty fields are left out, without --head the record is ((COLUMN VALUE)...).
 * --items names columns whose values stand bare after the head, an empty one
 * as "".  With --wrap all records become the children of one list (WORD ...).
 * Values are atoms, quoted where they must be.  Order is kept.  Constant
 * memory.
 *
 * Examples:
 *   $ sexp-from-csv --head=tensor --items=name tensors.csv
 */
#include "base/filter.h"
#include "table/columns.h"
#include "table/input.h"
#include "tree/sexp.h"
#include HELP

static const char *head, *items, *wrap;
static const struct opt options[] = {
    { 0, "head", STR, &head, "WORD", "first atom of every record" },
    { 0, "items", STR, &items, "COLS", "columns that become bare items" },
    { 0, "wrap", STR, &wrap, "WORD", "one list around all records" },
    CSV_INPUT,
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (items && !head) usage("--items needs --head, or the first item would be taken for the head");
    csv *t = csv_files(argv + i);
    struct columns item = { 0 };
    if (items) item = columns_of(t, items, "--items");
    struct columns pair = columns_without(t, item);
    sexpw *w = sexpw_open(NULL);
    if (wrap) sexpw_begin(w, wrap);
    while (csv_next(t)) {
        sexpw_line(w);
        sexpw_begin(w, head);
        for (int k = 0; k < item.n; k++) sexpw_atom(w, csv_str(t, item.v[k]));
        for (int k = 0; k < pair.n; k++) {
            if (!csv_has(t, pair.v[k])) continue;
            sexpw_begin(w, NULL);
            sexpw_atom(w, csv_name(t, pair.v[k]));
            sexpw_atom(w, csv_str(t, pair.v[k]));
            sexpw_end(w);
        }
        sexpw_end(w);
    }
    if (wrap) sexpw_end(w);
    return sexpw_close(w);
}
