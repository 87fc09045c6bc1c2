/* inline-design - sets of decisions from which the worth of each call can be told
 *
 * Usage: inline-design --store=DIR --list=FILE [OPTION]... [SITES]
 *        inline-design --store=DIR --list=FILE --verdicts=FILE [-c COL] [SITES]
 *
 * Unlike a search, which asks after each build what to try next, a design is
 * all there before the first is built, and a model is fitted to the answers.
 * Reads the table of inline-sites; the calls of the source that the search
 * runs execute most are the factors (--most), each decided once for all its
 * copies; the others stay as the default has them.
 *
 * Kinds: random (a coin each), flip (other than the default with probability
 * --share), groups (a coin for all factors that call one function), factorial
 * (orthogonal, after Plackett and Burman: N trials, a power of two, tell N - 1
 * effects apart with the least variance that N trials can have).
 *
 * Writes the sets to DIR/new, to FILE of --list what inline-run --list reads
 * (chain: --chain, step: the trial), and a row for each trial and factor:
 * trial, decisions (the name inline-run gives the set), site, callee,
 * inlined (1 or 0).
 *
 * With --verdicts one set is written, trial 0: FILE has the columns site and
 * COL (yes, no, empty: as the default), such as a model's opinion.
 *
 * Examples:
 *   $ inline-design --kind=factorial --store=s --list=l.csv t.csv > d.csv
 *   $ inline-design --verdicts=v.csv -c verdict --store=s --list=l.csv t.csv
 */
#include "base/filter.h"
#include "base/checked.h"
#include "inline/design.h"
#include HELP
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

static const char *store, *list, *verdicts, *column = "verdict", *chain = "design", *program = "",
                  *compiler = "clang-14", *out;
static enum design_kind kind;
static long trials = 32, most = 1000000, seed = 1;
static double share = 0.1;
static const struct opt options[] = {
    { 0, "kind", WORD, &kind, DESIGN_KINDS, "of design" },
    { 'n', "trials", INT, &trials, "N", "how many", 1, 1 << 20 },
    { 0, "most", INT, &most, "N", "factors, the most executed calls", 1, 1e9 },
    { 0, "share", NUM, &share, "P", "flip: of calls decided the other way", 0, 1 },
    { 0, "verdicts", STR, &verdicts, "FILE", "write this set" },
    { 'c', "column", STR, &column, "COL", "the verdict" },
    { 0, "store", STR, &store, "DIR", "where sets are written, in DIR/new" },
    { 0, "list", STR, &list, "FILE", "for inline-run" },
    { 0, "chain", STR, &chain, "NAME", "in that list" },
    { 0, "program", STR, &program, "NAME", "for the decisions" },
    { 0, "compiler", STR, &compiler, "NAME", "for the decisions" },
    { 's', "seed", INT, &seed, "N", "of the random streams" },
    OUTPUT_OPTION(out),
    { 0 } };

/* what names a call in tables: no blanks, so that inline-reward takes it for one step */
static void site_name(struct buf *b, const struct design_call *c)
{
    b->n = 0;
    buf_str(b, c->callee);
    buf_char(b, '@');
    buf_str(b, c->chain);
}

static void read_verdicts(const struct design *d, unsigned char *v)
{
    struct intern known = { 0 };
    struct buf b = { 0 };
    for (size_t k = 0; k < d->factors; k++) {
        site_name(&b, &d->call[k]);
        intern(&known, (str){ b.s, b.n });
        v[k] = d->call[k].by_default;
    }
    csv *t = csv_open(verdicts);
    int site = csv_need(t, "site"), verdict = csv_need(t, column);
    while (csv_next(t)) {
        long k = intern_find(&known, csv_str(t, site));
        str s = csv_str(t, verdict);
        if (k < 0) csv_die(t, site, "a call of the table of sites");
        if (s.n && !str_is(s, "yes") && !str_is(s, "no")) csv_die(t, verdict, "yes, no or empty");
        if (s.n) v[k] = str_is(s, "yes");
    }
    csv_close(t);
    free(b.s);
    intern_free(&known);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!store || !list) usage("--store and --list are needed");
    if (verdicts) trials = 1;
    else if (kind == DESIGN_FACTORIAL && (trials < 2 || trials & (trials - 1)))
        usage("a factorial has 2, 4, 8 .. trials, not %ld", trials);
    struct design d = { 0 };
    csv *t = csv_open(filter_operand(argc, argv, i));
    design_read(&d, t);
    csv_close(t);
    size_t n = (size_t)trials, limit = verdicts ? SIZE_MAX : design_most(kind, n);
    design_factors(&d, verdicts || limit < (size_t)most ? limit : (size_t)most, (uint64_t)seed);
    if (!d.factors) die("no call about which there is a choice");
    unsigned char *v = xcalloc(size_mul(n, d.factors), 1);
    if (verdicts) read_verdicts(&d, v);
    else design_fill(&d, kind, n, share, (uint64_t)seed, v);
    char *dir = xformat("%s/new", store);
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) die_errno("%s", dir);
    csvw *w = csvw_open(out), *l = csvw_open(list);
    csvw_names(w, "trial,decisions,site,callee,inlined");
    csvw_end(w);
    csvw_names(l, "file,parent,chain,step");
    csvw_end(l);
    struct buf b = { 0 };
    for (size_t j = 0; j < n; j++) {
        struct live set = { 0 };
        design_set(&d, v + j * d.factors, &set);
        char *name = xformat("%016llx", (unsigned long long)live_hash(&set)), *path = xformat("%s/%s.sexp", dir, name);
        live_write(&set, path, program, compiler);
        csvw_cstr(l, path);
        csvw_cstr(l, "default");
        csvw_cstr(l, chain);
        csvw_int(l, (int64_t)j);
        csvw_end(l);
        for (size_t k = 0; k < d.factors; k++) {
            csvw_int(w, (int64_t)j);
            csvw_cstr(w, name);
            site_name(&b, &d.call[k]);
            csvw_str(w, (str){ b.s, b.n });
            csvw_str(w, d.call[k].callee);
            csvw_int(w, v[j * d.factors + k]);
            csvw_end(w);
        }
        live_free(&set);
        free(path);
        free(name);
    }
    free(b.s);
    csvw_close(l);
    return csvw_close(w);
}
