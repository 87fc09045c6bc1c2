/* relocate.c - see relocate.h */
#include "inline/relocate.h"
#include <stdlib.h>
#include <string.h>

struct element { str function, callee, column; long line, shift; };
struct vote { uint32_t function; long shift; size_t n; };

struct place {
    struct element *v;                                   /* of the decisions, each once */
    size_t n, cap;
    struct intern key, function;
    struct vote *vote;
    size_t nvote, cap_vote;
};

/* FUNCTION:LINE:COLUMN; false when it is none */
static bool parse(str text, str callee, struct element *e)
{
    const char *last = memrchr(text.s, ':', text.n);
    const char *first = last ? memrchr(text.s, ':', (size_t)(last - text.s)) : NULL;
    if (!first) return false;
    e->function = site_plain((str){ text.s, (size_t)(first - text.s) });
    e->callee = site_plain(callee);
    e->column = (str){ last + 1, text.n - (size_t)(last + 1 - text.s) };
    char *line = xformat("%.*s", (int)(last - first - 1), first + 1), *end;
    e->line = strtol(line, &end, 10);
    bool good = *line && !*end;
    free(line);
    return good;
}

static uint32_t key_of(struct place *p, const struct element *e)
{
    struct buf b = { 0 };
    buf_format(&b, "%.*s %.*s %ld %.*s", (int)e->function.n, e->function.s, (int)e->callee.n, e->callee.s, e->line,
               (int)e->column.n, e->column.s);
    uint32_t k = intern(&p->key, (str){ b.s, b.n });
    free(b.s);
    return k;
}

/* the elements of a chain from the inside out, each with the function it calls; false at the end */
static bool next(str *rest, str *callee, struct element *e, str *text)
{
    if (!rest->n) return false;
    const char *at = memmem(rest->s, rest->n, " @ ", 3);
    *text = (str){ rest->s, at ? (size_t)(at - rest->s) : rest->n };
    *rest = at ? (str){ at + 3, rest->n - text->n - 3 } : (str){ rest->s, 0 };
    bool good = parse(*text, *callee, e);
    *callee = good ? e->function : (str){ text->s, 0 };
    return true;
}

static void list_elements(struct place *p, const struct live *wanted)
{
    for (size_t i = 0; i < wanted->n; i++) {
        str rest = site_bare(wanted->v[i].site.chain), callee = wanted->v[i].site.callee, text;
        for (struct element e = { 0 }; next(&rest, &callee, &e, &text);) {
            if (!callee.n) break;
            size_t before = p->key.n;
            if (key_of(p, &e) < before) continue;
            p->v = grow(p->v, p->n + 1, &p->cap, sizeof *p->v);
            p->v[p->n++] = e;
        }
    }
}

/* the calls of the source that an element may be: same caller, callee and column, whatever the discriminator, which the
 * list of calls does not have */
static bool may_be(const struct element *e, const struct element *call)
{
    return str_eq(e->function, call->function) && str_eq(e->callee, call->callee) &&
           str_eq(site_plain(e->column), site_plain(call->column));
}

static struct vote *vote_of(struct place *p, uint32_t function, long shift, bool make)
{
    for (size_t i = 0; i < p->nvote; i++)
        if (p->vote[i].function == function && p->vote[i].shift == shift) return &p->vote[i];
    if (!make) return NULL;
    p->vote = grow(p->vote, p->nvote + 1, &p->cap_vote, sizeof *p->vote);
    p->vote[p->nvote] = (struct vote){ function, shift, 0 };
    return &p->vote[p->nvote++];
}

static void count_votes(struct place *p, const struct element *call, size_t n)
{
    for (size_t i = 0; i < p->n; i++) {
        uint32_t f = intern(&p->function, p->v[i].function);
        for (size_t k = 0; k < n; k++)
            if (may_be(&p->v[i], &call[k])) vote_of(p, f, call[k].line - p->v[i].line, true)->n++;
    }
}

static size_t choose(struct place *p, const struct element *call, size_t n)
{
    size_t moved = 0;
    for (size_t i = 0; i < p->n; i++) {
        struct element *e = &p->v[i];
        uint32_t f = intern(&p->function, e->function);
        const struct vote *best = NULL;
        for (size_t k = 0; k < n; k++) {
            if (!may_be(e, &call[k])) continue;
            const struct vote *v = vote_of(p, f, call[k].line - e->line, false);
            if (!best || v->n > best->n || (v->n == best->n && labs(v->shift) < labs(best->shift))) best = v;
        }
        if (!best) continue;
        e->shift = best->shift;
        moved += e->shift != 0;
    }
    return moved;
}

/* where every element of the chain goes */
static void move_chain(struct place *p, const struct live_site *s, struct live *to)
{
    struct buf chain = { 0 };
    str rest = site_bare(s->site.chain), stage = site_stage(s->site.chain), callee = s->site.callee, text;
    for (struct element e = { 0 }; next(&rest, &callee, &e, &text);) {
        if (chain.n) buf_format(&chain, " @ ");
        if (!callee.n) {
            buf_add(&chain, text.s, text.n);
            break;
        }
        const char *last = memrchr(text.s, ':', text.n), *first = memrchr(text.s, ':', (size_t)(last - text.s));
        buf_format(&chain, "%.*s:%ld:%.*s", (int)(first - text.s), text.s, e.line + p->v[key_of(p, &e)].shift,
                   (int)e.column.n, e.column.s);
    }
    if (rest.n) buf_format(&chain, " @ %.*s", (int)rest.n, rest.s);
    if (stage.n) buf_format(&chain, " @ %.*s", (int)stage.n, stage.s);
    live_add(to, (struct site){ s->site.callee, (str){ chain.s, chain.n } }, s->inlined);
    free(chain.s);
}

size_t live_relocate(const struct work *w, const struct live *wanted, struct live *to)
{
    struct place p = { 0 };
    struct element *call = xcalloc(w->ncalls + 1, sizeof *call);
    size_t n = 0;
    list_elements(&p, wanted);
    for (size_t i = 0; i < w->ncalls; i++) n += parse(w->call[i].chain, w->call[i].callee, &call[n]);
    count_votes(&p, call, n);
    size_t moved = choose(&p, call, n);
    for (size_t i = 0; i < wanted->n; i++) move_chain(&p, &wanted->v[i], to);
    live_sort(to);
    intern_free(&p.key);
    intern_free(&p.function);
    free(p.v);
    free(p.vote);
    free(call);
    return moved;
}
