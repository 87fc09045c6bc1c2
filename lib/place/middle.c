/* middle.c - see middle.h */
#include "place/middle.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/message.h"
#include "place/pack.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PRICE_STEPS = 60, PASSES = 12, PACK_WORK = 200000, ROUNDS = 5, STARTS = 3 };

static const double HIDDEN = 0.02;                       /* the worth of a second of copies that no kernel waits for */

/* ---- what the middle holds ---- */

struct ranked { int item; double rank; };

static int by_rank(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    return ORDER(b->rank, a->rank) ?: ORDER(a->item, b->item);
}

/* First fit by rank: items of value that the room at every node of theirs still has; returns what they are worth. */
static double first_fit(const struct middle_item *item, struct ranked *r, int n, int nodes, uint64_t room, bool *in)
{
    uint64_t *load = xcalloc((size_t)nodes + 1, sizeof *load);
    double sum = 0;
    qsort(r, (size_t)n, sizeof *r, by_rank);
    memset(in, 0, (size_t)n * sizeof *in);
    for (int i = 0; i < n; i++) {
        const struct middle_item *x = &item[r[i].item];
        if (x->value <= 0 || x->size > room) continue;
        bool fits = true;
        for (int k = x->first; fits && k <= x->last; k++) fits = load[k] <= room - x->size;
        if (!fits) continue;
        for (int k = x->first; k <= x->last; k++) load[k] += x->size;
        in[r[i].item] = true;
        sum += x->value;
    }
    free(load);
    return sum;
}

struct knapsack { const struct middle_item *item; int n, nodes; uint64_t room; struct ranked *rank; bool *now, *best; };

/* tries the order of k->rank; keeps what is worth more */
static double try_order(struct knapsack *k, double best)
{
    double sum = first_fit(k->item, k->rank, k->n, k->nodes, k->room, k->now);
    if (sum <= best) return best;
    memcpy(k->best, k->now, (size_t)k->n * sizeof *k->best);
    return sum;
}

/* value, value a byte, value a byte and node */
static double simple_orders(struct knapsack *k)
{
    double best = 0;
    for (int way = 0; way < 3; way++) {
        for (int i = 0; i < k->n; i++) {
            const struct middle_item *x = &k->item[i];
            double by = way == 0 ? 1 : (double)x->size * (way == 1 ? 1 : x->last - x->first + 1);
            k->rank[i] = (struct ranked){ i, x->value / by };
        }
        best = try_order(k, best);
    }
    return best;
}

/* Orders by what items are worth beyond the rent of their nodes, rents by subgradient steps towards the least bound. */
static double priced_orders(struct knapsack *k, double best)
{
    double *rent = xcalloc((size_t)k->nodes + 1, sizeof *rent), *load = xcalloc((size_t)k->nodes + 1, sizeof *load);
    double *until = xcalloc((size_t)k->nodes + 1, sizeof *until);
    for (int step = 0; step < PRICE_STEPS; step++) {
        double bound = 0, square = 0;
        for (int n = 0; n < k->nodes; n++) {
            until[n + 1] = until[n] + rent[n];
            bound += rent[n] * (double)k->room;
            load[n] = -(double)k->room;
        }
        for (int i = 0; i < k->n; i++) {
            const struct middle_item *x = &k->item[i];
            double left = x->value - (double)x->size * (until[x->last + 1] - until[x->first]);
            k->rank[i] = (struct ranked){ i, left / (double)x->size };
            if (left <= 0) continue;
            bound += left;
            for (int n = x->first; n <= x->last; n++) load[n] += (double)x->size;
        }
        best = try_order(k, best);
        if (bound <= best * (1 + 1e-9)) break;           /* none is worth more */
        for (int n = 0; n < k->nodes; n++)
            if (load[n] > 0 || rent[n] > 0) square += load[n] * load[n];
        if (square <= 0) break;
        double by = (bound - best) / square;
        for (int n = 0; n < k->nodes; n++) rent[n] = fmax(0, rent[n] + by * load[n]);
    }
    free_all(rent, load, until);
    return best;
}

