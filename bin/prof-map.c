/* prof-map - give rows a category by patterns on their names
 *
 * Usage: prof-map --map=FILE [FILE]...
 *
 * Columns in and out: those of events; unknown ones pass through.  The map is
 * an s-expression, for instance
 *   (map (match "torch.*" Backend) (match "pybullet.*" Simulator)
 *        (match "*" Python) (cpu Python Backend Simulator) (gpu GPU))
 * A row of kind cat with a name gets the category of the first pattern that
 * matches it (* any bytes, ? one, [ab] one of these, \ the next as it is);
 * rows without a name, and those that no pattern matches, keep theirs, and the
 * latter are counted.  Order and number of the rows are kept.  Memory: each
 * distinct name once.
 *
 * Examples:
 *   $ prof-map --map=map.sexp events.csv | prof-op | prof-sweep
 */
#include "base/filter.h"
#include "table/csvio.h"
#include "tree/sexp.h"
#include HELP
#include <fnmatch.h>

static const char *map;
static const struct opt options[] = {
    { 0, "map", STR, &map, "FILE", "the patterns" },
    { 0 } };

enum { UNKNOWN = -1, NO_MATCH = -2 };
struct rule { const char *pattern; str category; };
static struct rule *rule;
static size_t nrule, rule_cap;
static struct arena text;
static struct intern names;
static long *rule_of;                                    /* name -> rule, or NO_MATCH */
static size_t rule_of_cap;

static void read_map(void)
{
    const struct sexp *x = sexp_only(sexp_open(map, SEXP_CORE));
    if (!sexp_head(x, 0, "map")) sexp_die(x, 0, "expected (map (match PATTERN CATEGORY) ..)");
    for (snode n = sexp_after(x, sexp_first(x, 0)); n != SEXP_NONE; n = sexp_after(x, n)) {
        if (sexp_head(x, n, "cpu") || sexp_head(x, n, "gpu")) continue;
        if (!sexp_head(x, n, "match") || sexp_count(x, n) != 3) sexp_die(x, n, "expected (match PATTERN CATEGORY)");
        str p = sexp_atom(x, sexp_nth(x, n, 1));
        rule = grow(rule, nrule + 1, &rule_cap, sizeof *rule);
        rule[nrule++] = (struct rule){ arena_copy(&text, p.s, p.n), sexp_atom(x, sexp_nth(x, n, 2)) };
    }
}

static long find_rule(str name)
{
    size_t known = names.n;
    uint32_t i = intern(&names, name);
    if (names.n == known) return rule_of[i];
    rule_of = grow(rule_of, names.n, &rule_of_cap, sizeof *rule_of);
    rule_of[i] = NO_MATCH;
    for (size_t k = 0; rule_of[i] == NO_MATCH && k < nrule; k++)
        if (fnmatch(rule[k].pattern, names.name[i].s, 0) == 0) rule_of[i] = (long)k;
    return rule_of[i];
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!map) usage("no --map given");
    read_map();
    csv *t = csv_files(argv + i);
    csvw *w = csvw_open("-");
    int kind = csv_need(t, "kind"), cat = csv_need(t, "cat"), name = csv_need(t, "name");
    unsigned long long unmatched = 0;
    csvw_copy_names(w, t);
    csvw_end(w);
    while (csv_next(t)) {
        bool ours = str_is(csv_str(t, kind), "cat") && csv_has(t, name);
        long r = ours ? find_rule(csv_str(t, name)) : UNKNOWN;
        unmatched += r == NO_MATCH;
        for (int c = 0; c < csv_ncol(t); c++) {
            if (c == cat && r >= 0) csvw_str(w, rule[r].category);
            else csvw_copy(w, t, c);
        }
        csvw_end(w);
    }
    if (unmatched && !quiet) warn("%llu rows matched no pattern and keep their category", unmatched);
    return csvw_close(w);
}
