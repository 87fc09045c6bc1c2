/* layout.c - see layout.h */
#include "place/layout.h"
#include "base/checked.h"
#include "base/filter.h"
#include "place/beside.h"
#include "place/exact.h"
#include "place/pack.h"
#include "place/refine.h"
#include "base/message.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHRINKS = 40, PASSES = 12, PASSES_BESIDE = 4, SEARCH_EVERY = 8,
       SEARCH_BUFFERS = 1000, SEARCH_WORK = 500000 };   /* nodes by buffers */

/* ---- stays and moves ---- */

static void fast_stays(const struct placing *p, const struct placement *x, int t, struct plan *plan)
{
    int end = p->use_end[t + 1];
    for (int u = p->use_end[t]; u < end; u++) {
        if (x->slow[u]) continue;
        int last = u;
        while (last + 1 < end && x->stay[last]) last++;
        plan_stay(plan, p->id[t], TIER_FAST, p->use_node[u] - x->lead[u], p->use_node[last] + x->lag[last], 0);
        u = last;
    }
}

/* at most one: from the node that writes it there, or the one after the last fast use before the write-out, to the
 * last use in slow memory or fetch */
static void slow_stay(const struct placing *p, const struct placement *x, int t, struct plan *plan)
{
    int begin = p->use_end[t], end = p->use_end[t + 1], first = -1, last = -1;
    for (int u = begin; u < end; u++) {
        if (x->slow[u]) {
            if (first < 0) first = p->use_node[u];
            last = p->use_node[u];
        }
        if (u + 1 == end || x->stay[u]) continue;
        if (first < 0) {
            first = p->use_node[u] + 1 + x->lag[u];
            plan_add_move(plan, p->id[t], TIER_SLOW, first, first);
        }
        if (!x->slow[u + 1]) {
            last = p->use_node[u + 1];
            plan_add_move(plan, p->id[t], TIER_FAST, last, last - x->lead[u + 1]);
        }
    }
    if (first >= 0) plan_stay(plan, p->id[t], TIER_SLOW, first, last, 0);
}

static void node_tiers(const struct placing *p, const struct placement *x, int n, struct plan *plan)
{
    const struct graph *g = p->g;
    const struct node *d = &g->node[n];
    struct plan_node *out = &plan->node[n];
    uint32_t offloaded = placing_offloaded(p, n);
    char *tiers = arena_get(&plan->text, size_add((size_t)d->nin, (size_t)d->nout) + 2);
    for (int i = 0; i < d->nin + d->nout; i++) {
        char letter = i < 32 && offloaded >> i & 1 ? 'P' : 'D';
        for (int s = p->slot_end[n]; s < p->slot_end[n + 1]; s++)
            if (p->id[p->slot_tensor[s]] == d->operand[i] && x->slow[p->slot_use[s]]) letter = 'P';
        tiers[i < d->nin ? i : i + 1] = letter;
    }
    tiers[d->nin] = tiers[d->nin + d->nout + 1] = '\0';
    out->in_tiers = tiers;
    out->out_tiers = tiers + d->nin + 1;
    const struct choice *c = &p->choice[p->choice_end[n] + x->config[n]];
    out->mode = c->mode;
    out->seconds = p->seconds[p->choice_end[n] + x->config[n]];
    out->staging = c->staging;
}

static void fill(const struct placing *p, const struct placement *x, struct plan *plan)
{
    const struct graph *g = p->g;
    int movable = 0;
    plan->nstay = plan->nmove = 0;
    for (int i = 0; i < g->ntensor; i++) {
        const struct tensor *t = &g->tensor[i];
        if (p->offloaded && p->offloaded[i]) plan_stay(plan, i, TIER_SLOW, 0, p->nodes - 1, 0);
        if (t->role != ROLE_INTER) continue;
        if (!graph_movable(g, i)) {
            plan_stay(plan, i, TIER_FAST, t->first, t->last, 0);
            continue;
        }
        fast_stays(p, x, movable, plan);
        slow_stay(p, x, movable, plan);
        movable++;
    }
    plan_sort(plan);
    plan_sort_moves(plan);
    for (int n = 0; n < p->nodes; n++) node_tiers(p, x, n, plan);
}

