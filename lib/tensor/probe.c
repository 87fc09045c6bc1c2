#include "tensor/probe.h"
#include "base/checked.h"
#include "base/mem.h"
#include "base/message.h"
#include "measure/clock.h"
#include "measure/stats.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MOST = 64, SPARE = 10 };                     /* SPARE: runs that are made again, at most */
static const uint64_t CACHE_BYTES = 12 << 20, ARENA_BYTES = 192 << 20;
static const double LONG_SECONDS = 0.02;                 /* kernels of this length are run three times */
static const double OWN_SECONDS = 0.5e-3;

struct probe {
    const struct graph *graph;
    struct op *op;                                       /* by kernel */
    uint32_t *warm;                                      /* by kernel: bit i, operand i */
    /* where the next cold operand comes from, goes to; behind `cold` bytes lies what is warm, at the same place */
    struct arena_at { char *p; uint64_t at, cold, bytes; } in, out;
    char *staging;                                       /* grows with what is timed */
    uint64_t staging_bytes;
    uint64_t tier_in, tier_out, tier_half;               /* the same in slow memory: halves of it, read and written */
    struct tier *tier;
    struct team *team;
    struct exec *exec;
};

static uint64_t room(uint64_t n) { return (n + OP_ALIGN - 1) / OP_ALIGN * OP_ALIGN; }

/* Memory of tensors that have ended, the latest last, and when each was touched last, in bytes of traffic. */
struct ended { struct hole { uint64_t bytes; double at; } *hole; size_t n, cap; };

static void end(struct ended *e, uint64_t bytes, double now)
{
    e->hole = grow(e->hole, e->n + 1, &e->cap, sizeof *e->hole);
    e->hole[e->n++] = (struct hole){ bytes, now };
}

/* A new tensor takes the place of those that ended last, as far as there are any; is most of its place in the cache? */
static bool take(struct ended *e, uint64_t bytes, double now)
{
    uint64_t left = bytes, warm = 0;
    while (left && e->n) {
        struct hole *h = &e->hole[e->n - 1];
        uint64_t part = h->bytes < left ? h->bytes : left;
        if (now - h->at <= (double)CACHE_BYTES) warm += part;
        left -= part;
        h->bytes -= part;
        if (!h->bytes) e->n--;
    }
    return warm > bytes / 2;
}

/* An operand is warm when in most nodes of its kernel it, or what lay in its place before it was made, was touched
 * CACHE_BYTES or less of traffic ago. */
static void find_warm(struct probe *p)
{
    const struct graph *g = p->graph;
    double *last = xmalloc((size_t)g->ntensor, sizeof *last), traffic = 0;
    int *votes = xcalloc(size_mul((size_t)g->nkernel, OP_OPERANDS), sizeof *votes);
    struct ended ended = { 0 };
    for (int i = 0; i < g->ntensor; i++) last[i] = -1e18;
    for (int n = 0; n < g->nnode; n++) {
        const struct node *node = &g->node[n];
        for (int i = 0; i < node->nin + node->nout; i++) {
            int id = node->operand[i];
            const struct tensor *t = &g->tensor[id];
            bool is_new = i >= node->nin && t->role == ROLE_INTER && t->first == n;
            bool warm = is_new ? take(&ended, t->bytes, traffic) : traffic - last[id] <= (double)CACHE_BYTES;
            votes[node->kernel * OP_OPERANDS + i] += warm ? 1 : -1;
        }
        for (int i = 0; i < node->nin + node->nout; i++) {
            traffic += (double)g->tensor[node->operand[i]].bytes;
            last[node->operand[i]] = traffic;
        }
        for (int i = 0; i < node->nin + node->nout; i++) {
            const struct tensor *t = &g->tensor[node->operand[i]];
            bool again = false;                          /* an operand of this node twice ends once */
            for (int j = 0; j < i; j++) again |= node->operand[j] == node->operand[i];
            if (t->role == ROLE_INTER && t->last == n && !again) end(&ended, t->bytes, traffic);
        }
    }
    for (int k = 0; k < g->nkernel; k++)
        for (int i = 0; i < OP_OPERANDS; i++)
            if (votes[k * OP_OPERANDS + i] > 0) p->warm[k] |= 1u << i;
    free(ended.hole);
    free(votes);
    free(last);
}

