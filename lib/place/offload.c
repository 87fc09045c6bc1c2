#include "place/offload.h"
#include "base/compare.h"
#include "base/message.h"
#include "base/rng.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RATE_BYTES = 64 << 20, SCAN = 48 };
static const double DRAG = 0.02; /* seconds that a second of copies counts in ties */

/* ---- from graph and profile ---- */

static double node_seconds(const struct graph *g, const struct profile *p, int node)
{
    const char *key = g->kernel[g->node[node].kernel].key;
    struct choice c;
    if (!profile_find(p, key, 0, -1, &c)) die("the profile has no time of '%s' with all operands fast", key);
    return c.seconds;
}

static int first_backward(const struct graph *g)
{
    for (int i = 0; i < g->nnode; i++)
        if (node_attr(&g->node[i], "backward", 0, 0) == 1) return i;
    for (int i = 0; i < g->nnode; i++) {
        const struct node *n = &g->node[i];
        for (int k = n->nin; k < n->nin + n->nout; k++)
            if (!strcmp(g->tensor[n->operand[k]].name, "loss")) return i + 1;
    }
    die("%s: no node has the attribute backward, and none writes a tensor 'loss'", g->file);
}

static int attribute_group(const struct graph *g, int node, const char *name)
{
    double id = node_attr(&g->node[node], name, 0, -1);
    if (id != floor(id) || id < -1 || id > 1e6) die("%s: node %d: %s %g is no group", g->file, node, name, id);
    return (int)id;
}

static int group_of(struct offload *o, int id, size_t *cap)
{
    for (int k = 0; k < o->ngroup; k++)
        if (o->group[k].id == id) return k;
    o->group = grow(o->group, (size_t)o->ngroup + 1, cap, sizeof *o->group);
    o->group[o->ngroup] = (struct offload_group){ .id = id, .begin = -1, .end = -1, .enter = -1 };
    return o->ngroup++;
}

/* groups in order of entry, with their seconds; in[] holds graph tensors at first */
static void find_groups(struct offload *o, const struct graph *g)
{
    size_t cap = 0;
    for (int i = 0; i < o->forward; i++) {
        int inside = attribute_group(g, i, "group"), entered = attribute_group(g, i, "enter");
        if (inside >= 0) {
            int k = group_of(o, inside, &cap);
            o->group[k].seconds += o->seconds[i];
        }
        if (entered < 0) continue;
        int k = group_of(o, entered, &cap);
        struct offload_group *q = &o->group[k];
        const struct node *n = &g->node[i];
        q->enter = i;
        for (int j = 0; j < n->nin + n->nout; j++) {
            if (g->tensor[n->operand[j]].role != ROLE_INTER) continue;
            q->in = xrealloc(q->in, (size_t)q->nin + 1, sizeof *q->in);
            q->in[q->nin++] = n->operand[j];
        }
    }
}

/* the one group whose nodes alone touch the tensor in the forward pass, -1 if there is no such */
static int sole_group(const struct offload *o, const struct graph *g, const struct tensor *t)
{
    int found = -1;
    for (int u = 0; u < t->nuse && t->use[u] < o->forward; u++) {
        int id = attribute_group(g, t->use[u], "group");
        if (id < 0 || attribute_group(g, t->use[u], "enter") >= 0 || (found >= 0 && id != found)) return -1;
        found = id;
    }
    for (int k = 0; k < o->ngroup; k++)
        if (o->group[k].id == found) return k;
    return -1;
}

static int by_birth(const void *a, const void *b)
{
    const struct saved *x = a, *y = b;
    return ORDER(x->born, y->born) ?: ORDER(x->tensor, y->tensor);
}