/* ---- offsets ---- */

/* buffers of one pool; of[i]: the stay, or minus one minus the node whose staging it is */
struct pool { struct buffer *b; int *of, n; };

static struct pool pool_of(const struct plan *plan, const struct graph *g, enum plan_tier tier, const bool *pinned)
{
    struct pool q = { xmalloc(size_add((size_t)plan->nstay, (size_t)plan->nnode) + 1, sizeof *q.b),
                      xmalloc(size_add((size_t)plan->nstay, (size_t)plan->nnode) + 1, sizeof *q.of), 0 };
    for (int i = 0; i < plan->nstay; i++) {
        const struct stay *s = &plan->stay[i];
        uint64_t bytes = g->tensor[s->tensor].bytes;
        if (s->tier != tier || (pinned && !pinned[s->tensor])) continue;
        q.b[q.n] = (struct buffer){ s->first, s->last + 1, plan_size(bytes), plan_align(bytes), 0 };
        q.of[q.n++] = i;
    }
    for (int n = 0; tier == TIER_FAST && n < plan->nnode; n++) {
        if (plan->node[n].staging == 0) continue;
        q.b[q.n] = (struct buffer){ n, n + 1, plan->node[n].staging, PLAN_ALIGN, 0 };
        q.of[q.n++] = -1 - n;
    }
    return q;
}

static void set_offsets(struct plan *plan, struct pool *q, uint64_t shift)
{
    for (int i = 0; i < q->n; i++) {
        if (q->of[i] >= 0) plan->stay[q->of[i]].offset = q->b[i].offset + shift;
        else plan->node[-1 - q->of[i]].staging_offset = q->b[i].offset + shift;
    }
    free(q->b);
    free(q->of);
}

/* the least that the kernel of a node needs in any case */
static double least_need(const struct placing *p, int n)
{
    double least = INFINITY;
    for (int c = p->choice_end[n]; c < p->choice_end[n + 1]; c++) {
        double need = p->base[n] + (double)p->choice[c].staging;
        for (int s = p->slot_end[n]; s < p->slot_end[n + 1]; s++)
            if (!((c - p->choice_end[n]) >> (s - p->slot_end[n]) & 1)) need += p->size[p->slot_tensor[s]];
        if (isfinite(p->seconds[c]) && need < least) least = need;
    }
    return least;
}

/* lowers the limits of the nodes at which something ends above the limit; 3.7 of the AutoTM description, in bytes */
static void shrink(struct placing *p, const struct pool *q, uint64_t top, double most)
{
    enum { AROUND = 10 };
    double limit = (double)p->bytes_limit, factor = 1 - ((double)top / limit - 1) / 2;
    if (factor < 0.95) factor = 0.95;
    if (factor > most) factor = most;
    bool *hit = xcalloc((size_t)p->nodes + 1, sizeof *hit);
    for (int i = 0; i < q->n; i++) {
        if (q->b[i].offset + q->b[i].size <= p->bytes_limit) continue;
        int64_t from = q->b[i].lower - AROUND, to = q->b[i].upper + AROUND;
        for (int64_t n = from < 0 ? 0 : from; n < to && n < p->nodes; n++) hit[n] = true;
    }
    for (int n = 0; n < p->nodes; n++)
        if (hit[n]) p->limit[n] = fmax(floor(p->limit[n] * factor), fmin(p->limit[n], least_need(p, n)));
    free(hit);
}

static void lay_out_slow(struct plan *plan, const struct graph *g)
{
    struct pool q = pool_of(plan, g, TIER_SLOW, NULL);
    plan->slow_bytes = pack_low(q.b, q.n, 0, 0);
    set_offsets(plan, &q, 0);
}

/* moves between nodes; beside them, where each is charged for the channel by itself; or all together (refine.h) */
enum moving { BETWEEN, BESIDE, TOGETHER };