struct probe *probe_open(const struct graph *g, const struct kernels *k, int threads, const char *tier,
                         const uint32_t *offloaded)
{
    struct probe *p = xcalloc(1, sizeof *p);
    uint64_t most = 0, largest = 0, warm[2] = { 0 }, cold[2] = { 0 };   /* read, written: most of a kernel */
    p->graph = g;
    p->op = xcalloc((size_t)g->nkernel, sizeof *p->op);
    p->warm = xcalloc((size_t)g->nkernel, sizeof *p->warm);
    for (int i = 0; i < g->nkernel; i++) p->op[i] = op_make(g, g->kernel[i].node);
    find_warm(p);
    for (int i = 0; i < g->nkernel; i++) {
        const struct op *o = &p->op[i];
        uint64_t slow = 0, all[2] = { 0 }, kept[2] = { 0 };
        uint32_t movable = g->kernel[i].movable | offloaded[i];
        for (int j = 0; j < o->nin + o->nout; j++) {
            uint64_t bytes = room(o->bytes[j]);
            all[j >= o->nin] += bytes;
            if (p->warm[i] >> j & 1) kept[j >= o->nin] += bytes;
            if (movable >> j & 1) slow += bytes;
            if (bytes > largest) largest = bytes;
        }
        for (int side = 0; side < 2; side++) {
            if (all[side] > cold[side]) cold[side] = all[side];
            if (kept[side] > warm[side]) warm[side] = kept[side];
        }
        if (slow > most) most = slow;
    }
    p->in.cold = cold[0] + largest + ARENA_BYTES;        /* operands of a run do not overlap where it begins anew */
    p->out.cold = cold[1] + largest + ARENA_BYTES;
    p->in.bytes = p->in.cold + warm[0];
    p->out.bytes = p->out.cold + warm[1];
    p->tier_half = most + ARENA_BYTES / 2;               /* what kernels wrote is never read: indices are no numbers */
    team_keep_off(pthread_self(), threads);              /* the tier's threads */
    p->tier = tier_open(tier, 2 * p->tier_half);
    p->team = team_start(threads);
    p->exec = exec_new(k, p->team, p->tier);
    p->in.p = pages(p->in.bytes);
    p->out.p = pages(p->out.bytes);
    memset(p->out.p, 0, p->out.bytes);
    float *f = (float *)(void *)p->in.p;                 /* of both signs: infinities from large sums take longer */
    for (uint64_t i = 0; i < p->in.bytes / sizeof *f; i++)
        f[i] = (float)((int)(i * 2654435761u >> 8 & 1023) - 512) * 0x1p-11f;
    return p;
}

void probe_close(struct probe *p)
{
    for (int i = 0; i < p->graph->nkernel; i++) op_free(&p->op[i]);
    exec_free(p->exec);
    team_stop(p->team);
    tier_close(p->tier);
    pages_free(p->in.p, p->in.bytes);
    pages_free(p->out.p, p->out.bytes);
    pages_free(p->staging, p->staging_bytes);
    free(p->op);
    free(p->warm);
    free(p);
}

const struct tier *probe_tier(const struct probe *p) { return p->tier; }
bool probe_streams(const struct probe *p, int kernel) { return p->op[kernel].units > 1; }

static char *keep(struct arena_at *a, uint64_t bytes)
{
    char *at = a->p + a->at;
    a->at += room(bytes);
    return at;
}

static char *next(struct arena_at *a, uint64_t bytes)
{
    if (a->at + bytes > a->cold) a->at = 0;
    return keep(a, bytes);
}