static void find_saved(struct offload *o, const struct graph *g)
{
    bool *input = xcalloc((size_t)g->ntensor + 1, sizeof *input);
    for (int k = 0; k < o->ngroup; k++)
        for (int i = 0; i < o->group[k].nin; i++) input[o->group[k].in[i]] = true;
    o->saved = xcalloc((size_t)g->ntensor + 1, sizeof *o->saved);
    for (int i = 0; i < g->ntensor; i++) {
        const struct tensor *t = &g->tensor[i];
        if (t->role != ROLE_INTER || t->first >= o->forward || (t->last < o->forward && !input[i])) continue;
        bool may_leave = graph_movable(g, i) && !node_attr(&g->node[t->first], "stay", 0, 0);
        struct saved s = { i, (double)t->bytes, may_leave, t->first, -1, -1, -1 };
        for (int u = t->nuse; u-- > 0 && t->use[u] >= o->forward;) s.first = t->use[u];
        if (s.first >= 0) s.last = t->last;
        if (s.first >= 0 && !input[i]) s.group = sole_group(o, g, t);
        o->saved[o->nsaved++] = s;
    }
    qsort(o->saved, (size_t)o->nsaved, sizeof *o->saved, by_birth);
    int *where = xcalloc((size_t)g->ntensor + 1, sizeof *where);
    for (int i = 0; i < o->nsaved; i++) {
        const struct saved *s = &o->saved[i];
        where[s->tensor] = i;
        if (s->first >= 0) o->saved_bytes += s->bytes;
        if (s->group < 0) continue;
        struct offload_group *q = &o->group[s->group];
        q->bytes += s->bytes;
        if (q->begin < 0 || s->first < q->begin) q->begin = s->first;
        if (s->last > q->end) q->end = s->last;
    }
    for (int k = 0; k < o->ngroup; k++)
        for (int i = 0; i < o->group[k].nin; i++) o->group[k].in[i] = where[o->group[k].in[i]];
    free(where);
    free(input);
}

struct offload *offload_new(const struct graph *g, const struct profile *p)
{
    struct offload *o = xcalloc(1, sizeof *o);
    o->nodes = g->nnode;
    o->forward = first_backward(g);
    o->seconds = xcalloc((size_t)o->nodes + 1, sizeof *o->seconds);
    o->workspace = xcalloc((size_t)o->nodes + 1, sizeof *o->workspace);
    for (int i = 0; i < o->nodes; i++) {
        o->plain_seconds += o->seconds[i] = node_seconds(g, p, i);
        o->workspace[i] = g->node[i].workspace;
    }
    o->read_rate = RATE_BYTES / profile_move(p, RATE_BYTES, true);
    o->write_rate = RATE_BYTES / profile_move(p, RATE_BYTES, false);
    find_groups(o, g);
    find_saved(o, g);
    return o;
}

void offload_free(struct offload *o)
{
    for (int k = 0; k < o->ngroup; k++) free(o->group[k].in);
    free_all(o->group, o->saved, o->seconds, o->workspace, o);
}

struct offload_plan *offload_plan_new(const struct offload *o)
{
    struct offload_plan *p = xcalloc(1, sizeof *p);
    p->away = xcalloc((size_t)o->nsaved + 1, 1);
    p->again = xcalloc((size_t)o->ngroup + 1, 1);
    return p;
}

void offload_plan_free(struct offload_plan *p)
{
    free(p->away);
    free(p->again);
    free(p);
}

static void copy_plan(const struct offload *o, struct offload_plan *to, const struct offload_plan *from)
{
    memcpy(to->away, from->away, (size_t)o->nsaved);
    memcpy(to->again, from->again, (size_t)o->ngroup);
    to->seconds = from->seconds;
    to->bound = from->bound;
    to->most = from->most;
}

/* ---- a step under a plan ---- */

/* when a saved tensor lives, given the groups that run again; born -1: not at all */
struct life {
    int born, first, last;
};