/* false: no layout was found */
static bool lay_out(struct placing *p, const struct effort *effort, const struct prices *v, struct placement *x,
                    enum moving beside, struct plan *plan)
{
    struct effort little = { 0, effort->search_rounds / 4, effort->seed, 0 };
    for (int i = 0; ; i++) {
        int node = 0;
        fill(p, x, plan);
        if (beside) beside_widen(p, x, plan);
        struct pool q = pool_of(plan, p->g, TIER_FAST, NULL);
        plan->fast_bytes = pack_low(q.b, q.n, beside ? PASSES_BESIDE : PASSES, p->bytes_limit);
        bool search = plan->fast_bytes > p->bytes_limit && i % SEARCH_EVERY == 0 && q.n <= SEARCH_BUFFERS;
        if (search && pack(q.b, q.n, p->bytes_limit, 0, SEARCH_WORK / q.n) == PACK_DONE)
            plan->fast_bytes = pack_top(q.b, q.n);
        if (plan->fast_bytes <= p->bytes_limit) {
            set_offsets(plan, &q, 0);
            break;
        }
        bool last = i == SHRINKS, improved = false;
        shrink(p, &q, plan->fast_bytes, beside ? 0.99 : 0.998);
        free(q.b);
        free(q.of);
        if (!last && beside == BESIDE && placement_overload(p, x, &node) <= 0) continue;   /* moves get less room */
        if (!last && beside == TOGETHER)
            improved = isfinite(refine_placing(p, little.search_rounds, effort->seed + (uint64_t)i, 0, x));
        else if (!last) improved = improve_placing(p, &little, v, x);
        if (!improved) return false;
    }
    if (beside) beside_stretch(p, x, plan);
    lay_out_slow(plan, p->g);
    return true;
}

/* ---- formulations ---- */

static void set_prices(const struct placing *p, const struct prices *v, struct plan *plan)
{
    bool beside = strcmp(plan->formulation, formulation_names[FORM_ASYNC]) == 0;
    plan->ncut = p->cuts;
    memcpy(plan->cut, p->cut, sizeof plan->cut);
    for (int n = 0; n < p->nodes; n++) {
        int k = p->slot_end[n + 1] - p->slot_end[n];
        struct plan_node *d = &plan->node[n];
        d->nprice = 1 + p->cuts + k + beside;
        d->price = arena_get(&plan->text, size_mul((size_t)d->nprice, sizeof(double)));
        d->price[0] = v->lambda[n];
        for (int c = 0; c < p->cuts; c++) d->price[1 + c] = v->kappa[c * p->nodes + n];
        for (int s = 0; s < k; s++) d->price[1 + p->cuts + s] = v->mu[p->slot_end[n] + s];
        if (beside) d->price[1 + p->cuts + k] = v->nu[n];
    }
}

static void whole_lives(const struct placing *p, struct placement *x, bool slow)
{
    for (int u = 0; u < p->uses; u++) x->slow[u] = slow;
    for (int t = 0; t < p->tensors; t++)
        for (int u = p->use_end[t]; u < p->use_end[t + 1]; u++) x->stay[u] = !slow && u + 1 < p->use_end[t + 1];
    for (int n = 0; n < p->nodes; n++) x->config[n] = slow ? (1 << (p->slot_end[n + 1] - p->slot_end[n])) - 1 : 0;
}

/* one end of the scale: everything that can move in one tier, without a limit */
static void lay_out_end(struct placing *p, struct placement *x, bool slow, struct plan *plan)
{
    whole_lives(p, x, slow);
    fill(p, x, plan);
    struct pool q = pool_of(plan, p->g, TIER_FAST, NULL);
    plan->limit = plan->fast_bytes = pack_low(q.b, q.n, PASSES, 0);
    set_offsets(plan, &q, 0);
    lay_out_slow(plan, p->g);
}

