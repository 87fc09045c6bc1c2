/* verify.c - see verify.h */
#include "place/verify.h"
#include "base/checked.h"
#include "base/compare.h"
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double CLOSE = 1e-9;                        /* relative, of sums in different order */

struct judge {
    const struct graph *g;
    const struct profile *profile;
    const struct plan *p;
    void (*say)(void *, const char *);
    void *context;
    int faults;
    uint64_t *small;                                     /* node: bytes of intermediates too small to move */
};

static void fault(struct judge *j, const char *rule, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void fault(struct judge *j, const char *rule, const char *fmt, ...)
{
    char text[512];
    int n = snprintf(text, sizeof text, "%s: ", rule);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text + n, sizeof text - (size_t)n, fmt, ap);
    va_end(ap);
    j->faults++;
    j->say(j->context, text);
}

static bool near(double a, double b)
{
    return fabs(a - b) <= CLOSE * (fabs(a) > fabs(b) ? fabs(a) : fabs(b)) + 1e-15;
}

static const char *name_of(const struct judge *j, int tensor)
{
    return j->g->tensor[tensor].name;
}

/* ---- residence ---- */

/* the first node at which a stay is sure to hold the tensor's contents */
static int filled_at(const struct judge *j, const struct stay *s)
{
    for (int i = 0; i < j->p->nmove; i++) {
        const struct plan_move *m = &j->p->move[i];
        if (m->tensor == s->tensor && m->to == s->tier && m->begin == s->first) return m->before;
    }
    return s->first + 1;
}

static void check_operand(struct judge *j, int node, int operand)
{
    const struct node *n = &j->g->node[node];
    const struct plan_node *d = &j->p->node[node];
    int id = n->operand[operand];
    const struct tensor *t = &j->g->tensor[id];
    bool slow = (operand < n->nin ? d->in_tiers[operand] : d->out_tiers[operand - n->nin]) == 'P';
    bool offloaded = t->role != ROLE_INTER && plan_find(j->p, graph_home(j->g, id), TIER_SLOW, node);
    if (offloaded && !slow)
        fault(j, "residence", "node %d uses '%s' in fast memory, but it is offloaded", node, t->name);
    if (slow && !offloaded && !graph_movable(j->g, id)) {
        fault(j, "pinned", "node %d uses '%s' in slow memory, where it may not be", node, t->name);
        return;
    }
    if (t->role != ROLE_INTER) return;
    const struct stay *s = plan_find(j->p, id, slow ? TIER_SLOW : TIER_FAST, node);
    if (!s)
        fault(j, "residence", "node %d uses '%s' in %s memory, where it is not", node, t->name, slow ? "slow" : "fast");
    else if (t->producer == node && s->first != node)
        fault(j, "residence", "'%s' is in %s memory at node %d, before node %d makes it", t->name,
              slow ? "slow" : "fast", s->first, node);
    else if (s->first < node && filled_at(j, s) > node)
        fault(j, "residence", "node %d uses '%s' in %s memory, where it may not be before node %d", node, t->name,
              slow ? "slow" : "fast", filled_at(j, s));
    const struct stay *here = slow ? plan_find(j->p, id, TIER_FAST, node) : NULL;
    if (here && here->first < node && filled_at(j, here) <= node)
        fault(j, "residence", "node %d uses '%s' in slow memory, though it is in fast memory", node, t->name);
    for (int i = 0; i < operand; i++) {
        bool other = (i < n->nin ? d->in_tiers[i] : d->out_tiers[i - n->nin]) == 'P';
        if (n->operand[i] == id && other != slow)
            fault(j, "residence", "node %d uses '%s' in both tiers", node, t->name);
    }
}