static struct life *lives(const struct offload *o, const uint8_t *again)
{
    struct life *l = xmalloc((size_t)o->nsaved + 1, sizeof *l);
    for (int i = 0; i < o->nsaved; i++) {
        const struct saved *s = &o->saved[i];
        bool there = s->first >= 0 && !(s->group >= 0 && again[s->group]);
        l[i] = there ? (struct life){ s->born, s->first, s->last } : (struct life){ -1, -1, -1 };
    }
    for (int k = 0; k < o->ngroup; k++) {
        const struct offload_group *q = &o->group[k];
        for (int i = 0; i < q->nin && again[k] && q->begin >= 0; i++) {
            struct life *x = &l[q->in[i]];
            if (x->born < 0) *x = (struct life){ q->enter, q->begin, q->end };
            if (q->enter < x->born) x->born = q->enter;
            if (q->begin < x->first) x->first = q->begin;
            if (q->end > x->last) x->last = q->end;
        }
    }
    return l;
}

struct list_at {
    int *head, *next;
}; /* saved tensors by node */
static struct list_at list_new(int nodes, int n)
{
    struct list_at l = { xmalloc((size_t)nodes + 1, sizeof *l.head), xmalloc((size_t)n + 1, sizeof *l.next) };
    for (int i = 0; i <= nodes; i++) l.head[i] = -1;
    return l;
}
static void list_put(struct list_at *l, int node, int i)
{
    l->next[i] = l->head[node];
    l->head[node] = i;
}

struct queue_item {
    int tensor;
    double bytes;
}; /* tensor -1: memory of a second run */

struct clockwork {
    double now, resident, most, limit;
    double *write_end, *write_bytes; /* writes under way: [head, tail) */
    int head, tail;
    double read_free, *written, *ready;
    struct queue_item *item; /* reads and grants in order of need */
    int next, items;
};

static void count(struct clockwork *c, double bytes)
{
    c->resident += bytes;
    if (c->resident > c->most) c->most = c->resident;
}

static void drain(struct clockwork *c)
{
    while (c->head < c->tail && c->write_end[c->head] <= c->now) c->resident -= c->write_bytes[c->head++];
}

/* waits for writes until there is room, or for all */
static void make_room(struct clockwork *c, double bytes)
{
    drain(c);
    while (c->resident + bytes > c->limit && c->head < c->tail) {
        c->now = fmax(c->now, c->write_end[c->head]);
        c->resident -= c->write_bytes[c->head++];
    }
}

static void start(struct clockwork *c, const struct offload *o)
{
    struct queue_item q = c->item[c->next++];
    count(c, q.bytes);
    if (q.tensor < 0) return;
    c->read_free = fmax(fmax(c->read_free, c->now), c->written[q.tensor]) + q.bytes / o->read_rate;
    c->ready[q.tensor] = c->read_free;
}

static void advance(struct clockwork *c, const struct offload *o)
{
    drain(c);
    while (c->next < c->items && c->resident + c->item[c->next].bytes <= c->limit) start(c, o);
}

/* needed now, room or not */
static void need(struct clockwork *c, const struct offload *o, int item)
{
    while (c->next <= item) {
        make_room(c, c->item[c->next].bytes);
        start(c, o);
    }
}