/* Tensors below the pinning size and the largest staging of any placement have their own part above the pool. */
static void lay_out_numa(struct placing *p, struct placement *x, struct plan *plan)
{
    const struct graph *g = p->g;
    bool *pinned = xcalloc((size_t)g->ntensor + 1, sizeof *pinned);
    uint64_t *offset = xcalloc((size_t)p->tensors + 1, sizeof *offset);
    for (int i = 0; i < g->ntensor; i++) pinned[i] = !graph_movable(g, i);
    whole_lives(p, x, true);
    fill(p, x, plan);
    for (int n = 0; n < p->nodes; n++)
        for (int c = p->choice_end[n]; c < p->choice_end[n + 1]; c++)
            if (p->choice[c].staging > plan->node[n].staging) plan->node[n].staging = p->choice[c].staging;
    struct pool q = pool_of(plan, g, TIER_FAST, pinned);
    uint64_t reserve = (pack_low(q.b, q.n, PASSES, 0) + PLAN_ALIGN - 1) / PLAN_ALIGN * PLAN_ALIGN;
    free(q.b);
    free(q.of);
    if (reserve > p->bytes_limit)
        die_of_limit("limit of %llu bytes is below the %llu that small tensors and staging take",
                     (unsigned long long)p->bytes_limit, (unsigned long long)reserve);
    first_touch(p, reserve, x, offset);
    fill(p, x, plan);
    q = pool_of(plan, g, TIER_FAST, pinned);
    uint64_t pool = (p->bytes_limit - reserve) / PLAN_ALIGN * PLAN_ALIGN;
    plan->fast_bytes = pool + pack_low(q.b, q.n, PASSES, reserve);
    set_offsets(plan, &q, pool);
    for (int i = 0, t = 0; i < plan->nstay; i++) {
        if (pinned[plan->stay[i].tensor]) continue;
        while (p->id[t] != plan->stay[i].tensor) t++;
        plan->stay[i].offset = offset[t];
    }
    lay_out_slow(plan, g);
    free(pinned);
    free(offset);
}

/* a part of the limit at every node, but what its kernel needs in any case */
static void set_room(struct placing *p, double room)
{
    const double limit = (double)p->bytes_limit;
    for (int n = 0; n < p->nodes; n++) p->limit[n] = fmin(limit, fmax(floor(room * limit), least_need(p, n)));
}

/* A layout for moves between nodes: where the placement for the whole limit cannot be packed, one for less of it, at
 * last one without moves. */
static void lay_out_between(struct placing *p, const struct effort *effort, const struct prices *v, struct placement *x,
                            struct plan *plan)
{
    static const double LEAST = 0.4, STEP = 0.06;
    if (lay_out(p, effort, v, x, BETWEEN, plan)) return;
    double bound;
    struct prices own = prices_new(p);
    bool done = false;
    for (double room = 1 - STEP; !done && room > LEAST; room -= STEP) {
        set_room(p, room);
        done = try_placing(p, effort, false, x, &own, &bound) && lay_out(p, effort, &own, x, BETWEEN, plan);
    }
    if (!done) lay_out_numa(p, x, plan);                 /* first come, first served: worse, but it always fits */
    prices_free(&own);
}

/* The same from several searches, the later ones for less room, as long as what packing costs leaves the plan far from
 * its bound: a few large tensors may be packed better below a lower limit. */
static struct plan *lay_out_best(struct placing *p, const struct effort *effort, const struct prices *v,
                                 struct placement *x, double bound, struct plan *plan)
{
    enum { SEARCHES = 8, FULL = 4 };
    static const double FAR = 0.005, LESS = 0.03;
    struct placement *start = placement_new(p), *best = placement_new(p);
    struct effort other = *effort;
    placement_copy(p, start, x);
    lay_out_between(p, effort, v, x, plan);
    placement_copy(p, best, x);
    for (int i = 1; i < SEARCHES && placement_seconds(p, best) > bound * (1 + FAR); i++) {
        struct plan *next = plan_new(p->g, plan->formulation);
        other.seed = effort->seed + (uint64_t)i;
        set_room(p, i < FULL ? 1 : 1 - LESS * (i - FULL + 1));
        placement_copy(p, x, start);
        if (improve_placing(p, &other, v, x)) lay_out_between(p, &other, v, x, next);
        else placement_copy(p, x, best);
        bool faster = next->nstay > 0 && placement_seconds(p, x) < placement_seconds(p, best);
        if (faster) placement_copy(p, best, x);
        plan_free(faster ? plan : next);
        plan = faster ? next : plan;
    }
    placement_copy(p, x, best);
    placement_free(start);
    placement_free(best);
    return plan;
}