/* a stay begins where the tensor is made, or by one move from a valid copy */
static void check_stay(struct judge *j, const struct stay *s)
{
    const struct tensor *t = &j->g->tensor[s->tensor];
    const char *tier = s->tier == TIER_SLOW ? "slow" : "fast";
    for (const struct stay *o = s + 1; o < j->p->stay + j->p->nstay && o->tensor == s->tensor; o++)
        if (o->tier == s->tier && o->first <= s->last)
            fault(j, "residence", "two stays of '%s' in %s memory overlap", t->name, tier);
    if (t->role != ROLE_INTER) {
        bool whole = s->tier == TIER_SLOW && s->first == 0 && s->last == j->g->nnode - 1;
        if (!graph_offloadable(j->g, s->tensor) || graph_home(j->g, s->tensor) != s->tensor || !whole)
            fault(j, "residence", "'%s' is no intermediate and may only be offloaded, for the whole step", t->name);
        return;
    }
    if (s->first < t->first || s->last > t->last)
        fault(j, "residence", "'%s' stays in %s memory beyond its life", t->name, tier);
    if (!graph_movable(j->g, s->tensor) && (s->tier == TIER_SLOW || s->first != t->first || s->last != t->last))
        fault(j, "pinned", "'%s' is too small to be anywhere but in fast memory for life", t->name);
    int moves = 0;
    for (int i = 0; i < j->p->nmove; i++) {
        const struct plan_move *m = &j->p->move[i];
        if (m->tensor == s->tensor && m->to == s->tier && m->begin == s->first) moves++;
    }
    const struct plan_node *made = &j->p->node[t->first];
    const struct node *n = &j->g->node[t->first];
    bool born = false;
    for (int i = n->nin; i < n->nin + n->nout; i++)
        if (n->operand[i] == s->tensor)
            born = s->first == t->first && (made->out_tiers[i - n->nin] == 'P') == (s->tier == TIER_SLOW);
    if (moves != (born ? 0 : 1))
        fault(j, "moves", "the stay of '%s' in %s memory from node %d is begun by %d moves", t->name, tier, s->first,
              moves);
}

static void check_moves(struct judge *j)
{
    for (int i = 0; i < j->p->nmove; i++) {
        const struct plan_move *m = &j->p->move[i];
        const char *to = m->to == TIER_SLOW ? "slow" : "fast";
        if (i > 0 &&
            (m[-1].before > m->before || (m[-1].before == m->before && m[-1].to == TIER_FAST && m->to == TIER_SLOW)))
            fault(j, "moves", "the move of '%s' before node %d is out of order", name_of(j, m->tensor), m->before);
        const struct stay *into = plan_find(j->p, m->tensor, m->to, m->before);
        if (!into || into->first != m->begin)
            fault(j, "moves", "the move of '%s' to %s memory before node %d begins no stay", name_of(j, m->tensor), to,
                  m->before);
        enum plan_tier source = m->to == TIER_SLOW ? TIER_FAST : TIER_SLOW;
        const struct stay *from = plan_find(j->p, m->tensor, source, m->to == TIER_SLOW ? m->before - 1 : m->before);
        bool late = from && m->begin == m->before && from->first >= m->begin;
        if (!from || late || filled_at(j, from) > m->begin)
            fault(j, "moves", "the move of '%s' to %s memory before node %d has no source", name_of(j, m->tensor), to,
                  m->before);
        if (m->begin > m->before || (m->begin < m->before && strcmp(j->p->formulation, "async") != 0))
            fault(j, "moves", "the move of '%s' to %s memory before node %d may not begin at node %d",
                  name_of(j, m->tensor), to, m->before, m->begin);
    }
}

/* ---- memory ---- */

struct area { uint64_t from, to; int first, last; const char *what; };

static int by_address(const void *x, const void *y)
{
    const struct area *a = x, *b = y;
    return ORDER(a->from, b->from) ?: ORDER(a->to, b->to);
}

static void check_overlaps(struct judge *j, struct area *a, int n, const char *pool, uint64_t bytes)
{
    uint64_t top = 0;
    qsort(a, (size_t)n, sizeof *a, by_address);
    for (int i = 0; i < n; i++) {
        if (a[i].to > top) top = a[i].to;
        for (int k = i + 1; k < n && a[k].from < a[i].to; k++)
            if (a[k].first <= a[i].last && a[i].first <= a[k].last)
                fault(j, "layout", "'%s' and '%s' overlap in %s memory at node %d", a[i].what, a[k].what, pool,
                      a[i].first > a[k].first ? a[i].first : a[k].first);
    }
    if (top > bytes || (top < bytes && strcmp(j->p->formulation, "numa") != 0))
        fault(j, "layout", "the layout of %s memory ends at %llu, its pool at %llu", pool, (unsigned long long)top,
              (unsigned long long)bytes);
}

