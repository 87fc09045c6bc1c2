/* sexp-get - parts of s-expressions by name
 *
 * Usage: sexp-get -k KEY[/KEY]... [--text|--whole] [--dialect=WORD] [FILE]...
 *
 * In every top-level expression each KEY steps to the children of the form
 * (KEY ...), all of them; #N steps to the item number N, the first is 0.  Out
 * come the items that follow the last KEY, one a line, in canonical form; with
 * --text atoms stand there as they are, with --whole comes the list itself.
 * Exit status 1 and a message when nothing was found in any file.  Order is
 * kept.  Memory: one expression.
 *
 * Examples:
 *   $ sexp-get -k objective_seconds plan.sexp
 *   $ sexp-get -k node/outputs --whole graph.sexp
 */
#include "base/filter.h"
#include "base/num.h"
#include "base/out.h"
#include "tree/sexp.h"
#include HELP
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *path;
static enum sexp_dialect dialect = SEXP_CORE;
static bool text, whole;
static const struct opt options[] = {
    { 'k', "key", STR, &path, "PATH", "what to get" },
    { 0, "text", FLAG, &text, NULL, "atoms without quotes" },
    { 0, "whole", FLAG, &whole, NULL, "the list with its KEY" },
    DIALECT_OPTION(dialect),
    { 0 } };

struct step { char *key; int64_t item; };                /* item is -1 for a key */

static struct step *step;
static size_t nstep, found;
static sexpw *w;

static void parse_path(void)
{
    for (const char *p = path;; p++) {
        size_t n = strcspn(p, "/");
        if (!n) usage("--key: a step is empty in '%s'", path);
        struct step s = { xformat("%.*s", (int)n, p), -1 };
        if (*p == '#' && (!int_parse(p + 1, n - 1, &s.item) || s.item < 0))
            usage("--key: '%s' is not # and a number", s.key);
        step = xrealloc(step, nstep + 1, sizeof *step);
        step[nstep++] = s;
        p += n;
        if (!*p) return;
    }
}

static void put(const struct sexp *e, snode n)
{
    found++;
    if (text && sexp_is_atom(e, n)) {
        str s = sexp_atom(e, n);
        fwrite(s.s, 1, s.n, stdout);
        putchar('\n');
    } else sexpw_copy(w, e, n);
}

/* depth is that of the path, not of the expression */
static void follow(const struct sexp *e, snode n, size_t at)
{
    if (at == nstep) {
        if (whole || step[at - 1].item >= 0) put(e, n);
        else for (snode k = sexp_nth(e, n, 1); k != SEXP_NONE; k = sexp_after(e, k)) put(e, k);
        return;
    }
    if (step[at].item >= 0) {
        snode k = sexp_nth(e, n, (size_t)step[at].item);
        if (k != SEXP_NONE) follow(e, k, at + 1);
        return;
    }
    for (snode k = sexp_first(e, n); k != SEXP_NONE; k = sexp_after(e, k))
        if (sexp_head(e, k, step[at].key)) follow(e, k, at + 1);
}

int main(int argc, char **argv)
{
    int i = filter_init(argc, argv, help, options);
    if (!path) usage("no path given, see --key");
    if (text && whole) usage("--text and --whole exclude each other");
    parse_path();
    w = sexpw_file(stdout);
    sexpr *r = sexp_files(argv + i, dialect);
    for (const struct sexp *e; (e = sexp_next(r));) follow(e, 0, 0);
    sexpw_close(w);
    if (!found) die("nothing found at '%s'", path);
    return finish();
}