static double no_prices(const struct placing *p)         /* no step takes less than its kernels at their fastest */
{
    double bound = 0;
    for (int n = 0; n < p->nodes; n++) {
        double least = INFINITY;
        for (int c = p->choice_end[n]; c < p->choice_end[n + 1]; c++) least = fmin(least, p->seconds[c]);
        bound += least;
    }
    return bound;
}

/* the faster of two plans; the other is freed */
static struct plan *better(struct plan *best, struct plan *plan, double seconds)
{
    plan->objective = seconds;
    bool keep = best ? best->objective <= seconds : !isfinite(seconds);
    plan_free(keep ? plan : best);
    return keep ? best : plan;
}

/* Where the channel is what a step waits for, lives chosen by all moves together are much better than those chosen for
 * each by itself, and x becomes such.  Elsewhere they gain little and are harder to pack: false. */
static bool choose_together(const struct placing *p, long rounds, uint64_t seed, double enough, struct placement *x)
{
    static const double MUCH = 0.01;
    double alone = refine_placing(p, 0, seed, 0, x);
    return isfinite(alone) && refine_placing(p, rounds, seed, enough, x) < alone * (1 - MUCH);
}

/* Moves beside kernels need time of the channel and room that other tensors could have.  The search may charge that
 * time (nu of solve.h, here for all nodes the same) or only what stops the step: several charges and shares of the room
 * are tried, at last the plan for moves between kernels.  Where all that leaves the plan far from the bound, the best
 * of them are tried again by other searches, since it is a matter of luck what can be packed tightly; and of each trial
 * lives chosen together are laid out as well, beside what the trials lead to by themselves.  Long first steps prove
 * more, short ones often lead to other plans: one trial is steep, with prices and a placement of its own.  The plan
 * that is fastest beside its kernels and the highest bound need not come from the same. */