static void check_layout(struct judge *j)
{
    const struct plan *p = j->p;
    struct area *area = xmalloc(size_add((size_t)p->nstay, (size_t)p->nnode) + 1, sizeof *area);
    for (int tier = TIER_FAST; tier <= TIER_SLOW; tier++) {
        int n = 0;
        for (int i = 0; i < p->nstay; i++) {
            const struct stay *s = &p->stay[i];
            uint64_t bytes = j->g->tensor[s->tensor].bytes;
            if ((int)s->tier != tier) continue;
            if (s->offset % plan_align(bytes) != 0)
                fault(j, "layout", "'%s' at %llu is not aligned", name_of(j, s->tensor), (unsigned long long)s->offset);
            area[n++] =
                (struct area){ s->offset, s->offset + plan_size(bytes), s->first, s->last, name_of(j, s->tensor) };
        }
        for (int i = 0; tier == TIER_FAST && i < p->nnode; i++) {
            const struct plan_node *d = &p->node[i];
            if (d->staging == 0 && d->staging_offset != 0)
                fault(j, "layout", "node %d has no staging, but an offset", i);
            if (d->staging_offset % PLAN_ALIGN != 0) fault(j, "layout", "the staging of node %d is not aligned", i);
            if (d->staging > 0)
                area[n++] = (struct area){ d->staging_offset, d->staging_offset + d->staging, i, i, "staging" };
        }
        check_overlaps(j, area, n, tier == TIER_FAST ? "fast" : "slow",
                       tier == TIER_FAST ? p->fast_bytes : p->slow_bytes);
    }
    free(area);
}

static void check_capacity(struct judge *j)
{
    const struct plan *p = j->p;
    double *load = xcalloc((size_t)p->nnode + 1, sizeof *load);
    for (int i = 0; i < p->nstay; i++) {
        const struct stay *s = &p->stay[i];
        if (s->tier != TIER_FAST) continue;
        load[s->first] += (double)plan_size(j->g->tensor[s->tensor].bytes);
        load[s->last + 1] -= (double)plan_size(j->g->tensor[s->tensor].bytes);
    }
    double sum = 0;
    for (int n = 0; n < p->nnode; n++) {
        sum += load[n];
        if (sum + (double)p->node[n].staging > (double)p->limit)
            fault(j, "capacity", "node %d has %.0f bytes in fast memory, the limit is %llu", n,
                  sum + (double)p->node[n].staging, (unsigned long long)p->limit);
    }
    if (p->fast_bytes > p->limit)
        fault(j, "capacity", "the pool of %llu bytes exceeds the limit of %llu", (unsigned long long)p->fast_bytes,
              (unsigned long long)p->limit);
    free(load);
}

/* ---- times and bound ---- */

static unsigned placement_of(const struct judge *j, int node, const int *slot, int k)
{
    const struct node *n = &j->g->node[node];
    const struct plan_node *d = &j->p->node[node];
    unsigned set = 0;
    for (int s = 0; s < k; s++)
        for (int i = 0; i < n->nin + n->nout; i++)
            if (n->operand[i] == slot[s] && (i < n->nin ? d->in_tiers[i] : d->out_tiers[i - n->nin]) == 'P')
                set |= 1u << s;
    return set;
}

/* operands of a node that are no intermediates and in slow memory, as bits */
static uint32_t offloaded(const struct judge *j, int node)
{
    const struct node *n = &j->g->node[node];
    uint32_t set = 0;
    for (int i = 0; i < n->nin + n->nout && i < 32; i++)
        if (j->g->tensor[n->operand[i]].role != ROLE_INTER &&
            (i < n->nin ? j->p->node[node].in_tiers[i] : j->p->node[node].out_tiers[i - n->nin]) == 'P')
            set |= 1u << i;
    return set;
}

