/* inline-diff - where two sets of inlining decisions differ
 *
 * Usage: inline-diff [OPTION]... A B
 *
 * A and B hold one expression each: decisions in any form, or trees; the
 * tree that each of them builds is compared, for instance what was asked for
 * with what was compiled. Exit 0: same, 1: different, 2: trouble. Columns
 * out, one row for each node that differs: site (steps joined by blanks), a,
 * b (decl, inlined, apply, or empty where the node is absent). First those
 * of A in its order, then those only in B. Memory: both.
 *
 * Examples:
 *   $ inline-diff asked.decisions compiled.decisions
 */
#include "decisions/source.h"
#include "base/filter.h"
#include "table/csvio.h"
#include HELP
#include <stdlib.h>

static const char *output;
static enum sexp_dialect dialect = SEXP_CORE;
static long only_round = 0;
static bool asked;
static const struct opt options[] = {
    ROUND_OPTION(only_round),
    { 0, "asked", FLAG, &asked, NULL, "what only B has is no difference: was A obeyed?" },
    SOURCE_OPTIONS(dialect, output),
    { 0 } };

static struct names names;
static struct itree tree[2];

static void load(char *path, struct itree *t)
{
    static struct decisions d;
    char *one[] = { path, NULL };
    struct source in = source_open(one, dialect);
    source_tree(&names, source_next(&in), &d, (int)only_round, false, t);
    if (source_next(&in)) die("%s: more than one expression", path);
}

static void row(csvw *out, const struct itree *t, uint32_t n, const char *a, const char *b)
{
    static struct buf text;
    static struct trace_step *step;
    static size_t cap;
    size_t depth = 0;
    for (uint32_t x = n; x; x = t->node[x].parent) depth++;
    step = grow(step, depth, &cap, sizeof *step);
    size_t k = depth;
    for (uint32_t x = n; x; x = t->node[x].parent)
        step[--k] = (struct trace_step){ t->node[x].label, t->node[x].func, t->node[x].kind == NODE_DECL };
    text.n = 0;
    decisions_path(&text, &names, step, (uint32_t)depth);
    csvw_str(out, (str){ text.s, text.n });
    csvw_cstr(out, a);
    csvw_cstr(out, b);
    csvw_end(out);
}

/* number of every node of `t` in the numbering by path that `child` holds; new paths are added */
static uint32_t *number(const struct itree *t, struct map64 *child, uint32_t *n_path)
{
    uint32_t *id = xcalloc(t->n, sizeof *id);
    for (uint32_t n = itree_next(t, 0, NULL); n != NODE_NONE; n = itree_next(t, n, NULL)) {
        const struct tnode *x = &t->node[n];
        uint32_t *at =
            map64_at(child, (uint64_t)id[x->parent] << 32 | (uint64_t)x->label << 1 | (x->kind == NODE_DECL));
        if (*at == NAME_NONE) *at = (*n_path)++;
        id[n] = *at;
    }
    return id;
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = { "root", "decl", "inlined", "apply" };
    fail_status = usage_status = 2;
    int i = filter_init(argc, argv, help, options);
    if (argc - i != 2) usage("two files are compared, %d given", argc - i);
    for (int k = 0; k < 2; k++) load(argv[i + k], &tree[k]);
    static struct map64 child;
    static uint32_t *id[2], *node[2];
    uint32_t n_path = 1;
    for (int k = 0; k < 2; k++) id[k] = number(&tree[k], &child, &n_path);
    for (int k = 0; k < 2; k++) {                        /* the first node with a path stands for it */
        node[k] = xcalloc(n_path, sizeof *node[k]);
        for (uint32_t n = (uint32_t)tree[k].n; n-- > 1; ) node[k][id[k][n]] = n;
    }
    csvw *out = csvw_open(output);
    csvw_names(out, "site,a,b");
    csvw_end(out);
    long n_different = 0;
    for (int k = 0; k < 2; k++) {
        const struct itree *t = &tree[k];
        for (uint32_t n = itree_next(t, 0, NULL); n != NODE_NONE; n = itree_next(t, n, NULL)) {
            uint32_t other = node[!k][id[k][n]];
            if (node[k][id[k][n]] != n || (k && (other || asked))) continue;
            const char *mine = kinds[t->node[n].kind], *theirs = other ? kinds[tree[!k].node[other].kind] : NULL;
            if (mine == theirs) continue;
            row(out, t, n, k ? theirs : mine, k ? mine : theirs);
            n_different++;
        }
    }
    csvw_close(out);
    return n_different ? 1 : 0;
}
