#include "loop/code/evaluate.h"
#include "loop/code/machine.h"
#include "loop/code/walk.h"
#include <math.h>
#include <string.h>

static const double OVERLAP = 0.4, ALMOST = 0.25;          /* a cache holds so much more than it surely does */
static const double LATE = 0.2;                            /* of tiles whose rows drive each other out of the cache */
/* of x86-64; the pages that a processor finds at once, and what one more costs it */
static const double PAGE = 4096, PAGES = 96, CYCLES_PER_PAGE = 1;
/* of an element transposed, of one that leaves the caches in between, of each block */
static const double CYCLES_PER_MOVED = 0.4, CYCLES_PER_COPIED = 0.15, CYCLES_PER_FAR = 2, CYCLES_PER_PACK = 100;
_Static_assert((int)MACHINE_CACHES == (int)MODEL_LEVELS, "a term for each cache");

/* bytes of tensor t that a block of extents e touches: whole cache lines along its fastest variable, one more where
 * rows begin anywhere in a line */
static double footprint(const struct problem *p, const struct kernel_plan *q, int t, const int32_t *e)
{
    double n = q->pairs && t != TENSOR_C ? 2 : p->bytes, run = 1, line = 64.0 / p->bytes;
    bool within = t < TENSOR_C && q->packed[t];
    for (int v = 0; v < p->nvar; v++) {
        if (!q->stride[t][v]) continue;
        n *= e[v];
        if (q->stride[t][v] == 1) run = e[v];
        else if (e[v] > 1 && q->stride[t][v] * p->bytes % 64 == 0) within = true;
    }
    return n * fmax(within ? run : run + line - 1, line) / run;
}

/* pages, in bytes: rows that lie closer than that share them; what is packed lies together */
static double pages_of(const struct problem *p, const struct kernel_plan *q, int t, const int32_t *e)
{
    double n = 1, span = p->bytes;
    for (int64_t below = 0; ; ) {                        /* the nearest first */
        int next = -1;
        for (int v = 0; v < p->nvar; v++)
            if (q->stride[t][v] > below && (next < 0 || q->stride[t][v] < q->stride[t][next])) next = v;
        if (next < 0) break;
        below = q->stride[t][next];
        const double apart = (double)below * p->bytes;
        if (t < TENSOR_C && q->packed[t]) span *= e[next];
        else if (apart < PAGE || apart <= span) span += (e[next] - 1) * apart;
        else n *= e[next];
    }
    return n * fmax(span, PAGE);
}

/* how many times the bytes that it has a block takes in a cache whose ways are so large: rows that lie a power of two
 * apart, or nearly so, share few of its sets, over and over.  Where its first rows are, in parts of a way. */
static double crowding(const struct problem *p, const struct kernel_plan *q, int t, const int32_t *e, int64_t way)
{
    enum { PARTS = 64, ROWS = 128 };
    int64_t far = 0, run = 1, rows = 1;
    uint32_t rise[PARTS] = { 0 }, rest[PARTS] = { 0 }, full = 0, covered = 0;
    if (!way || (t < TENSOR_C && q->packed[t])) return 1;
    for (int v = 0; v < p->nvar; v++) {
        if (q->stride[t][v] == 1) run = e[v];
        else if (q->stride[t][v] && e[v] > rows) rows = e[v], far = q->stride[t][v] * p->bytes;
    }
    const int64_t line = (run * p->bytes + 63) / 64 * 64;
    if (!far || line >= way) return 1;
    const uint32_t part = (uint32_t)(way / PARTS), step = (uint32_t)(far % way), all = (uint32_t)way;
    const int64_t period = way / walk_common((int32_t)way, (int32_t)step);    /* the next row is where the first is */
    if (period > ROWS && rows > ROWS) rows = ROWS;
    const int64_t first = rows < period ? rows : period;
    for (uint32_t r = 0, from = 0; r < first; r++, from += step < all - from ? step : step - all) {
        const uint32_t at = from / part % PARTS, to = at + (uint32_t)line / part;
        full += to >= PARTS ? part : 0, rise[at] += part, rise[to % PARTS] -= part;
        rest[to % PARTS] += (uint32_t)line % part;
    }
    for (int i = 0; i < PARTS; i++) full += rise[i], covered += full + rest[i] < part ? full + rest[i] : part;
    return fmin((double)(rows * line), (double)way) / covered;
}