/* Offsets for the chosen; where the packer finds none the one of least value a byte among those that stick out goes. */
static void pack_chosen(struct middle_item *item, int n, uint64_t room)
{
    struct buffer *b = xmalloc((size_t)n + 1, sizeof *b);
    int *of = xmalloc((size_t)n + 1, sizeof *of);
    for (;;) {
        int count = 0, out = -1;
        for (int i = 0; i < n; i++) {
            if (!item[i].chosen) continue;
            b[count] = (struct buffer){ item[i].first, item[i].last + 1, item[i].size, PLAN_ALIGN, 0 };
            of[count++] = i;
        }
        bool fits = pack_low(b, count, PASSES, room) <= room;
        if (!fits) {
            struct buffer *again = xmalloc((size_t)count + 1, sizeof *again);
            memcpy(again, b, (size_t)count * sizeof *b);
            fits = pack(again, count, room, PASSES, PACK_WORK / count + 1) == PACK_DONE;
            if (fits) memcpy(b, again, (size_t)count * sizeof *b);
            free(again);
        }
        for (int i = 0; i < count; i++) {
            struct middle_item *x = &item[of[i]];
            x->offset = b[i].offset;
            if (fits || x->offset + x->size <= room) continue;
            if (out < 0 || x->value / (double)x->size < item[out].value / (double)item[out].size) out = of[i];
        }
        if (fits) break;
        item[out].chosen = false;
    }
    free_all(b, of);
}

double middle_choose(struct middle_item *item, int n, int nodes, uint64_t room)
{
    struct knapsack k = { item, n, nodes, room, xmalloc((size_t)n + 1, sizeof *k.rank),
                          xcalloc((size_t)n + 1, sizeof *k.now), xcalloc((size_t)n + 1, sizeof *k.best) };
    priced_orders(&k, simple_orders(&k));
    for (int i = 0; i < n; i++) item[i].chosen = k.best[i];
    pack_chosen(item, n, room);
    double sum = 0;
    for (int i = 0; i < n; i++)
        if (item[i].chosen) sum += item[i].value;
    free_all(k.rank, k.now, k.best);
    return sum;
}

/* ---- plans ---- */

struct search {
    const struct graph *g;
    const struct profile *profile;
    enum formulation form;
    uint64_t limit, room;
    const struct effort *effort;
    bool in_full;                                        /* a second of a copy counts as if kernels waited for it */
    double *wish;                                        /* tensor: its worth in a plan of a middle without limit */
    bool *in;                                            /* tensor: the middle holds it, whenever it is slow, */
    uint64_t *offset;                                    /* here */
    struct plan *plan[STARTS * ROUNDS + 2];              /* all that were made */
    int n;
};

/* slots of a node that are slow in the plan, and of these the ones in the middle */
static unsigned slow_slots(const struct search *s, const struct plan *p, int node, const bool *in, unsigned *middle)
{
    const struct node *n = &s->g->node[node];
    const struct plan_node *d = &p->node[node];
    int slot[GRAPH_SLOTS], k = node_slots(s->g, node, slot);
    unsigned slow = 0;
    *middle = 0;
    for (int i = 0; i < k; i++) {
        for (int o = 0; o < n->nin + n->nout; o++)
            if (n->operand[o] == slot[i] && (o < n->nin ? d->in_tiers[o] : d->out_tiers[o - n->nin]) == 'P')
                slow |= 1u << i;
        if (slow >> i & 1 && in[slot[i]]) *middle |= 1u << i;
    }
    return slow;
}

/* value[tensor] of the middle in a plan in which it holds `in`: by how much slow uses and copies are quicker there */
static void find_values(const struct search *s, const struct plan *p, const bool *in, double *value)
{
    const struct graph *g = s->g;
    bool *none = xcalloc((size_t)g->ntensor + 1, sizeof *none), *all = xcalloc((size_t)g->ntensor + 1, sizeof *all);
    for (int i = 0; i < g->ntensor; i++) all[i] = true;
    struct profile *last = profile_view(s->profile, none), *middle = profile_view(s->profile, all);
    memset(value, 0, (size_t)g->ntensor * sizeof *value);
    for (int i = 0; i < p->nmove; i++) {
        int t = p->move[i].tensor;
        bool to_fast = p->move[i].to == TIER_FAST;
        double share = s->in_full ? 1 : fmax(HIDDEN, plan_share(p, p->move[i].begin, p->move[i].before));
        value[t] += share * (profile_copy(last, g, t, to_fast) - profile_copy(middle, g, t, to_fast));
    }
    for (int n = 0; n < g->nnode; n++) {
        int slot[GRAPH_SLOTS], k = node_slots(g, n, slot);
        unsigned held, slow = slow_slots(s, p, n, in, &held);
        for (int i = 0; i < k; i++) {
            if (!(slow >> i & 1)) continue;
            double there = profile_choice(s->profile, g, n, s->limit, slow, held | 1u << i).seconds;
            double here = profile_choice(s->profile, g, n, s->limit, slow, held & ~(1u << i)).seconds;
            if (isfinite(there) && isfinite(here)) value[slot[i]] += here - there;
        }
    }
    free_all(none, all, last, middle);
}

