/* plan.c - see plan.h */
#include "place/plan.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/message.h"
#include "tree/sexp.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const tier_names[] = { "fast", "slow" };
static const char *const move_names[] = { "to_fast", "to_slow" };

struct plan *plan_new(const struct graph *g, const char *formulation)
{
    struct plan *p = xcalloc(1, sizeof *p);
    p->graph = arena_copy(&p->text, g->name, strlen(g->name));
    p->formulation = arena_copy(&p->text, formulation, strlen(formulation));
    p->kind = "simulated";
    p->file = "plan";
    p->batch = g->batch;
    p->nnode = g->nnode;
    p->node = xcalloc((size_t)g->nnode + 1, sizeof *p->node);
    return p;
}

void plan_free(struct plan *p)
{
    if (!p) return;
    arena_free(&p->text);
    free_all(p->stay, p->move, p->node, p);
}

void plan_stay(struct plan *p, int tensor, enum plan_tier tier, int first, int last, uint64_t offset)
{
    p->stay = grow(p->stay, (size_t)p->nstay + 1, &p->capstay, sizeof *p->stay);
    p->stay[p->nstay++] = (struct stay){ tensor, tier, first, last, offset };
}

void plan_add_move(struct plan *p, int tensor, enum plan_tier to, int before, int begin)
{
    p->move = grow(p->move, (size_t)p->nmove + 1, &p->capmove, sizeof *p->move);
    p->move[p->nmove++] = (struct plan_move){ tensor, to, before, begin };
}

const struct stay *plan_find(const struct plan *p, int tensor, enum plan_tier tier, int node)
{
    int lo = 0, hi = p->nstay;                           /* first stay of the tensor */
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (p->stay[mid].tensor < tensor) lo = mid + 1;
        else hi = mid;
    }
    for (; lo < p->nstay && p->stay[lo].tensor == tensor; lo++)
        if (p->stay[lo].tier == tier && p->stay[lo].first <= node && node <= p->stay[lo].last) return &p->stay[lo];
    return NULL;
}

bool *plan_offloaded(const struct plan *p, const struct graph *g)
{
    bool *set = xcalloc((size_t)g->ntensor + 1, sizeof *set);
    for (int i = 0; i < p->nstay; i++)
        set[p->stay[i].tensor] |= p->stay[i].tier == TIER_SLOW && g->tensor[p->stay[i].tensor].role != ROLE_INTER;
    return set;
}

double plan_share(const struct plan *p, int from, int to)
{
    double least = 1;
    if (strcmp(p->formulation, "async") != 0) return least;
    for (int n = from; n < to; n++)
        if (p->node[n].nprice > 0) least = fmin(least, p->node[n].price[p->node[n].nprice - 1]);
    return least;
}

double plan_rent(const struct plan *p, uint64_t bytes, int from, int to)
{
    double sum = 0, size = (double)plan_size(bytes);
    for (int n = from; n < to; n++) {
        sum += p->node[n].price[0] * size;
        for (int c = 0; c < p->ncut; c++) sum += p->node[n].price[1 + c] * floor(size / (double)p->cut[c]);
    }
    return sum;
}

/* ---- reading ---- */

static int index_of(const struct sexp *e, snode n, int64_t end, const char *what)
{
    int64_t v = sexp_int(e, n);
    if (v < 0 || v >= end) sexp_die(e, n, "there is no %s %lld", what, (long long)v);
    return (int)v;
}

static uint64_t bytes_of(const struct sexp *e, snode n)
{
    int64_t v = sexp_int(e, n);
    if (v < 0 || v > (int64_t)1 << 56) sexp_die(e, n, "%lld is not a number of bytes", (long long)v);
    return (uint64_t)v;
}

static uint64_t bytes_at(const struct sexp *e, const char *key)
{
    snode n = sexp_value(e, 0, key);
    if (n == SEXP_NONE) sexp_die(e, 0, "(%s N) is missing", key);
    return bytes_of(e, n);
}

static double number(const struct sexp *e, snode n)
{
    double v = sexp_num(e, n);
    if (!isfinite(v)) sexp_die(e, n, "a finite number is expected");
    return v;
}