/* S, the scores between two contractions, has the variables that both of them have */
enum { TENSOR_S = TENSOR_V + 1 };
static bool has(const struct problem *p, const struct kernel_plan *q, int t, int v)
{
    if (t != TENSOR_S) return q->stride[t][v] != 0;
    return (p->stride[TENSOR_A][v] || p->stride[TENSOR_B][v]) && (p->stride[TENSOR_C][v] || v == p->along);
}

static double block_of(const struct problem *p, const struct kernel_plan *q, int t, const int32_t *e, bool pages)
{
    double n = 4;
    if (t != TENSOR_S) return pages ? pages_of(p, q, t, e) : footprint(p, q, t, e);
    for (int v = 0; v < p->nvar; v++)
        if (has(p, q, t, v)) n *= e[v];
    return n;
}

/* extents of the block at each depth of a nest, and its bytes, of lines or of pages, or -1: not asked for yet */
struct blocks {
    bool pages;
    int32_t inner[NEST_LOOPS], e[NEST_LOOPS + 1][NEST_VARS];
    double bytes[TENSOR_S + 1][NEST_LOOPS + 1];
};

static void blocks_of(struct blocks *x, bool pages, const struct problem *p, const struct nest *l,
                      const struct kernel_plan *q)
{
    x->pages = pages;
    nest_inner(l->loop, l->n, x->inner);
    for (int v = 0; v < NEST_VARS; v++) x->e[0][v] = v < p->nvar ? p->size[v] : 1;
    for (int d = 0; d < l->n; d++) {
        memcpy(x->e[d + 1], x->e[d], sizeof x->e[d]);
        x->e[d + 1][l->loop[d].var] = x->inner[d];
        int32_t *last = &x->e[d + 1][l->loop[d].var], had = x->e[d][l->loop[d].var];
        if (l->loop[d].var == q->step_var && *last < q->step) *last = had < q->step ? had : q->step;
    }
    for (int t = 0; t <= TENSOR_S; t++)
        for (int d = 0; d <= l->n; d++) x->bytes[t][d] = -1;
}

static double block_at(struct blocks *x, const struct problem *p, const struct kernel_plan *q, int t, int d)
{
    if (x->bytes[t][d] < 0) x->bytes[t][d] = block_of(p, q, t, x->e[d], x->pages);
    return x->bytes[t][d];
}

/* has AMX a block of C in its tiles? */
static bool in_tiles(const struct blocks *x, const struct problem *p, const struct kernel_plan *q, int d)
{
    enum { TILES = 4 * 16 * 16 };
    double n = 1;
    for (int v = 0; v < p->nvar; v++)
        if (p->stride[TENSOR_C][v]) n *= x->e[d][v];
    return q->step_var >= 0 && n <= TILES;
}

/* what a block of t takes of a cache; of C none where it is in tiles */
static double held_at(struct blocks *x, const struct problem *p, const struct kernel_plan *q, int t, int d, int64_t way)
{
    if (t == TENSOR_C && in_tiles(x, p, q, d)) return 0;
    return block_at(x, p, q, t, d) * (t < TENSOR_S ? crowding(p, q, t, x->e[d], way) : 1);
}

/* that, where the blocks at this depth stay */
static double moved(struct blocks *x, const struct problem *p, const struct nest *l, const struct kernel_plan *q,
                    const int *tensor, int n, int split, int depth)
{
    bool ours[NEST_VARS] = { false };
    for (int v = 0; v < p->nvar; v++)
        for (int i = 0; i < n; i++) ours[v] |= has(p, q, tensor[i], v);
    double total = 0;
    for (int i = 0; i < n; i++) {
        int t = tensor[i];
        if (t == TENSOR_S && depth <= split) continue;   /* it never leaves */
        double times = block_at(x, p, q, t, depth);
        const int step = depth && t < TENSOR_S ? l->loop[depth - 1].var : -1;        /* lines and pages stay a while */
        const double apart = step < 0 ? PAGE : (double)q->stride[t][step] * x->e[depth][step] * p->bytes;
        if (apart > 0 && apart < (x->pages ? PAGE : p->bytes + 1)) times *= apart / (x->pages ? PAGE : 64);
        bool changed = false;
        for (int d = depth; d-- > 0; ) {                 /* innermost loops that do not move through t find it again */
            int v = l->loop[d].var;
            if (d >= split && !ours[v]) continue;
            changed |= has(p, q, t, v);
            if (changed && v == q->step_var) times *= (double)x->e[d][v] / x->e[d + 1][v];
            else if (changed)
                times *= l->loop[d].size + (l->loop[d].tail ? (double)l->loop[d].tail / x->inner[d] : 0);
        }
        total += times * (t == TENSOR_C || t == TENSOR_S ? 2 : 1);
    }
    return total;
}

