/* canonical.c - see canonical.h */
#include "decisions/canonical.h"
#include <stdlib.h>
#include <string.h>

int canonical_round(const struct sexp *e, snode n)
{
    int64_t r = sexp_int(e, n);
    if (r < 0 || r > 1000) sexp_die(e, n, "round %lld is out of range", (long long)r);
    return (int)r;
}

enum action canonical_action(const struct sexp *e, snode n)
{
    str t = sexp_atom(e, n);
    if (str_is(t, "Inline") || str_is(t, "inline")) return ACTION_INLINE;
    if (str_is(t, "Apply") || str_is(t, "apply")) return ACTION_APPLY;
    if (str_is(t, "Specialise") || str_is(t, "specialise")) return ACTION_SPECIALISE;
    sexp_die(e, n, "'%.*s' is not Inline, Apply or Specialise", (int)t.n, t.s);
}

bool canonical_bool(const struct sexp *e, snode n)
{
    str t = sexp_atom(e, n);
    if (str_is(t, "true")) return true;
    if (!str_is(t, "false")) sexp_die(e, n, "'%.*s' is not true or false", (int)t.n, t.s);
    return false;
}

/* names go into other formats, where a blank ends a field and a line end a decision */
static str name_of(const struct sexp *e, snode n, const char *what)
{
    str t = sexp_atom(e, n);
    if (memchr(t.s, '\n', t.n)) sexp_die(e, n, "%s with a line end", what);
    if (t.n == 0 || memchr(t.s, ' ', t.n)) sexp_die(e, n, "%s is one word without blanks", what);
    return t;
}

void canonical_read(const struct sexp *e, void (*take)(void *, const struct sexp *, const struct canonical_site *),
                    void *closure)
{
    str *step = NULL;
    size_t cap = 0;
    if (!sexp_head(e, 0, "decisions")) sexp_die(e, 0, "expected (decisions ...)");
    for (snode x = sexp_after(e, sexp_first(e, 0)); x != SEXP_NONE; x = sexp_after(e, x)) {
        if (!sexp_head(e, x, "site")) continue;
        snode path = sexp_get(e, x, "path"), callee = sexp_value(e, x, "callee"), in = sexp_value(e, x, "inline");
        snode action = sexp_value(e, x, "action"), round = sexp_value(e, x, "round");
        struct canonical_site s = { .at = x, .callee = { "", 0 } };
        if (path == SEXP_NONE) sexp_die(e, x, "a site without a path");
        for (snode p = sexp_after(e, sexp_first(e, path)); p != SEXP_NONE; p = sexp_after(e, p)) {
            step = grow(step, s.n + 1, &cap, sizeof *step);
            step[s.n++] = name_of(e, p, "a step of a path");
        }
        s.step = step;
        if (s.n == 0) sexp_die(e, path, "a path ends with the call that was decided: this one is empty");
        if (callee != SEXP_NONE) s.callee = name_of(e, callee, "a callee");
        if ((in == SEXP_NONE) == (action == SEXP_NONE))
            sexp_die(e, x, "a site has either (inline BOOL) or (action WORD)");
        s.action = action != SEXP_NONE     ? canonical_action(e, action)
                   : canonical_bool(e, in) ? ACTION_INLINE
                                           : ACTION_APPLY;
        s.round = round == SEXP_NONE ? 0 : canonical_round(e, round);
        take(closure, e, &s);
    }
    free(step);
}

void canonical_begin(sexpw *w, str program, str compiler)
{
    sexpw_begin(w, "decisions");
    if (program.s) sexpw_pair_str(w, "program", program);
    if (compiler.s) sexpw_pair_str(w, "compiler", compiler);
}

void canonical_write(sexpw *w, const struct canonical_site *s)
{
    sexpw_line(w);
    sexpw_begin(w, "site");
    sexpw_begin(w, "path");
    for (size_t i = 0; i < s->n; i++) sexpw_atom(w, s->step[i]);
    sexpw_end(w);
    sexpw_pair_str(w, "callee", s->callee);
    if (s->action == ACTION_SPECIALISE) sexpw_pair_str(w, "action", str_of("specialise"));
    else sexpw_pair_str(w, "inline", str_of(s->action == ACTION_INLINE ? "true" : "false"));
    if (s->round) sexpw_pair(w, "round", s->round);
    sexpw_end(w);
}

void canonical_end(sexpw *w)
{
    sexpw_end(w);
}