/* What the middle may hold for life at best by these values, a part of its wish for a tensor that is not slow now. */
static void choose(struct search *s, const double *value)
{
    static const double HOPE = 0.25;
    const struct graph *g = s->g;
    struct middle_item *item = xcalloc((size_t)g->ntensor + 1, sizeof *item);
    int *of = xmalloc((size_t)g->ntensor + 1, sizeof *of), n = 0;
    for (int i = 0; i < g->ntensor; i++) {
        const struct tensor *t = &g->tensor[i];
        s->in[i] = false;
        if (!graph_movable(g, i)) continue;
        double v = value[i] != 0 ? value[i] : HOPE * s->wish[i];
        if (v <= 0) continue;
        item[n] = (struct middle_item){ t->first, t->last, plan_size(t->bytes), 0, v, false };
        of[n++] = i;
    }
    middle_choose(item, n, g->nnode, s->room);
    for (int i = 0; i < n; i++) {
        s->in[of[i]] = item[i].chosen;
        s->offset[of[i]] = item[i].offset;
    }
    free_all(item, of);
}

/* those that are slow in a plan, in order of execution, each at the lowest place that is free for its life */
static void first_come(struct search *s, const struct plan *p)
{
    const struct graph *g = s->g;
    int *held = xmalloc((size_t)g->ntensor + 1, sizeof *held), n = 0;
    memset(s->in, 0, (size_t)g->ntensor * sizeof *s->in);
    for (int node = 0; node < g->nnode; node++)
        for (int i = 0; i < p->nstay; i++) {
            const struct tensor *t = &g->tensor[p->stay[i].tensor];
            uint64_t at = 0, size = plan_size(t->bytes);
            if (p->stay[i].tier != TIER_SLOW || t->first != node) continue;
            for (int k = 0; k < n; k++) {
                const struct tensor *o = &g->tensor[held[k]];
                uint64_t from = s->offset[held[k]], end = from + plan_size(o->bytes);
                if (o->last < t->first || from >= at + size || end <= at) continue;
                at = end;                                /* above it, and all once more */
                k = -1;
            }
            if (size > s->room || at > s->room - size) continue;
            held[n++] = p->stay[i].tensor;
            s->offset[held[n - 1]] = at;
            s->in[held[n - 1]] = true;
        }
    free(held);
}

/* Offsets of the slow pool: what the middle holds below its end, the rest from there on. */
static void lay_out_parts(const struct search *s, struct plan *p)
{
    struct buffer *b = xmalloc((size_t)p->nstay + 1, sizeof *b);
    int *of = xmalloc((size_t)p->nstay + 1, sizeof *of);
    p->slow_bytes = 0;
    for (int part = 0; part < 2; part++) {
        uint64_t shift = part ? s->room : 0;
        int n = 0;
        for (int i = 0; i < p->nstay; i++) {
            const struct stay *x = &p->stay[i];
            if (x->tier != TIER_SLOW || s->in[x->tensor] != (part == 0)) continue;
            b[n] = (struct buffer){ x->first, x->last + 1, plan_size(s->g->tensor[x->tensor].bytes), PLAN_ALIGN, 0 };
            of[n++] = i;
        }
        if (!n) continue;
        if (pack_low(b, n, part ? 0 : PASSES, shift) > s->room && part == 0)
            for (int i = 0; i < n; i++) b[i].offset = s->offset[p->stay[of[i]].tensor];   /* where its whole life is */
        for (int i = 0; i < n; i++) p->stay[of[i]].offset = b[i].offset + shift;
        p->slow_bytes = pack_top(b, n) + shift;
    }
    p->middle = s->room;
    free_all(b, of);
}

