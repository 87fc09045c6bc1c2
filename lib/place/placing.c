/* placing.c - see placing.h */
#include "place/placing.h"
#include "place/plan.h"
#include "base/checked.h"
#include "base/message.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int limit_status = EXIT_FAIL;

const char *const formulation_names[] = { "static", "sync", "async", "numa", "slow", "fast", NULL };

static const double CANNOT_BE_HAD = 1e6;                 /* seconds */

static void set_tensors(struct placing *p, const struct profile *profile, int *of)
{
    const struct graph *g = p->g;
    for (int i = 0; i < g->ntensor; i++) {
        const struct tensor *t = &g->tensor[i];
        of[i] = -1;
        if (t->role != ROLE_INTER) continue;
        if (!graph_movable(g, i)) {
            for (int n = t->first; n <= t->last; n++) p->base[n] += (double)plan_size(t->bytes);
            continue;
        }
        int k = p->tensors++;
        of[i] = k;
        p->id[k] = i;
        p->size[k] = (double)plan_size(t->bytes);
        p->fetch[k] = p->moves ? profile_move(profile, t->bytes, true) : INFINITY;
        p->write[k] = p->moves ? profile_move(profile, t->bytes, false) : INFINITY;
        for (int u = 0; u < t->nuse; u++) p->use_node[p->uses++] = t->use[u];
        p->use_end[k + 1] = p->uses;
    }
}

static void set_slots(struct placing *p, const int *of)
{
    int *next = xmalloc((size_t)p->tensors + 1, sizeof *next);   /* use of each tensor that comes next */
    memcpy(next, p->use_end, (size_t)p->tensors * sizeof *next);
    int slot = 0;
    for (int n = 0; n < p->nodes; n++) {
        int id[GRAPH_SLOTS], k = node_slots(p->g, n, id);
        for (int s = 0; s < k; s++) {
            int t = of[id[s]], u = next[t]++;
            p->slot_tensor[slot] = t;
            p->slot_use[slot++] = u;
            p->use_slot[u] = s;
        }
        p->slot_end[n + 1] = slot;
    }
    free(next);
}

uint32_t placing_offloaded(const struct placing *p, int node)
{
    const struct node *n = &p->g->node[node];
    uint32_t set = 0;
    for (int i = 0; p->offloaded && i < n->nin + n->nout && i < 32; i++)
        if (p->offloaded[graph_home(p->g, n->operand[i])]) set |= (uint32_t)1 << i;
    return set;
}

/* always: seconds for which the channel is taken whatever is slow */
static void set_channel(struct placing *p, int n, int set, int k, double always)
{
    int i = p->choice_end[n] + set;
    double sum = always;
    for (int s = 0; p->moves && s < k; s++) {
        int t = p->slot_tensor[p->slot_end[n] + s];
        if (set >> s & 1) sum += p->g->tensor[p->id[t]].producer == n ? p->write[t] : p->fetch[t];
    }
    p->seconds[i] = p->choice[i].seconds;
    p->channel[i] = p->seconds[i] >= CANNOT_BE_HAD ? p->seconds[i] : fmin(sum, p->seconds[i]);
    p->spare[n] = fmax(p->spare[n], choice_leaves(p, n, i));
}

void placing_price(struct placing *p, const double *nu)
{
    p->beside = nu != NULL;
    for (int n = 0; n < p->nodes; n++) p->nu[n] = nu ? nu[n] : 0;
    for (int n = 0; n < p->nodes; n++)
        for (int c = p->choice_end[n]; c < p->choice_end[n + 1]; c++)
            p->choice[c].seconds = p->seconds[c] - (nu ? (nu[n] - p->phi[n]) * choice_leaves(p, n, c) : 0);
}