double offload_simulate(const struct offload *o, double limit, const struct offload_plan *p, double *most)
{
    struct life *life = lives(o, p->again);
    size_t n = (size_t)o->nsaved + 1, events = n + (size_t)o->ngroup + (size_t)o->nodes;
    struct list_at born = list_new(o->nodes, o->nsaved), first = list_new(o->nodes, o->nsaved),
                   last = list_new(o->nodes, o->nsaved);
    for (int i = o->nsaved; i-- > 0;) {
        if (life[i].born < 0) continue;
        list_put(&born, life[i].born, i);
        list_put(&first, life[i].first, i);
        list_put(&last, life[i].last, i);
    }
    struct clockwork c = { .limit = limit,
                           .write_end = xmalloc(n, sizeof(double)),
                           .write_bytes = xmalloc(n, sizeof(double)),
                           .written = xcalloc(n, sizeof(double)),
                           .ready = xcalloc(n, sizeof(double)),
                           .item = xmalloc(events, sizeof *c.item) };
    for (int i = 0; i < o->forward; i++) {
        c.now += o->seconds[i];
        for (int s = born.head[i]; s >= 0; s = born.next[s]) {
            make_room(&c, o->saved[s].bytes);
            count(&c, o->saved[s].bytes);
            if (!p->away[s]) continue;
            double begin = c.tail > 0 ? fmax(c.now, c.write_end[c.tail - 1]) : c.now;
            c.written[s] = c.write_end[c.tail] = begin + o->saved[s].bytes / o->write_rate;
            c.write_bytes[c.tail++] = o->saved[s].bytes;
        }
    }
    int *item_of = xcalloc(n, sizeof *item_of), *grant = xmalloc((size_t)o->nodes + 1, sizeof *grant);
    double *extra = xcalloc((size_t)o->nodes + 1, sizeof *extra), *back = xcalloc((size_t)o->nodes + 1, sizeof *back);
    for (int k = 0; k < o->ngroup; k++) {
        const struct offload_group *q = &o->group[k];
        if (!p->again[k] || q->begin < 0) continue;
        extra[q->begin] += q->bytes;
        back[q->end] += q->bytes;
    }
    for (int j = o->forward; j < o->nodes; j++) {
        for (int s = first.head[j]; s >= 0; s = first.next[s]) {
            if (!p->away[s]) continue;
            item_of[s] = c.items;
            c.item[c.items++] = (struct queue_item){ s, o->saved[s].bytes };
        }
        extra[j] += (double)o->workspace[j];
        back[j] += (double)o->workspace[j];
        grant[j] = c.items;
        if (extra[j] > 0) c.item[c.items++] = (struct queue_item){ -1, extra[j] };
    }
    for (int j = o->forward; j < o->nodes; j++) {
        advance(&c, o);
        for (int s = first.head[j]; s >= 0; s = first.next[s]) {
            if (!p->away[s]) continue;
            need(&c, o, item_of[s]);
            c.now = fmax(c.now, c.ready[s]);
        }
        if (extra[j] > 0) need(&c, o, grant[j]);
        for (int k = 0; k < o->ngroup; k++)
            if (p->again[k] && o->group[k].begin == j) c.now += o->group[k].seconds;
        c.now += o->seconds[j];
        c.resident -= back[j];
        for (int s = last.head[j]; s >= 0; s = last.next[s]) c.resident -= o->saved[s].bytes;
    }
    *most = c.most;
    free_all(life, c.write_end, c.write_bytes, c.written, c.ready, c.item, item_of, grant, extra, back);
    free_all(born.head, born.next, first.head, first.next, last.head, last.next);
    return c.now;
}

/* ---- the bound ---- */

/* h[i], i in forward: bytes saved by then over the limit, in seconds of writing, less the time there was; backward:
 * the same of reading what is still to be used.  x: groups that run again.  at[n]: the end of node n - 1. */
static void excess(const struct offload *o, double limit, const double *at, double written_from, const double *x,
                   double *h)
{
    memset(h, 0, (size_t)o->nodes * sizeof *h);
    for (int i = 0; i < o->nsaved; i++) {
        const struct saved *s = &o->saved[i];
        if (s->first < 0) continue;
        double bytes = s->bytes * (s->group >= 0 ? 1 - x[s->group] : 1);
        h[s->born] += bytes;
        h[s->last] += bytes;
    }
    double sum = -limit;
    for (int i = 0; i < o->forward; i++) {
        sum += h[i];
        h[i] = sum / o->write_rate - fmax(0, at[i + 1] - written_from);
    }
    double *again = xcalloc((size_t)o->nodes + 1, sizeof *again), time = 0;
    for (int k = 0; k < o->ngroup; k++)
        if (o->group[k].end >= 0) again[o->group[k].end] += x[k] * o->group[k].seconds;
    sum = -limit;
    for (int j = o->nodes; j-- > o->forward;) {
        sum += h[j];
        time += again[j];
        h[j] = sum / o->read_rate - (at[o->nodes] - at[j]) - time;
    }
    free(again);
}