/* seconds for which the moves of the slow operands of a placement would take the copy channel, at most `most` */
static double channel_of(const struct judge *j, int node, const int *slot, int k, unsigned set, double most)
{
    const struct node *n = &j->g->node[node];
    uint32_t always = offloaded(j, node);
    double sum = 0;
    for (int i = 0; i < n->nin + n->nout && i < 32; i++)
        if (always >> i & 1) sum += profile_move(j->profile, j->g->tensor[n->operand[i]].bytes, i < n->nin);
    for (int s = 0; s < k; s++)
        if (set >> s & 1)
            sum += profile_move(j->profile, j->g->tensor[slot[s]].bytes, j->g->tensor[slot[s]].producer != node);
    return sum < most ? sum : most;
}

static uint64_t staging_of(const struct node *n, const struct choice *c)
{
    uint64_t bytes = n->workspace + c->staging;
    return bytes > 0 ? plan_size(bytes) : 0;
}

/* bytes of fast memory that a node needs with a placement, whatever else is there */
static double alone(const struct judge *j, int node, const int *slot, int k, unsigned set, const struct choice *c)
{
    double need = (double)j->small[node] + (double)staging_of(&j->g->node[node], c);
    for (int s = 0; s < k; s++)
        if (!(set >> s & 1)) need += (double)plan_size(j->g->tensor[slot[s]].bytes);
    return need;
}

/* what a second of the channel beside a node costs */
static double channel_price(const struct judge *j, int node)
{
    return j->p->node[node].price[j->p->node[node].nprice - 1];
}

/* the node's own time, and its part of L */
static void check_node(struct judge *j, int node, double *seconds, double *channel, double *idle, double *dual)
{
    static struct choice table[1 << GRAPH_SLOTS];
    int slot[GRAPH_SLOTS], k = node_slots(j->g, node, slot);
    const struct plan_node *d = &j->p->node[node];
    profile_table(j->profile, j->g, node, offloaded(j, node), j->p->limit, table);
    const struct choice *c = &table[placement_of(j, node, slot, k)];
    if (!near(c->seconds, d->seconds))
        fault(j, "times", "node %d is said to take %.9g s, the profile says %.9g s", node, d->seconds, c->seconds);
    if (c->mode != d->mode)
        fault(j, "times", "node %d is %s, the profile's time is for %s", node, profile_modes[d->mode],
              profile_modes[c->mode]);
    if (staging_of(&j->g->node[node], c) != d->staging)
        fault(j, "capacity", "node %d has %llu bytes of staging, it needs %llu", node, (unsigned long long)d->staging,
              (unsigned long long)staging_of(&j->g->node[node], c));
    *seconds = d->seconds;
    *channel = 0;
    bool beside = strcmp(j->p->formulation, "async") == 0;
    if (beside)
        *channel = channel_of(j, node, slot, k, placement_of(j, node, slot, k), d->seconds);
    *idle = 0;
    if (d->nprice == 0) return;
    double least = INFINITY, lost = beside ? profile_lost(j->profile, j->g, node) : 0;
    if (beside && channel_price(j, node) < lost)
        fault(j, "bound", "node %d loses %.9g s by a second of moves, at a price of %.9g s", node, lost,
              channel_price(j, node));
    for (unsigned set = 0; set < 1u << k; set++) {
        if (alone(j, node, slot, k, set, &table[set]) > (double)j->p->limit) continue;
        double v = table[set].seconds + d->price[0] * (double)staging_of(&j->g->node[node], &table[set]);
        for (int s = 0; s < k; s++)
            if (set >> s & 1) v -= d->price[1 + j->p->ncut + s];
        double takes = channel_of(j, node, slot, k, set, table[set].seconds);
        double leaves = (table[set].seconds - takes) / (1 - lost);
        if (beside) v -= (channel_price(j, node) - lost) * leaves;
        if (isfinite(v) && leaves > *idle) *idle = leaves;
        if (v < least) least = v;
    }
    double room = (double)j->p->limit - (double)j->small[node];
    *dual = least - d->price[0] * room;
    for (int i = 0; i < j->p->ncut; i++) *dual -= d->price[1 + i] * floor(room / (double)j->p->cut[i]);
}

