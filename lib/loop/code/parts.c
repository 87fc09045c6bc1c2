#include "loop/code/parts.h"
#include "loop/code/walk.h"
#include <string.h>

enum { LEAST_UNITS = 8, MOST_UNITS = 64 };

static int slowest(const struct problem *p)
{
    int best = -1;
    for (int v = 0; v < p->nvar; v++)
        if (p->stride[TENSOR_C][v] && p->size[v] > 1 &&
            (best < 0 || p->stride[TENSOR_C][v] > p->stride[TENSOR_C][best])) best = v;
    return best;
}

static int64_t extents(const struct problem *p, int t)
{
    int64_t n = 1;
    for (int v = 0; v < p->nvar; v++)
        if (p->stride[t][v]) n *= p->size[v];
    return n;
}

/* of the problem so many of var: where no window overlaps, elements are what is used of a tensor, which may lie
 * apart; of halves, and of windows, from the first to the last of them */
static struct problem chunk_of(const struct problem *p, int var, int32_t size)
{
    struct problem q = *p;
    q.size[var] = size;
    for (int t = 0; t < 4; t++) {
        int64_t reach = 1;
        if (!p->elements[t] || !p->stride[t][var]) continue;
        for (int v = 0; v < p->nvar; v++) reach += p->stride[t][v] * (q.size[v] - 1);
        bool whole = access_plain(p, t) && extents(p, t) == p->elements[t] && (t == TENSOR_C || p->store < STORE_F16);
        q.elements[t] = whole ? extents(&q, t) : reach;
    }
    if (p->pad.n && p->stride[TENSOR_A][var]) {          /* the lines that it reads have their zeros */
        q.pad.n = 0;
        q.padded = q.elements[TENSOR_A];
    }
    if (p->group > 1 && p->stride[TENSOR_B][var]) {      /* columns of weights, which are packed */
        for (int v = 0; v < p->nvar; v++)
            if (p->stride[TENSOR_B][v] > 1) q.stride[TENSOR_B][v] = p->stride[TENSOR_B][v] / p->row[TENSOR_B] * size;
        q.row[TENSOR_B] = size;
    }
    if (p->bias > 1 && p->bias_step == p->stride[TENSOR_C][var]) q.bias = size;
    if (p->bias <= 1) q.bias_step = q.elements[TENSOR_C];
    return q;
}

/* rows of a unit: the innermost block of var that the nest has, or a tile */
static int32_t unit_of(const struct problem *p, const struct nest *t, int var, const struct kernel_plan *plan)
{
    int32_t inner[NEST_LOOPS], unit = 1;
    nest_inner(t->loop, t->n, inner);
    for (int i = 0; i < t->n; i++)
        if (t->loop[i].var == var && inner[i] > 1) unit = inner[i];
    if (unit == 1) unit = plan->vector_var == var ? plan->vectors * 16 : plan->rows;
    if (unit < 1) unit = 1;
    while (unit > 1 && p->size[var] / unit < LEAST_UNITS) unit = (unit + 1) / 2;
    while (p->size[var] / unit > MOST_UNITS) unit *= 2;
    return unit;
}

/* do parts of this size have code, and B in the order of the whole? */
static const char *chunk_works(const struct image_kernel *q, const struct problem *part, int var, int32_t unit)
{
    const char *why = NULL;
    for (int i = 0; i < ISAS && !why && q->p->op == OP_FMA; i++) {
        if (!q->nest[i]) continue;
        struct kernel all = { .add = q->add }, some = { .add = q->add };
        why = kernel_encode(&all, q->p, q->nest[i], (enum isa)i);
        if (!why) why = kernel_encode(&some, part, q->nest[i], (enum isa)i);
        if (!why && (all.given != some.given || (!all.given && part->group > 1 && part->stride[TENSOR_B][var])))
            why = "weights of a part would be packed otherwise";
        if (!why && all.given) {
            struct carry_change *x = &all.change[TENSOR_B].change, *y = &some.change[TENSOR_B].change;
            bool columns = part->stride[TENSOR_B][var] != 0;
            if (part->group == 1 && columns) why = "weights of a part would be packed otherwise";
            if (all.sums != some.sums || x->nvar != y->nvar || x->to[0] != y->to[0] || x->to[1] != y->to[1] ||
                (x->nvar == 3 && (x->size[2] != y->size[2] || (columns && unit % x->size[2]))))
                why = "weights of a part would be packed otherwise";
        }
        kernel_free(&all);
        kernel_free(&some);
    }
    return why;
}