static void set_choices(struct placing *p, const struct profile *profile)
{
    for (int n = 0; n < p->nodes; n++)
        p->choice_end[n + 1] = p->choice_end[n] + (1 << (p->slot_end[n + 1] - p->slot_end[n]));
    p->choice = xmalloc((size_t)p->choice_end[p->nodes] + 1, sizeof *p->choice);
    p->seconds = xcalloc((size_t)p->choice_end[p->nodes] + 1, sizeof *p->seconds);
    p->channel = xcalloc((size_t)p->choice_end[p->nodes] + 1, sizeof *p->channel);
    double most = 0;                                     /* needed by a node that cannot have it */
    int too_large = -1;
    for (int n = 0; n < p->nodes; n++) {
        struct choice *c = p->choice + p->choice_end[n];
        int k = p->slot_end[n + 1] - p->slot_end[n];
        uint32_t offloaded = placing_offloaded(p, n);
        profile_table(profile, p->g, n, offloaded, p->bytes_limit, c);
        double always = offloaded && p->moves ? profile_copies(profile, p->g, n, offloaded) : 0;
        double least = INFINITY;
        for (int set = 0; set < 1 << k; set++) {
            uint64_t area = c[set].staging + p->g->node[n].workspace;
            c[set].staging = area > 0 ? plan_size(area) : 0;
            bool had = isfinite(c[set].seconds);
            double need = p->base[n] + (double)c[set].staging;
            for (int s = 0; s < k; s++)
                if (!(set >> s & 1)) need += p->size[p->slot_tensor[p->slot_end[n] + s]];
            if (c[set].staging > 0) p->staged = true;
            if (had && need < least) least = need;
            if (!had || need > p->limit[n]) c[set].seconds = CANNOT_BE_HAD;
        }
        for (int set = 0; set < 1 << k; set++) set_channel(p, n, set, k, always);
        if (!isfinite(least))
            die_of_limit("limit of %llu bytes: no way to run node %d '%s' has buffers that small",
                         (unsigned long long)p->bytes_limit, n, p->g->node[n].name);
        if (least > p->limit[n] && least > most) most = least, too_large = n;
    }
    if (too_large >= 0)
        die_of_limit("limit of %llu bytes is too small: node %d '%s' alone needs %.0f bytes of fast memory",
                     (unsigned long long)p->bytes_limit, too_large, p->g->node[too_large].name, most);
}

double cut_right(const struct placing *p, int cut, int node)
{
    return floor((p->limit[node] - p->base[node]) / (double)p->cut[cut]);
}

/* the part of the limit that rounding by d takes away */
static double gain(const struct placing *p, double d)
{
    double n = (double)p->bytes_limit / d;
    return n < 1 ? 0 : (n - floor(n)) / n;
}

static void set_cuts(struct placing *p)
{
    static const double LARGE = 1.0 / 12, WORTH = 0.005;
    for (int t = 0; t < p->tensors; t++) {
        if (p->size[t] < LARGE * (double)p->bytes_limit || gain(p, p->size[t]) < WORTH) continue;
        int i = 0;
        while (i < p->cuts && p->cut[i] != (uint64_t)p->size[t]) i++;
        if (i < p->cuts) continue;
        if (i == PLACING_CUTS) {                         /* the weakest makes room */
            i = 0;
            for (int k = 1; k < PLACING_CUTS; k++)
                if (gain(p, (double)p->cut[k]) < gain(p, (double)p->cut[i])) i = k;
            if (gain(p, (double)p->cut[i]) >= gain(p, p->size[t])) continue;
        } else p->cuts++;
        p->cut[i] = (uint64_t)p->size[t];
    }
    p->units = xcalloc(size_mul((size_t)p->cuts, (size_t)p->tensors) + 1, sizeof *p->units);
    for (int c = 0; c < p->cuts; c++)
        for (int t = 0; t < p->tensors; t++) p->units[c * p->tensors + t] = floor(p->size[t] / (double)p->cut[c]);
}

struct placing *placing_new(const struct graph *g, const struct profile *profile, uint64_t limit, bool moves,
                            const bool *offloaded)
{
    struct placing *p = xcalloc(1, sizeof *p);
    size_t slots = 1;
    for (int i = 0; i < g->ntensor; i++)
        if (graph_movable(g, i)) slots += (size_t)g->tensor[i].nuse;
    *p = (struct placing){ .g = g, .nodes = g->nnode, .bytes_limit = limit, .moves = moves,
                            .offloaded = offloaded };
    size_t nodes = (size_t)g->nnode + 1, tensors = (size_t)g->ntensor + 1;
    p->id = xcalloc(tensors, sizeof *p->id);
    p->size = xcalloc(tensors, sizeof *p->size);
    p->fetch = xcalloc(tensors, sizeof *p->fetch);
    p->write = xcalloc(tensors, sizeof *p->write);
    p->use_end = xcalloc(tensors, sizeof *p->use_end);
    p->use_node = xcalloc(slots, sizeof *p->use_node);
    p->use_slot = xcalloc(slots, sizeof *p->use_slot);
    p->slot_end = xcalloc(nodes, sizeof *p->slot_end);
    p->slot_use = xcalloc(slots, sizeof *p->slot_use);
    p->slot_tensor = xcalloc(slots, sizeof *p->slot_tensor);
    p->choice_end = xcalloc(nodes, sizeof *p->choice_end);
    p->base = xcalloc(nodes, sizeof *p->base);
    p->limit = xcalloc(nodes, sizeof *p->limit);
    p->spare = xcalloc(nodes, sizeof *p->spare);
    p->nu = xcalloc(nodes, sizeof *p->nu);
    p->phi = xcalloc(nodes, sizeof *p->phi);
    for (int n = 0; n < p->nodes; n++) p->limit[n] = (double)limit;
    int *of = xmalloc(tensors, sizeof *of);
    set_tensors(p, profile, of);
    set_slots(p, of);
    free(of);
    for (int n = 0; n < p->nodes && moves; n++) p->phi[n] = profile_lost(profile, g, n);
    set_choices(p, profile);
    set_cuts(p);
    return p;
}