static double price_of_slot(const struct judge *j, int node, int tensor)
{
    int slot[GRAPH_SLOTS], k = node_slots(j->g, node, slot), s = 0;
    while (s < k && slot[s] != tensor) s++;
    return j->p->node[node].price[1 + j->p->ncut + s];
}

/* what so many bytes pay for fast memory at a node */
static double rent(const struct judge *j, double bytes, int node)
{
    const double *price = j->p->node[node].price;
    double sum = bytes * price[0];
    for (int c = 0; c < j->p->ncut; c++) sum += floor(bytes / (double)j->p->cut[c]) * price[1 + c];
    return sum;
}

/* The cheapest way to share a move's seconds out over nodes: beside each for what the channel costs there, at most what
 * it can have there (`idle`, summed over the nodes before a node), and for the rest the step stands still. */
struct shares { int *node, n; };                         /* the nodes, by ascending price */

static void add_share(const struct judge *j, struct shares *s, int node)
{
    int i = s->n++;
    while (i > 0 && channel_price(j, s->node[i - 1]) > channel_price(j, node)) {
        s->node[i] = s->node[i - 1];
        i--;
    }
    s->node[i] = node;
}

static double cost_of_shares(const struct judge *j, const struct shares *s, double seconds, const double *idle)
{
    double sum = 0;
    for (int i = 0; i < s->n && seconds > 0; i++) {
        double part = fmin(seconds, idle[s->node[i] + 1] - idle[s->node[i]]);
        sum += part * channel_price(j, s->node[i]);
        seconds -= part;
    }
    return sum + seconds;
}

/* The cheapest fetch for node n of a tensor made by node `made`: what it takes fast memory for before n is paid for.
 * Longer stays pay more, so the search ends where the rent alone is too much. */
static double fetch_beside(const struct judge *j, double seconds, const double *until, const double *idle, int made,
                           int n)
{
    struct shares s = { xmalloc((size_t)j->p->nnode + 1, sizeof *s.node), 0 };
    double least = seconds;
    for (int first = n - 1; first > made && until[n] - until[first] < least; first--) {
        add_share(j, &s, first);
        least = fmin(least, until[n] - until[first] + cost_of_shares(j, &s, seconds, idle));
    }
    free(s.node);
    return least;
}

/* the same of a write-out after node n, over before node `next` */
static double write_beside(const struct judge *j, double seconds, const double *until, const double *idle, int made,
                           int n, int next)
{
    struct shares s = { xmalloc((size_t)j->p->nnode + 1, sizeof *s.node), 0 };
    for (int i = made + 1; i <= n; i++) add_share(j, &s, i);
    double least = cost_of_shares(j, &s, seconds, idle);
    for (int last = n + 1; last < next && until[last + 1] - until[n + 1] < least; last++) {
        add_share(j, &s, last);
        least = fmin(least, until[last + 1] - until[n + 1] + cost_of_shares(j, &s, seconds, idle));
    }
    free(s.node);
    return least;
}

/* the cheapest life of a tensor at the plan's prices; until[n] is its rent summed over the nodes before n; idle: NULL
 * where moves stand between nodes */
static double cheapest_life(const struct judge *j, int id, double *until, const double *idle, bool may_move)
{
    const struct tensor *t = &j->g->tensor[id];
    double bytes = (double)plan_size(t->bytes);
    double fetch = may_move ? profile_move(j->profile, t->bytes, true) : INFINITY;
    double write = may_move ? profile_move(j->profile, t->bytes, false) : INFINITY;
    until[t->first] = 0;
    for (int n = t->first; n <= t->last; n++) until[n + 1] = until[n] + rent(j, bytes, n);
    double only_fast = INFINITY, both = INFINITY, only_slow = INFINITY;   /* where its contents are after use u */
    for (int u = 0; u < t->nuse; u++) {
        int n = t->use[u];
        double fits = (double)j->p->limit - (double)j->small[n];
        double fast = bytes > fits ? INFINITY : rent(j, bytes, n);
        double slow = price_of_slot(j, n, id);
        if (u == 0) {
            only_fast = fast;
            only_slow = slow;
            continue;
        }
        int before = t->use[u - 1];
        double out = idle ? write_beside(j, write, until, idle, t->first, before, n) : write;
        double in = idle ? fetch_beside(j, fetch, until, idle, t->first, n) : fetch;
        double kept = until[n] - until[before + 1];
        double away = fmin(only_slow, fmin(both, only_fast + out));
        double again = fmin(both + kept, away + in) + fast;
        only_fast += kept + fast;
        only_slow = away + slow;
        both = again;
    }
    return fmin(only_fast, fmin(both, only_slow));
}

