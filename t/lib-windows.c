/* Moves beside kernels against exhaustive search on small random graphs: every life of every tensor, every window of
 * every move and every order of moves, each step simulated, kernels slowed down by the moves beside them:
 * bound <= optimum <= plan, always. The search knows graph and profile only, not the arrays of the solver, and the
 * plan's time as the one to beat.
 * More graphs than 60, from one on: build/t/lib-windows.t 3000 1000 */
#include "place/exact.h"
#include "place/layout.h"
#include "place/recompute.h"
#include "place/verify.h"
#include "place_random.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NODES = 12, TENSORS = 8, USES = 8, MOVES = 8 };

/* ---- the problem ---- */

struct item {                                            /* a tensor that may move */
    int id, made, uses, node[USES], slot[USES];
    double bytes, fetch, write;
};

struct stage {                                           /* a node */
    int slots;
    double base, lost, seconds[1 << GRAPH_SLOTS], channel[1 << GRAPH_SLOTS], staging[1 << GRAPH_SLOTS];
};

struct move { bool to_fast; int begin, before; double seconds; };

struct life {
    unsigned slow, held;                                 /* bits: uses; nodes at which it takes fast memory */
    int moves;
    struct move move[MOVES];
};

struct problem {
    int nodes, items;
    bool beside;
    double limit;
    struct item item[TENSORS];
    struct stage stage[NODES];
    struct life *life[TENSORS];
    int lives[TENSORS];
};

static bool problem_new(struct problem *p, const struct graph *g, const struct profile *profile, uint64_t limit,
                        bool beside)
{
    memset(p, 0, sizeof *p);
    *p = (struct problem){ .nodes = g->nnode, .beside = beside, .limit = (double)limit };
    for (int t = 0; t < g->ntensor; t++) {
        const struct tensor *a = &g->tensor[t];
        if (a->role != ROLE_INTER) continue;
        if (!graph_movable(g, t)) {
            for (int n = a->first; n <= a->last; n++) p->stage[n].base += (double)plan_size(a->bytes);
            continue;
        }
        if (p->items == TENSORS || a->nuse > USES) return false;
        struct item *i = &p->item[p->items++];
        *i = (struct item){ .id = t, .made = a->producer, .uses = a->nuse, .bytes = (double)plan_size(a->bytes),
                            .fetch = profile_move(profile, a->bytes, true),
                            .write = profile_move(profile, a->bytes, false) };
        for (int u = 0; u < a->nuse; u++) {
            int id[GRAPH_SLOTS], k = node_slots(g, a->use[u], id), s = 0;
            while (s < k && id[s] != t) s++;
            i->node[u] = a->use[u];
            i->slot[u] = s;
        }
    }
    for (int n = 0; n < g->nnode; n++) {
        static struct choice table[1 << GRAPH_SLOTS];
        int id[GRAPH_SLOTS], k = node_slots(g, n, id);
        struct stage *s = &p->stage[n];
        profile_table(profile, g, n, 0, limit, table);
        s->slots = k;
        s->lost = profile_lost(profile, g, n);
        for (int set = 0; set < 1 << k; set++) {
            uint64_t area = table[set].staging + g->node[n].workspace;
            s->seconds[set] = table[set].seconds;
            s->staging[set] = area > 0 ? (double)plan_size(area) : 0;
            for (int b = 0; beside && b < k; b++)
                if (set >> b & 1) s->channel[set] += profile_move(profile, g->tensor[id[b]].bytes,
                                                                  g->tensor[id[b]].producer != n);
            s->channel[set] = fmin(s->channel[set], s->seconds[set]);
        }
    }
    return true;
}

static void problem_end(struct problem *p)
{
    for (int i = 0; i < p->items; i++) free(p->life[i]);
}

/* ---- all lives of one tensor ---- */

static unsigned nodes_of(int first, int last)
{
    unsigned bits = 0;
    for (int n = first; n <= last; n++) bits |= 1u << n;
    return bits;
}

static void add_life(struct problem *p, int item, const struct life *life)
{
    int n = p->lives[item]++;
    if ((n & (n - 1)) == 0) p->life[item] = realloc(p->life[item], (size_t)(n ? 2 * n : 1) * sizeof *p->life[item]);
    p->life[item][n] = *life;
}

/* Parts of a life in fast memory, each from one use to a later one; those but a first that begins where the tensor is
 * made need a fetch. `ready`: from which node on there is a copy in slow memory; `busy`: the last node of the part
 * before. */
struct part { int first, last; };