/* the cheapest x at these prices; returns the sum of its reduced costs */
static double cheapest(const struct offload *o, const double *price, double *x)
{
    double *from = xcalloc((size_t)o->nodes + 2, sizeof *from),
           *reduced = xcalloc((size_t)o->ngroup + 1, sizeof *reduced);
    for (int i = o->forward; i-- > 0;) from[i] = price[i] + (i + 1 < o->forward ? from[i + 1] : 0);
    for (int j = o->forward; j < o->nodes; j++) from[j] = price[j] + (j > o->forward ? from[j - 1] : 0);
    for (int k = 0; k < o->ngroup; k++)
        if (o->group[k].end >= 0) reduced[k] = o->group[k].seconds * (1 - from[o->group[k].end]);
    for (int i = 0; i < o->nsaved; i++) {
        const struct saved *s = &o->saved[i];
        if (s->group < 0) continue;
        reduced[s->group] -= s->bytes * (from[s->born] / o->write_rate + from[s->last] / o->read_rate);
    }
    double sum = 0;
    for (int k = 0; k < o->ngroup; k++) {
        x[k] = reduced[k] < 0;
        sum += fmin(0, reduced[k]);
    }
    free(from);
    free(reduced);
    return sum;
}

/* prices from weights: those of one side have a sum below 1, the rest is the price of nothing */
static void normalise(const double *log_weight, int n, double *price)
{
    double top = 0, sum = 0;
    for (int i = 0; i < n; i++) top = fmax(top, log_weight[i]);
    for (int i = 0; i < n; i++) sum += price[i] = exp(log_weight[i] - top);
    sum += exp(-top);
    for (int i = 0; i < n; i++) price[i] /= sum;
}

/* seconds: no plan under the limit is faster; lean[ngroup]: 0 .. 1 */
static double offload_bound(const struct offload *o, double limit, long steps, double *lean)
{
    size_t n = (size_t)o->nodes + 1, groups = (size_t)o->ngroup + 1;
    double *at = xcalloc(n, sizeof *at), *h = xcalloc(n, sizeof *h), *plain = xcalloc(n, sizeof *plain),
           *weight = xcalloc(n, sizeof *weight), *price = xcalloc(n, sizeof *price), *x = xcalloc(groups, sizeof *x);
    double best = 0, scale = 0, first = 0;
    for (int i = 0; i < o->nodes; i++) at[i + 1] = at[i] + o->seconds[i];
    for (int i = 0; i < o->nsaved; i++)
        if (o->saved[i].first >= 0) {
            first = at[o->saved[i].born + 1];
            break;
        }
    memset(lean, 0, groups * sizeof *lean);
    excess(o, limit, at, first, x, plain);
    for (int i = 0; i < o->nodes; i++) {
        scale = fmax(scale, fabs(plain[i]));
        weight[i] = -8;
    }
    for (long t = 0; t < steps && scale > 0; t++) {
        normalise(weight, o->forward, price);
        normalise(weight + o->forward, o->nodes - o->forward, price + o->forward);
        double value = cheapest(o, price, x);
        for (int i = 0; i < o->nodes; i++) value += price[i] * plain[i];
        best = fmax(best, value);
        excess(o, limit, at, first, x, h);
        double eta = 8 / scale / sqrt(1 + 0.05 * (double)t);
        for (int i = 0; i < o->nodes; i++) weight[i] = fmin(200, fmax(-200, weight[i] + eta * h[i]));
        for (int k = 0; k < o->ngroup; k++) lean[k] += x[k] / (double)steps;
    }
    free_all(at, h, plain, weight, price, x);
    return o->plain_seconds + best;
}

/* ---- the search ---- */

struct search {
    const struct offload *o;
    double limit;
    struct offload_plan *best, *trial;
};

