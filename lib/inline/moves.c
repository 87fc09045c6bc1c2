/* moves.c - what the algorithms of search.h share: sets from the store, calls that may be decided, the move itself */
#include "inline/search.h"
#include "base/message.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void search_load_inlined(const struct decision_search *s, str decisions, struct live *l)
{
    char *path = xformat("%s/%.*s.sexp", s->store, (int)decisions.n, decisions.s);
    live_read(l, path);
    free(path);
}

/* the same with the calls that were left: they cost a compilation, so only the sets that moves start from get them */
void search_load(const struct decision_search *s, str decisions, struct live *l)
{
    search_load_inlined(s, decisions, l);
    if (live_inlined(l) < l->n) return;
    struct live did = { 0 };
    const char *why = work_build(s->work, s->level, l, NULL, NULL, true, &did);
    if (why) die("%.*s: %s", (int)decisions.n, decisions.s, why);
    char *path = xformat("%s/%.*s.sexp", s->store, (int)decisions.n, decisions.s);
    live_write(&did, path, s->work->program->name, s->work->compiler);
    live_read(l, path);
    free(path);
    live_free(&did);
}

/* the calls of the source have no discriminators yet; in another stage static functions are numbered otherwise */
static long row_of_site(const struct decision_search *s, const struct live_site *c)
{
    struct buf b = { 0 };
    long k = -1;
    for (int plain = 0; plain < 2 && k < 0; plain++) {
        site_base_key(&b, (struct site){ plain ? site_plain(c->site.callee) : c->site.callee, c->site.chain });
        k = intern_find(s->heat_key, (str){ b.s, b.n });
        if (k < 0) k = intern_find(s->heat_key, site_plain((str){ b.s, b.n }));      /* f:3:5.2 -> f:3:5 */
    }
    free(b.s);
    return k;
}

double search_heat(const struct decision_search *s, const struct live_site *c)
{
    long k = s->heat ? row_of_site(s, c) : -1;
    return !s->heat ? 1 : k < 0 ? 0 : s->heat[k];
}

double search_cost(const struct decision_search *s, const struct live_site *c)
{
    long k = s->cost ? row_of_site(s, c) : -1;
    return k < 0 ? NAN : s->cost[k];
}

struct ranked { struct live_site site; double heat; };

static int hotter(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->heat != y->heat) return x->heat < y->heat ? 1 : -1;
    int c = str_cmp(x->site.site.callee, y->site.site.callee);
    return c ? c : str_cmp(x->site.site.chain, y->site.site.chain);
}

/* the calls of a set that a search may decide about */
struct search_pool search_pool(const struct decision_search *s, const struct live *l)
{
    struct ranked *r = xmalloc(l->n, sizeof *r);
    struct search_pool p = { 0 };
    for (size_t i = 0; i < l->n; i++) {
        double heat = search_heat(s, &l->v[i]);
        if (heat >= (double)s->hot && work_legal(s->work, l->v[i].site.callee, l->v[i].site.chain))
            r[p.n++] = (struct ranked){ l->v[i], heat };
    }
    if (p.n) qsort(r, p.n, sizeof *r, hotter);
    p.site = xmalloc(p.n, sizeof *p.site);
    p.weight = xmalloc(p.n, sizeof *p.weight);
    p.heat = xmalloc(p.n, sizeof *p.heat);
    for (size_t i = 0; i < p.n; i++) {
        double lg = log2(1 + r[i].heat);
        p.site[i] = r[i].site;
        p.heat[i] = r[i].heat;
        p.weight[i] = lg * lg + 0.01;                    /* also cold calls, rarely: they matter for size and layout */
    }
    free(r);
    return p;
}

void search_pool_free(struct search_pool *p)
{
    free(p->site);
    free(p->weight);
    free(p->heat);
}

void search_copy(const struct decision_search *s, struct live *to, const struct live *from)
{
    live_clear(to);
    for (size_t i = 0; i < from->n; i++)
        if (from->v[i].inlined && work_legal(s->work, from->v[i].site.callee, from->v[i].site.chain))
            live_add(to, from->v[i].site, true);
    live_sort(to);
}

/* to = the set with one call decided the other way */
void search_flip(struct live *set, const struct live_site *c)
{
    struct live_site *have = live_find(set, c->site);
    if (have) have->inlined = !have->inlined;
    else {
        live_add(set, c->site, true);
        live_sort(set);
    }
}

void search_finish(struct proposal *p, str parent, long step)
{
    snprintf(p->hash, sizeof p->hash, "%016llx", (unsigned long long)live_hash(&p->set));
    p->parent = parent;
    p->step = step;
}

bool search_is_new(const struct decision_search *s, const struct proposal *p, size_t n, long before)
{
    for (size_t i = 0; i < n; i++) if (strcmp(p[i].hash, p[n].hash) == 0) return false;
    const struct tried *t = history_find(&s->history, str_of(p[n].hash));
    /* a row of the step in work is one of this very list, from before a kill: it must be proposed again */
    return !t || (before >= 0 && t->step >= before && str_is(t->chain, s->chain));
}