/* bytes that these tensors bring into a cache of this size: the deepest block of them that stays, as often as it
 * changes.  `all` is what else competes with them down to depth `split`, from where on other loops are not theirs. */
static double traffic(struct blocks *x, const struct problem *p, const struct nest *l, const struct kernel_plan *q,
                      const int *tensor, int n, int all, int split, double bytes, int64_t way)
{
    int depth = 0;
    double over = 0;                                     /* of the block outside of the one that fits, in caches */
    bool crowded = false;                                /* which takes long, so of those that fit without it */
    for (; depth < l->n; crowded = !crowded, depth += !crowded) {
        double held = 0;
        for (int t = 0; t < all && depth <= split; t++) held += held_at(x, p, q, t, depth, crowded ? way : 0);
        for (int i = 0; i < n && depth > split; i++) held += held_at(x, p, q, tensor[i], depth, crowded ? way : 0);
        if (held > bytes) crowded = true, over = held / bytes - 1;
        else if (crowded) break;
        if (held > bytes && in_tiles(x, p, q, depth) && x->e[depth][q->step_var] <= q->step)
            return moved(x, p, l, q, tensor, n, split, depth) * (1 + LATE * over);      /* a step is, too, if late */
    }
    double total = moved(x, p, l, q, tensor, n, split, depth);
    if (!depth || over >= ALMOST || x->pages) return total;
    const double most = moved(x, p, l, q, tensor, n, split, depth - 1);    /* if it did */
    return most + over * over / (ALMOST * ALMOST) * (total - most);
}

static double all_traffic(struct blocks *x, const struct problem *p, const struct nest *l, const struct kernel_plan *q,
                          double bytes, int64_t way)
{
    static const int one[] = { TENSOR_A, TENSOR_B, TENSOR_C }, first[] = { TENSOR_A, TENSOR_B, TENSOR_S },
        second[] = { TENSOR_C, TENSOR_V, TENSOR_S };
    if (!p->pair) return traffic(x, p, l, q, one, 3, 3, l->n, bytes, way);
    int split = nest_split(p, l);
    return traffic(x, p, l, q, first, 3, TENSOR_S + 1, split, bytes, way) +
           traffic(x, p, l, q, second, 3, TENSOR_S + 1, split, bytes, way);
}

const char *model_terms(struct model_terms *m, const struct problem *p, const struct nest *t, enum isa isa,
                        bool prepared)
{
    return model_asked(m, p, t, &(struct plan_ask){ .isa = isa, .whole = prepared });
}

const char *model_asked(struct model_terms *m, const struct problem *p, const struct nest *t,
                        const struct plan_ask *ask)
{
    *m = (struct model_terms){ .seconds = INFINITY };
    const char *why = kernel_plan_asked(&m->plan, p, t, ask);
    if (why) return why;
    const struct loop_machine *here = machine_here();
    double cycles = m->plan.cycles, all = 0;
    struct blocks x;
    blocks_of(&x, false, p, t, &m->plan);
    for (int u = 0; u < (p->pair ? 4 : 3); u++) all += footprint(p, &m->plan, u, p->size);
    for (int i = 0; i < MODEL_LEVELS; i++) {
        if (all <= here->cache[i].bytes && here->cache[i].way * 8 > all) break;
        double bytes = all_traffic(&x, p, t, &m->plan, here->cache[i].bytes, (int64_t)here->cache[i].way);
        double c = m->traffic[i] = bytes / here->cache[i].per_cycle;
        cycles = fmax(cycles, c) + OVERLAP * fmin(cycles, c) * (i == 0 ? 0.25 : 1);
    }
    blocks_of(&x, true, p, t, &m->plan);
    if (all > PAGES * PAGE) cycles += all_traffic(&x, p, t, &m->plan, PAGES * PAGE, 0) / PAGE * CYCLES_PER_PAGE;
    m->packing = m->plan.moved * CYCLES_PER_MOVED + m->plan.copied * CYCLES_PER_COPIED +
                 m->plan.far * CYCLES_PER_FAR + m->plan.packs * CYCLES_PER_PACK;
    if (ask->whole) m->packing = 0;
    m->cycles = cycles + m->packing + 200;
    m->seconds = m->cycles / here->hz;
    return NULL;
}

const char *model_seconds(double *seconds, const struct problem *p, const struct nest *t, enum isa isa, bool prepared)
{
    struct model_terms m;
    const char *why = model_terms(&m, p, t, isa, prepared);
    *seconds = m.seconds;
    return why;
}
