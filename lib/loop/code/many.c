#include "loop/code/many.h"
#include "loop/code/machine.h"
#include <string.h>

enum { WIDE = 2 };                                       /* vectors of a panel, and of most tiles */

/* the variables of rows and columns */
static const char *roles(const struct problem *p, int *m, int *n)
{
    *m = *n = -1;
    bool good = p->op == OP_FMA && !p->pair && p->weights;
    for (int v = 0; v < p->nvar && good; v++) {
        const bool a = p->stride[TENSOR_A][v], b = p->stride[TENSOR_B][v], c = p->stride[TENSOR_C][v];
        if (a && c && !b && *m < 0) *m = v;
        else if (b && !a && p->stride[TENSOR_B][v] == 1 && p->stride[TENSOR_C][v] == 1 && *n < 0) *n = v;
        else good = a && b && !c;
    }
    good = good && *m >= 0 && *n >= 0 && p->stride[TENSOR_A][*m] * p->size[*m] >= p->padded &&
           p->stride[TENSOR_C][*m] >= p->size[*n];       /* whole rows behind each other, where m is 1, too */
    return good ? NULL : "any number of rows is for a product of two matrices, weights packed";
}

/* columns by tiles of so many; rows by equal ones; sums inside of them */
static void make_nest(struct nest *t, const struct problem *p, int m, int n, int32_t rows, int32_t wide)
{
    int k = 0;
    nest_reset(p, t);
    const int32_t size[2] = { p->size[n], p->size[m] }, inner[2] = { wide < size[0] ? wide : size[0],
                                                                     rows < size[1] ? rows : size[1] };
    const int var[2] = { n, m };
    for (int i = 0; i < 2; i++)
        if (inner[i] < size[i])
            t->loop[k++] = (struct loop){ .var = (uint8_t)var[i], .size = size[i] / inner[i],
                                          .tail = size[i] % inner[i] };
    for (int i = 0; i < p->nvar; i++)
        if (p->order[i] != m && p->order[i] != n)
            t->loop[k++] = (struct loop){ .var = (uint8_t)p->order[i], .size = p->size[p->order[i]] };
    for (int i = 2; i-- > 0; ) t->loop[k++] = (struct loop){ .var = (uint8_t)var[i], .size = inner[i] };
    t->n = (int8_t)k;
}

/* rows of a tile of two vectors */
static int32_t tile_rows_of(const struct problem *p, enum isa isa)
{
    const struct target *t = &target_of[isa];
    if (t->tiles) return CARRY_ROWS;
    const int32_t most = t->accumulators / WIDE < 13 ? t->accumulators / WIDE : 13;
    return p->q4 && t->registers < 32 ? most - 1 : most;
}

static int32_t even(int32_t rows, int32_t most)         /* of as few chunks as there can be the largest */
{
    const int32_t n = (rows + most - 1) / most;
    return (rows + n - 1) / n;
}

const char *many_nest(struct nest *t, const struct problem *p, enum isa isa)
{
    int m, n;
    const char *why = roles(p, &m, &n);
    if (!why) make_nest(t, p, m, n, even(p->size[m], tile_rows_of(p, isa)), WIDE * problem_lanes(p, isa));
    return why;
}

/* so many rows, and a block of columns */
static struct problem chunk_of(const struct problem *p, int m, int n, int32_t rows, int32_t columns)
{
    struct problem q = *p;
    const int32_t all = p->size[n];
    q.size[m] = rows, q.size[n] = columns;
    for (int v = 0; v < p->nvar; v++)
        if (p->stride[TENSOR_B][v] > 1) q.stride[TENSOR_B][v] = p->stride[TENSOR_B][v] / all * columns;
    q.elements[TENSOR_B] = p->elements[TENSOR_B] / all * columns;
    q.scales = p->scales / all * columns;
    q.row[TENSOR_B] = columns;
    q.elements[TENSOR_A] = q.padded = p->stride[TENSOR_A][m] * rows;
    q.elements[TENSOR_C] = (rows - 1) * p->stride[TENSOR_C][m] + columns;
    q.row[TENSOR_C] = columns;
    if (p->bias > 1) q.bias = columns;
    if (p->bias == 1) q.bias_step = q.elements[TENSOR_C];    /* one for all rows */
    return q;
}

/* The widest block that divides all columns, of whole panels whatever vectors are, and leaves half of the second cache
 * to others. */
static int32_t block_of(const struct problem *p, int n)
{
    const int32_t all = p->size[n], panel = WIDE * target_of[ISA_AVX512].bytes / p->bytes;
    int32_t best = panel;
    if (all % panel || p->norm >= 0) return all;
    const double column = (double)p->elements[TENSOR_B] / all * p->bytes, room = machine_here()->cache[1].bytes / 2;
    for (int32_t x = panel; x <= all; x += panel)
        if (all % x == 0 && column * x <= room) best = x;
    return best;
}

/* where registers are left, a tile of few rows has more vectors: sums that do not wait for each other */
static int32_t tile_columns(const struct problem *p, enum isa isa, int32_t rows, int32_t columns)
{
    const struct target *t = &target_of[isa];
    const int32_t panel = WIDE * problem_lanes(p, isa);
    int32_t by = t->tiles ? 1 : 4;
    while (by > 1 && (rows * WIDE * by > 12 || (rows + 1) * WIDE * by + 4 > t->registers || columns % (panel * by)))
        by /= 2;
    return panel * by;
}

const char *many_plan(struct image_rows *x, const struct image_kernel *q)
{
    const struct problem *p = q->p;
    int m, n;
    const char *why = roles(p, &m, &n);
    if (why) return why;
    const int32_t columns = block_of(p, n);
    *x = (struct image_rows){ .about = { .most = p->group > 1 ? CARRY_ROWS : tile_rows_of(p, ISA_AVX512),
                                         .blocks = p->size[n] / columns, .columns = columns } };
    const int64_t bytes = problem_cast(p) ? 2 : p->bytes;
    x->about.row[0] = p->stride[TENSOR_C][m] * bytes;
    x->about.row[1] = p->stride[TENSOR_A][m] * p->bytes;
    x->about.row[2] = p->stride[TENSOR_C][m];
    x->about.column[0] = bytes;
    for (int32_t r = 1; r <= x->about.most; r++) {
        x->chunk[r] = chunk_of(p, m, n, r, columns);
        for (int i = 0; i < ISAS; i++)
            make_nest(&x->nest[r][i], &x->chunk[r], m, n, even(r, tile_rows_of(p, (enum isa)i)),
                      tile_columns(p, (enum isa)i, r, columns));
    }
    return NULL;
}