static struct plan *lay_out_beside(struct placing *p, const struct effort *effort, struct placement *x)
{
    static const struct { double charge, room; bool steep; } trial[] = {
        { 1e-4, 1, false }, { 1e-4, 1, true }, { 0.02, 1, false }, { 0.2, 1, false }, { 0.5, 0.8, false },
        { 0.2, 0.8, false }, { 0.2, 0.6, false }, { 0, 1, false }
    };
    enum { TRIALS = sizeof trial / sizeof *trial, SEARCHES = 3 };
    static const double GOOD = 0.003, FAR = 0.01;        /* what is not worth more moves; what is worth other seeds */
    static const double NEAR = 0.003, ROUNDING = 1e-12;
    static const double ENOUGH = 3e6;                    /* steps by nodes: large graphs need fewer */
    static const double ROUNDS = 1e7;                    /* rounds by nodes */
    struct plan *best = NULL, *together = NULL;
    double made[TRIALS];                                 /* seconds of the plans */
    struct effort other = *effort;
    other.dual_steps = (long)fmin((double)effort->dual_steps, fmax(ENOUGH / (p->nodes + 1.0), 300));
    struct prices v = prices_new(p), steep = prices_new(p), proof = prices_new(p);
    struct placement *steep_x = placement_new(p), *y = placement_new(p);
    const long rounds = (long)fmin(10 * (double)effort->search_rounds, ROUNDS / (p->nodes + 1.0));
    double bound = no_prices(p);
    double *nu = xcalloc((size_t)p->nodes + 1, sizeof *nu);
    for (int i = 0; i < SEARCHES * TRIALS; i++) {
        const double charge = trial[i % TRIALS].charge, room = trial[i % TRIALS].room;
        if (best && best->objective <= bound * (1 + (i < TRIALS ? GOOD : FAR))) break;
        if (i >= TRIALS && best && made[i % TRIALS] > best->objective * (1 + NEAR)) continue;
        struct plan *plan = plan_new(p->g, formulation_names[FORM_ASYNC]);
        double proved;
        other.steep = trial[i % TRIALS].steep;
        struct prices *own = other.steep ? &steep : &v;
        struct placement *at = other.steep ? steep_x : x;
        other.seed = effort->seed + (uint64_t)(i / TRIALS);
        for (int n = 0; n < p->nodes; n++) nu[n] = p->phi[n] + (1 - p->phi[n]) * charge;
        placing_price(p, nu);
        set_room(p, room);
        bool laid_out = try_placing(p, &other, i >= (other.steep ? TRIALS : 1), at, own, &proved);
        if (room >= 1 && proved > bound) {
            bound = proved;
            prices_copy(p, &proof, own);
        }
        set_room(p, 1);
        placement_copy(p, y, at);
        bool solved = laid_out;
        laid_out = laid_out && lay_out(p, &other, own, at, BESIDE, plan);
        double seconds = laid_out ? beside_seconds(p, at, plan) : INFINITY;
        set_room(p, 1);
        made[i % TRIALS] = fmin(i < TRIALS ? INFINITY : made[i % TRIALS], seconds);
        best = better(best, plan, seconds);
        if (!solved || fmin(seconds, best ? best->objective : INFINITY) <= bound * (1 + FAR)) continue;
        if (!choose_together(p, rounds, other.seed, bound * (1 + GOOD), y)) continue;
        plan = plan_new(p->g, formulation_names[FORM_ASYNC]);
        laid_out = lay_out(p, &other, own, y, TOGETHER, plan);
        set_room(p, 1);
        together = better(together, plan, laid_out ? beside_seconds(p, y, plan) : INFINITY);
        if (together && together->objective <= bound * (1 + FAR)) break;
    }
    if (together) best = better(best, together, together->objective);
    if (!best || best->objective > bound * (1 + GOOD)) { /* moves made in no time of their own are a plan as well */
        struct plan *plan = plan_new(p->g, formulation_names[FORM_ASYNC]);
        set_room(p, 1);
        placing_price(p, NULL);
        solve_placing(p, effort, false, x, &v);
        lay_out_between(p, effort, &v, x, plan);
        beside_stretch(p, x, plan);
        lay_out_slow(plan, p->g);
        best = better(best, plan, beside_seconds(p, x, plan));
    }
    best->bound = bound > best->objective && bound < best->objective * (1 + ROUNDING) ? best->objective : bound;
    set_prices(p, &proof, best);
    prices_free(&v);
    prices_free(&steep);
    prices_free(&proof);
    placement_free(steep_x);
    placement_free(y);
    free(nu);
    return best;
}

/* The placement of CBC, laid out, where it is faster than ours then; else ours. */
static struct plan *ask_exact(struct placing *p, const struct effort *effort, const struct prices *v,
                              struct placement *x, struct plan *plan)
{
    struct placement *mine = placement_new(p);
    placement_copy(p, mine, x);
    set_room(p, 1);
    double ours = placement_seconds(p, x);
    struct exact e = exact_placing(p, effort->exact, x);
    struct plan *other = plan_new(p->g, plan->formulation);
    lay_out_between(p, effort, v, x, other);
    double theirs = placement_seconds(p, x);
    if (!quiet)
        warn("cbc: %.6g s, bound %.6g s; ours %.6g s, bound %.6g s; %s", e.objective, e.bound, ours, plan->bound,
             theirs < ours ? "cbc's plan is kept" : "ours is kept");
    other->bound = plan->bound;
    if (theirs >= ours) placement_copy(p, x, mine);
    placement_free(mine);
    plan_free(theirs < ours ? plan : other);
    return theirs < ours ? other : plan;
}

