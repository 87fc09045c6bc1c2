/* inline-check - are inlining decisions or trees sound?
 *
 * Usage: inline-check [OPTION]... [FILE]...
 *
 * Exit 0: nothing found, 1: something found, 2: trouble. Columns out, one row
 * for each finding: file, expression, finding, site.
 *   repeated       a call decided twice, the same way
 *   contradictory  a call decided both ways in one round; the first counts
 *   lost           a decision below a call that is not inlined
 *   unreached      a call inside one for which there is no decision
 *   unknown        inlined though its callee is not known
 *   parentless     an apply id that does not begin with that of the call
 *                  around it, so its path cannot be expanded
 * Order of the input. Memory: one expression.
 *
 * Examples:
 *   $ inline-check best.decisions && inline-emit --form=v1 best.decisions
 */
#include "decisions/source.h"
#include "base/filter.h"
#include "table/csvio.h"
#include HELP
#include <stdlib.h>

static const char *output;
static enum sexp_dialect dialect = SEXP_CORE;
static const struct opt options[] = {
    SOURCE_OPTIONS(dialect, output),
    { 0 } };

static struct names names;
static struct decisions d;
static struct source in;
static csvw *out;
static long found;

static void finding(const char *what, const struct trace_step *s, uint32_t n)
{
    static struct buf b;
    b.n = 0;
    decisions_path(&b, &names, s, n);
    csvw_cstr(out, in.file);
    csvw_int(out, (int64_t)in.index);
    csvw_cstr(out, what);
    csvw_str(out, (str){ b.s, b.n });
    csvw_end(out);
    found++;
}

/* One round.  A node is its number along the steps from the root; the value says how the call was decided first. */
static void check_round(int round, bool v1)
{
    struct map64 child = { 0 }, decided = { 0 };
    uint32_t n_node = 1;
    uint32_t *at = NULL;
    size_t cap = 0;
    for (size_t k = 0; k < d.n; k++) {                   /* first all decisions, so that order does not matter below */
        const struct decision *x = &d.d[k];
        if (x->round != round) continue;
        uint32_t node = 0;
        for (uint32_t i = 0; i < x->n; i++) {
            const struct trace_step *s = &d.step[x->first + i];
            uint32_t *next = map64_at(&child, (uint64_t)node << 32 | (uint64_t)s->label << 1 | s->decl);
            if (*next == NAME_NONE) *next = n_node++;
            node = *next;
        }
        at = grow(at, k + 1, &cap, sizeof *at);
        at[k] = node;
        uint32_t *how = map64_at(&decided, node);
        if (*how == NAME_NONE) *how = x->action;
        else finding(*how == x->action ? "repeated" : "contradictory", &d.step[x->first], x->n);
    }
    for (size_t k = 0; k < d.n; k++) {
        const struct decision *x = &d.d[k];
        const struct trace_step *s = &d.step[x->first], *last = s + x->n - 1;
        if (x->round != round) continue;
        uint32_t node = 0;
        for (uint32_t i = 0; i + 1 < x->n; i++) {
            node = map64_find(&child, (uint64_t)node << 32 | (uint64_t)s[i].label << 1 | s[i].decl);
            uint32_t how = s[i].decl ? (uint32_t)ACTION_INLINE : map64_find(&decided, node);
            if (how == ACTION_INLINE) continue;
            finding(how == NAME_NONE ? "unreached" : "lost", s, x->n);
            break;
        }
        if (x->action == ACTION_INLINE && last->func != NAME_NONE && names_unknown(&names, last->func))
            finding("unknown", s, x->n);
        uint32_t around = x->n > 1 && !last[-1].decl ? last[-1].label : 0;
        if (v1 && !path_begins(&names, last->label, around)) finding("parentless", s, x->n);
    }
    map64_free(&child);
    map64_free(&decided);
    free(at);
}

int main(int argc, char **argv)
{
    fail_status = usage_status = 2;
    int i = filter_init(argc, argv, help, options);
    in = source_open(argv + i, dialect);
    out = csvw_open(output);
    csvw_names(out, "file,expression,finding,site");
    csvw_end(out);
    for (const struct sexp *e; (e = source_next(&in)); ) {
        int last = -1;
        source_decisions(&names, e, &d);
        for (size_t k = 0; k < d.n; k++) last = d.d[k].round > last ? d.d[k].round : last;
        for (int r = 0; r <= last; r++) check_round(r, d.form == FORM_V1);
    }
    csvw_close(out);
    return found ? 1 : 0;
}