static void add_fetches(struct problem *p, int item, const struct part *part, int parts, int k, int ready, int busy,
                        struct life life)
{
    const struct item *t = &p->item[item];
    if (k == parts) {
        add_life(p, item, &life);
        return;
    }
    int use = part[k].first, least = ready > busy + 1 ? ready : busy + 1;
    for (int begin = p->beside ? least : use; begin <= use; begin++)
        for (int before = p->beside ? begin : use; begin >= least && before <= use; before++) {
            struct life next = life;
            next.move[next.moves++] = (struct move){ true, begin, before, t->fetch };
            next.held |= nodes_of(begin, part[k].last);
            add_fetches(p, item, part, parts, k + 1, ready, part[k].last, next);
        }
}

static void add_windows(struct problem *p, int item, unsigned slow, const struct part *part, int parts)
{
    const struct item *t = &p->item[item];
    struct life life = { .slow = slow };
    bool born_slow = slow & 1;
    int first_slow = p->nodes;
    for (int u = t->uses - 1; u >= 0; u--)
        if (slow >> u & 1) first_slow = t->node[u];
    if (born_slow) {
        add_fetches(p, item, part, parts, 0, t->made + 1, t->made, life);
        return;
    }
    life.held = nodes_of(part[0].first, part[0].last);
    if (parts == 1 && slow == 0) {
        add_life(p, item, &life);
        return;
    }
    int over = first_slow;                               /* by when the copy must be there */
    if (parts > 1 && part[1].first < over) over = part[1].first;
    for (int begin = t->made + 1; begin <= over; begin++)
        for (int before = begin; before <= over; before++) {
            if (!p->beside && (begin != before || before != part[0].last + 1)) continue;
            struct life next = life;
            int last = before - 1 > part[0].last ? before - 1 : part[0].last;
            next.move[next.moves++] = (struct move){ false, begin, before, t->write };
            next.held |= nodes_of(part[0].first, last);
            add_fetches(p, item, part, parts, 1, before, last, next);
        }
}

static void add_parts(struct problem *p, int item, unsigned slow, int use, struct part *part, int parts)
{
    const struct item *t = &p->item[item];
    if (use == t->uses) {
        add_windows(p, item, slow, part, parts);
        return;
    }
    int n = t->node[use];
    if (slow >> use & 1) {
        add_parts(p, item, slow, use + 1, part, parts);
        return;
    }
    struct part old = parts > 0 ? part[parts - 1] : (struct part){ 0, 0 };
    if (use > 0 && !(slow >> (use - 1) & 1)) {           /* it stays */
        part[parts - 1].last = n;
        add_parts(p, item, slow, use + 1, part, parts);
        part[parts - 1] = old;
    }
    part[parts] = (struct part){ n, n };
    add_parts(p, item, slow, use + 1, part, parts + 1);
    if (parts > 0) part[parts - 1] = old;
}

/* ---- the step, simulated as plan.h describes the machine ---- */

static double simulate(const struct problem *p, const unsigned *config, const struct move *move, int moves)
{
    double left[TENSORS * MOVES], now = 0;
    for (int i = 0; i < moves; i++) left[i] = move[i].seconds;
    for (int n = 0; n < p->nodes; n++) {
        double seconds = p->stage[n].seconds[config[n]], channel = p->stage[n].channel[config[n]];
        double lost = p->stage[n].lost, run = seconds;   /* run: what the node has before it, without others */
        double rate = seconds > 0 ? (1 - channel / seconds) / (1 - lost) : 0;
        for (;;) {
            int late = -1, next = -1;
            for (int i = 0; i < moves && (late < 0 || next < 0); i++) {
                if (left[i] <= 0) continue;
                if (late < 0 && move[i].before <= n) late = i;
                bool held = move[i].begin > n;
                for (int k = 0; k < moves && move[i].to_fast && !held; k++)
                    held = !move[k].to_fast && left[k] > 0 && move[k].before <= move[i].begin;
                if (next < 0 && !held) next = i;
            }
            if (late >= 0) {                             /* the node waits */
                now += left[next];
                left[next] = 0;
            } else if (next >= 0 && run > 0 && rate > 0) {
                double time = fmin(run, left[next] / rate), moved = fmin(left[next], time * rate);
                left[next] = left[next] / rate <= run ? 0 : left[next] - moved;
                now += lost * moved;
                run -= time;
            } else break;
        }
        now += seconds;
    }
    return now;
}

/* ---- all plans ---- */

struct search {
    const struct problem *p;
    const struct life *life[TENSORS];
    double best;
    long steps;
    double used[NODES];                                  /* bytes held so far */
};

static bool before(const struct move *a, const struct move *b)
{
    return a->before != b->before ? a->before < b->before : !a->to_fast && b->to_fast;
}