void placing_free(struct placing *p)
{
    if (!p) return;
    free_all(p->id, p->size, p->fetch, p->write, p->use_end, p->use_node, p->use_slot, p->slot_end, p->slot_use,
             p->slot_tensor, p->choice_end, p->choice, p->seconds, p->channel, p->base, p->limit, p->spare, p->nu,
             p->phi, p->units, p);
}

/* ---- placements ---- */

struct placement *placement_new(const struct placing *p)
{
    struct placement *x = xcalloc(1, sizeof *x);
    x->slow = xmalloc((size_t)p->uses + 1, 1);
    x->stay = xcalloc((size_t)p->uses + 1, 1);
    x->config = xcalloc((size_t)p->nodes + 1, sizeof *x->config);
    x->load = xcalloc((size_t)p->nodes + 1, sizeof *x->load);
    x->lead = xcalloc((size_t)p->uses + 1, sizeof *x->lead);
    x->lag = xcalloc((size_t)p->uses + 1, sizeof *x->lag);
    x->still = xcalloc((size_t)p->uses + 1, sizeof *x->still);
    x->used = xcalloc((size_t)p->nodes + 1, sizeof *x->used);
    memset(x->slow, 1, (size_t)p->uses);
    for (int n = 0; n < p->nodes; n++) x->config[n] = (1 << (p->slot_end[n + 1] - p->slot_end[n])) - 1;
    return x;
}

void placement_free(struct placement *x)
{
    if (!x) return;
    free_all(x->slow, x->stay, x->config, x->load, x->lead, x->lag, x->still, x->used, x);
}

void placement_copy(const struct placing *p, struct placement *to, const struct placement *from)
{
    memcpy(to->slow, from->slow, (size_t)p->uses);
    memcpy(to->stay, from->stay, (size_t)p->uses);
    memcpy(to->config, from->config, (size_t)p->nodes * sizeof *to->config);
    memcpy(to->load, from->load, (size_t)p->nodes * sizeof *to->load);
    memcpy(to->lead, from->lead, (size_t)p->uses * sizeof *to->lead);
    memcpy(to->lag, from->lag, (size_t)p->uses * sizeof *to->lag);
    memcpy(to->still, from->still, (size_t)p->uses * sizeof *to->still);
    memcpy(to->used, from->used, (size_t)p->nodes * sizeof *to->used);
}

void placement_settle(const struct placing *p, struct placement *x)
{
    memset(x->config, 0, (size_t)p->nodes * sizeof *x->config);
    memset(x->load, 0, (size_t)p->nodes * sizeof *x->load);
    for (int t = 0; t < p->tensors; t++)
        for (int u = p->use_end[t]; u < p->use_end[t + 1]; u++) {
            int n = p->use_node[u], end = x->stay[u] ? p->use_node[u + 1] : n + 1;
            if (x->slow[u]) x->config[n] |= 1 << p->use_slot[u];
            else for (int i = n; i < end; i++) x->load[i] += p->size[t];
        }
}

double move_seconds(const struct placing *p, const struct placement *x, int t)
{
    double sum = 0;
    int first = p->use_end[t], end = p->use_end[t + 1];
    bool copied = x->slow[first];
    for (int u = first; u + 1 < end; u++) {
        if (x->stay[u]) continue;
        if (!x->slow[u] && !copied) {
            sum += p->beside ? 0 : p->write[t];
            copied = true;
        }
        if (!x->slow[u + 1] && !p->beside) sum += p->fetch[t];
    }
    for (int u = first; u < end; u++) sum += x->still[u];
    return sum;
}

double placement_seconds(const struct placing *p, const struct placement *x)
{
    double sum = 0;
    for (int n = 0; n < p->nodes; n++) sum += p->choice[p->choice_end[n] + x->config[n]].seconds;
    for (int t = 0; t < p->tensors; t++) sum += move_seconds(p, x, t);
    return sum;
}

double placement_overload(const struct placing *p, const struct placement *x, int *node)
{
    double worst = -INFINITY;
    for (int n = 0; n < p->nodes; n++) {
        double over =
            x->load[n] + p->base[n] + (double)p->choice[p->choice_end[n] + x->config[n]].staging - p->limit[n];
        if (over > worst) {
            worst = over;
            *node = n;
        }
    }
    return worst;
}
