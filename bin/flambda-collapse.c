/* flambda-collapse - expanded inlining trees back to V1 trees
 *
 * Usage: flambda-collapse [OPTION]... [FILE]...
 *
 * Reads expanded trees (flambda-expand) and writes V1 trees whose apply ids
 * carry the path as parents; nodes that expansion put in are taken out.
 * Passes 1 and 2 of flambda-expand bring the expanded tree back. What was
 * merged or dropped does not come back. Memory: one expression.
 *
 * Examples:
 *   $ flambda-expand kb-1-parents.sexp | flambda-collapse > kb-1.v1
 */
#include "decisions/expand.h"
#include "decisions/source.h"
#include "base/filter.h"
#include HELP

static const char *output;
static enum sexp_dialect dialect = SEXP_CORE;
static long n_fields = 5;
static const struct opt options[] = {
    { 0, "fields", INT, &n_fields, "N", "fields of metadata written, 3 to 5", 3, 5 },
    SOURCE_OPTIONS(dialect, output),
    { 0 } };

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    static struct names names;
    static struct itree tree;
    struct source in = source_open(argv + i, dialect);
    sexpw *out = sexpw_open(output);
    for (const struct sexp *e; (e = source_next(&in)); ) {
        itree_read(&names, e, &tree);
        if (tree.form != FORM_EXPANDED && tree.n > 1)
            sexp_die(e, 0, "not an expanded tree but %s", form_name(tree.form));
        collapse(&names, &tree);
        itree_write(out, &names, &tree, (int)n_fields);
    }
    return sexpw_close(out);
}
