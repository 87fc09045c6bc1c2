/* inline-verdict - a table of call sites with what given decisions say of each
 *
 * Usage: inline-verdict --decisions=FILE [-c COL] [FILE]...
 *
 * Columns in: callee, chain, and any others.  Columns out: the same, COL last:
 * yes or no, or empty where the decisions do not know the call.  A call that
 * FILE does not name is what copies of it are: yes when any copy is inlined.
 * Builds nothing: the labels to fit a policy to, from the table of one
 * inline-sites and any set of decisions.  Row for row; memory: the decisions.
 *
 * Examples:
 *   $ inline-verdict --decisions=learned.sexp sites.csv > labelled.csv
 */
#include "base/filter.h"
#include "inline/live.h"
#include "table/csvio.h"
#include HELP
#include <stdlib.h>

static const char *decisions, *column = "verdict", *out;
static const struct opt options[] = {
    { 'd', "decisions", STR, &decisions, "FILE", "what was decided" },
    { 'c', "column", STR, &column, "COL", "name of the new column" },
    OUTPUT_OPTION(out),
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!decisions) usage("no decisions, see --decisions");
    struct live set = { 0 };
    live_read(&set, decisions);
    struct intern known = { 0 };
    struct buf key = { 0 };
    bool *yes = xcalloc(set.n + 1, sizeof *yes);
    for (size_t k = 0; k < set.n; k++) {
        site_base_key(&key, set.v[k].site);
        uint32_t at = intern(&known, (str){ key.s, key.n });
        yes[at] = yes[at] || set.v[k].inlined;
    }
    csv *t = csv_files(argv + i);
    int callee = csv_need(t, "callee"), chain = csv_need(t, "chain");
    csvw *w = csvw_open(out);
    csvw_copy_names(w, t);
    csvw_cstr(w, column);
    csvw_end(w);
    while (csv_next(t)) {
        csvw_copy_all(w, t);
        const struct live_site *s = live_find(&set, (struct site){ csv_str(t, callee), csv_str(t, chain) });
        site_base_key(&key, (struct site){ csv_str(t, callee), csv_str(t, chain) });
        long at = intern_find(&known, (str){ key.s, key.n });
        csvw_cstr(w, s ? (s->inlined ? "yes" : "no") : at < 0 ? NULL : yes[at] ? "yes" : "no");
        csvw_end(w);
    }
    csv_close(t);
    return csvw_close(w);
}