/* all orders in which moves with the same BEFORE and direction may stand */
static void try_orders(struct search *s, const unsigned *config, struct move *move, int done, int moves)
{
    if (done == moves) {
        double seconds = simulate(s->p, config, move, moves);
        s->steps++;
        if (seconds < s->best) s->best = seconds;
        return;
    }
    for (int i = done; i < moves; i++) {
        bool first = true;
        for (int k = done; k < moves; k++) first &= !before(&move[k], &move[i]);
        if (!first) continue;
        struct move keep = move[done];
        move[done] = move[i];
        move[i] = keep;
        try_orders(s, config, move, done + 1, moves);
        move[i] = move[done];
        move[done] = keep;
    }
}

static double sum_of_moves(const struct life *l)
{
    double sum = 0;
    for (int m = 0; m < l->moves; m++) sum += l->move[m].seconds;
    return sum;
}

/* the least that kernels take, and with what they take of the channel, when items from `count` on are not decided */
static double least_seconds(const struct search *s, int count, unsigned *config)
{
    const struct problem *p = s->p;
    unsigned known[NODES] = { 0 };
    double sum = 0, channel = 0;
    memset(config, 0, NODES * sizeof *config);
    for (int i = 0; i < count; i++) {
        channel += sum_of_moves(s->life[i]);
        for (int u = 0; u < p->item[i].uses; u++) {
            known[p->item[i].node[u]] |= 1u << p->item[i].slot[u];
            if (s->life[i]->slow >> u & 1) config[p->item[i].node[u]] |= 1u << p->item[i].slot[u];
        }
    }
    for (int n = 0; n < p->nodes; n++) {
        const struct stage *a = &p->stage[n];
        double least = INFINITY, takes = INFINITY;
        for (unsigned set = 0; set < 1u << a->slots; set++) {
            if ((set & known[n]) != config[n] || s->used[n] + a->base + a->staging[set] > p->limit) continue;
            least = fmin(least, a->seconds[set]);
            takes = fmin(takes, a->channel[set]);
        }
        sum += least;
        channel += takes;
    }
    return p->beside ? fmax(sum, channel) : sum + channel;
}

static void try_lives(struct search *s, int item)
{
    const struct problem *p = s->p;
    unsigned config[NODES];
    if (least_seconds(s, item, config) >= s->best) return;
    if (item == p->items) {
        struct move move[TENSORS * MOVES];
        int moves = 0;
        for (int i = 0; i < p->items; i++)
            for (int m = 0; m < s->life[i]->moves; m++) move[moves++] = s->life[i]->move[m];
        try_orders(s, config, move, 0, moves);
        return;
    }
    for (int l = 0; l < p->lives[item]; l++) {
        s->life[item] = &p->life[item][l];
        for (int n = 0; n < p->nodes; n++)
            if (s->life[item]->held >> n & 1) s->used[n] += p->item[item].bytes;
        try_lives(s, item + 1);
        for (int n = 0; n < p->nodes; n++)
            if (s->life[item]->held >> n & 1) s->used[n] -= p->item[item].bytes;
    }
}

/* the least time of a step that is below `from`, else `from` */
static double optimum(struct problem *p, double from)
{
    struct search s = { .p = p, .best = from };
    for (int i = 0; i < p->items; i++) {
        struct part part[USES];
        for (unsigned slow = 0; slow < 1u << p->item[i].uses; slow++) add_parts(p, i, slow, 0, part, 0);
    }
    try_lives(&s, 0);
    return s.best;
}

/* ---- the property ---- */

static void complain(void *context, const char *what)
{
    (void)context;
    printf("# %s\n", what);
}

struct count { int cases, sound, accepted, optimal, tight, asked, lower; double worst, gap, slack; };

/* CBC's optimum of the same relaxation with whole lives */
static bool have_cbc;

static double least_of_cbc(const struct graph *g, const struct profile *profile, uint64_t limit)
{
    struct placing *p = placing_new(g, profile, limit, true, NULL);
    struct placement *x = placement_new(p);
    struct prices none = prices_new(p);
    placing_price(p, none.nu);
    placement_settle(p, x);
    double bound = exact_placing(p, 20, x).bound;
    prices_free(&none);
    placement_free(x);
    placing_free(p);
    return bound;
}

