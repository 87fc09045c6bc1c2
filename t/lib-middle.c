/* Three tiers: what the middle holds against all sets, plans against all lives in all three, and the checker. */
#include "place/middle.h"
#include "place/verify.h"
#include "base/message.h"
#include "place_random.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the choice alone ---- */

static void test_choice(int cases)
{
    struct rng r = rng_for(1, str_of("choice"));
    int wrong = 0, best = 0;
    double lost = 0;
    for (int c = 0; c < cases; c++) {
        struct middle_item x[9];
        int n = 1 + (int)rng_below(&r, 9), nodes = 8;
        uint64_t room = 4096 * (1 + rng_below(&r, 12));
        for (int i = 0; i < n; i++) {
            int first = (int)rng_below(&r, 8), last = first + (int)rng_below(&r, (uint64_t)(8 - first));
            x[i] = (struct middle_item){ first, last, 4096 * (1 + rng_below(&r, 6)), 0, rng_unit(&r) - 0.1, false };
        }
        double most = 0, got = middle_choose(x, n, nodes, room), sum = 0;
        for (unsigned set = 0; set < 1u << n; set++) {   /* by load alone: at least as good as what can be packed */
            double value = 0;
            bool fits = true;
            for (int node = 0; fits && node < nodes; node++) {
                uint64_t load = 0;
                for (int i = 0; i < n; i++)
                    if (set >> i & 1 && x[i].first <= node && node <= x[i].last) load += x[i].size;
                fits = load <= room;
            }
            for (int i = 0; i < n; i++)
                if (set >> i & 1) value += x[i].value;
            if (fits && value > most) most = value;
        }
        for (int i = 0; i < n; i++) {
            if (!x[i].chosen) continue;
            sum += x[i].value;
            wrong += x[i].value <= 0 || x[i].offset + x[i].size > room;
            for (int k = 0; k < i; k++)
                wrong += x[k].chosen && x[k].first <= x[i].last && x[i].first <= x[k].last &&
                         x[k].offset < x[i].offset + x[i].size && x[i].offset < x[k].offset + x[k].size;
        }
        wrong += fabs(sum - got) > 1e-12 || got > most + 1e-12;
        best += got >= most - 1e-12;
        if (most > 0) lost += 1 - got / most;
    }
    char name[100];
    ok(!wrong, "what is chosen has value, lies apart and below the end, and is worth what is said");
    snprintf(name, sizeof name, "the best of all sets in %d of %d, %.2f %% lost", best, cases, 100 * lost / cases);
    ok(best >= cases * 9 / 10 && lost < 0.01 * cases, name);
}

/* ---- plans: times of this test's own, of which the tables are written ---- */

enum { KERNELS = RANDOM_NODES, SLOTS = 4 };         /* operands of a node, at most */
static const char *const tables[] = { "t-middle-last.csv", "t-middle-middle.csv" };

struct times {
    double fast[KERNELS], slow[2][KERNELS][SLOTS];    /* of a node; what each operand adds, by part */
    uint64_t staging[KERNELS][SLOTS];
    double rate[2];                                      /* seconds a byte of copies */
};

static void write_table(const struct graph *g, const struct times *t, int part)
{
    csvw *w = csvw_open(tables[part]);
    csvw_names(w, PROFILE_COLUMNS);
    csvw_end(w);
    for (int k = 0; k < g->nkernel; k++) {
        int nodes = g->kernel[k].node;
        for (int i = -1; i < SLOTS; i++) {
            char in[SLOTS + 1], out[SLOTS + 1];
            if (i >= 0 && !(g->kernel[k].movable >> i & 1)) continue;
            profile_tiers(g, k, i < 0 ? 0 : 1u << i, in, out);
            profile_row(w, g, k, in, out, i >= 0, i < 0 ? 0 : t->staging[nodes][i],
                        t->fast[nodes] + (i < 0 ? 0 : t->slow[part][nodes][i]), 1, "model", "simulated");
            csvw_end(w);
        }
    }
    for (uint64_t bytes = 65536; bytes <= 1 << 20; bytes *= 2)
        for (int to_fast = 0; to_fast < 2; to_fast++) {
            profile_move_row(w, bytes, to_fast, t->rate[part] * (double)bytes, 1, "model", "simulated");
            csvw_end(w);
        }
    csvw_close(w);
}