/* Has every node a placement below the limit?  Not where a table lacks ways to reach operands of both parts at once. */
static bool can_run(const struct search *s, const struct profile *view)
{
    static struct choice table[1 << GRAPH_SLOTS];
    const struct graph *g = s->g;
    uint64_t *small = xcalloc((size_t)g->nnode + 1, sizeof *small);
    for (int i = 0; i < g->ntensor; i++)
        for (int n = g->tensor[i].first; g->tensor[i].role == ROLE_INTER && n <= g->tensor[i].last; n++)
            small[n] += graph_movable(g, i) ? 0 : plan_size(g->tensor[i].bytes);
    bool can = true;
    for (int n = 0; can && n < g->nnode; n++) {
        int slot[GRAPH_SLOTS], k = node_slots(g, n, slot);
        can = false;
        profile_table(view, g, n, s->limit, table);
        for (unsigned set = 0; !can && set < 1u << k; set++) {
            uint64_t area = table[set].staging + g->node[n].workspace, need = small[n] + (area ? plan_size(area) : 0);
            for (int i = 0; i < k; i++) need += set >> i & 1 ? 0 : plan_size(g->tensor[slot[i]].bytes);
            can = isfinite(table[set].seconds) && need <= s->limit;
        }
    }
    free(small);
    return can;
}

/* the step planned with what the middle holds; NULL where that leaves a node no room */
static struct plan *plan_now(struct search *s)
{
    struct profile *view = profile_view(s->profile, s->in);
    if (s->n > 0 && !can_run(s, view)) {
        free(view);
        return NULL;
    }
    struct plan *p = make_plan(s->g, view, s->form, s->limit, s->effort);
    free(view);
    lay_out_parts(s, p);
    return s->plan[s->n++] = p;
}

/* from a plan in which the middle holds `was`, until it holds what it held before */
static void alternate(struct search *s, const struct plan *p, const bool *was)
{
    size_t bytes = (size_t)s->g->ntensor * sizeof *was;
    double *value = xcalloc((size_t)s->g->ntensor + 1, sizeof *value);
    bool *held = xmalloc((size_t)s->g->ntensor + 1, sizeof *held);
    memcpy(held, was, bytes);
    for (int round = 0; round < ROUNDS; round++) {
        find_values(s, p, held, value);
        choose(s, value);
        if (round > 0 && !memcmp(held, s->in, bytes)) break;
        memcpy(held, s->in, bytes);
        if (!(p = plan_now(s))) break;
    }
    free_all(value, held);
}

/* the proof of another plan of the same limit */
static void take_bound(struct plan *p, const struct plan *proof)
{
    p->bound = proof->bound;
    p->ncut = proof->ncut;
    memcpy(p->cut, proof->cut, sizeof p->cut);
    for (int n = 0; n < p->nnode; n++) {
        struct plan_node *to = &p->node[n];
        const struct plan_node *from = &proof->node[n];
        to->nprice = from->nprice;
        to->price = arena_get(&p->text, size_mul((size_t)from->nprice, sizeof(double)));
        memcpy(to->price, from->price, (size_t)from->nprice * sizeof(double));
    }
    p->gap = p->bound > 0 ? (p->objective - p->bound) / p->bound : 0;
}

struct plan *make_plan_with_middle(const struct graph *g, const struct profile *profile, enum formulation form,
                                   uint64_t limit, uint64_t middle, enum middle_fill fill, const struct effort *effort)
{
    size_t n = (size_t)g->ntensor + 1;
    bool *none = xcalloc(n, sizeof *none), *all = xcalloc(n, sizeof *all);
    struct search s = { .g = g, .profile = profile, .form = form, .limit = limit, .effort = effort,
                        .room = middle / PLAN_ALIGN * PLAN_ALIGN, .wish = xcalloc(n, sizeof *s.wish),
                        .in = xcalloc(n, sizeof *s.in), .offset = xcalloc(n, sizeof *s.offset) };
    memset(all, true, n);
    struct plan *proof = make_plan(g, profile, form, limit, effort), *without = plan_now(&s);
    first_come(&s, without);
    int from = plan_now(&s) && fill == FILL_FIRST;       /* that plan alone */
    if (fill == FILL_VALUE) {
        find_values(&s, proof, all, s.wish);
        alternate(&s, proof, all);
        alternate(&s, without, none);
        s.in_full = true;
        if (form == FORM_ASYNC) alternate(&s, without, none);
    }
    struct plan *best = s.plan[from];
    for (int i = from; i < s.n; i++)
        if (s.plan[i]->objective < best->objective) best = s.plan[i];
    take_bound(best, proof);
    plan_free(proof);
    for (int i = 0; i < s.n; i++)
        if (s.plan[i] != best) plan_free(s.plan[i]);
    free_all(none, all, s.wish, s.in, s.offset);
    return best;
}
