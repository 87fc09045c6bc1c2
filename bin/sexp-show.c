/* sexp-show - s-expressions for reading, indented
 *
 * Usage: sexp-show [--width=N] [--compact] [--dialect=WORD] [FILE]...
 *
 * A list that fits into the width stands on one line; of any other every item
 * that is a list on a line of its own, indented by depth, atoms side by side.
 * With --compact every top-level expression is one line: the canonical form
 * that all filters write, so that line tools can be used.  Comments are
 * dropped.
 * Memory: one expression.
 *
 * Examples:
 *   $ sexp-show plan.sexp
 *   $ sexp-show --compact --dialect=compiler decisions.sexp
 */
#include "base/filter.h"
#include "tree/sexp.h"
#include HELP
#include <stdlib.h>

static long width = 79;
static bool compact;
static enum sexp_dialect dialect = SEXP_CORE;
static const struct opt options[] = {
    { 0, "width", INT, &width, "N", "characters of a line", 1, 100000 },
    { 0, "compact", FLAG, &compact, NULL, "one line per expression" },
    DIALECT_OPTION(dialect),
    { 0 } };

static snode *next;                                      /* of every open list: the item to come */
static size_t next_cap;

static bool fits(const struct sexp *e, snode n, size_t depth)
{
    size_t room = (size_t)width > 2 * depth ? (size_t)width - 2 * depth : 0;
    return sexp_is_atom(e, n) || sexp_width(e, n, room) <= room || sexp_count(e, n) == 0;
}

/* used: characters on the line; a list that does not fit is opened and its items come one by one */
static void show(sexpw *w, const struct sexp *e)
{
    size_t depth = 0, used = 0, most = (size_t)width;
    bool beside = true;                                  /* the item may stand beside what came before */
    for (snode n = 0;;) {
        if (n == SEXP_NONE) {                            /* the innermost list is done */
            sexpw_end(w);
            if (!--depth) return;
            n = next[depth];
            beside = false;
            continue;
        }
        size_t size = sexp_is_atom(e, n) ? sexp_width(e, n, most) : 0;
        if (depth && !(beside && (!used || (size && used + size + 1 < most)))) {
            sexpw_line(w);
            used = 2 * depth;
        }
        if (fits(e, n, depth)) {
            sexpw_copy(w, e, n);
            if (!depth) return;
            used += size + 1;
            beside = size > 0;
            n = sexp_after(e, n);
        } else {
            next = grow(next, depth + 1, &next_cap, sizeof *next);
            next[depth++] = sexp_after(e, n);
            sexpw_begin(w, NULL);
            used = 0;
            beside = true;
            n = sexp_first(e, n);
        }
    }
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    sexpw *w = sexpw_open(NULL);
    sexpr *r = sexp_files(argv + i, dialect);
    for (const struct sexp *e; (e = sexp_next(r));) {
        if (compact) sexpw_copy(w, e, 0);
        else show(w, e);
    }
    return sexpw_close(w);
}
