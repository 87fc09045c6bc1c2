/* flambda-expand - name every call of a V1 inlining tree by its stable path
 *
 * Usage: flambda-expand [OPTION]... [FILE]...
 *
 * Reads V1 decisions or trees whose apply ids have parents and writes
 * expanded trees. Six passes: own step of every path; merge equal siblings;
 * fill inlined calls from declarations met before; merge; drop calls that
 * stand beside an inlined twin; remove stubs. With --count a table instead:
 * columns out file, expression, pass (0 is the tree as read), n_nodes.
 * Memory: one expression.
 *
 * Examples:
 *   $ flambda-expand kb-1-parents.sexp > kb-1.expanded
 *   $ flambda-expand --count kb-1-parents.sexp
 */
#include "decisions/expand.h"
#include "decisions/source.h"
#include "base/filter.h"
#include "table/csvio.h"
#include HELP

static const char *output;
static enum sexp_dialect dialect = SEXP_CORE;
static long only_round = 0, n_fields, passes = EXPAND_PASSES;
static bool count;
static const struct opt options[] = {
    ROUND_OPTION(only_round),
    { 0, "passes", INT, &passes, "N", "stop after this pass", 1, EXPAND_PASSES },
    { 0, "count", FLAG, &count, NULL, "write the number of nodes after every pass, not trees" },
    { 0, "fields", INT, &n_fields, "N", "fields of metadata written, 3 to 5; 0: as read", 0, 5 },
    SOURCE_OPTIONS(dialect, output),
    { 0 } };

static struct names names;
static struct decisions d;
static struct itree tree;

static void rows(csvw *out, const struct source *in, size_t before, const size_t *after)
{
    for (int pass = 0; pass <= passes; pass++) {
        csvw_cstr(out, in->file);
        csvw_int(out, (int64_t)in->index);
        csvw_int(out, pass);
        csvw_int(out, (int64_t)(pass ? after[pass - 1] : before));
        csvw_end(out);
    }
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    struct source in = source_open(argv + i, dialect);
    sexpw *out = count ? NULL : sexpw_open(output);
    csvw *table = count ? csvw_open(output) : NULL;
    if (table) {
        csvw_names(table, "file,expression,pass,n_nodes");
        csvw_end(table);
    }
    for (const struct sexp *e; (e = source_next(&in)); ) {
        size_t after[EXPAND_PASSES];
        source_tree(&names, e, &d, (int)only_round, true, &tree);
        size_t before = tree.n - 1;
        if (tree.form != FORM_TREE_V1)
            sexp_die(e, 0, "only V1 decisions and trees can be expanded, this is %s", form_name(tree.form));
        expand(&names, &tree, in.file, (int)passes, after);
        if (table) rows(table, &in, before, after);
        else itree_write(out, &names, &tree, (int)n_fields);
    }
    return table ? csvw_close(table) : sexpw_close(out);
}