static double worth(const struct search *s, const struct offload_plan *p)
{
    double copies = 0;
    for (int i = 0; i < s->o->nsaved; i++)
        if (p->away[i]) copies += s->o->saved[i].bytes * (1 / s->o->write_rate + 1 / s->o->read_rate);
    return p->seconds + DRAG * copies;
}

/* the plan that keeps the limit, then the faster one */
static bool better(const struct search *s, const struct offload_plan *a, const struct offload_plan *b)
{
    bool fits_a = a->most <= s->limit, fits_b = b->most <= s->limit;
    if (fits_a != fits_b) return fits_a;
    return fits_a ? worth(s, a) < worth(s, b) : a->most < b->most;
}

static bool consider(struct search *s)
{
    s->trial->seconds = offload_simulate(s->o, s->limit, s->trial, &s->trial->most);
    if (!better(s, s->trial, s->best)) return false;
    copy_plan(s->o, s->best, s->trial);
    return true;
}

/* with the groups of the trial: the tensors born first go, as many as is best */
static void scan(struct search *s)
{
    int movable = 0;
    struct life *life = lives(s->o, s->trial->again);
    memset(s->trial->away, 0, (size_t)s->o->nsaved);
    for (int i = 0; i < s->o->nsaved; i++) movable += life[i].born >= 0 && s->o->saved[i].movable;
    int stride = movable / SCAN + 1, sent = 0;
    consider(s);
    for (int i = 0; i < s->o->nsaved; i++) {
        if (life[i].born < 0 || !s->o->saved[i].movable) continue;
        s->trial->away[i] = 1;
        if (++sent % stride == 0 || sent == movable) consider(s);
    }
    free(life);
}

static const double *lean_order;
static int by_lean(const void *a, const void *b)
{
    double x = lean_order[*(const int *)a], y = lean_order[*(const int *)b];
    return x != y ? (x > y ? -1 : 1) : *(const int *)a - *(const int *)b;
}

bool offload_solve(const struct offload *o, double limit, const struct offload_effort *e, struct offload_plan *p)
{
    struct search s = { o, limit, p, offload_plan_new(o) };
    double *lean = xcalloc((size_t)o->ngroup + 1, sizeof *lean);
    int *order = xmalloc((size_t)o->ngroup + 1, sizeof *order);
    double bound = offload_bound(o, limit, e->steps, lean);
    for (int k = 0; k < o->ngroup; k++) {
        order[k] = k;
        lean[k] += 1e-6 * o->group[k].bytes / (o->saved_bytes + 1) / (o->group[k].seconds / o->plain_seconds + 1e-9);
    }
    lean_order = lean;
    qsort(order, (size_t)o->ngroup, sizeof *order, by_lean);
    p->most = HUGE_VAL;
    scan(&s);
    for (int k = 0; k < o->ngroup; k++) {
        s.trial->again[order[k]] = 1;
        if (o->group[order[k]].begin >= 0) scan(&s);
    }
    struct rng r = rng_for(e->seed, str_of("offload"));
    for (long t = 0; t < e->rounds && o->nsaved > 0; t++) {
        copy_plan(o, s.trial, p);
        uint64_t what = rng_below(&r, 8);
        if (what < 3 && o->ngroup > 0) s.trial->again[rng_below(&r, (uint64_t)o->ngroup)] ^= 1;
        if (what == 0 && o->ngroup > 0) scan(&s);
        if (what == 0) continue;
        for (uint64_t flips = rng_below(&r, 4) + (what > 2); flips-- > 0;) {
            uint64_t i = rng_below(&r, (uint64_t)o->nsaved);
            if (o->saved[i].movable) s.trial->away[i] ^= 1;
        }
        consider(&s);
    }
    struct life *life = lives(o, p->again);
    for (int i = 0; i < o->nsaved; i++)
        if (life[i].born < 0) p->away[i] = 0;
    free(life);
    p->bound = bound;
    free(order);
    free(lean);
    offload_plan_free(s.trial);
    return p->most <= limit;
}