static uint64_t next_slow(struct probe *p, bool written, uint64_t bytes)
{
    uint64_t *next = written ? &p->tier_out : &p->tier_in, at = *next;
    if (at + room(bytes) > p->tier_half) at = 0;
    *next = at + room(bytes);
    return at + (written ? p->tier_half : 0);
}

/* In a step the device has been idle while kernels ran, and its threads sleep: a request then takes longer than one of
 * many in a row. */
static void let_idle(void)
{
    double until = now_seconds() + 300e-6;
    while (now_seconds() < until) {
    }
}

/* Was a run disturbed, and may it be made again?  Others had the core for 3 % of its time, and for longer than the
 * tier's own threads have it at a time. */
static bool again(double took, double waited, long *spare)
{
    return waited > 0.03 * took && waited > OWN_SECONDS && (*spare)-- > 0;
}

static bool enough(const double *took, long n, long runs)
{
    if (n < 4) return false;                             /* the first one is not counted */
    return n > runs || n == RUNS_MOST || median(took + 1, (size_t)n - 1) > LONG_SECONDS;
}

static char *staging_of(struct probe *p, uint64_t bytes)
{
    if (bytes > p->staging_bytes) {
        pages_free(p->staging, p->staging_bytes);
        p->staging = pages(p->staging_bytes = bytes);
    }
    return p->staging;
}

struct timing probe_kernel(struct probe *p, int kernel, uint32_t slow, enum exec_mode mode, long runs)
{
    const struct op *o = &p->op[kernel];
    struct place place[OP_OPERANDS] = { 0 };
    double took[RUNS_MOST];
    long n = 0;
    struct timing t = { .staging = exec_staging(o, slow, mode) };
    struct arena_at in = { .p = p->in.p + p->in.cold }, out = { .p = p->out.p + p->out.cold };
    char *staging = staging_of(p, t.staging);            /* always the same: plans leave it little room */
    for (int i = 0; i < o->nin + o->nout; i++)
        if (p->warm[kernel] >> i & 1) place[i].fast = keep(i < o->nin ? &in : &out, o->bytes[i]);
    for (long spare = SPARE; !enough(took, n, runs);) {
        for (int i = 0; i < o->nin + o->nout; i++) {
            place[i].slow = slow >> i & 1;
            if (place[i].slow) place[i].offset = next_slow(p, i >= o->nin, o->bytes[i]);
            else if (!(p->warm[kernel] >> i & 1))
                place[i].fast = next(i < o->nin ? &p->in : &p->out, o->bytes[i]);
        }
        if (slow) let_idle();
        double waited = core_delays(), start = now_seconds();
        exec_run(p->exec, o, place, mode, staging);
        took[n] = now_seconds() - start;
        if (!again(took[n], core_delays() - waited, &spare)) n++;
    }
    t.runs = n - 1;
    t.seconds = median(took + 1, (size_t)n - 1);
    return t;
}

struct timing probe_move(struct probe *p, uint64_t bytes, bool to_fast, long runs)
{
    double took[RUNS_MOST];
    long n = 0;
    runs *= 3;                                           /* few rows, and every plan stands on them */
    for (long spare = SPARE; !enough(took, n, runs);) {
        struct transfer one = { 0 };
        char *at = next(to_fast ? &p->out : &p->in, room(bytes));
        uint64_t offset = next_slow(p, !to_fast, bytes);
        let_idle();
        double waited = core_delays(), start = now_seconds();
        tier_start(p->tier, &one, !to_fast, at, offset, (size_t)room(bytes));
        tier_finish(p->tier, &one);
        took[n] = now_seconds() - start;
        if (!again(took[n], core_delays() - waited, &spare)) n++;
    }
    return (struct timing){ median(took + 1, (size_t)n - 1), n - 1, 0 };
}

/* ---- kernels beside copies ---- */

static const uint64_t PIECE = 4 << 20, COPIED = 64 << 20; /* as the mover's; of memory, more than a cache has */

struct copier {
    struct tier *tier;
    char *at;
    bool to_fast;
    atomic_bool over;
    uint64_t offset, from, to, next;                     /* in the tier: next piece, first, end; in memory */
};