static void judge(struct count *c, const struct graph *g, const struct profile *profile, enum formulation form,
                  uint64_t limit, const char *name, int number)
{
    struct problem p;
    struct effort effort = { 300, 2000, 1, 0 };
    if (g->nnode > NODES || !problem_new(&p, g, profile, limit, form == FORM_ASYNC)) return;
    struct plan *plan = make_plan(g, profile, form, limit, &effort);
    double least = optimum(&p, plan->objective * (1 + 1e-9));   /* so that the plan itself must be found, too */
    double above = plan->objective / least - 1, slack = least / plan->bound - 1;
    c->cases++;
    if (plan->bound <= least * (1 + 1e-9) && least <= plan->objective * (1 + 1e-12)) c->sound++;
    else printf("# %s %d: bound %.12g, optimum %.12g, plan %.9g\n", name, number, plan->bound, least, plan->objective);
    if (verify_plan(g, profile, plan, complain, NULL) == 0) c->accepted++;
    if (form == FORM_ASYNC && c->cases % 8 == 1 && have_cbc) {
        double theirs = least_of_cbc(g, profile, limit);
        c->asked++;
        if (plan->bound <= theirs * (1 + 1e-6) && theirs <= least * (1 + 1e-6)) c->lower++;
        else printf("# %s %d: bound %.9g, cbc %.9g, optimum %.9g\n", name, number, plan->bound, theirs, least);
    }
    c->optimal += above <= 1e-9;
    c->tight += slack <= 0.01;
    c->gap += above;
    c->slack += slack;
    if (above > c->worst) c->worst = above;
    if (above > 0.02)
        printf("# %s %d: plan %.9g, optimum %.9g, %.1f %%\n", name, number, plan->objective, least, 100 * above);
    plan_free(plan);
    problem_end(&p);
}

/* the same table, and what each kernel loses beside copies */
static struct profile *with_interference(struct rng *r, const struct graph *g, const char *path)
{
    csvw *w = csvw_append(path, PROFILE_COLUMNS);
    for (int n = 0; n < g->nnode; n++)
        for (int to_fast = 0; to_fast < 2; to_fast++) {
            profile_interference_row(w, g->node[n].op, to_fast, 0.8 * rng_unit(r), 1, "model", "simulated");
            csvw_end(w);
        }
    csvw_close(w);
    return profile_read(path);
}

static void say(const struct count *c, const char *name)
{
    printf("# %s: %d of %d plans are optimal, %.2f %% above on average, at most %.1f; ", name, c->optimal, c->cases,
           100 * c->gap / c->cases, 100 * c->worst);
    printf("bounds %.2f %% below, %d within 1 %%\n", 100 * c->slack / c->cases, c->tight);
}

int main(int argc, char **argv)
{
    have_cbc = access("/usr/bin/cbc", X_OK) == 0;
    int cases = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 60, first = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    char path[64];
    snprintf(path, sizeof path, "/tmp/lib-windows-%ld.csv", (long)getpid());
    static const double slowest[] = { 0.8, 2.5, 8 };
    struct count sync = { 0 }, async = { 0 }, twice = { 0 };
    for (int i = first; i < first + cases; i++) {
        struct rng r = rng_for((uint64_t)i, str_of("lib-windows"));
        struct graph *g = random_graph(&r, 4 + (int)rng_below(&r, 3));
        struct profile *profile = random_profile(&r, g, slowest[i % 3], path);
        struct rng lost = rng_for((uint64_t)i, str_of("lib-windows/lost"));
        if (i % 4 > 0) {                                 /* most lose something */
            profile_free(profile);
            profile = with_interference(&lost, g, path);
        }
        uint64_t limit = least_limit(g, profile) + rng_below(&r, graph_peak(g) / 2);
        struct effort effort = { 300, 500, 1, 0 };
        int repeated = 0;
        judge(&sync, g, profile, FORM_SYNC, limit, "sync", i);
        judge(&async, g, profile, FORM_ASYNC, limit, "async", i);
        struct plan *draft = make_plan(g, profile, FORM_SYNC, limit, &effort);
        struct graph *again = recompute(g, profile, draft, -10, 2, &repeated);
        if (repeated > 0 && repeated < 4 && least_limit(again, profile) <= limit)
            judge(&twice, again, profile, FORM_ASYNC, limit, "async+recompute", i);
        plan_free(draft);
        graph_free(again);
        profile_free(profile);
        graph_free(g);
    }
    unlink(path);
    say(&sync, "sync");
    say(&async, "async");
    say(&twice, "async+recompute");
    ok(sync.sound == sync.cases, "bound <= optimum <= plan with moves between kernels");
    ok(async.sound == async.cases, "bound <= optimum <= plan with moves beside kernels");
    ok(twice.sound == twice.cases && twice.cases > cases / 10, "and where nodes run twice");
    printf("# CBC asked: %d\n", async.asked);
    ok(async.lower == async.asked, "bound <= CBC's of the same relaxation <= optimum");
    ok(sync.accepted == sync.cases && async.accepted == async.cases && twice.accepted == twice.cases,
       "the checker accepts every plan");
    return done();
}
