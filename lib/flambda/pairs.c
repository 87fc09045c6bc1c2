/* pairs.c - see pairs.h */
#include "flambda/pairs.h"
#include "decisions/decisions.h"
#include <math.h>
#include <stdlib.h>

static const double DEAD = 1e-4, NOTHING = -8;           /* preparation; log10 of a lasso reward that counts as 0 */

const char *const label_names[LABELS] = { "doesnt_matter", "inline", "apply" };

/* the single item of an option, SEXP_NONE of () */
static snode inside(const struct sexp *e, snode option)
{
    if (!sexp_is_list(e, option) || sexp_count(e, option) > 1) sexp_die(e, option, "not an option: () or (X)");
    return sexp_first(e, option);
}

static struct reward read_reward(const struct sexp *e, snode n)
{
    struct reward r = { NAN, NAN, NAN };
    snode in = sexp_value(e, n, "inline"), no = sexp_value(e, n, "no_inline");
    if (in == SEXP_NONE) in = sexp_value(e, n, "inline_reward");
    if (no == SEXP_NONE) no = sexp_value(e, n, "no_inline_reward");
    if (in == SEXP_NONE || no == SEXP_NONE) sexp_die(e, n, "not a reward ((inline X) (no_inline Y))");
    snode inlined = inside(e, in), called = inside(e, no);
    if (inlined != SEXP_NONE) {
        r.immediate = sexp_num_of(e, inlined, "immediate");
        r.long_term = sexp_num_of(e, inlined, "long_term");
    }
    if (called != SEXP_NONE) r.no_inline = sexp_num(e, called);
    return r;
}

static struct pair *new_pair(struct site_pairs *p, str program, str site, struct reward r)
{
    p->pair = grow(p->pair, p->n + 1, &p->cap, sizeof *p->pair);
    p->pair[p->n] = (struct pair){ intern(&p->text, program), intern(&p->text, site), r };
    return &p->pair[p->n++];
}

/* the k-th column of one kind: named by the first pair ever read, checked against it afterwards */
static void column(struct intern *names, bool first, size_t k, const struct sexp *e, snode item)
{
    if (!sexp_is_list(e, item) || sexp_count(e, item) != 2) sexp_die(e, item, "not a feature (NAME VALUE)");
    str name = sexp_atom(e, sexp_first(e, item));
    if (first && intern(names, name) != k) sexp_die(e, item, "feature '%.*s' occurs twice", (int)name.n, name.s);
    if (k >= names->n || !str_eq(names->name[k], name))
        sexp_die(e, item, "feature '%.*s' where the first row has '%s'", (int)name.n, name.s,
                 k < names->n ? names->name[k].s : "none");
}

static double flag(const struct sexp *e, snode n)
{
    str t = sexp_atom(e, n);
    bool yes = str_is(t, "true");
    if (!yes && !str_is(t, "false")) sexp_die(e, n, "'%.*s' is not true or false", (int)t.n, t.s);
    return yes;
}

static void read_features(struct site_pairs *p, const struct sexp *e, snode n, bool first)
{
    static const char *const kinds[] = { "numeric_features", "bool_features" };
    struct intern *names[] = { &p->numeric, &p->flag };
    size_t width = p->numeric.n + p->flag.n, at = (p->n - 1) * width;
    for (int kind = 0; kind < 2; kind++) {
        snode list = sexp_value(e, n, kinds[kind]);
        if (list == SEXP_NONE) sexp_die(e, n, "no (%s ...)", kinds[kind]);
        size_t k = 0;
        for (snode x = sexp_first(e, list); x != SEXP_NONE; x = sexp_after(e, x), k++) {
            column(names[kind], first, k, e, x);
            snode v = sexp_nth(e, x, 1);
            p->x = grow(p->x, at + 1, &p->cap_x, sizeof *p->x);
            p->x[at++] = kind ? flag(e, v) : sexp_num(e, v);
        }
        if (k != names[kind]->n) sexp_die(e, list, "%zu features where the first row has %zu", k, names[kind]->n);
    }
}

