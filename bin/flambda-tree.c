/* flambda-tree - the inlining tree of decisions, and its statistics
 *
 * Usage: flambda-tree [OPTION]... [FILE]...
 *
 * Reads what flambda-import reads and writes one tree for each expression:
 * V0 and V1 trees as the original tools did, (Decl ...) (Inlined ...)
 * (Apply ...) for other compilers. Decisions are inserted in file order; a
 * node that exists wins, and what lies below a call that was not inlined is
 * lost and counted. Specialise decisions are skipped.
 *
 * With --stat a table instead: columns out file, expression, form, round,
 * n_decisions, n_lost, n_decl, n_inlined, n_apply, n_unknown (calls whose
 * callee is not known), depth. Memory: one expression.
 *
 * Examples:
 *   $ flambda-tree kb-1.sexp > kb-1.tree
 *   $ flambda-tree --stat lens-1.sexp kb-1.sexp
 */
#include "decisions/source.h"
#include "base/filter.h"
#include "table/csvio.h"
#include HELP
#include <string.h>

static const char *output;
static enum { ORIGINAL, SEEN } order = ORIGINAL;
static enum sexp_dialect dialect = SEXP_CORE;
static long only_round = 0, n_fields;
static bool stat, rounds;
static const struct opt options[] = {
    ROUND_OPTION(only_round),
    { 0, "stat", FLAG, &stat, NULL, "write a table of counts, not trees" },
    { 0, "rounds", FLAG, &rounds, NULL, "with --stat: a row for each round that occurs" },
    { 0, "order", WORD, &order, "original|seen", "children: last seen first, as the original, or first seen first" },
    { 0, "fields", INT, &n_fields, "N", "fields of V1 metadata, 3 to 5; 0: as read", 0, 5 },
    SOURCE_OPTIONS(dialect, output),
    { 0 } };

static struct names names;
static struct decisions d;
static struct itree tree;

static void row(csvw *out, const struct source *in, const struct itree *t, int round)
{
    struct tree_stat x = itree_stat(&names, t);
    size_t n = 0;
    for (size_t k = 0; k < d.n; k++) n += round < 0 || d.d[k].round == round;
    csvw_cstr(out, in->file);
    csvw_int(out, (int64_t)in->index);
    csvw_cstr(out, form_name(t->form));
    if (round < 0) csvw_empty(out);
    else csvw_int(out, round);
    size_t count[] = { n, t->n_lost, x.n_decl, x.n_inlined, x.n_apply, x.n_unknown, x.depth };
    for (size_t k = 0; k < sizeof count / sizeof count[0]; k++) csvw_int(out, (int64_t)count[k]);
    csvw_end(out);
}

static int statistics(struct source *in, bool reversed)
{
    csvw *out = csvw_open(output);
    csvw_names(out, "file,expression,form,round,n_decisions,n_lost,n_decl,n_inlined,n_apply,n_unknown,depth");
    csvw_end(out);
    for (const struct sexp *e; (e = source_next(in)); ) {
        source_tree(&names, e, &d, (int)only_round, reversed, &tree);
        int last = -1;
        for (size_t k = 0; k < d.n; k++) last = d.d[k].round > last ? d.d[k].round : last;
        if (!rounds || last < 0) row(out, in, &tree, d.n ? (int)only_round : -1);
        for (int r = 0; rounds && r <= last; r++) {
            itree_build(&tree, &d, r, reversed);
            row(out, in, &tree, r);
        }
    }
    return csvw_close(out);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    struct source in = source_open(argv + i, dialect);
    bool reversed = order == ORIGINAL;
    if (stat) return statistics(&in, reversed);
    sexpw *out = sexpw_open(output);
    for (const struct sexp *e; (e = source_next(&in)); ) {
        source_tree(&names, e, &d, (int)only_round, reversed, &tree);
        itree_write(out, &names, &tree, (int)n_fields);
    }
    return sexpw_close(out);
}