static void read_tensor(struct plan *p, const struct graph *g, const struct sexp *e, snode n)
{
    int t = index_of(e, sexp_item(e, n, 1, "the tensor's id"), g->ntensor, "tensor");
    for (snode s = sexp_nth(e, n, 2); s != SEXP_NONE; s = sexp_after(e, s)) {
        bool slow = sexp_head(e, s, "slow");
        if (!slow && !sexp_head(e, s, "fast")) sexp_die(e, s, "neither (fast ..) nor (slow ..)");
        int first = index_of(e, sexp_item(e, s, 1, "the first node"), g->nnode, "node");
        int last = index_of(e, sexp_item(e, s, 2, "the last node"), g->nnode, "node");
        if (last < first) sexp_die(e, s, "a stay that ends before it begins");
        plan_stay(p, t, slow ? TIER_SLOW : TIER_FAST, first, last, bytes_of(e, sexp_item(e, s, 3, "the offset")));
    }
}

static void read_move(struct plan *p, const struct graph *g, const struct sexp *e, snode n)
{
    int t = index_of(e, sexp_item(e, n, 1, "the tensor's id"), g->ntensor, "tensor");
    snode to = sexp_item(e, n, 2, "the direction");
    bool slow = str_is(sexp_atom(e, to), move_names[TIER_SLOW]);
    if (!slow && !str_is(sexp_atom(e, to), move_names[TIER_FAST])) sexp_die(e, to, "neither to_slow nor to_fast");
    int before = index_of(e, sexp_item(e, n, 3, "the node"), g->nnode, "node");
    snode begin = sexp_nth(e, n, 4);
    plan_add_move(p, t, slow ? TIER_SLOW : TIER_FAST, before,
                  begin == SEXP_NONE ? before : index_of(e, begin, (int64_t)before + 1, "node before that"));
}

static const char *read_tiers(struct plan *p, const struct sexp *e, snode n, int count)
{
    str s = sexp_atom(e, n);
    bool none = count == 0 && str_is(s, "-");
    bool good = none || s.n == (size_t)count;
    for (size_t i = 0; good && !none && i < s.n; i++) good = s.s[i] == 'D' || s.s[i] == 'P';
    if (!good) sexp_die(e, n, "'%.*s' is not %d letters D or P", (int)s.n, s.s, count);
    return arena_copy(&p->text, s.s, none ? 0 : s.n);
}

static void read_price(struct plan *p, const struct sexp *e, snode list, struct plan_node *d, int slots)
{
    bool beside = strcmp(p->formulation, "async") == 0;
    d->nprice = 1 + p->ncut + slots + beside;
    if (!sexp_head(e, list, "price") || sexp_count(e, list) != (size_t)d->nprice + 1)
        sexp_die(e, list, "(price ..) with %d numbers is expected", d->nprice);
    d->price = arena_get(&p->text, size_mul((size_t)d->nprice, sizeof(double)));
    for (int i = 0; i < d->nprice; i++) d->price[i] = number(e, sexp_nth(e, list, (size_t)i + 1));
    for (int i = 0; i <= p->ncut; i++)
        if (d->price[i] < 0) sexp_die(e, list, "a negative price of memory");
    if (beside && !(d->price[d->nprice - 1] >= 0 && d->price[d->nprice - 1] <= 1))
        sexp_die(e, list, "a price of the channel that is not between 0 and 1");
}