/* the lives of a plan, without room for its moves */
static void lives_of(const struct placing *p, const struct plan *plan, struct placement *x)
{
    for (int t = 0; t < p->tensors; t++)
        for (int u = p->use_end[t]; u < p->use_end[t + 1]; u++) {
            int n = p->use_node[u];
            const struct node *d = &p->g->node[n];
            const struct stay *s = plan_find(plan, p->id[t], TIER_FAST, n);
            for (int i = 0; i < d->nin + d->nout; i++)
                if (d->operand[i] == p->id[t])
                    x->slow[u] = (i < d->nin ? plan->node[n].in_tiers[i] : plan->node[n].out_tiers[i - d->nin]) == 'P';
            x->stay[u] = !x->slow[u] && s && u + 1 < p->use_end[t + 1] && s->last >= p->use_node[u + 1];
            x->lead[u] = x->lag[u] = 0;
        }
    placement_settle(p, x);
}

static void take_proof(const struct plan *from, struct plan *to)
{
    to->ncut = from->ncut;
    memcpy(to->cut, from->cut, sizeof to->cut);
    for (int n = 0; n < from->nnode; n++) {
        size_t bytes = (size_t)(to->node[n].nprice = from->node[n].nprice) * sizeof(double);
        to->node[n].price = arena_get(&to->text, bytes);
        memcpy(to->node[n].price, from->node[n].price, bytes);
    }
}

/* The same for moves beside kernels: CBC decides lives, how they are laid out is ours. */
static struct plan *ask_exact_beside(struct placing *p, const struct effort *effort, struct placement *x,
                                     struct plan *plan)
{
    struct prices none = prices_new(p);
    set_room(p, 1);
    placing_price(p, none.nu);
    lives_of(p, plan, x);
    struct exact e = exact_placing(p, effort->exact, x);
    struct plan *other = plan_new(p->g, plan->formulation);
    double theirs = lay_out(p, effort, &none, x, BESIDE, other) ? beside_seconds(p, x, other) : INFINITY;
    if (!quiet)
        warn("cbc: lives of %.6g s, %.6g s laid out, bound %.6g s; ours %.6g s, bound %.6g s; %s", e.objective, theirs,
             e.bound, plan->objective, plan->bound, theirs < plan->objective ? "cbc's plan is kept" : "ours is kept");
    other->bound = plan->bound;
    take_proof(plan, other);
    prices_free(&none);
    return better(plan, other, theirs);
}

static bool is_moving(enum formulation form) { return form == FORM_SYNC || form == FORM_ASYNC; }

struct plan *make_plan(const struct graph *g, const struct profile *profile, enum formulation form, uint64_t limit,
                       const struct effort *effort)
{
    return make_plan_offloading(g, profile, form, limit, effort, NULL);
}

struct plan *make_plan_offloading(const struct graph *g, const struct profile *profile, enum formulation form,
                                  uint64_t limit, const struct effort *effort, const bool *offloaded)
{
    bool end = form == FORM_SLOW || form == FORM_FAST;
    struct placing *p = placing_new(g, profile, end ? (uint64_t)1 << 52 : limit, is_moving(form), offloaded);
    struct placement *x = placement_new(p);
    struct plan *plan = form == FORM_ASYNC ? lay_out_beside(p, effort, x) : plan_new(g, formulation_names[form]);
    if (form == FORM_STATIC || form == FORM_SYNC) {
        struct prices v = prices_new(p);
        double bound = solve_placing(p, effort, false, x, &v);
        plan = lay_out_best(p, effort, &v, x, bound, plan);
        plan->bound = bound;
        if (effort->exact > 0) plan = ask_exact(p, effort, &v, x, plan);
        set_prices(p, &v, plan);
        prices_free(&v);
    } else if (form == FORM_NUMA) lay_out_numa(p, x, plan);
    else if (form != FORM_ASYNC) lay_out_end(p, x, form == FORM_SLOW, plan);
    if (form == FORM_ASYNC && effort->exact > 0) plan = ask_exact_beside(p, effort, x, plan);
    plan->kind = profile_kind(profile);
    if (!end) plan->limit = limit;
    if (form != FORM_ASYNC) plan->objective = placement_seconds(p, x);
    if (form != FORM_STATIC && form != FORM_SYNC && form != FORM_ASYNC) plan->bound = plan->objective;
    plan->gap = plan->bound > 0 ? (plan->objective - plan->bound) / plan->bound : 0;
    placement_free(x);
    placing_free(p);
    return plan;
}