static double lives(struct judge *j, const double *idle, bool may_move)
{
    double *until = xcalloc((size_t)j->p->nnode + 1, sizeof *until), sum = 0;
    for (int i = 0; i < j->g->ntensor; i++)
        if (graph_movable(j->g, i)) sum += cheapest_life(j, i, until, idle, may_move);
    free(until);
    return sum;
}

/* ---- the copy channel of formulation async ---- */

struct copying { int before, begin; bool to_fast; double left; };

/* the first copy in the plan's order that may be under way while node `node` runs; n when there is none */
static int next_copy(const struct copying *c, int from, int n, int node)
{
    int write_out = INT_MAX;                             /* the least BEFORE of unfinished ones to slow memory */
    for (int i = from; i < n; i++) {
        if (c[i].left <= 0) continue;
        if (c[i].begin <= node && !(c[i].to_fast && write_out <= c[i].begin)) return i;
        if (!c[i].to_fast && c[i].before < write_out) write_out = c[i].before;
    }
    return n;
}

static double run_beside(struct judge *j, const double *seconds, const double *channel)
{
    const struct plan *p = j->p;
    struct copying *c = xcalloc((size_t)p->nmove + 1, sizeof *c);
    for (int i = 0; i < p->nmove; i++) {
        const struct plan_move *m = &p->move[i];
        bool to_fast = m->to == TIER_FAST;
        c[i] = (struct copying){ m->before, m->begin, to_fast,
                                 profile_move(j->profile, j->g->tensor[m->tensor].bytes, to_fast) };
    }
    double now = 0;
    for (int node = 0, first = 0; node < p->nnode; node++) {
        while (first < p->nmove && (c[first].left <= 0 || c[first].before <= node)) {
            if (c[first].left <= 0) {
                first++;
                continue;
            }
            int i = next_copy(c, first, p->nmove, node);
            if (i == p->nmove) break;                    /* out of order: a fault that others report */
            now += c[i].left;
            c[i].left = 0;
        }
        double lost = profile_lost(j->profile, j->g, node), left = seconds[node];
        double rate = left > 0 ? (1 - channel[node] / left) / (1 - lost) : 0;   /* by a second of the node's own */
        now += left;
        while (left > 0 && rate > 0) {
            int i = next_copy(c, first, p->nmove, node);
            if (i == p->nmove) break;
            double need = c[i].left / rate, before = c[i].left;
            c[i].left = need <= left ? 0 : before - left * rate;
            now += lost * (before - c[i].left);
            left -= need;
        }
    }
    free(c);
    return now;
}