static void read_node(struct plan *p, const struct graph *g, const struct sexp *e, snode n)
{
    int i = index_of(e, sexp_item(e, n, 1, "the node's number"), g->nnode, "node");
    struct plan_node *d = &p->node[i];
    if (d->in_tiers) sexp_die(e, n, "node %d a second time", i);
    d->in_tiers = read_tiers(p, e, sexp_item(e, n, 2, "the tiers of the inputs"), g->node[i].nin);
    d->out_tiers = read_tiers(p, e, sexp_item(e, n, 3, "the tiers of the outputs"), g->node[i].nout);
    snode mode = sexp_item(e, n, 4, "the mode");
    while (d->mode < PROFILE_MODES && !str_is(sexp_atom(e, mode), profile_modes[d->mode])) d->mode++;
    if (d->mode == PROFILE_MODES) sexp_die(e, mode, "the mode is none of direct, streamed, staged");
    d->seconds = number(e, sexp_item(e, n, 5, "the time"));
    d->staging = bytes_of(e, sexp_item(e, n, 6, "the staging bytes"));
    d->staging_offset = bytes_of(e, sexp_item(e, n, 7, "the staging offset"));
    snode price = sexp_nth(e, n, 8);
    int slot[GRAPH_SLOTS];
    if (price != SEXP_NONE) read_price(p, e, price, d, node_slots(g, i, slot));
}

static int by_tensor(const void *x, const void *y)
{
    const struct stay *a = x, *b = y;
    return ORDER(a->tensor, b->tensor) ?: ORDER(a->first, b->first) ?: ORDER(a->tier, b->tier) ?:
           ORDER(a->last, b->last) ?: ORDER(a->offset, b->offset);
}

void plan_sort(struct plan *p)
{
    if (p->nstay > 1) qsort(p->stay, (size_t)p->nstay, sizeof *p->stay, by_tensor);
}

static int by_order(const void *x, const void *y)
{
    const struct plan_move *a = x, *b = y;
    return ORDER(a->before, b->before) ?: (b->to == TIER_SLOW) - (a->to == TIER_SLOW) ?: ORDER(a->tensor, b->tensor);
}

void plan_sort_moves(struct plan *p)
{
    if (p->nmove > 1) qsort(p->move, (size_t)p->nmove, sizeof *p->move, by_order);
}

static void read_body(struct plan *p, const struct graph *g, const struct sexp *e)
{
    static const char *const heads[] = { "graph",         "batch",      "formulation", "kind",
                                         "limit_bytes",   "fast_bytes", "slow_bytes",  "objective_seconds",
                                         "bound_seconds", "gap_ratio",  "cuts" };
    for (snode n = sexp_after(e, sexp_first(e, 0)); n != SEXP_NONE; n = sexp_after(e, n)) {
        if (sexp_head(e, n, "tensor")) read_tensor(p, g, e, n);
        else if (sexp_head(e, n, "move")) read_move(p, g, e, n);
        else if (sexp_head(e, n, "node")) read_node(p, g, e, n);
        else {
            size_t h = 0;
            while (h < sizeof heads / sizeof *heads && !sexp_head(e, n, heads[h])) h++;
            if (h == sizeof heads / sizeof *heads) sexp_die(e, n, "not a part of a plan");
        }
    }
    for (int i = 0; i < g->nnode; i++)
        if (!p->node[i].in_tiers) sexp_die(e, 0, "node %d is missing", i);
}

static const char *text_at(struct plan *p, const struct sexp *e, const char *key)
{
    str s = sexp_str_of(e, 0, key);
    return arena_copy(&p->text, s.s, s.n);
}

struct plan *plan_read(const char *path, const struct graph *g)
{
    sexpr *r = sexp_open(path, SEXP_CORE);
    const struct sexp *e = sexp_only(r);
    if (!sexp_head(e, 0, "plan")) sexp_die(e, 0, "this is not a (plan ..)");
    struct plan *p = plan_new(g, "");
    p->file = strcmp(path, "-") == 0 ? "stdin" : arena_copy(&p->text, path, strlen(path));
    p->graph = text_at(p, e, "graph");
    p->formulation = text_at(p, e, "formulation");
    p->kind = text_at(p, e, "kind");
    double batch = sexp_num_of(e, 0, "batch");
    if (strcmp(p->graph, g->name) != 0 || batch != (double)g->batch)
        sexp_die(e, 0, "this plan is for %s, batch %g, not for %s, batch %ld", p->graph, batch, g->name, g->batch);
    p->limit = bytes_at(e, "limit_bytes");
    p->fast_bytes = bytes_at(e, "fast_bytes");
    p->slow_bytes = bytes_at(e, "slow_bytes");
    p->objective = sexp_num_of(e, 0, "objective_seconds");
    p->bound = sexp_num_of(e, 0, "bound_seconds");
    p->gap = sexp_num_of(e, 0, "gap_ratio");
    if (!isfinite(p->objective) || !isfinite(p->bound) || !isfinite(p->gap))
        sexp_die(e, 0, "objective, bound or gap is not a finite number");
    snode cuts = sexp_get(e, 0, "cuts");
    for (snode n = cuts == SEXP_NONE ? cuts : sexp_nth(e, cuts, 1); n != SEXP_NONE; n = sexp_after(e, n)) {
        if (p->ncut == PLAN_CUTS) sexp_die(e, cuts, "more than %d cuts", PLAN_CUTS);
        p->cut[p->ncut] = bytes_of(e, n);
        if (p->cut[p->ncut++] == 0) sexp_die(e, n, "a cut of 0 bytes");
    }
    read_body(p, g, e);
    sexp_close(r);
    plan_sort(p);
    return p;
}