static void add_chunk(struct image_parts *k, const struct problem *p, int32_t size)
{
    int i = k->about.chunks++;
    k->about.chunk[i].size = size;
    k->chunk[i] = chunk_of(p, k->var, size);
}

static const char *cut(struct image_parts *k, const struct image_kernel *q, int32_t unit)
{
    const struct problem *p = q->p;
    const int32_t units = p->size[k->var] / unit;
    const char *why = NULL;
    int32_t largest = 1;
    k->about.chunks = 1;
    k->about.unit = unit;
    while (largest * 4 <= units + 1) largest *= 2;       /* for two threads one of them is half of all, or nearly */
    for (int32_t n = largest; n > 0; n /= 2) add_chunk(k, p, n * unit);
    if (p->size[k->var] % unit) add_chunk(k, p, unit + p->size[k->var] % unit);
    for (int i = 1; i < k->about.chunks && !why; i++) why = chunk_works(q, &k->chunk[i], k->var, unit);
    return why;
}

/* lines of the image, with its zeros, that a step along var is; 0: they are not what is cut; -1: cannot be */
static int32_t lines_of(const struct problem *p, int var)
{
    const int64_t step = p->stride[TENSOR_A][var];
    if (!p->pad.n || !step) return 0;
    int d = 0;                                           /* images may be one */
    while (d < p->pad.n && p->pad.before[d] + p->pad.size[d] + p->pad.after[d] == 1) d++;
    if (d + 1 >= p->pad.n) return -1;
    const int64_t line = p->padded / (p->pad.before[d] + p->pad.size[d] + p->pad.after[d]);
    return p->store >= STORE_F16 || step % line ? -1 : (int32_t)(step / line);
}

static int64_t bytes_of(const struct problem *p, int t)
{
    return t == TENSOR_C && problem_cast(p) ? 2 : problem_bytes(p, t);
}

void parts_plan(struct image_parts *k, const struct image_kernel *q)
{
    const struct problem *p = q->p;
    const struct nest *t = NULL;
    struct kernel_plan plan = { .vector_var = -1, .rows = 1, .vectors = 1 };
    *k = (struct image_parts){ .var = slowest(p) };
    if (k->var < 0) k->why = "C has one element";
    else if (k->var == p->norm) k->why = "a row that is normalised is in one thread";
    else if (k->var == p->query) k->why = "the rows of one causal head are in one thread";
    else if (lines_of(p, k->var) < 0) k->why = "zeros around its image are made by one thread";
    for (int i = 0; i < ISAS && !k->why; i++)            /* of the better one, which comes last */
        if (q->nest[i] && p->op == OP_FMA && !(k->why = kernel_plan(&plan, p, q->nest[i], (enum isa)i, false)))
            t = q->nest[i];
    if (!k->why) {
        int32_t unit = t ? unit_of(p, t, k->var, &plan) : (p->size[k->var] + MOST_UNITS - 1) / MOST_UNITS;
        k->why = "C has too few rows";
        for (; unit <= p->size[k->var] / 2 && k->why; unit *= 2) k->why = cut(k, q, unit);
    }
    if (k->why) {
        k->var = -1;
        k->about = (struct carry_parts){ .size = 1, .unit = 1, .chunks = 1, .chunk = { { .size = 1 } } };
        return;
    }
    k->about.size = p->size[k->var];
    k->about.lines = lines_of(p, k->var);
    const int of[4] = { TENSOR_C, TENSOR_A, TENSOR_B, TENSOR_V };
    for (int i = 0; i < 4; i++) k->about.step[i] = p->stride[of[i]][k->var] * bytes_of(p, of[i]);
    if (!p->pair) k->about.step[3] = p->bias > 1 && p->bias_step == p->stride[TENSOR_C][k->var] ? p->bytes : 0;
    k->about.residual = p->stride[TENSOR_C][k->var] * p->bytes;
    k->about.chunk[0].size = k->about.size;
}