static void check_times(struct judge *j)
{
    const struct plan *p = j->p;
    double sum = 0, dual = 0;
    int priced = 0;
    bool beside = strcmp(p->formulation, "async") == 0;
    double *seconds = xcalloc((size_t)p->nnode + 1, sizeof *seconds);
    double *channel = xcalloc((size_t)p->nnode + 1, sizeof *channel);
    double *idle = xcalloc((size_t)p->nnode + 1, sizeof *idle);
    for (int n = 0; n < p->nnode; n++) {
        double part = 0, alone = 0;
        check_node(j, n, &seconds[n], &channel[n], &alone, &part);
        idle[n + 1] = idle[n] + alone;
        sum += seconds[n];
        dual += part;
        if (p->node[n].nprice > 0) priced++;
    }
    for (int i = 0; i < p->nmove && !beside; i++)
        sum += profile_move(j->profile, j->g->tensor[p->move[i].tensor].bytes, p->move[i].to == TIER_FAST);
    if (beside) sum = run_beside(j, seconds, channel);
    free(seconds);
    free(channel);
    if (!near(sum, p->objective))
        fault(j, "objective", "kernels and moves take %.12g s, the plan says %.12g s", sum, p->objective);
    if (p->bound > p->objective * (1 + CLOSE))
        fault(j, "bound", "%.12g s is above the objective %.12g s", p->bound, p->objective);
    double gap = p->bound > 0 ? (p->objective - p->bound) / p->bound : 0;
    if (!(fabs(gap - p->gap) <= 1e-9)) fault(j, "bound", "the gap is %.9g, the plan says %.9g", gap, p->gap);
    bool free_choice = beside || strcmp(p->formulation, "static") == 0 || strcmp(p->formulation, "sync") == 0;
    if (!free_choice || priced < p->nnode) free(idle);
    if (!free_choice) {
        if (!near(p->bound, p->objective))
            fault(j, "bound", "%s leaves no choice, but bound and objective differ", p->formulation);
        return;
    }
    if (priced < p->nnode) {
        fault(j, "bound", "%d of %d nodes have no prices: the bound is not proved", p->nnode - priced, p->nnode);
        return;
    }
    dual += lives(j, beside ? idle : NULL, beside || strcmp(p->formulation, "sync") == 0);
    free(idle);
    if (p->bound > dual + CLOSE * fabs(p->objective))
        fault(j, "bound", "the prices prove %.12g s, the plan claims %.12g s", dual, p->bound);
}

/* ---- formulations ---- */

static void check_formulation(struct judge *j)
{
    static const char *const known[] = { "static", "sync", "async", "numa", "slow", "fast" };
    const struct plan *p = j->p;
    size_t f = 0;
    while (f < sizeof known / sizeof *known && strcmp(known[f], p->formulation) != 0) f++;
    if (f == sizeof known / sizeof *known) fault(j, "formulation", "there is no formulation '%s'", p->formulation);
    if (strcmp(p->kind, profile_kind(j->profile)) != 0)
        fault(j, "formulation", "the plan says %s, its profile is %s", p->kind, profile_kind(j->profile));
    if (strcmp(p->formulation, "sync") == 0 || strcmp(p->formulation, "async") == 0) return;
    if (p->nmove > 0) fault(j, "formulation", "%s has no moves, this plan has %d", p->formulation, p->nmove);
    for (int i = 0; i < p->nstay; i++) {
        const struct stay *s = &p->stay[i];
        const struct tensor *t = &j->g->tensor[s->tensor];
        if (t->role != ROLE_INTER || !graph_movable(j->g, s->tensor)) continue;
        if (s->first != t->first || s->last != t->last)
            fault(j, "formulation", "%s: '%s' does not stay where it is for life", p->formulation, t->name);
        if (strcmp(p->formulation, s->tier == TIER_SLOW ? "fast" : "slow") == 0)
            fault(j, "formulation", "%s: '%s' is in the other tier", p->formulation, t->name);
    }
}

int verify_plan(const struct graph *g, const struct profile *profile, const struct plan *p,
                void (*say)(void *, const char *), void *context)
{
    struct judge j = { g, profile, p, say, context, 0, xcalloc((size_t)g->nnode + 1, sizeof(uint64_t)) };
    for (int i = 0; i < g->ntensor; i++) {
        const struct tensor *t = &g->tensor[i];
        if (t->role == ROLE_INTER && !graph_movable(g, i))
            for (int n = t->first; n <= t->last; n++) j.small[n] += plan_size(t->bytes);
    }
    check_formulation(&j);
    for (int n = 0; n < g->nnode; n++)
        for (int i = 0; i < g->node[n].nin + g->node[n].nout; i++) check_operand(&j, n, i);
    for (int i = 0; i < p->nstay; i++) check_stay(&j, &p->stay[i]);
    check_moves(&j);
    check_capacity(&j);
    check_layout(&j);
    check_times(&j);
    free(j.small);
    return j.faults;
}