static struct times random_times(struct rng *r, const struct graph *g)
{
    struct times t = { 0 };
    bool staged = rng_below(r, 2);
    t.rate[0] = rng_unit(r) * 1e-5 + 1e-7;
    t.rate[1] = t.rate[0] * rng_unit(r);
    for (int n = 0; n < g->nnode; n++) {
        t.fast[n] = 1 + rng_unit(r);
        for (int i = 0; i < SLOTS; i++) {
            t.slow[0][n][i] = 2 * rng_unit(r);
            t.slow[1][n][i] = t.slow[0][n][i] * (rng_below(r, 8) ? rng_unit(r) : 1.3);   /* few are slower there */
            t.staging[n][i] = staged ? 4096 * rng_below(r, 10) : 0;
        }
    }
    return t;
}

/* A life: which uses are slow, between which it stays in fast memory, in which part its slow copy lies. */
struct life { unsigned slow, stay; int part; };
struct lives { struct life *life; int n; };

static struct lives lives_of(const struct tensor *t, bool moves)
{
    struct lives l = { xmalloc((size_t)2 << (2 * t->nuse), sizeof *l.life), 0 };
    unsigned all = (1u << t->nuse) - 1, gaps = all >> 1;
    for (unsigned slow = 0; slow <= all; slow++)
        for (unsigned stay = 0; stay <= gaps; stay++) {
            if (stay & (slow | slow >> 1)) continue;     /* a stay joins two fast uses */
            if (!moves && !(slow == all || (slow == 0 && stay == gaps))) continue;
            bool away = slow || stay != gaps;
            for (int part = 0; part <= away; part++) l.life[l.n++] = (struct life){ slow, stay, part };
        }
    return l;
}

struct model {
    const struct graph *g;
    const struct times *t;
    uint64_t limit, room;
    int tensor[RANDOM_NODES], tensors;
    struct lives lives[RANDOM_NODES];
    const struct life *life[RANDOM_NODES];               /* by tensor of the graph */
    double best;
};

static bool alive(const struct tensor *t, const struct life *l, int node, bool fast)
{
    int from = -1, to = -1;
    for (int u = 0; u < t->nuse; u++) {
        bool slow = l->slow >> u & 1, more = u + 1 < t->nuse, stays = more && l->stay >> u & 1;
        if (fast && !slow && (t->use[u] == node || (stays && t->use[u] <= node && node < t->use[u + 1]))) return true;
        if (slow && from < 0) from = t->use[u];
        if (slow) to = t->use[u];
        if (!more || stays) continue;
        if (from < 0) from = t->use[u] + 1;              /* written out */
        if (!(l->slow >> (u + 1) & 1)) to = t->use[u + 1];   /* and fetched */
    }
    return !fast && from <= node && node <= to;
}

static double copies(const struct model *m, const struct tensor *t, const struct life *l)
{
    double one = m->t->rate[l->part] * (double)t->bytes, sum = 0;
    bool copied = l->slow & 1;
    for (int u = 0; u + 1 < t->nuse; u++) {
        if (l->stay >> u & 1) continue;
        if (!(l->slow >> u & 1) && !copied) sum += one;
        copied = true;
        if (!(l->slow >> (u + 1) & 1)) sum += one;
    }
    return sum;
}

/* seconds of a node, or infinity when it has not the memory */
static double node_time(const struct model *m, int n)
{
    const struct node *d = &m->g->node[n];
    uint64_t fast = 0, middle = 0, staging = 0;
    double seconds = m->t->fast[n];
    for (int i = 0; i < m->g->ntensor; i++) {
        const struct tensor *t = &m->g->tensor[i];
        if (t->role != ROLE_INTER) continue;
        uint64_t size = plan_size(t->bytes);
        if (!graph_movable(m->g, i)) fast += t->first <= n && n <= t->last ? size : 0;
        else if (alive(t, m->life[i], n, true)) fast += size;
        if (graph_movable(m->g, i) && m->life[i]->part && alive(t, m->life[i], n, false)) middle += size;
        if (!graph_movable(m->g, i)) continue;
        bool slow = false;
        for (int u = 0; u < t->nuse; u++) slow |= t->use[u] == n && m->life[i]->slow >> u & 1;
        for (int o = 0; slow && o < d->nin + d->nout; o++) {
            if (d->operand[o] != i) continue;
            seconds += m->t->slow[m->life[i]->part][n][o];
            staging += m->t->staging[n][o];
        }
    }
    if (staging) fast += plan_size(staging);
    return fast > m->limit || middle > m->room ? INFINITY : seconds;
}

static void all_lives(struct model *m, int tensor, double moved)
{
    if (moved >= m->best) return;
    if (tensor < m->tensors) {
        const struct tensor *t = &m->g->tensor[m->tensor[tensor]];
        for (int i = 0; i < m->lives[tensor].n; i++) {
            m->life[m->tensor[tensor]] = &m->lives[tensor].life[i];
            all_lives(m, tensor + 1, moved + copies(m, t, &m->lives[tensor].life[i]));
        }
        return;
    }
    for (int n = 0; n < m->g->nnode && moved < m->best; n++) moved += node_time(m, n);
    if (moved < m->best) m->best = moved;
}