static void *copy_on(void *argument)
{
    struct copier *c = argument;
    while (!atomic_load(&c->over)) {
        tier_copy(c->tier, !c->to_fast, c->at + c->next, c->offset, (size_t)PIECE);
        c->next = (c->next + PIECE) % COPIED;
        c->offset = c->offset + 2 * PIECE <= c->to ? c->offset + PIECE : c->from;
    }
    return NULL;
}

/* Seconds of a kernel, all operands fast.  A short one runs twice, so that what is warm is warm; the second run counts,
 * again where others disturbed it. */
static double run_fast(struct probe *p, int kernel)
{
    const struct op *o = &p->op[kernel];
    struct arena_at in = { .p = p->in.p + p->in.cold }, out = { .p = p->out.p + p->out.cold };
    struct place place[OP_OPERANDS] = { 0 };
    for (int i = 0; i < o->nin + o->nout; i++)
        if (p->warm[kernel] >> i & 1) place[i].fast = keep(i < o->nin ? &in : &out, o->bytes[i]);
    long spare = SPARE;
    for (bool first = true;; first = false) {
        for (int i = 0; i < o->nin + o->nout; i++)
            if (!(p->warm[kernel] >> i & 1)) place[i].fast = next(i < o->nin ? &p->in : &p->out, o->bytes[i]);
        double waited = core_delays(), start = now_seconds();
        exec_run(p->exec, o, place, EXEC_DIRECT, NULL);
        double took = now_seconds() - start;
        if ((!first || took > LONG_SECONDS) && !again(took, core_delays() - waited, &spare)) return took;
    }
}

struct timing probe_interference(struct probe *p, const char *op, bool to_fast)
{
    enum { NODES = 40, TURNS = 31, TURNS_LEAST = 5, TURNS_LONG = 3 };
    static const double ENOUGH = 2, LONG = 15;           /* seconds */
    static const double AT_MOST = 0.95;                  /* a kernel that hardly gets on is not told from noise */
    const struct graph *g = p->graph;
    int kernel[NODES], n = 0, of_op = 0, seen = 0;
    for (int i = 0; i < g->nnode; i++) of_op += !op || strcmp(g->node[i].op, op) == 0;
    for (int i = 0; i < g->nnode; i++) {                 /* as far apart as there are nodes */
        if (op && strcmp(g->node[i].op, op) != 0) continue;
        if (n < NODES && seen++ >= (long)n * of_op / NODES) kernel[n++] = g->node[i].kernel;
    }
    struct copier c = { .tier = p->tier, .to_fast = to_fast, .at = pages(COPIED) };
    c.offset = c.from = to_fast ? 0 : p->tier_half;
    c.to = c.from + p->tier_half;
    double took[2][NODES][TURNS], sum[2] = { 0 }, begin = now_seconds();   /* alone, beside */
    size_t turns = 0;
    for (double least; turns < TURNS; turns++) {
        least = turns < TURNS_LONG ? INFINITY : turns < TURNS_LEAST ? LONG : ENOUGH;
        if (now_seconds() >= begin + least) break;
        for (int i = 0; i < n; i++) took[0][i][turns] = run_fast(p, kernel[i]);
        pthread_t thread;
        atomic_store(&c.over, false);
        if (pthread_create(&thread, NULL, copy_on, &c)) die("cannot start a thread for copies");
        team_keep_off(thread, team_size(p->team));
        for (int i = 0; i < n; i++) took[1][i][turns] = run_fast(p, kernel[i]);
        atomic_store(&c.over, true);
        pthread_join(thread, NULL);
    }
    pages_free(c.at, COPIED);
    for (int beside = 0; beside < 2; beside++)
        for (int i = 0; i < n; i++) sum[beside] += median(took[beside][i], turns);
    double lost = sum[1] > sum[0] ? 1 - sum[0] / sum[1] : 0;
    return (struct timing){ lost < AT_MOST ? lost : AT_MOST, (long)turns, 0 };
}