/* ---- writing ---- */

static void write_node(sexpw *w, int i, const struct plan_node *d)
{
    sexpw_line(w);
    sexpw_begin(w, "node");
    sexpw_int(w, i);
    sexpw_cstr(w, d->in_tiers[0] ? d->in_tiers : "-");
    sexpw_cstr(w, d->out_tiers[0] ? d->out_tiers : "-");
    sexpw_cstr(w, profile_modes[d->mode]);
    sexpw_num(w, d->seconds);
    sexpw_int(w, (int64_t)d->staging);
    sexpw_int(w, (int64_t)d->staging_offset);
    if (d->nprice > 0) {
        sexpw_begin(w, "price");
        for (int k = 0; k < d->nprice; k++) sexpw_num(w, d->price[k]);
        sexpw_end(w);
    }
    sexpw_end(w);
}

void plan_write(const struct plan *p, const char *path)
{
    sexpw *w = sexpw_open(path);
    sexpw_begin(w, "plan");
    sexpw_pair_str(w, "graph", str_of(p->graph));
    sexpw_pair(w, "batch", (double)p->batch);
    sexpw_pair_str(w, "formulation", str_of(p->formulation));
    sexpw_pair_str(w, "kind", str_of(p->kind));
    sexpw_pair(w, "limit_bytes", (double)p->limit);
    sexpw_pair(w, "fast_bytes", (double)p->fast_bytes);
    sexpw_pair(w, "slow_bytes", (double)p->slow_bytes);
    sexpw_line(w);
    sexpw_pair(w, "objective_seconds", p->objective);
    sexpw_pair(w, "bound_seconds", p->bound);
    sexpw_pair(w, "gap_ratio", p->gap);
    if (p->ncut > 0) {
        sexpw_begin(w, "cuts");
        for (int i = 0; i < p->ncut; i++) sexpw_int(w, (int64_t)p->cut[i]);
        sexpw_end(w);
    }
    for (int i = 0; i < p->nstay; i++) {
        const struct stay *s = &p->stay[i];
        if (i == 0 || s[-1].tensor != s->tensor) {
            sexpw_line(w);
            sexpw_begin(w, "tensor");
            sexpw_int(w, s->tensor);
        }
        sexpw_begin(w, tier_names[s->tier]);
        sexpw_int(w, s->first);
        sexpw_int(w, s->last);
        sexpw_int(w, (int64_t)s->offset);
        sexpw_end(w);
        if (i + 1 == p->nstay || s[1].tensor != s->tensor) sexpw_end(w);
    }
    for (int i = 0; i < p->nmove; i++) {
        sexpw_line(w);
        sexpw_begin(w, "move");
        sexpw_int(w, p->move[i].tensor);
        sexpw_cstr(w, move_names[p->move[i].to]);
        sexpw_int(w, p->move[i].before);
        if (p->move[i].begin < p->move[i].before) sexpw_int(w, p->move[i].begin);
        sexpw_end(w);
    }
    for (int i = 0; i < p->nnode; i++) write_node(w, i, &p->node[i]);
    sexpw_end(w);
    sexpw_close(w);
}