/* operand counts of the random graphs: no tensor is an operand of a node twice */
static bool twice(const struct graph *g)
{
    for (int n = 0; n < g->nnode; n++)
        for (int i = 0; i < g->node[n].nin; i++)
            for (int k = 0; k < i; k++)
                if (g->node[n].operand[i] == g->node[n].operand[k]) return true;
    return false;
}

static int said;
static void count(void *context, const char *what)
{
    (void)context;
    if (said++ < 3) printf("# %s\n", what);
}

static void quiet_count(void *context, const char *what)
{
    (void)context;
    (void)what;
}

/* a slow tensor of the last tier put into the middle, or one across both */
static bool accepts_other_part(const struct graph *g, const struct profile *p, struct plan *plan)
{
    bool accepted = false;
    for (int i = 0; i < plan->nstay; i++) {
        struct stay *s = &plan->stay[i], was = *s;
        if (s->tier != TIER_SLOW || s->offset < plan->middle) continue;
        s->offset = plan->middle - PLAN_ALIGN;
        accepted |= verify_plan(g, p, plan, quiet_count, NULL) == 0;
        *s = was;
    }
    return accepted;
}

static void test_plans(enum formulation form, int nodes, int cases)
{
    static const struct effort effort = { 800, 400, 1, 0 };
    struct rng r = rng_for((uint64_t)form, str_of("plans"));
    int faults = 0, below = 0, above = 0, exact = 0, made = 0, worse = 0, across = 0, helped = 0;
    double lost = 0;
    while (made < cases) {
        struct graph *g = random_graph(&r, nodes);
        if (twice(g)) {
            graph_free(g);
            continue;
        }
        struct times t = random_times(&r, g);
        for (int part = 0; part < 2; part++) write_table(g, &t, part);
        struct profile *p = profile_read(tables[0]);
        struct model m = { .g = g, .t = &t, .best = INFINITY };
        uint64_t least = least_limit(g, p);
        m.limit = least + rng_below(&r, graph_peak(g));
        m.room = 4096 * (16 + rng_below(&r, 100));
        struct plan *two = make_plan(g, p, form, m.limit, &effort);
        profile_join(p, profile_read(tables[1]));
        struct plan *three = make_plan_with_middle(g, p, form, m.limit, m.room, FILL_VALUE, &effort);
        struct plan *first = make_plan_with_middle(g, p, form, m.limit, m.room, FILL_FIRST, &effort);
        faults += verify_plan(g, p, three, count, NULL) + verify_plan(g, p, first, count, NULL);
        across += accepts_other_part(g, p, three);
        worse += three->objective > two->objective * (1 + 1e-12);
        helped += three->objective < two->objective * (1 - 1e-9);
        for (int i = 0; i < g->ntensor; i++) {
            if (!graph_movable(g, i)) continue;
            m.lives[m.tensors] = lives_of(&g->tensor[i], form == FORM_SYNC);
            m.tensor[m.tensors++] = i;
        }
        all_lives(&m, 0, 0);
        below += three->objective < m.best * (1 - 1e-9) || first->objective < m.best * (1 - 1e-9);
        above += three->bound > m.best * (1 + 1e-9);
        exact += three->objective <= m.best * (1 + 1e-9);
        lost += three->objective / m.best - 1;
        made++;
        for (int i = 0; i < m.tensors; i++) free(m.lives[i].life);
        plan_free(two);
        plan_free(three);
        plan_free(first);
        profile_free(p);
        graph_free(g);
    }
    char name[160];
    const char *what = formulation_names[form];
    snprintf(name, sizeof name, "%s: all plans are accepted, none with a tensor across two parts", what);
    ok(!faults && !across, name);
    snprintf(name, sizeof name, "%s: no plan is below the best of all lives, no bound above it", what);
    ok(!below && !above, name);
    snprintf(name, sizeof name, "%s: never slower than without, faster in %d of %d", what, helped, cases);
    ok(!worse && helped > cases / 4, name);
    snprintf(name, sizeof name, "%s: the best in %d of %d, %.2f %% above on average", what, exact, cases,
             100 * lost / cases);
    ok(exact >= cases * 8 / 10 && lost < 0.02 * cases, name);
}

int main(int argc, char **argv)
{
    int cases = argc > 1 ? atoi(argv[1]) : 40;

    test_choice(10 * cases);
    test_plans(FORM_STATIC, 6, cases);
    test_plans(FORM_SYNC, 4, cases);
    for (int part = 0; part < 2; part++) unlink(tables[part]);
    return done();
}