void site_pairs_read(struct site_pairs *p, const struct sexp *e, str program)
{
    if (!sexp_is_list(e, 0)) sexp_die(e, 0, "not a list of feature pairs");
    for (snode x = sexp_first(e, 0); x != SEXP_NONE; x = sexp_after(e, x)) {
        if (sexp_is_list(e, x) && sexp_get(e, x, "inline") != SEXP_NONE)
            sexp_die(e, x, "a reward dump where feature pairs are expected");
        if (!sexp_is_list(e, x) || sexp_count(e, x) != 2) sexp_die(e, x, "not a pair (FEATURES REWARD)");
        snode features = sexp_first(e, x), reward = inside(e, sexp_after(e, features));
        snode metadata = sexp_value(e, features, "metadata");
        str site = { "", 0 };
        if (metadata != SEXP_NONE) site = sexp_atom(e, sexp_is_list(e, metadata) ? sexp_first(e, metadata) : metadata);
        struct reward r = { NAN, NAN, NAN };
        if (reward != SEXP_NONE) r = read_reward(e, reward);
        bool first = p->n == 0;
        new_pair(p, program, site, r);
        read_features(p, e, features, first);
    }
}

/* A path (STEP ...) of (Decl ORIGIN) and (Apply PATH), or a single atom, as the text of a node; the root is /. */
static void put_path(struct buf *b, struct names *names, const struct sexp *e, snode path)
{
    if (sexp_is_atom(e, path)) {
        buf_str(b, sexp_atom(e, path));
        return;
    }
    if (sexp_first(e, path) == SEXP_NONE) buf_char(b, '/');
    for (snode x = sexp_first(e, path); x != SEXP_NONE; x = sexp_after(e, x)) {
        bool decl = sexp_head(e, x, "Decl");
        if ((!decl && !sexp_head(e, x, "Apply")) || sexp_count(e, x) != 2)
            sexp_die(e, x, "not a step (Decl ORIGIN) or (Apply PATH)");
        snode what = sexp_nth(e, x, 1);
        struct trace_step step = { decl ? names_closure(names, e, what) : names_path(names, e, what), NAME_NONE, decl };
        if (b->n) buf_char(b, ' ');
        decisions_path(b, names, &step, 1);
    }
}

void site_pairs_read_dump(struct site_pairs *p, const struct sexp *e, str program)
{
    struct names names = { 0 };
    struct buf b = { 0 };
    if (!sexp_is_list(e, 0)) sexp_die(e, 0, "not a list of rewards");
    for (snode x = sexp_first(e, 0); x != SEXP_NONE; x = sexp_after(e, x)) {
        snode path = sexp_value(e, x, "path");
        b.n = 0;
        if (path != SEXP_NONE) put_path(&b, &names, e, path);
        new_pair(p, program, (str){ b.n ? b.s : "", b.n }, read_reward(e, x));
    }
    names_free(&names);
    free(b.s);
}

void site_pairs_prepare(const struct site_pairs *p, struct preparation *out)
{
    size_t width = p->numeric.n + p->flag.n;
    for (size_t k = 0; k < width; k++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < p->n; i++) sum += p->x[i * width + k];
        double mean = p->n ? sum / (double)p->n : 0;
        for (size_t i = 0; i < p->n; i++) squares += (p->x[i * width + k] - mean) * (p->x[i * width + k] - mean);
        double deviation = p->n ? sqrt(squares / (double)p->n) : 0;
        out[k] = (struct preparation){ (k < p->numeric.n ? deviation : mean) > DEAD, mean, deviation };
    }
}

enum label label_lasso(struct reward r)
{
    bool l = log10(fabs(r.long_term)) > NOTHING, c = log10(fabs(r.no_inline)) > NOTHING;
    if (l && c) return r.long_term > r.no_inline ? LABEL_INLINE : LABEL_APPLY;
    if (l) return r.long_term > 0 ? LABEL_INLINE : LABEL_APPLY;
    if (c) return r.no_inline > 0 ? LABEL_APPLY : LABEL_INLINE;
    return LABEL_NEITHER;
}

enum label label_ridge(struct reward r, double tau)
{
    if (fabs(r.long_term - r.no_inline) < tau) return LABEL_NEITHER;
    return r.long_term > r.no_inline ? LABEL_INLINE : LABEL_APPLY;
}
