/* flambda-tree - the inlining tree of decisions, its statistics, its paths
 *
 * Usage: flambda-tree [--stat | --expand [--count] | --collapse] [FILE]...
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
 * --expand names every call by its stable path: V1 decisions or trees whose
 * apply ids have parents, as expanded trees, in six passes: own step of every
 * path; merge equal siblings; fill inlined calls from declarations met
 * before; merge; drop calls that stand beside an inlined twin; remove stubs.
 * With --count a table instead: file, expression, pass (0 is the tree as
 * read), n_nodes. --collapse takes expanded trees back to V1 trees whose
 * apply ids carry the path as parents; passes 1 and 2 bring the expanded tree
 * back; what was merged or dropped does not come back.
 *
 * Examples:
 *   $ flambda-tree kb-1.sexp > kb-1.tree
 *   $ flambda-tree --stat lens-1.sexp kb-1.sexp
 *   $ flambda-tree --expand kb-1-parents.sexp | flambda-tree --collapse
 */
#include "decisions/expand.h"
#include "decisions/source.h"
#include "base/filter.h"
#include "table/csvio.h"
#include HELP
#include <string.h>

static const char *output;
static enum { ORIGINAL, SEEN } order = ORIGINAL;
static enum sexp_dialect dialect = SEXP_CORE;
static long only_round = 0, passes = EXPAND_PASSES;
static bool stat, rounds, expanded, collapsed, count;
static const struct opt options[] = {
    ROUND_OPTION(only_round),
    { 0, "stat", FLAG, &stat, NULL, "write a table of counts, not trees" },
    { 0, "rounds", FLAG, &rounds, NULL, "with --stat: a row for each round that occurs" },
    { 0, "expand", FLAG, &expanded, NULL, "every call by its stable path" },
    { 0, "passes", INT, &passes, "N", "with --expand: stop after this pass", 1, EXPAND_PASSES },
    { 0, "count", FLAG, &count, NULL, "with --expand: the number of nodes after every pass, not trees" },
    { 0, "collapse", FLAG, &collapsed, NULL, "expanded trees back to V1" },
    { 0, "order", WORD, &order, "original|seen", "children: last seen first, as the original, or first seen first" },
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
    size_t number[] = { n, t->n_lost, x.n_decl, x.n_inlined, x.n_apply, x.n_unknown, x.depth };
    for (size_t k = 0; k < sizeof number / sizeof number[0]; k++) csvw_int(out, (int64_t)number[k]);
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

static void write_passes(csvw *out, const struct source *in, size_t before, const size_t *after)
{
    for (int pass = 0; pass <= passes; pass++) {
        csvw_cstr(out, in->file);
        csvw_int(out, (int64_t)in->index);
        csvw_int(out, pass);
        csvw_int(out, (int64_t)(pass ? after[pass - 1] : before));
        csvw_end(out);
    }
}

static int expand_all(struct source *in)
{
    sexpw *out = count ? NULL : sexpw_open(output);
    csvw *table = count ? csvw_open(output) : NULL;
    if (table) {
        csvw_names(table, "file,expression,pass,n_nodes");
        csvw_end(table);
    }
    for (const struct sexp *e; (e = source_next(in)); ) {
        size_t after[EXPAND_PASSES];
        source_tree(&names, e, &d, (int)only_round, true, &tree);
        size_t before = tree.n - 1;
        if (tree.form != FORM_TREE_V1 && before)
            sexp_die(e, 0, "only V1 decisions and trees can be expanded, this is %s", form_name(tree.form));
        expand(&names, &tree, in->file, (int)passes, after);
        if (table) write_passes(table, in, before, after);
        else itree_write(out, &names, &tree, 0);
    }
    return table ? csvw_close(table) : sexpw_close(out);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (stat + expanded + collapsed > 1) usage("--stat, --expand and --collapse are one too many");
    if ((count || passes != EXPAND_PASSES) && !expanded) usage("--count and --passes go with --expand");
    if (rounds && !stat) usage("--rounds goes with --stat");
    struct source in = source_open(argv + i, dialect);
    bool reversed = order == ORIGINAL;
    if (stat) return statistics(&in, reversed);
    if (expanded) return expand_all(&in);
    sexpw *out = sexpw_open(output);
    for (const struct sexp *e; (e = source_next(&in)); ) {
        if (collapsed) {
            itree_read(&names, e, &tree);
            if (tree.form != FORM_EXPANDED && tree.n > 1)
                sexp_die(e, 0, "not an expanded tree but %s", form_name(tree.form));
            collapse(&names, &tree);
        } else source_tree(&names, e, &d, (int)only_round, reversed, &tree);
        itree_write(out, &names, &tree, collapsed ? 5 : 0);
    }
    return sexpw_close(out);
}
