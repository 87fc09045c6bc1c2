#include "loop/code/encode.h"
#include "base/mem.h"
#include "base/message.h"
#include "loop/code/asm.h"
#include "loop/code/machine.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { REGION = 1 << 20, MAX_ROWS = 32, BODY_FMA = 320, MAX_BODY = 4000, MAX_UNROLL = 16, MAX_LINES = 32 };
enum { LATE_STEPS = 32, AHEAD = 16, AHEAD_ROW = 1024, AHEAD_ELEMENTS = 1 << 14 };
enum { MAX_BLOCK = 1 << 24 };
enum { RIMS = 3, MAX_KINDS = 4 };
static const double HIDDEN = 0.5;                        /* share of the blocks of a masked S that are computed */
enum { MAX_PACKS = 64, PACK_ELEMENTS = 4096, NEAR_ELEMENTS = 1 << 17 }; /* 512 KiB stay in the second cache */
enum { TILE = ASM_TILE_ROWS, MAX_TILES = 4, TILE_BODY = 16, TILE_MAX_BODY = 128 };
const char *const isa_name[ISAS] = { "avx2", "avx512", "amx" };

bool isa_here(enum isa i)
{
    if (i == ISA_AMX) return carry_cpu() & (CARRY_AMX_BF16 | CARRY_AMX_INT8);
    if (i == ISA_AVX2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
}

enum isa isa_best(void)
{
    if (isa_here(ISA_AVX512)) return ISA_AVX512;
    if (!isa_here(ISA_AVX2)) die("this machine has neither AVX-512 nor AVX2 with FMA");
    return ISA_AVX2;
}

enum isa isa_of(str name, bool *good)
{
    int i = 0;
    while (i < ISAS && !str_is(name, isa_name[i])) i++;
    *good = i < ISAS;
    return *good ? (enum isa)i : ISA_AVX2;
}

int problem_lanes(const struct problem *p, enum isa isa) { return (isa == ISA_AVX2 ? 32 : 64) / p->bytes; }

int isa_accumulators(enum isa isa) { return isa == ISA_AVX2 ? 12 : isa == ISA_AVX512 ? 28 : MAX_TILES; }

static const int base_of[3] = { [TENSOR_A] = RSI, [TENSOR_B] = RDX, [TENSOR_C] = RDI };

struct state {
    struct assembler s;
    const struct problem *p;
    const struct nest *t;
    const struct loop_machine *machine;
    int32_t inner[NEST_LOOPS];
    int64_t stride[3][NEST_VARS];                        /* bytes, after transpositions */
    int lanes, nregister, nacc;
    int vec, vt, xt;                                     /* vector variable, the input that has it, the one broadcast */
    bool both;                                           /* xt has it too: its vectors come from memory */
    bool red;                                            /* it is a reduction: lanes are summed at the end */
    bool halves;                                         /* each of two threads has a part of it, from any place on */
    int live;                                            /* counters in use */
    int rows, vectors;                                   /* largest tile */
    double times, cycles;                                /* how often the present code runs; model of all of it */
    int pack_depth[2];                                   /* copy this input's block there; -1: never, or before */
    bool marked[2];                                      /* because a mark says so: only to have it together */
    bool packed[2];
    bool half[2];                                        /* is it halves where the code is now? */
    int32_t panel[2];                                    /* not 0: the vector variable lies in panels so wide, */
    int64_t panel_bytes[2];                              /* one so far from the next */
    int64_t sums;                                        /* bytes to what sums begin at, in B's panels; 0: at zero */
    double packs, moved, copied;                         /* calls and elements of it, as `times` */
    int split;                                           /* of two contractions: depth of their common loops; or -1 */
    struct side { struct problem p; struct nest t; int32_t inner[NEST_LOOPS]; } *side;
    int64_t s_stride[NEST_VARS], s_elements;             /* of a block of S */
    bool pairs;                                          /* by the unit for bf16: elements of A, B and V are two, */
    struct problem paired;                               /* as they are here */
    bool finish;                                         /* something follows the sum, on blocks yet to be chosen */
    bool simple, inside;                                 /* registers could do it; they do, in complete tiles */
    bool streams;                                        /* B is large: while a block is used, the next is asked for, */
    double stream_rows, stream_times;                    /* so many rows, 0 now; how often that block was begun; */
    long stream_row, stream_line;                        /* bytes from a row to the next; lines of each */
    bool asked;                                          /* it is somewhere */
    int bias;                                            /* then: the variable that the bias is along, or -1 */
    bool tiles;                                          /* AMX: */
    int row, step;                                       /* variables of tiles' rows and of the steps of their sum */
    struct asm_shape shape;                              /* of the tiles now; no rows: unknown */
    struct rim {                                        /* of A with zeros around it: which index of a dimension */
        int32_t step[NEST_VARS], before, size;           /* a step of each variable moves; zeros, what is in memory */
    } rim[RIMS];
    int nrim;
    int64_t dense[NEST_VARS], origin;                    /* strides of A without zeros; from its element 0 to memory */
    bool exact;                                          /* so far no row reads zeros at one place and not at another */
    int32_t low[NEST_VARS], high[NEST_VARS];             /* from where to where the present block may begin */
    struct kernel *g;
    bool plan;                                           /* count cycles, write no bodies */
    const char *why;
};

/* ---- the register tile ---- */

struct row {
    long x, v, c, bias;                                  /* byte offsets in the broadcast, the vector tensor, C .. */
    int32_t at[RIMS];                                   /* steps of each rim's index */
};
struct tile {
    struct row row[MAX_ROWS];
    int nrow, nv, tail, step;                            /* tail: lanes of the last vector, 0 when full; step: bytes */
    long at[MAX_ROWS];                                   /* bytes to each vector of the tensor that has them */
    int acc, hold, nhold, cast, ncast;                   /* registers: accumulators from 0, held vectors, broadcasts */
    long cached[MAX_ROWS];                               /* broadcast held by register cast + i, -1: none */
    int turn;
    bool out[MAX_ROWS];                                  /* rows that would only add zeros in this step */
    int stream;                                          /* rows of the next block to be asked for in each body */
    long ahead;                                          /* bytes to the row that is asked for before; 0: none */
    bool rest;                                           /* of AMX: the last steps of the sum, less than a tile has */
    struct asm_shape shape;
};

static long c_block(const struct state *k, const int32_t *e, int *vectors)
{
    long rows = 1;
    for (int v = 0; v < k->p->nvar; v++)
        if (!k->p->reduced[v] && v != k->vec) rows *= e[v];
    *vectors = k->red ? 1 : (e[k->vec] + k->lanes - 1) / k->lanes;
    return rows;
}

static bool fits(const struct state *k, long rows, int nv)
{
    if (rows > k->nacc || nv > k->nacc) return false;
    long n = rows * nv;
    if (k->nregister == 32 && nv <= 4 && n + nv + 1 > k->nregister) return false;
    return n <= k->nacc;
}

static int32_t tiles_of(int32_t n) { return (n + TILE - 1) / TILE; }

/* does the result's block fit the registers, or the tiles? */
static bool block_fits(const struct state *k, const int32_t *e)
{
    int nv;
    long rows = c_block(k, e, &nv);
    if (!k->tiles) return fits(k, rows, nv);
    return rows == e[k->row] && nv <= MAX_TILES && tiles_of(e[k->row]) * nv <= MAX_TILES;
}

/* rows in an order that keeps equal vector addresses together */
static void list_rows(const struct state *k, struct tile *q, const int32_t *e)
{
    q->nrow = 1;
    q->row[0] = (struct row){ 0 };
    for (int pass = 0; pass < 2; pass++)
        for (int v = 0; v < k->p->nvar; v++) {
            if (k->p->reduced[v] || v == k->vec || (k->stride[k->vt][v] != 0) != (pass == 0)) continue;
            struct row old[MAX_ROWS];
            int n = q->nrow;
            memcpy(old, q->row, sizeof *old * (size_t)n);
            q->nrow = 0;
            for (int i = 0; i < n; i++)
                for (int j = 0; j < e[v]; j++) {
                    struct row *r = &q->row[q->nrow++];
                    *r = (struct row){ old[i].x + j * k->stride[k->xt][v], old[i].v + j * k->stride[k->vt][v],
                                       old[i].c + j * k->stride[TENSOR_C][v],
                                       old[i].bias + (v == k->bias ? j * 4 : 0), { 0 } };
                    for (int g = 0; g < k->nrim; g++) r->at[g] = old[i].at[g] + j * k->rim[g].step[v];
                }
        }
}

/* ---- zeros around A that are left out ---- */

/* Each index of A with zeros around it from its strides: the digits of a number.  Those that move with the vectors are
 * left alone. */
static void find_rims(struct state *k)
{
    const struct problem *p = k->p;
    k->exact = p->pad.n > 0 && p->store < STORE_F16;
    int64_t left[NEST_VARS], below = p->padded, lie = p->elements[TENSOR_A];
    memcpy(left, p->stride[TENSOR_A], sizeof left);
    for (int d = 0; d < p->pad.n; d++) {
        struct rim g = { .before = p->pad.before[d], .size = p->pad.size[d] };
        int reductions = 0;
        below /= g.before + g.size + p->pad.after[d];
        lie /= g.size;
        k->origin += g.before * lie;
        for (int v = 0; v < p->nvar; v++) {
            g.step[v] = p->size[v] > 1 ? (int32_t)(left[v] / below) : 0;
            left[v] %= below;
            k->dense[v] += g.step[v] * lie;
            reductions += p->reduced[v] && g.step[v];
        }
        if (!g.before && !p->pad.after[d]) continue;
        if (!g.step[k->vec] && k->nrim < RIMS) k->rim[k->nrim++] = g;
        else reductions = 2;
        k->exact &= reductions < 2;
    }
}

/* least and greatest index of a rim, its variables being where the block begins */
static void index_range(const struct state *k, const struct rim *g, int32_t range[2])
{
    range[0] = range[1] = 0;
    for (int v = 0; v < k->p->nvar; v++) range[0] += g->step[v] * k->low[v], range[1] += g->step[v] * k->high[v];
}

static bool zeros_only(const struct rim *g, const int32_t range[2], int32_t at)
{
    return range[1] + at < g->before || range[0] + at >= g->before + g->size;
}

/* is it nothing but zeros there, or none? */
static bool of_one_kind(const struct rim *g, const int32_t range[2], int32_t at)
{
    return zeros_only(g, range, at) || (range[0] + at >= g->before && range[1] + at < g->before + g->size);
}

/* which rows of a tile have nothing but zeros in A at the present place; are all of them such? */
static bool list_out(const struct state *k, const struct tile *q, bool out[MAX_ROWS])
{
    int n = 0;
    memset(out, 0, MAX_ROWS * sizeof *out);
    for (int g = 0; g < k->nrim; g++) {
        int32_t range[2];
        index_range(k, &k->rim[g], range);
        for (int i = 0; i < q->nrow; i++) out[i] |= zeros_only(&k->rim[g], range, q->row[i].at[g]);
    }
    for (int i = 0; i < q->nrow; i++) n += out[i];
    return n == q->nrow;
}

/* a step of a tile's sum: rows that are not left out may have no zeros where A is taken as it lies */
static void check_rows(struct state *k, const struct tile *q)
{
    for (int g = 0; g < k->nrim && k->exact; g++) {
        int32_t range[2];
        index_range(k, &k->rim[g], range);
        for (int i = 0; i < q->nrow; i++) k->exact &= q->out[i] || of_one_kind(&k->rim[g], range, q->row[i].at[g]);
    }
}

/* so many steps of v further, and the block then begins at one of `n` places so far apart */
static void shift(struct state *k, int v, int32_t by, int32_t n, int32_t apart)
{
    k->low[v] += by;
    k->high[v] += by + (n - 1) * apart;
}

/* has a block of these extents zeros in a rim that moves with v? */
static bool at_border(const struct state *k, int v, const int32_t *e)
{
    for (int i = 0; i < k->nrim; i++) {
        const struct rim *g = &k->rim[i];
        int32_t range[2];
        if (!g->step[v]) continue;
        index_range(k, g, range);
        for (int u = 0; u < k->p->nvar; u++) range[1] += g->step[u] * (e[u] - 1);
        if (range[0] < g->before || range[1] >= g->before + g->size) return true;
    }
    return false;
}

static bool has_rim(const struct state *k, int v)
{
    bool has = false;
    for (int g = 0; g < k->nrim; g++) has |= k->rim[g].step[v] > 0;
    return has;
}

static void assign_registers(const struct state *k, struct tile *q)
{
    int n = q->nrow * q->nv, top = k->nregister - (!k->s.wide && q->tail ? 1 : 0);
    q->acc = 0;
    q->hold = n;
    q->nhold = q->nv <= top - n - 1 ? q->nv : 1;
    q->cast = n + q->nhold;
    q->ncast = top - q->cast;
    q->step = k->p->bytes * k->lanes;
}

static bool masked(const struct tile *q, int j) { return q->tail && j == q->nv - 1; }

static int cast_register(struct state *k, struct tile *q, long disp)
{
    for (int i = 0; i < q->ncast; i++)
        if (q->cached[i] == disp) return q->cast + i;
    int i = q->turn++ % q->ncast;
    q->cached[i] = disp;
    asm_broadcast(&k->s, q->cast + i, base_of[k->xt], disp);
    return q->cast + i;
}

static void load_vector(struct state *k, int reg, long disp, bool mask)
{
    if (k->half[k->vt]) asm_load_half(&k->s, (enum carry_store)k->p->store, reg, base_of[k->vt], disp, mask);
    else asm_load(&k->s, reg, base_of[k->vt], disp, mask);
}

/* acc += broadcast * held; where the two are of different sign, A is the unsigned one and comes first */
static void multiply(struct state *k, int acc, int cast, int held)
{
    bool swap = k->p->type == TYPE_U8S8 && k->vt == TENSOR_A;
    asm_fma(&k->s, acc, swap ? held : cast, swap ? cast : held);
}

/* may the broadcast be an operand in memory? only the second one can */
static bool from_memory(const struct state *k)
{
    return k->s.wide && !(k->p->type == TYPE_U8S8 && k->vt == TENSOR_B);
}

/* a tile of A or B in one of the registers that it may be in; held: which of them each has, -1 none */
static int hold_tile(struct state *k, const struct tile *q, int t, int i, long disp, int held[2])
{
    int first = t == TENSOR_A ? 4 : 6, use = q->shape.rest ? q->rest : i & 1;
    if (held[use] != i) asm_tile_load(&k->s, first + use, base_of[t], t, disp);
    held[use] = i;
    return first + use;
}

/* TILE steps of the sum for each tile of C, or the rest; to and fro, so that a row begins with the last one's end */
static void tile_step(struct state *k, const struct tile *q, long a, long b)
{
    int held_a[2] = { -1, -1 }, held_b[2] = { -1, -1 };
    for (int i = 0; i < q->nrow; i++)
        for (int l = 0; l < q->nv; l++) {
            int j = i & 1 ? q->nv - 1 - l : l;
            int x = hold_tile(k, q, TENSOR_A, i, q->row[i].x + a, held_a);
            int y = hold_tile(k, q, TENSOR_B, j, q->at[j] + b, held_b);
            asm_tile_multiply(&k->s, i * q->nv + j, x, y);
        }
}

/* one step of the reductions at byte offsets x and v */
static void one_step(struct state *k, struct tile *q, long x, long v)
{
    if (k->tiles) {
        tile_step(k, q, x, v);
        return;
    }
    for (int i = 0; i < q->nrow; ) {
        int end = i, on = 0;
        for (; end < q->nrow && q->row[end].v == q->row[i].v; end++) on += !q->out[end];
        if (!on) {
            i = end;
            continue;
        }
        if (q->nhold == q->nv) {
            for (int j = 0; j < q->nv; j++)
                load_vector(k, q->hold + j, q->row[i].v + v + q->at[j], masked(q, j));
            for (int j = 0; j < q->nv && q->ahead; j++)
                asm_prefetch(&k->s, base_of[k->vt], q->row[i].v + v + q->at[j] + q->ahead);
            for (; i < end; i++) {
                if (q->out[i]) continue;
                for (int j = 0; j < q->nv && k->both; j++)
                    asm_fma_vector(&k->s, i * q->nv + j, q->hold + j, base_of[k->xt], q->row[i].x + x + j * q->step,
                                   masked(q, j), q->cast);
                if (k->both) continue;
                if (from_memory(k) && q->nv == 1) {
                    asm_fma_broadcast(&k->s, i, q->hold, base_of[k->xt], q->row[i].x + x);
                    continue;
                }
                int r = cast_register(k, q, q->row[i].x + x);
                for (int j = 0; j < q->nv; j++) multiply(k, i * q->nv + j, r, q->hold + j);
            }
            continue;
        }
        for (int j = 0; j < q->nv; j++) {
            load_vector(k, q->hold, q->row[i].v + v + q->at[j], masked(q, j));
            for (int r = i; r < end; r++) {
                if (q->out[r]) continue;
                if (k->both) {
                    asm_fma_vector(&k->s, r * q->nv + j, q->hold, base_of[k->xt], q->row[r].x + x + j * q->step,
                                   masked(q, j), q->cast);
                    continue;
                }
                if (from_memory(k) && on > q->ncast)
                    asm_fma_broadcast(&k->s, r * q->nv + j, q->hold, base_of[k->xt], q->row[r].x + x);
                else multiply(k, r * q->nv + j, cast_register(k, q, q->row[r].x + x), q->hold);
            }
        }
        i = end;
    }
}

struct reduction { int var; int32_t n, unit; };           /* n steps of `unit` elements */

/* all combinations of the reductions, unrolled; the first one runs `n` times from its present position */
static void body(struct state *k, struct tile *q, const struct reduction *r, int nr, int32_t n)
{
    int32_t at[NEST_VARS] = { 0 };
    memset(q->cached, 0xff, sizeof q->cached);
    if (q->stream) asm_stream(&k->s, q->stream, k->stream_line, k->stream_row);
    for (bool more = true; more && !k->s.full; ) {
        long x = 0, v = 0;
        int i = 0;
        for (; i < nr; i++) {
            x += at[i] * k->stride[k->xt][r[i].var] * r[i].unit;
            v += at[i] * k->stride[k->vt][r[i].var] * r[i].unit;
            shift(k, r[i].var, at[i] * r[i].unit, 1, 0);
        }
        list_out(k, q, q->out);
        check_rows(k, q);
        one_step(k, q, x, v);
        for (i = 0; i < nr; i++) shift(k, r[i].var, -at[i] * r[i].unit, 1, 0);
        i = nr;
        while (i-- > 0) {
            if (++at[i] < (i ? r[i].n : n)) break;
            at[i] = 0;
        }
        more = i >= 0;
    }
}

static void move(struct state *k, int var, long steps, bool with_c)
{
    const int bytes = k->pairs && var == k->p->along ? 2 : 4;            /* a step is half a row of pairs */
    if (k->split >= 0) asm_add(&k->s, R15, steps * k->p->stride[TENSOR_V][var] * bytes);
    if (k->simple && var == k->bias) asm_add(&k->s, R15, steps * 4);
    for (int t = 0; t < (with_c ? 3 : 2); t++) asm_add(&k->s, base_of[t], steps * k->stride[t][var]);
}

static bool enter_loop(struct state *k, int32_t n, const uint8_t **top)
{
    *top = NULL;
    if (n < 2) return true;
    int others = k->streams ? 2 : k->side || (k->simple && k->bias >= 0);        /* what their registers are for */
    if (k->live == ASM_COUNTERS - others - (k->tiles ? ASM_TILE_COUNTERS : 0)) {
        k->why = "more loops than counters";
        return false;
    }
    asm_count(&k->s, k->live++, n);
    k->times *= n;
    *top = k->s.at;
    return true;
}

static void leave_loop(struct state *k, const uint8_t *top, int32_t n)
{
    if (top) k->times /= n;
    if (top) asm_loop(&k->s, --k->live, top);
}

/* how many steps of the first of these reductions, from `at` on, leave out the same rows, each by itself and all as
 * one place; `all`: all rows */
static int32_t same_rows(struct state *k, const struct tile *q, const struct reduction *r, int nr, int32_t at,
                         bool *all)
{
    bool out[MAX_ROWS], one[MAX_ROWS], together[MAX_ROWS];
    int32_t n = 1;
    *all = false;
    if (!has_rim(k, r->var)) return r->n - at;
    for (int i = 1; i < nr; i++) k->high[r[i].var] += (r[i].n - 1) * r[i].unit;
    shift(k, r->var, at * r->unit, 1, 0);
    *all = list_out(k, q, out);
    for (; at + n < r->n; n++) {
        shift(k, r->var, n * r->unit, 1, 0);
        list_out(k, q, one);
        k->low[r->var] -= n * r->unit;
        list_out(k, q, together);
        k->high[r->var] -= n * r->unit;
        if (memcmp(one, out, sizeof out) || memcmp(together, out, sizeof out)) break;
    }
    shift(k, r->var, -at * r->unit, 1, 0);
    for (int i = 1; i < nr; i++) k->high[r[i].var] -= (r[i].n - 1) * r[i].unit;
    return n;
}

/* reductions r[0..nr): counted loops around a body that is unrolled at most `budget` times */
static void reductions(struct state *k, struct tile *q, const struct reduction *r, int nr, long budget)
{
    long inside = 1;
    for (int i = 1; i < nr; i++) inside *= r[i].n;
    if (k->s.full || k->why) return;
    if (nr == 0 || inside * r[0].n <= budget) {
        body(k, q, r, nr, nr ? r[0].n : 1);
        return;
    }
    const int var = r[0].var, unit = r[0].unit;
    int32_t here = 0;
    for (int32_t at = 0, n; at < r[0].n; at += n) {
        bool all;
        n = same_rows(k, q, r, nr, at, &all);
        if (all) continue;
        int32_t u = inside > budget ? 1 : (int32_t)(budget / inside);
        if (u > n) u = n;
        const int32_t times = n / u, rest = n % u;
        const uint8_t *top;
        move(k, var, (long)(at - here) * unit, false);
        if (!enter_loop(k, times, &top)) return;
        shift(k, var, at * unit, times, u * unit);
        if (inside > budget) reductions(k, q, r + 1, nr - 1, budget);
        else body(k, q, r, nr, u);
        shift(k, var, -at * unit, 2 - times, u * unit);
        move(k, var, (long)u * unit, false);
        leave_loop(k, top, times);
        here = at + times * u;
        shift(k, var, here * unit, 1, 0);
        if (rest) body(k, q, r, nr, rest);
        shift(k, var, -here * unit, 1, 0);
    }
    move(k, var, -(long)here * unit, false);
}

/* Of the steps of a tile's sum the share that has anything but zeros of A in it, and of those the share of rows; each
 * rim for itself, as if a reduction moved only one. */
static void share_in(struct state *k, const struct tile *q, const int32_t *e, double *steps, double *rows)
{
    double in[MAX_ROWS], all = 0;
    for (int i = 0; i < q->nrow; i++) in[i] = 1;
    *steps = 1;
    for (int i = 0; i < k->nrim; i++) {
        const struct rim *g = &k->rim[i];
        int n[MAX_ROWS] = { 0 }, some = 0, places = 1;
        for (int v = 0; v < k->p->nvar; v++) places *= k->p->reduced[v] && g->step[v] ? e[v] : 1;
        for (int place = 0; place < places; place++) {
            int32_t range[2], at = 0;
            bool any = false;
            for (int v = 0, left = place; v < k->p->nvar; v++) {
                if (!k->p->reduced[v] || !g->step[v]) continue;
                at += left % e[v] * g->step[v];
                left /= e[v];
            }
            index_range(k, g, range);
            for (int r = 0; r < q->nrow; r++) {
                int32_t here = q->row[r].at[i] + at;
                bool out = zeros_only(g, range, here);
                k->exact &= of_one_kind(g, range, here);
                n[r] += !out;
                any |= !out;
            }
            some += any;
        }
        *steps *= (double)some / places;
        for (int r = 0; r < q->nrow; r++) in[r] *= some ? (double)n[r] / some : 0;
    }
    for (int i = 0; i < q->nrow; i++) all += in[i];
    *rows = all / q->nrow;
}

/* multiply-adds and loads as many a cycle as the machine does, and a chain through each accumulator; only some of the
 * rows' are done */
static double tile_cycles(const struct state *k, const struct tile *q, double steps, bool first, double some)
{
    int n = q->nrow * q->nv, loads = 0, casts = q->nrow, instructions = n;
    for (int i = 0; i < q->nrow; i++)
        if (i == 0 || q->row[i].v != q->row[i - 1].v) loads += q->nv;
    if (k->both || (q->nhold != q->nv && q->nrow > q->ncast)) casts = n;
    if (!(k->s.wide && (q->nv == 1 || casts == n))) instructions += casts;
    const struct loop_machine *m = k->machine;
    double issue = (instructions * some + loads) / 5.0;
    double step = fmax(n * some / m->fmas, fmax((loads + casts * some) / m->loads, issue));
    if (k->red) return steps / k->lanes * fmax(step, m->fma_latency) + n * 4 + 16;
    return steps * fmax(step, m->fma_latency) + n * (first ? 0.75 : 1.25) + 12;
}

/* rows of vectors that lie far apart are asked for before they are needed: prefetchers of processors lose them */
static long rows_ahead(const struct state *k, const struct reduction *r)
{
    bool far = !k->red && !k->packed[k->vt] && k->stride[k->vt][r->var] >= AHEAD_ROW &&
               k->p->elements[k->vt] > AHEAD_ELEMENTS;
    return far && r->n >= 2 * AHEAD ? AHEAD * (long)k->stride[k->vt][r->var] : 0;
}

/* the vector variable is the innermost of nr + 1 reductions: whole vectors of it, then what is left with a mask */
static void lanes_of_reduction(struct state *k, struct tile *q, struct reduction *r, int nr, long budget, int32_t n)
{
    int32_t whole = n / k->lanes;
    int tail = q->tail;
    q->tail = 0;
    if (whole) {
        r[nr] = (struct reduction){ k->vec, whole, k->lanes };
        reductions(k, q, r, nr + 1, budget);
    }
    if (!tail) return;
    q->tail = tail;
    move(k, k->vec, (long)whole * k->lanes, false);
    reductions(k, q, r, nr, budget);
    move(k, k->vec, -(long)whole * k->lanes, false);
}

/* the lanes of each accumulator summed, four at a time, and stored */
static void total(struct state *k, const struct tile *q, bool first)
{
    for (int i = 0; i < q->nrow; i += 4) {
        int acc[4], n = q->nrow - i < 4 ? q->nrow - i : 4;
        bool together = n == 4;
        for (int j = 0; j < n; j++) {
            acc[j] = i + j;
            together &= q->row[i + j].c == q->row[i].c + k->p->bytes * j;
        }
        asm_total(&k->s, acc, n, q->hold);
        if (together) asm_store_four(&k->s, RDI, q->row[i].c, !first);
        for (int j = 0; j < n && !together; j++) asm_store_one(&k->s, j, RDI, q->row[i + j].c, !first);
    }
}

/* what follows the sum, in the registers of a tile that is complete */
static void finish_tile(struct state *k, const struct tile *q)
{
    const int n = q->nrow * q->nv, zero = q->hold, spare = q->cast;
    for (int i = 0; i < n && k->p->type == TYPE_U8S8; i++) asm_floats(&k->s, i);
    if (problem_then(k->p, THEN_RELU)) asm_zero(&k->s, zero);
    if (k->bias >= 0) asm_bias(&k->s);
    for (const uint8_t *then = k->p->then; *then; then++)
        for (int i = 0; i < n; i++)
            if (*then == THEN_RELU) asm_most(&k->s, i, zero);
            else asm_plus_bias(&k->s, i, q->row[i / q->nv].bias + (k->bias == k->vec ? i % q->nv * q->step : 0),
                               k->bias == k->vec, masked(q, i % q->nv), spare);
}

/* what follows the sum, on a block of C that is complete: its variables, the slowest first */
static void emit_finish(struct state *k, const int32_t *e)
{
    struct carry_change c = { .wide = k->s.wide };
    double n = 1;
    for (int64_t below = INT64_MAX; ; ) {
        int next = -1;
        for (int v = 0; v < k->p->nvar; v++) {
            int64_t s = k->p->stride[TENSOR_C][v];
            if (e[v] > 1 && s && s < below && (next < 0 || s > k->p->stride[TENSOR_C][next])) next = v;
        }
        if (next < 0) break;
        below = k->p->stride[TENSOR_C][next];
        c.size[c.nvar] = e[next];
        c.to[c.nvar++] = below;
        n *= e[next];
    }
    k->cycles += k->times * (60 + n / k->lanes * (4 + 16 * problem_then(k->p, THEN_GELU)));
    if (k->plan) return;
    if (k->g->npack == MAX_PACKS) {
        k->why = "too many blocks to finish";
        return;
    }
    k->g->pack[k->g->npack++] = c;
    asm_finish(&k->s, k->g->npack - 1);
}

/* reductions below a depth with more than one step, the slowest first, but for the one in the vectors; are they to be
 * unrolled? */
static int list_reductions(const struct state *k, int depth, const int32_t *e, struct reduction *r, bool *unroll)
{
    unsigned seen = 0;
    int n = 0;
    *unroll = false;
    for (int d = depth; d < k->t->n; d++) {
        int v = k->t->loop[d].var;
        if (!k->p->reduced[v]) continue;
        *unroll |= k->t->loop[d].marks & MARK_UNROLL;
        if (!(seen >> v & 1) && e[v] > 1 && v != k->vec) r[n++] = (struct reduction){ v, e[v], 1 };
        seen |= 1u << v;
    }
    return n;
}

/* cycles of tiles of AMX: each multiplication takes one for each row of A, or as the machine was measured; loads of
 * tiles one for every two of their rows; a new shape takes long */
static double amx_cycles(const struct state *k, const struct tile *q, double steps, bool first)
{
    int n = q->nrow * q->nv, loads_a = q->nrow, loads_b = q->nrow == 1 || q->nv < 3 ? q->nv : q->nrow * q->nv;
    if (q->shape.rest) loads_b = q->nrow * q->nv - (q->nrow - 1);
    double multiply = n * k->machine->tile * fmax(q->shape.rows, 4) / TILE;
    double load = (loads_a * q->shape.rows + loads_b * TILE) / k->machine->loads;
    bool set = memcmp(&k->shape, &q->shape, sizeof q->shape) != 0;
    return steps * (fmax(multiply, load) + 0.1 * fmin(multiply, load)) + n * (first ? 24 : 40) + 20 + (set ? 150 : 0);
}

static void set_shape(struct state *k, struct asm_shape x)
{
    if (!memcmp(&k->shape, &x, sizeof x)) return;
    k->shape = x;
    if (!k->plan && !asm_tile_shape(&k->s, x)) k->why = "too many shapes of tiles";
}

/* tiles of C of one shape, the first of them at this row and column */
static void emit_shape(struct state *k, int depth, const int32_t *e, bool first, int32_t row, int32_t column,
                       struct tile *q)
{
    int32_t whole = e[k->step] / TILE, panel = k->panel[TENSOR_B];
    double steps = 1;
    for (int i = 0; i < q->nrow; i++)
        q->row[i] = (struct row){ (row + i * TILE) * k->stride[TENSOR_A][k->row], 0,
                                  (row + i * TILE) * k->stride[TENSOR_C][k->row] + column * 4, 0, { 0 } };
    for (int j = 0; j < q->nv; j++) {
        int32_t lane = column + j * TILE;
        q->at[j] = panel ? lane / panel * (long)k->panel_bytes[TENSOR_B] + lane % panel * 4 : lane * 4;
    }
    for (int v = 0; v < k->p->nvar; v++)
        if (k->p->reduced[v]) steps *= v == k->step ? tiles_of(e[v]) : e[v];
    k->cycles += k->times * amx_cycles(k, q, steps, first);
    set_shape(k, q->shape);
    if (k->plan) return;
    asm_tile_stride(&k->s, TENSOR_A, (int32_t)k->stride[TENSOR_A][k->row]);
    asm_tile_stride(&k->s, TENSOR_B, (int32_t)k->stride[TENSOR_B][k->step]);
    asm_tile_stride(&k->s, TENSOR_C, (int32_t)k->stride[TENSOR_C][k->row]);
    int n = q->nrow * q->nv;
    for (int i = 0; i < n; i++) {
        if (first) asm_tile_zero(&k->s, i);
        else asm_tile_load(&k->s, i, RDI, TENSOR_C, q->row[i / q->nv].c + i % q->nv * 4 * TILE);
    }
    struct reduction r[NEST_VARS], others[NEST_VARS];
    bool unroll;
    int nr = list_reductions(k, depth, e, r, &unroll), nothers = 0;
    for (int i = 0; i < nr; i++)
        if (r[i].var == k->step) r[i] = (struct reduction){ k->step, whole, TILE };
        else others[nothers++] = r[i];
    long budget = (unroll ? TILE_MAX_BODY : TILE_BODY) / n;
    if (whole) reductions(k, q, r, nr, budget);
    if (q->shape.rest) {
        q->rest = true;
        move(k, k->step, (long)whole * TILE, false);
        reductions(k, q, others, nothers, budget);
        move(k, k->step, -(long)whole * TILE, false);
        q->rest = false;
    }
    for (int i = 0; i < n; i++)
        asm_tile_store(&k->s, i, RDI, TENSOR_C, q->row[i / q->nv].c + i % q->nv * 4 * TILE);
}

/* the shapes that a block of C is cut into: whole tiles, what is left of columns, of rows, of both; how many */
static int shapes_of(const struct state *k, const int32_t *e, struct tile q[4], int32_t at[4][2])
{
    const int32_t rows = e[k->row], columns = e[k->vec], whole[2] = { rows / TILE, columns / TILE };
    int n = 0;
    for (int i = 0; i < 4; i++) {
        int32_t high = i / 2 ? rows % TILE : TILE, wide = i % 2 ? columns % TILE : TILE;
        struct tile x = { .nrow = i / 2 ? 1 : whole[0], .nv = i % 2 ? 1 : whole[1],
                          .shape = { (uint8_t)high, (uint8_t)wide, (uint8_t)(e[k->step] % TILE) } };
        if (!high || !wide || !x.nrow || !x.nv) continue;
        at[n][0] = i / 2 ? whole[0] * TILE : 0;
        at[n][1] = i % 2 ? whole[1] * TILE : 0;
        q[n++] = x;
    }
    return n;
}

static void emit_tiles(struct state *k, int depth, const int32_t *e, bool first)
{
    struct tile q[4];
    int32_t at[4][2];
    int n = shapes_of(k, e, q, at), nv = (e[k->vec] + TILE - 1) / TILE, nrow = tiles_of(e[k->row]);
    if (nrow * nv > k->rows * k->vectors) k->rows = nrow, k->vectors = nv;
    for (int i = 0; i < n; i++) emit_shape(k, depth, e, first, at[i][0], at[i][1], &q[i]);
}

static void emit_tile(struct state *k, int depth, const int32_t *e, bool first)
{
    if (k->tiles) {
        emit_tiles(k, depth, e, first);
        return;
    }
    struct tile q = { 0 };
    list_rows(k, &q, e);
    q.nv = k->red ? 1 : (e[k->vec] + k->lanes - 1) / k->lanes;
    q.tail = e[k->vec] % k->lanes;
    assign_registers(k, &q);
    for (int j = 0; j < q.nv; j++) {
        int32_t lane = j * k->lanes, panel = k->panel[k->vt];
        q.at[j] = panel ? lane / panel * (long)k->panel_bytes[k->vt] + lane % panel * k->p->bytes
                        : j * q.step / (k->half[k->vt] ? 2 : 1);
    }
    if (q.nrow * q.nv > k->rows * k->vectors) k->rows = q.nrow, k->vectors = q.nv;
    double steps = 1;
    for (int v = 0; v < k->p->nvar; v++)
        if (k->p->reduced[v]) steps *= e[v];
    double some, share;
    share_in(k, &q, e, &some, &share);
    if (!(some > 0) && !first && !k->inside) return;     /* it would only add zeros */
    k->cycles += k->times * (tile_cycles(k, &q, steps * some, first, share) + (k->inside ? q.nrow * q.nv : 0));
    if (k->plan) return;
    if (q.tail) asm_mask(&k->s, q.tail);
    bool start = first && k->sums;                       /* what is added to waits for the end, too */
    bool late = (!first && steps >= LATE_STEPS && !k->red) || (start && k->g->add);      /* C is asked for now and added
                                                                                            to at the end */
    for (int i = 0; i < q.nrow * q.nv; i++) {
        if (late) asm_prefetch(&k->s, RDI, q.row[i / q.nv].c + i % q.nv * q.step);
        if (start) asm_load(&k->s, i, RDX, q.at[i % q.nv] + k->sums, masked(&q, i % q.nv));
        else if (first || late || k->red) asm_zero(&k->s, i);
        else asm_load(&k->s, i, RDI, q.row[i / q.nv].c + i % q.nv * q.step, masked(&q, i % q.nv));
    }
    struct reduction r[NEST_VARS];
    bool unroll;
    int nr = list_reductions(k, depth, e, r, &unroll);
    q.ahead = nr ? rows_ahead(k, &r[nr - 1]) : 0;
    long per = (long)q.nrow * q.nv, budget = BODY_FMA / per;
    if (budget > MAX_UNROLL) budget = MAX_UNROLL;
    if (unroll) budget = MAX_BODY / per;
    if (budget < 1) budget = 1;
    if (k->red) {
        lanes_of_reduction(k, &q, r, nr, budget, e[k->vec]);
        total(k, &q, first);
        return;
    }
    if (k->stream_rows > 0 && nr == 1) {
        long u = r[0].n < budget ? r[0].n : budget, most = MAX_LINES / k->stream_line;
        double bodies = (double)(r[0].n / u) * k->times / k->stream_times, rows = ceil(k->stream_rows / bodies);
        q.stream = rows > most ? (int)most : (int)rows;
    }
    reductions(k, &q, r, nr, budget);
    for (int i = 0; i < q.nrow * q.nv && late; i++)
        asm_sum(&k->s, i, RDI, q.row[i / q.nv].c + i % q.nv * q.step, masked(&q, i % q.nv), q.hold);
    if (k->inside) finish_tile(k, &q);
    for (int i = 0; i < q.nrow * q.nv; i++)
        asm_store(&k->s, i, RDI, q.row[i / q.nv].c + i % q.nv * q.step, masked(&q, i % q.nv));
}

/* ---- the loops outside it ---- */

/* block of loop d; an innermost block of the result is made as large as the registers allow */
static int32_t block_of(const struct state *k, int d, const int32_t *e)
{
    int v = k->t->loop[d].var, nv;
    int32_t step = k->inner[d];
    if (step > 1 || k->p->reduced[v] || k->split >= 0) return step;
    long rows = c_block(k, e, &nv);
    if (k->tiles) {                                      /* others of C one by one; two by two tiles, if there are */
        int32_t other = v == k->vec ? tiles_of(e[k->row]) : nv;
        int32_t most = v != k->vec && v != k->row ? 1 : TILE * (other > MAX_TILES ? 2 : MAX_TILES / other);
        return most < e[v] ? most : e[v];
    }
    if (v == k->vec) {
        long most = rows > k->nacc ? 1 : k->nacc / rows;
        while (most > 1 && !fits(k, rows, (int)most)) most--;
        return (int32_t)(most * k->lanes < e[v] ? most * k->lanes : e[v]);
    }
    rows /= e[v];
    int32_t most = (int32_t)(rows * nv > k->nacc ? 1 : k->nacc / (rows * nv));
    while (most > 1 && !fits(k, rows * most, nv)) most--;
    return most < e[v] ? most : e[v];
}

/* the shapes of all tiles below depth d: 0 none yet, 1 one, which is *x, 2 several */
static int shapes_below(const struct state *k, int d, const int32_t *e, int n, struct asm_shape *x)
{
    if (block_fits(k, e)) {
        struct tile q[4];
        int32_t at[4][2];
        for (int i = 0, m = shapes_of(k, e, q, at); i < m; i++) {
            if (n && memcmp(x, &q[i].shape, sizeof *x)) return 2;
            *x = q[i].shape;
            n = 1;
        }
        return n;
    }
    if (d == k->t->n) return 2;
    int v = k->t->loop[d].var;
    int32_t step = block_of(k, d, e), below[NEST_VARS];
    memcpy(below, e, sizeof below);
    below[v] = step;
    n = shapes_below(k, d + 1, below, n, x);
    below[v] = e[v] % step;
    return below[v] && n < 2 ? shapes_below(k, d + 1, below, n, x) : n;
}

/* before a loop: the shape of its tiles, if it has one; else that is unknown where it begins again */
static void shape_before(struct state *k, int d, const int32_t *e)
{
    struct asm_shape x;
    if (!k->tiles) return;
    if (shapes_below(k, d, e, 0, &x) == 1) set_shape(k, x);
    else k->shape = (struct asm_shape){ 0 };
}

/* are its bytes signed where they are to be unsigned? */
static bool raised(const struct state *k, int t) { return t == TENSOR_A && k->p->sign && !k->tiles; }

static void emit_packed(struct state *k, int t, int d, const int32_t *e, bool first);
static void emit(struct state *k, int d, const int32_t *e, bool first);

/* Is the block of C inside loop d what is finished at once?  No reduction is outside of it; it stays in the second
 * cache, or the next loop is a reduction, or it is a tile.  Calls for each tile would cost more than that. */
static bool finished_here(const struct state *k, int d, const int32_t *e, bool fit)
{
    double bytes = 4;
    for (int v = 0; v < k->p->nvar; v++)
        if (!k->p->reduced[v]) bytes *= e[v];
    if (fit || d == k->t->n || d == k->split || bytes <= k->machine->cache[1].bytes / 8) return true;
    int v = k->t->loop[d].var;
    return (k->p->reduced[v] || v == k->p->norm) && k->inner[d] < e[v];  /* rows of a norm are whole */
}

/* is no reduction cut outside of the tiles of this block? */
static bool whole_tiles(const struct state *k, int d, const int32_t *e)
{
    int32_t below[NEST_VARS];
    memcpy(below, e, sizeof below);
    for (; d < k->t->n && !block_fits(k, below); d++) {
        int v = k->t->loop[d].var;
        int32_t step = block_of(k, d, below);
        if (k->p->reduced[v] && step < below[v]) return false;
        below[v] = step;
    }
    return true;
}

static bool may_stream(const struct state *k)
{
    return !k->side && !k->tiles && !k->red && !k->both && k->vt == TENSOR_B && !k->half[TENSOR_B] &&
           (double)k->p->elements[TENSOR_B] * k->p->bytes > k->machine->cache[1].bytes / 2;
}

/* Can all that follows the sum be done in registers?  A bias is a vector along one variable of C. */
static void choose_simple(struct state *k)
{
    const struct problem *p = k->p;
    k->bias = -1;
    k->simple = false;
    if (!k->finish || p->pair || k->red || k->tiles || p->norm >= 0 || p->type == TYPE_F64) return;
    for (const uint8_t *then = p->then; *then; then++)
        if (*then != THEN_BIAS && *then != THEN_RELU) return;
    for (int v = 0; v < p->nvar && problem_then(p, THEN_BIAS); v++)
        if (p->stride[TENSOR_C][v] == p->bias_step && p->size[v] == p->bias) k->bias = v;
    k->simple = k->bias >= 0 || !problem_then(p, THEN_BIAS);
}

static void emit_and_finish(struct state *k, int d, const int32_t *e, bool first)
{
    k->finish = false;
    emit(k, d, e, first);
    k->finish = true;
    emit_finish(k, e);
}

/* one of two contractions, on the present block */
static void emit_side(struct state *k, int i, const int32_t *e, bool first)
{
    struct state s = *k;
    struct side *x = &k->side[i];
    const struct problem *p = k->p;
    int32_t block[NEST_VARS];
    s.p = &x->p;
    s.t = &x->t;
    memcpy(s.inner, x->inner, sizeof s.inner);
    s.split = -1;
    s.finish = false;
    s.vec = i ? p->last : p->along;
    for (int t = 0; t < 2; t++) {
        s.pack_depth[t] = -1;
        s.marked[t] = false;
        if (i) s.packed[t] = s.half[t] = false, s.panel[t] = 0;
    }
    for (int v = 0; v < p->nvar; v++) {
        bool in = x->p.stride[TENSOR_A][v] || x->p.stride[TENSOR_B][v];
        block[v] = !in ? 1 : i && k->pairs && v == p->along ? (e[v] + 1) / 2 : e[v];
        if (i) s.stride[TENSOR_A][v] = k->s_stride[v] * 4, s.stride[TENSOR_B][v] = p->stride[TENSOR_V][v] * 4;
        else s.stride[TENSOR_C][v] = k->s_stride[v] * 4;
    }
    emit(&s, 0, block, first);
    k->s = s.s;
    k->why = s.why;
    k->cycles = s.cycles;
    k->rows = s.rows;
    k->vectors = s.vectors;
}

/* the block of S, what lies between, the block of C */
static void emit_pair(struct state *k, const int32_t *e, bool first)
{
    const struct problem *p = k->p;
    struct carry_change c = { .wide = k->s.wide, .edge = first,
                              .store = k->pairs ? CARRY_HALVES_BF16 : CARRY_FLOATS };
    double n = e[p->along];
    for (int v = 0; v < p->nvar; v++) {
        if (!k->s_stride[v] || v == p->along) continue;
        c.size[c.nvar] = e[v];
        c.from[c.nvar] = k->s_stride[v];
        c.to[c.nvar++] = p->stride[TENSOR_C][v];
        n *= e[v];
    }
    c.size[c.nvar] = e[p->along], c.from[c.nvar++] = 1;
    c.size[c.nvar] = e[p->last], c.to[c.nvar++] = 1;
    k->cycles += k->times * (60 + n / e[p->along] * 30 + n / k->lanes * (p->mid[0] ? 12 : 2));
    size_t hidden = 0;
    int change = -1;
    if (!k->plan && (p->mid[0] || p->mid_scale != 1)) {  /* as of softmax, without which there are no pairs */
        if (k->g->npack == MAX_PACKS) k->why = "too many blocks of two contractions";
        else k->g->pack[change = k->g->npack++] = c;
        if (k->why) return;
    }
    bool mask = p->query >= 0 && !first;                 /* the first block of a row has a column that it sees */
    if (mask) k->times *= HIDDEN;
    if (mask && !k->plan) hidden = asm_hidden(&k->s, change);
    if (!k->plan) asm_push(&k->s, RDI, 2);
    emit_side(k, 0, e, true);
    if (!k->plan) asm_pop(&k->s, RDI);
    if (change >= 0) asm_between(&k->s, change);
    if (!k->plan) asm_push(&k->s, RSI, 2), asm_push_second(&k->s);
    emit_side(k, 1, e, first);
    if (!k->plan) asm_pop(&k->s, RDX), asm_pop(&k->s, RSI);
    if (mask && !k->plan) asm_hidden_end(&k->s, hidden);
    if (mask) k->times /= HIDDEN;
}

static int32_t common(int32_t a, int32_t b)              /* the greatest divisor of both */
{
    while (b) {
        int32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* do this block and the next stay in the second cache, half of it, or of its sets that such rows reach? */
static bool both_stay(const struct state *k)
{
    const double line = (double)k->stream_line * 64, way = k->machine->cache[1].way;
    double room = k->machine->cache[1].bytes / 2;
    if (way > 0 && k->stream_row > line) {
        double apart = fmin(way / common((int32_t)way, (int32_t)k->stream_row), way / line);
        room = fmin(room, apart * line * k->machine->cache[1].bytes / way);
    }
    return 2 * k->stream_rows * line <= room;
}

/* A large B comes from far, each block once: while one is used, again and again in loop d, the next is asked for.  That
 * one begins where the next outer loop through B leads.  It has rows, or is a panel, which lies together. */
static bool stream_before(struct state *k, int d, const int32_t *e)
{
    const int64_t *stride = k->p->stride[TENSOR_B];
    const int32_t panel = k->panel[TENSOR_B];
    int next = d - 1, row = -1, fast = -1;
    if (!k->streams || k->stream_rows > 0 || stride[k->t->loop[d].var]) return false;
    while (next >= 0 && (!stride[k->t->loop[next].var] || k->t->loop[next].size < 2)) next--;
    if (next < 0 || (k->packed[TENSOR_B] && (!panel || e[k->vec] > panel || k->pack_depth[TENSOR_B] >= 0)))
        return false;
    for (int v = 0; v < k->p->nvar; v++) {
        if (k->stride[TENSOR_B][v] == k->p->bytes) fast = v;
        else if (!stride[v] || e[v] < 2) continue;
        else if (row >= 0) return false;
        else row = v;
    }
    if (row < 0 || fast < 0) return false;
    k->stream_row = panel ? 64 : k->stride[TENSOR_B][row];
    k->stream_line = panel ? 1 : (e[fast] * k->p->bytes + 63 + 32) / 64;
    k->stream_rows = panel ? (double)e[row] * panel * k->p->bytes / 64 : e[row];
    k->stream_times = k->times;
    if (k->stream_line > MAX_LINES || !both_stay(k)) k->stream_rows = 0;
    if (!(k->stream_rows > 0)) return false;
    k->asked = true;
    if (!k->plan) asm_stream_from(&k->s, k->inner[next] * k->stride[TENSOR_B][k->t->loop[next].var]);
    return true;
}

/* how many blocks of v from `at` on are code of one kind: those without zeros around A, or one that has some */
static int32_t same_blocks(struct state *k, int v, int32_t at, int32_t full, const int32_t *x)
{
    int32_t n = 0;
    for (bool border = false; !border && at + n < full; n += !border || !n) {
        shift(k, v, (at + n) * x[v], 1, 0);
        border = at_border(k, v, x);
        shift(k, v, -(at + n) * x[v], 1, 0);
    }
    return n;
}

/* are there blocks of v with zeros around A, but not many? */
static bool few_borders(struct state *k, int v, int32_t step, const int32_t *e)
{
    int32_t x[NEST_VARS], full = e[v] / step, n = 0;
    if (!has_rim(k, v)) return false;
    memcpy(x, e, sizeof x);
    x[v] = step;
    for (int32_t at = 0; at < full && n <= MAX_KINDS; at += same_blocks(k, v, at, full, x)) n++;
    return n <= MAX_KINDS;
}

static void emit(struct state *k, int d, const int32_t *e, bool first)
{
    bool fit = k->split < 0 && block_fits(k, e);
    if (k->why || k->s.full) return;
    if (k->finish && k->simple && whole_tiles(k, d, e)) {
        k->finish = false;
        k->inside = true;
        emit(k, d, e, first);
        k->inside = false;
        k->finish = true;
        return;
    }
    if (k->finish && finished_here(k, d, e, fit)) {
        emit_and_finish(k, d, e, first);
        return;
    }
    for (int t = 0; t < 2; t++) {
        bool must = fit && (!k->marked[t] || k->half[t] || raised(k, t));
        if (k->pack_depth[t] < 0 || k->packed[t] || !(must || d >= k->pack_depth[t])) continue;
        emit_packed(k, t, d, e, first);
        return;
    }
    if (fit) {
        emit_tile(k, d, e, first);
        return;
    }
    if (d == k->split) {
        emit_pair(k, e, first);
        return;
    }
    if (d == k->t->n) {
        k->why = "the result does not fit the registers";
        return;
    }
    int v = k->t->loop[d].var;
    int32_t step = block_of(k, d, e), full = e[v] / step, tail = e[v] % step, x[NEST_VARS];
    bool reduction = k->p->reduced[v], borders = few_borders(k, v, step, e);
    memcpy(x, e, sizeof x);
    x[v] = step;
    for (int32_t at = 0, n; at < full; at += n) {
        n = reduction && first && at == 0 ? 1 : borders ? same_blocks(k, v, at, full, x) : full - at;
        const uint8_t *top;                              /* the first pass of a reduction starts from zero */
        bool stream = n > 1 && stream_before(k, d, e);
        shift(k, v, at * step, n, step);
        if (n > 1) shape_before(k, d + 1, x);
        if (!enter_loop(k, n, &top)) return;
        emit(k, d + 1, x, first && !(reduction && at > 0));
        move(k, v, step, true);
        leave_loop(k, top, n);
        shift(k, v, -at * step, 2 - n, step);
        if (stream) k->stream_rows = 0;
    }
    x[v] = tail;
    shift(k, v, full * step, 1, 0);
    if (tail) emit(k, d + 1, x, first && !(reduction && full > 0));
    shift(k, v, -full * step, 1, 0);
    move(k, v, -(long)full * step, true);
}

/* ---- choice of the vector variable, transpositions, threads ---- */

static bool plain(const struct problem *p, int t)        /* one variable a dimension, so that it can be transposed */
{
    double n = 1;
    for (int v = 0; v < p->nvar; v++)
        if (p->stride[t][v]) n *= p->size[v];
    return n == (double)p->elements[t] && !(t == TENSOR_A && p->pad.n);
}

/* a relative cost of having v in the vectors, or -1 when it cannot be */
static double vector_cost(const struct problem *p, int v, int lanes)
{
    bool a = p->stride[TENSOR_A][v] != 0, b = p->stride[TENSOR_B][v] != 0;
    if (!(a || b) || (p->reduced[v] && !(a && b))) return -1;
    double moved = 0, sums = p->reduced[v] ? 4 * (double)p->elements[TENSOR_C] : 0;
    for (int t = 0; t < 3; t++) {
        if (p->stride[t][v] == 0 || p->stride[t][v] == 1) continue;
        if (!plain(p, t)) return -1;
        moved += (double)p->elements[t];
    }
    double used = (double)p->size[v] / ((p->size[v] + lanes - 1) / lanes * lanes);
    return problem_flops(p) / (4.0 * lanes) / used * (a && b ? 2 : 1) + moved * 1.5 + sums;      /* both: loads */
}

/* signed bytes have columns in the vectors, since sums begin with something of each column; so have tiles */
static bool may_be_vector(const struct problem *p, int v, bool tiles)
{
    return !(tiles || p->sign) || !(p->reduced[v] || p->stride[TENSOR_A][v]);
}

static int choose_vector(const struct problem *p, const struct nest *t, int lanes, bool tiles, const char **why)
{
    for (int i = 0; i < t->n; i++)
        if (t->loop[i].marks & MARK_VECTORIZE) {
            if (vector_cost(p, t->loop[i].var, lanes) >= 0 && may_be_vector(p, t->loop[i].var, false))
                return t->loop[i].var;
            *why = p->sign ? "of signed bytes columns are in the vectors" :
                   "the vector variable is not in C and an input or in both inputs, or strides over a window";
            return -1;
        }
    int best = -1;
    for (int v = 0; v < p->nvar; v++) {
        if (!may_be_vector(p, v, tiles)) continue;
        double c = vector_cost(p, v, lanes);
        if (c >= 0 && (best < 0 || c < vector_cost(p, best, lanes))) best = v;
    }
    if (best < 0) *why = "no variable of C can be in the vectors";
    return best;
}

/* a block of tensor t with variable `vec` fastest: strides in elements, rows padded off multiples of 4 KiB; or, where
 * panel is not 0, cut into panels of so many of vec, one behind the other, rows close together; vec's stride then holds
 * for multiples of a panel; each with one row more, if sums begin at something */
static void plan_transposition(struct transposition *x, const struct problem *p, int t, int vec, int32_t panel,
                               const int32_t *size, int64_t stride[NEST_VARS])
{
    struct carry_change *c = &x->change;
    x->needed = true;
    c->nvar = 0;
    for (int64_t below = INT64_MAX; ; ) {                /* slowest first, vec aside */
        int next = -1;
        for (int v = 0; v < p->nvar; v++)
            if (v != vec && size[v] > 1 && p->stride[t][v] && p->stride[t][v] < below
                && (next < 0 || p->stride[t][v] > p->stride[t][next])) next = v;
        if (next < 0) break;
        below = p->stride[t][next];
        x->var[c->nvar++] = next;
    }
    if (panel >= size[vec] || c->nvar == 0 || c->nvar + 2 > CARRY_VARS) panel = 0;
    if (panel) {
        memmove(x->var + 1, x->var, sizeof *x->var * (size_t)c->nvar++);
        x->var[0] = vec;
    }
    x->var[c->nvar++] = vec;
    x->panel = panel;
    int64_t step = 1, row = 1;
    c->edge = panel ? size[vec] % panel : 0;
    for (int i = c->nvar; i-- > 0; ) {
        int v = x->var[i];
        stride[v] = c->to[i] = step;
        c->from[i] = p->stride[t][v];
        c->size[i] = size[v];
        if (panel && i == c->nvar - 1) c->size[i] = panel;
        if (panel && i == 0) {
            c->from[i] *= panel;
            c->size[i] = (size[v] + panel - 1) / panel;
            stride[v] = step / panel;
        }
        step *= c->size[i];
        if (!panel && i == c->nvar - 1) {
            step = (step + 15) & ~(int64_t)15;
            if (step % 512 == 0) step += 16;
        }
        if (i == c->nvar - 1) row = step;
        if (t == TENSOR_B && p->sign && i == (panel > 0)) x->sums = step, step += row;
    }
    x->elements = step;
    for (int i = c->nvar - 3; i >= (panel > 0); i--) {   /* two that lie together in both are one */
        if (c->from[i] != c->from[i + 1] * c->size[i + 1] || c->to[i] != c->to[i + 1] * c->size[i + 1]) continue;
        c->size[i + 1] *= c->size[i];
        c->nvar--;
        for (int j = i; j < c->nvar; j++)
            c->size[j] = c->size[j + 1], c->from[j] = c->from[j + 1], c->to[j] = c->to[j + 1];
    }
}

/* The depth at which an input is transposed block by block: inside the outer loops that all move through it, so that
 * each element is transposed once, and used while it is in a cache.  0: before the nest. */
static int block_depth(const struct state *k, int t)
{
    int32_t e[NEST_VARS];
    memcpy(e, k->p->size, sizeof e);
    for (int d = 0; d < k->t->n; d++) {
        struct loop l = k->t->loop[d];
        double block = 1;
        if (l.size + (l.tail > 0) > 1 && !k->p->stride[t][l.var]) return d;
        e[l.var] = k->inner[d];
        for (int v = 0; v < k->p->nvar; v++)
            if (k->p->stride[t][v]) block *= e[v];
        if (block < PACK_ELEMENTS) return d;
    }
    return 0;
}

/* the widest panel such that every tile begins at one, if the block below depth d is cut into them; 0: none */
static int32_t panel_width(const struct state *k, int d, const int32_t *block)
{
    int32_t e[NEST_VARS], w = 0;
    memcpy(e, block, sizeof e);
    if (k->split >= 0) {                                 /* the tiles of the first contraction, in blocks of S */
        struct state s = *k;
        const struct side *x = &k->side[0];
        s.p = &x->p;
        s.t = &x->t;
        memcpy(s.inner, x->inner, sizeof s.inner);
        s.split = -1;
        for (; d < k->split; d++) {
            int v = k->t->loop[d].var;
            if (k->inner[d] >= e[v]) continue;
            e[v] = k->inner[d];
            if (v == k->vec) w = common(e[v], w);
        }
        if (w % k->lanes) return 0;                      /* blocks do not begin where panels could */
        for (int v = 0; v < s.p->nvar; v++)
            if (!s.p->stride[TENSOR_A][v] && !s.p->stride[TENSOR_B][v]) e[v] = 1;
        return common(panel_width(&s, 0, e), w);
    }
    for (; d < k->t->n; d++) {
        int v = k->t->loop[d].var;
        if (block_fits(k, e)) break;
        int32_t step = block_of(k, d, e);
        if (v == k->vec && step < e[v]) {
            w = common(k->inner[d] == 1 ? k->lanes : step, w);       /* 1: as wide as registers allow */
        }
        e[v] = step;
    }
    return w % k->lanes ? 0 : w;
}

/* the variable that shall be fastest in a packed input: the vector's, or where it has none, the one that is */
static int fastest(const struct state *k, int t, const int32_t *size)
{
    int best = -1;
    if (k->p->stride[t][k->vec]) return k->vec;
    for (int v = 0; v < k->p->nvar; v++)
        if (k->p->stride[t][v] && (best < 0 || (size[v] > 1 && (size[best] == 1 ||
                                                             k->p->stride[t][v] < k->p->stride[t][best])))) best = v;
    return best;
}

/* where a mark has input t packed: sets its depth */
static const char *read_marks(struct state *k)
{
    for (int t = 0; t < 2; t++)
        for (int d = 0; d < k->t->n; d++) {
            if (!(k->t->loop[d].marks & (t == TENSOR_A ? MARK_PACK_A : MARK_PACK_B))) continue;
            if (!plain(k->p, t)) return "an input that is read in windows cannot be packed";
            if (k->both) return "both inputs are read as vectors, none of them can be packed";
            k->pack_depth[t] = d + 1;
            k->marked[t] = true;
        }
    return NULL;
}

static bool to_transpose(const struct state *k, int t)
{
    return k->p->stride[t][k->vec] > 1 && k->p->size[k->vec] > 1;
}

static bool halves(const struct state *k, int t) { return t != TENSOR_C && k->p->store >= STORE_F16; }

/* halves that are loaded as floats, since they are in the vectors and neither transposed nor packed */
static bool loaded(const struct state *k, int t)
{
    return k->nregister == 32 && t == k->vt && !k->both && !k->red;
}

static enum carry_store store_of(const struct state *k, int t, bool half)
{
    if (raised(k, t)) return CARRY_SIGNED;
    return half ? (enum carry_store)k->p->store : k->p->bytes == 8 ? CARRY_DOUBLES : CARRY_FLOATS;
}

/* all of input t as it lies, from halves to floats */
static void plan_flat(struct transposition *x, const struct problem *p, int t)
{
    x->needed = true;
    x->change.nvar = 1;
    x->change.size[0] = (int32_t)p->elements[t];
    x->change.from[0] = x->change.to[0] = 1;
}

static float *scratch_of(float *old, size_t *have, size_t bytes)
{
    if (bytes <= *have) return old;
    free(old);
    float *x = aligned_alloc(64, bytes);
    if (!x) die("out of memory");
    *have = bytes;
    return x;
}

/* elements that a packed block of input t may need below this depth, rows and panels padded; a transposed one may be
 * packed further out, where a remainder fits the registers, but is not larger than the whole then */
static int64_t largest_block(const struct state *k, int t, int depth)
{
    int32_t e[NEST_VARS];
    int64_t rows = 1, fast = 1;
    memcpy(e, k->p->size, sizeof e);
    if (t != TENSOR_C && k->marked[t] && !halves(k, t) && !raised(k, t))
        for (int d = 0; d < depth; d++) {                /* innermost blocks are as large as registers allow */
            int v = k->t->loop[d].var;
            int32_t most = v == k->vec ? k->nacc * k->lanes : k->tiles ? MAX_TILES * TILE : k->nacc;
            if (k->p->reduced[v] || k->inner[d] > 1) most = k->inner[d];
            if (most < e[v]) e[v] = most;
        }
    int last = t == TENSOR_C ? k->vec : fastest(k, t, e);
    for (int v = 0; v < k->p->nvar; v++) {
        if (!k->p->stride[t][v]) continue;
        if (v == last) fast = e[v];
        else rows *= e[v];
    }
    return rows * (fast + 32 * k->lanes);
}

static void want_scratch(struct kernel *g, int t, int64_t elements, int bytes, int depth)
{
    g->scratch_bytes[t] = ((size_t)(elements * bytes) + 127) & ~(size_t)63;
    if (!g->text) g->scratch[t] = scratch_of(g->scratch[t], &g->scratch_room[t], g->scratch_bytes[t]);
    if (depth && g->threads > 1) g->second[t] = scratch_of(g->second[t], &g->second_room[t], g->scratch_bytes[t]);
}

/* B that stays from call to call is packed once for all: of narrow types, or where the problem says so */
static bool weights(const struct state *k)
{
    return k->p->weights && k->vt == TENSOR_B && !k->both && plain(k->p, TENSOR_B) &&
           (k->p->group > 1 || k->p->stride[TENSOR_B][k->vec] == 1);
}

static void take_weights(struct state *k, struct transposition *c, int64_t stride[NEST_VARS])
{
    int32_t panel = k->halves ? 0 : panel_width(k, 0, k->p->size);
    plan_transposition(c, k->p, TENSOR_B, k->vec, panel, k->p->size, stride);
    k->panel[TENSOR_B] = c->panel;
    k->sums = k->tiles ? 0 : c->sums * 4;
    if (c->panel) k->panel_bytes[TENSOR_B] = stride[k->vec] * c->panel * 4;
    k->pack_depth[TENSOR_B] = -1;
    k->marked[TENSOR_B] = false;
    k->packed[TENSOR_B] = true;
}

static void prepare(struct kernel *g, struct state *k)
{
    g->given = weights(k);
    g->sums = 0;
    for (int t = 0; t < 3; t++) {
        int64_t elements[NEST_VARS];
        memcpy(elements, k->p->stride[t], sizeof elements);
        struct transposition *c = &g->change[t];
        *c = (struct transposition){ .change.wide = g->isa != ISA_AVX2 };
        c->change.store = store_of(k, t, halves(k, t));
        g->scratch_bytes[t] = 0;
        g->scratch_bytes[TENSOR_V] = 0;
        if (t == TENSOR_B && g->given) {
            take_weights(k, c, elements);
            g->sums = c->sums;
            want_scratch(g, t, largest_block(k, t, 0) + (c->sums ? c->elements : 0), k->p->bytes, 0);
        } else if (t == TENSOR_A && k->exact) {
            memcpy(elements, k->dense, sizeof elements);
        } else if (t == TENSOR_A && k->p->pad.n) {
            c->needed = true;
            want_scratch(g, t, k->p->padded, k->p->bytes, 0);
        } else if (to_transpose(k, t)) {
            struct transposition all = *c;
            int64_t stride[NEST_VARS];
            memcpy(stride, elements, sizeof stride);
            plan_transposition(&all, k->p, t, k->vec, 0, k->p->size, stride);
            int depth = t == TENSOR_C || g->whole ? 0 : block_depth(k, t);
            if (k->side && depth > k->split) depth = k->split;
            if (g->whole && t != TENSOR_C) k->pack_depth[t] = -1;
            else if (t != TENSOR_C && k->marked[t]) depth = k->pack_depth[t], k->marked[t] = false;
            if (t != TENSOR_C) k->pack_depth[t] = depth ? depth : -1;
            if (!depth) *c = all, memcpy(elements, stride, sizeof elements);
            if (t != TENSOR_C) k->half[t] = halves(k, t) && depth;
            want_scratch(g, t, largest_block(k, t, depth), k->p->bytes, depth);
        } else if (t != TENSOR_C && k->marked[t]) {
            want_scratch(g, t, largest_block(k, t, k->pack_depth[t]), k->p->bytes, k->pack_depth[t]);
            k->half[t] = halves(k, t);
        } else if (halves(k, t) && loaded(k, t)) {
            k->half[t] = true;
        } else if (halves(k, t) || raised(k, t)) {
            plan_flat(c, k->p, t);
            want_scratch(g, t, k->p->elements[t], k->p->bytes, 0);
        }
        int bytes = t != TENSOR_C && k->half[t] ? 2 : k->p->bytes;
        for (int v = 0; v < k->p->nvar; v++) k->stride[t][v] = elements[v] * bytes;
    }
}

/* pack the block of input t that is used below depth d, then go on with it in place of the input */
static void emit_packed(struct state *k, int t, int d, const int32_t *e, bool first)
{
    int64_t keep[NEST_VARS], to[NEST_VARS];
    bool half = k->half[t];
    struct transposition c = { .change.wide = k->s.wide, .change.store = store_of(k, t, half && t != TENSOR_C) };
    double elements = 1;
    memcpy(keep, k->stride[t], sizeof keep);
    memcpy(to, k->p->stride[t], sizeof to);
    int last = fastest(k, t, e);
    plan_transposition(&c, k->p, t, last, last == k->vec && !k->red ? panel_width(k, d, e) : 0, e,
                       to);
    k->panel[t] = c.panel;
    if (c.panel) k->panel_bytes[t] = to[last] * c.panel * k->p->bytes;
    for (int v = 0; v < k->p->nvar; v++) {
        k->stride[t][v] = to[v] * k->p->bytes;
        if (k->p->stride[t][v]) elements *= e[v];
    }
    k->packs += k->times;
    *(to_transpose(k, t) ? &k->moved : &k->copied) += k->times * elements;
    k->packed[t] = true;
    k->half[t] = false;
    if (!k->plan) {
        if (k->g->npack == MAX_PACKS) k->why = "too many blocks to transpose";
        else k->g->pack[k->g->npack++] = c.change;
        if (k->why) return;
        asm_change(&k->s, k->g->npack - 1, base_of[t], t);
        asm_push(&k->s, base_of[t], t);
    }
    emit(k, d, e, first);
    if (!k->plan) asm_pop(&k->s, base_of[t]);
    k->packed[t] = false;
    k->half[t] = half;
    k->panel[t] = 0;
    memcpy(k->stride[t], keep, sizeof keep);
}

/* the part of the problem a thread does: extents, and where it starts */
static const char *parts(const struct state *k, int32_t e[2][NEST_VARS], int *threads, int *var, int32_t *second)
{
    *threads = 1;
    memcpy(e[0], k->p->size, sizeof e[0]);
    for (int i = 0; i < k->t->n; i++) {
        struct loop l = k->t->loop[i];
        if (!(l.marks & MARK_PARALLEL)) continue;
        if (k->p->reduced[l.var]) return "the parallel loop is a reduction";
        for (int j = 0; j < i; j++)
            if (k->t->loop[j].var == l.var) return "the parallel loop is not the outermost of its variable";
        if (l.size + (l.tail > 0) < 2) return NULL;
        if (l.var == k->p->norm) return "a row that is normalised is in two threads";
        if (k->side) return "two contractions run in one thread";
        *threads = 2;
        *var = l.var;
        *second = (l.size + 1) / 2 * k->inner[i];
        memcpy(e[1], e[0], sizeof e[1]);
        e[0][l.var] = *second;
        e[1][l.var] = k->p->size[l.var] - *second;
        return NULL;
    }
    return NULL;
}

static size_t used_pages(const struct kernel *g)         /* only what is run changes its protection: 5 us less */
{
    return (g->bytes + 4095) & ~(size_t)4095;
}

/* Can attention of bf16 be by the unit that multiplies pairs of them?  A and B have pairs where the first sum goes
 * along what is fastest in both and even; V is copied to pairs of rows before, so that blocks of S begin with even
 * columns.  Then all of them are problems of elements of 4 bytes. */
static bool take_pairs(struct state *k)
{
    struct problem q = *k->p;
    const int64_t rows = q.size[q.along], row = q.stride[TENSOR_V][q.along];
    const int64_t all = rows * row, some = (rows + 1) / 2 * row;         /* of V, before and after */
    int step = -1;
    bool softmax = false;
    for (const uint8_t *mid = q.mid; *mid; mid++) softmax |= *mid == THEN_SOFTMAX;
    if (q.store != STORE_BF16 || k->nregister != 32 || !softmax) return false;
    for (int t = 0; t < 4; t++)
        if (t != TENSOR_C && !plain(&q, t)) return false;
    for (int v = 0; v < q.nvar; v++)
        if (q.stride[TENSOR_A][v] == 1 && q.stride[TENSOR_B][v] == 1 && q.reduced[v] && q.size[v] % 2 == 0) step = v;
    if (step < 0 || q.elements[TENSOR_V] % all) return false;
    for (int d = 0; d < k->split; d++)
        if (k->t->loop[d].var == q.along && k->inner[d] < rows && k->inner[d] % 2) return false;
    q.size[step] /= 2;
    for (int v = 0; v < q.nvar; v++) {
        int64_t *s = &q.stride[TENSOR_V][v];
        if (v != step && (q.stride[TENSOR_A][v] % 2 || q.stride[TENSOR_B][v] % 2)) return false;
        if (*s > row && *s % all) return false;
        if (*s > row) *s = *s / all * some;
        for (int t = TENSOR_A; t <= TENSOR_B && v != step; t++) q.stride[t][v] /= 2;
    }
    for (int t = TENSOR_A; t <= TENSOR_B; t++) q.elements[t] /= 2;
    q.elements[TENSOR_V] = q.elements[TENSOR_V] / all * some;
    q.store = STORE_FLOATS;
    k->paired = q;
    k->p = &k->paired;
    k->step = step;
    return true;
}

/* two contractions as a problem and a nest each, S as large as the common loops leave it */
static const char *take_sides(struct state *k, struct side side[2], bool unit)
{
    int32_t e[NEST_VARS];
    int64_t step = 1;
    k->side = side;
    k->split = nest_split(k->p, k->t);
    k->pairs = unit && take_pairs(k);
    const struct problem *p = k->p;
    memcpy(e, p->size, sizeof e);
    for (int d = 0; d < k->split; d++)
        if (k->inner[d] < e[k->t->loop[d].var]) e[k->t->loop[d].var] = k->inner[d];
    for (int v = p->nvar; v-- > -1; ) {                  /* the columns first, then rows */
        int u = v == p->nvar - 1 ? p->along : v + 1;
        if (v < p->nvar - 1 && u == p->along) continue;
        if (u != p->along && (!p->stride[TENSOR_C][u] || u == p->last)) continue;
        k->s_stride[u] = step;
        step *= e[u];
        if (u == p->along) step = (step + 15) & ~(int64_t)15;
        if (u == p->along && step % 512 == 0) step += 16;
        if (step > MAX_BLOCK) return "a block of the first contraction's result has more than 64 MiB";
    }
    for (int i = 0; i < 2; i++) {
        struct side *x = &side[i];
        *x = (struct side){ .p = *p };
        x->p.pair = false;
        memset(x->p.stride, 0, sizeof x->p.stride);
        for (int v = 0; v < p->nvar; v++) {
            x->p.stride[TENSOR_A][v] = i ? k->s_stride[v] : p->stride[TENSOR_A][v];
            x->p.stride[TENSOR_B][v] = p->stride[i ? TENSOR_V : TENSOR_B][v];
            x->p.stride[TENSOR_C][v] = i ? p->stride[TENSOR_C][v] : k->s_stride[v];
            bool in = x->p.stride[TENSOR_A][v] || x->p.stride[TENSOR_B][v];
            x->p.reduced[v] = in && !x->p.stride[TENSOR_C][v];
        }
        if (i && k->pairs) x->p.size[p->along] = (p->size[p->along] + 1) / 2;
        x->p.elements[TENSOR_A] = i ? step : p->elements[TENSOR_A];
        x->p.elements[TENSOR_B] = p->elements[i ? TENSOR_V : TENSOR_B];
        x->p.elements[TENSOR_C] = i ? p->elements[TENSOR_C] : step;
        for (int d = k->split; d < k->t->n; d++) {
            int v = k->t->loop[d].var;
            if (!x->p.stride[TENSOR_A][v] && !x->p.stride[TENSOR_B][v]) continue;
            x->inner[x->t.n] = k->inner[d];
            if (k->pairs && v == (i ? p->along : k->step)) x->inner[x->t.n] = (k->inner[d] + 1) / 2;
            x->t.loop[x->t.n++] = k->t->loop[d];
        }
    }
    k->s_elements = step;
    k->vec = p->along;
    k->vt = TENSOR_B;
    k->xt = TENSOR_A;
    const char *why = read_marks(k);
    for (int t = 0; t < 2; t++)
        if (k->pack_depth[t] > k->split) k->pack_depth[t] = k->split;
    return why;
}

/* AMX: B has the columns, A the rows, along which the sum goes at unit stride */
static const char *choose_tiles(struct state *k)
{
    static const char columns[] = "columns of AMX tiles are along B and C";
    const struct problem *p = k->p;
    k->tiles = true;
    k->row = k->step = -1;
    if (k->red || k->both || k->vt != TENSOR_B) return columns;
    for (int v = 0; v < p->nvar; v++) {
        bool a = p->stride[TENSOR_A][v], b = p->stride[TENSOR_B][v], c = p->stride[TENSOR_C][v];
        if (a && !b && c && (k->row < 0 || p->size[v] > p->size[k->row])) k->row = v;
        if (p->reduced[v] && p->stride[TENSOR_A][v] == 1 && b) k->step = v;
    }
    return k->row < 0 || k->step < 0 ? "rows of AMX tiles are rows of A, along the sum" : NULL;
}

static bool unit_here(void)                              /* asked once: a virtual machine takes long */
{
    static int have = -1;
    if (have < 0) have = carry_cpu();
    return have & CARRY_AVX512BF16;
}

static const char *begin(struct state *k, const struct problem *p, const struct nest *t, enum isa isa,
                         struct side side[2], enum kernel_unit unit)
{
    if (p->op != OP_FMA) return "only sums of products have code";
    if (p->group > 1 && isa == ISA_AVX2) return "this type has code for AVX-512 alone";
    if (p->group == 1 && isa == ISA_AMX) return "tiles of AMX are for bf16 and bytes alone";
    *k = (struct state){ .p = p,
                         .t = t,
                         .machine = machine_here(),
                         .times = 1,
                         .lanes = problem_lanes(p, isa),
                         .nregister = isa == ISA_AVX2 ? 16 : 32,
                         .nacc = isa == ISA_AVX2 ? 12 : 28,
                         .split = -1,
                         .pack_depth = { -1, -1 } };
    nest_inner(t->loop, t->n, k->inner);
    if (p->pair) return take_sides(k, side, unit == UNIT_HERE ? unit_here() : unit == UNIT_ALWAYS);
    k->vec = choose_vector(p, t, k->lanes, isa == ISA_AMX, &k->why);
    if (k->why) return k->why;
    k->red = p->reduced[k->vec];
    k->both = p->stride[TENSOR_A][k->vec] && p->stride[TENSOR_B][k->vec];
    k->vt = p->stride[TENSOR_A][k->vec] && !k->both ? TENSOR_A : TENSOR_B;
    if (k->both && p->type == TYPE_U8S8) k->vt = TENSOR_A;           /* the unsigned one is held */
    k->xt = TENSOR_A + TENSOR_B - k->vt;
    if (isa != ISA_AMX) find_rims(k);
    const char *bad = isa == ISA_AMX ? choose_tiles(k) : NULL;
    return bad ? bad : read_marks(k);
}

const char *kernel_encode(struct kernel *g, const struct problem *p, const struct nest *t, enum isa isa)
{
    struct state k;
    struct side side[2];
    int32_t e[2][NEST_VARS], second = 0;
    int var = 0;
    const char *why = begin(&k, p, t, isa, side, g->unit);
    if (!why) why = parts(&k, e, &g->threads, &var, &second);
    if (why) return why;
    k.halves = g->threads == 2 && var == k.vec;
    struct kernel_plan q;
    const bool exact = k.exact = k.exact && !kernel_plan(&q, p, t, isa, g->whole) && q.exact;
    if (!g->pack) g->pack = xmalloc(MAX_PACKS, sizeof *g->pack);
    g->npack = 0;
    g->isa = isa;
    k.g = g;
    if (g->text) {
        if (g->threads > 1) return "a part for each of two threads";
    } else if (!g->region) {
        g->region = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (g->region == MAP_FAILED) die_errno("cannot get memory for code");
    } else if (g->bytes && mprotect(g->region, used_pages(g), PROT_READ | PROT_WRITE)) {
        die_errno("cannot make memory for code writable");
    }
    prepare(g, &k);
    g->cast = problem_cast(p);
    if (g->cast && g->change[TENSOR_C].needed) return "a result that is transposed cannot be cast";
    if (g->cast) want_scratch(g, TENSOR_C, p->elements[TENSOR_C], 4, 0);
    problem_carry(&g->about, p);
    k.finish = g->about.then[0] && !g->change[TENSOR_C].needed;
    choose_simple(&k);
    k.simple &= !g->add;
    k.streams = may_stream(&k);
    int64_t s = k.s_elements + carry_rows(&g->about), v = p->store >= STORE_F16 ? k.p->elements[TENSOR_V] : 0;
    g->pairs = k.pairs;
    g->second_at = p->pair && v ? (s + 15) & ~(int64_t)15 : 0;
    if (p->pair) want_scratch(g, 3, g->second_at ? g->second_at + v : s, 4, 0);
    k.s = (struct assembler){ .fix = g->fix, .room = g->fix_room, .text = g->text };
    static uint8_t nothing[1];                           /* text has places too, but no bytes */
    asm_begin(&k.s, g->text ? nothing : g->region, g->text ? 0 : REGION, isa != ISA_AVX2,
              k.pairs ? CARRY_BF16 : (enum carry_type)p->type);
    k.s.sign = p->sign;
    for (int i = 0; i < g->threads; i++) {
        asm_enter(&k.s);
        k.shape = (struct asm_shape){ 0 };
        if (!g->text) g->entry[i] = (size_t)(k.s.at - k.s.start) - ASM_ENTER;
        if (p->pair) asm_second(&k.s);
        if (exact) asm_add(&k.s, RSI, -k.origin * p->bytes);
        if (k.streams) asm_stream_first(&k.s);
        if (k.simple && k.bias >= 0) asm_bias_first(&k.s, var == k.bias ? i * second * 4 : 0);
        if (i) shift(&k, var, second, 1, 0);
        emit(&k, 0, e[i], !g->add || k.sums);
        if (k.tiles) asm_tile_release(&k.s);
        asm_leave(&k.s);
        for (int u = 0; u < 3; u++) g->offset[i][u] = i * (int64_t)second * k.stride[u][var];
    }
    if (exact && !k.exact) k.why = "it is not as planned";
    asm_end(&k.s, g->pack, g->npack);
    g->asked = k.asked;
    g->fix = k.s.fix;
    g->fix_room = k.s.room;
    g->rows = k.rows;
    g->vectors = k.vectors;
    g->vector_var = k.vec;
    if (!g->text) {
        g->bytes = (size_t)(k.s.at - k.s.start);
        if (mprotect(g->region, used_pages(g), PROT_READ | PROT_EXEC)) die_errno("cannot make code executable");
    }
    return k.why ? k.why : k.s.full ? "the code is longer than 1 MiB" : NULL;
}

const char *kernel_plan(struct kernel_plan *out, const struct problem *p, const struct nest *t, enum isa isa,
                        bool whole)
{
    static uint8_t waste[4096];
    struct state k;
    struct side side[2];
    int32_t e[2][NEST_VARS], second;
    int threads, var = 0;
    const char *why = begin(&k, p, t, isa, side, UNIT_HERE);
    if (!why) why = parts(&k, e, &threads, &var, &second);
    if (why) return why;
    k.halves = threads == 2 && var == k.vec;
    k.plan = true;
    k.finish = (p->then[0] || p->pair) && !to_transpose(&k, TENSOR_C);
    choose_simple(&k);
    k.streams = may_stream(&k);
    if (problem_cast(p) && !k.finish) return "a result that is transposed cannot be cast";
    *out = (struct kernel_plan){ .vector_var = k.vec, .step_var = k.tiles ? k.step : -1, .step = TILE,
                                 .pairs = k.pairs };
    p = k.p;
    memcpy(out->stride[TENSOR_V], p->stride[TENSOR_V], sizeof out->stride[TENSOR_V]);
    for (int u = 0; u < 3; u++) {
        memcpy(out->stride[u], p->stride[u], sizeof out->stride[u]);
        struct transposition c = { 0 };
        if (u == TENSOR_B && weights(&k)) {
            take_weights(&k, &c, out->stride[u]);
            out->given = c.elements;
        } else if (u == TENSOR_A && p->pad.n) {
            out->copied += (double)p->padded;
            if (p->padded > NEAR_ELEMENTS) out->far += (double)p->padded;
        } else if (to_transpose(&k, u)) {
            int depth = u == TENSOR_C || whole ? 0 : block_depth(&k, u);
            if (k.side && depth > k.split) depth = k.split;
            if (whole && u != TENSOR_C) k.pack_depth[u] = -1;
            else if (u != TENSOR_C && k.marked[u]) depth = k.pack_depth[u], k.marked[u] = false;
            if (u != TENSOR_C) k.pack_depth[u] = depth ? depth : -1;
            plan_transposition(&c, p, u, k.vec, 0, p->size, out->stride[u]);
            if (!depth) out->moved += (double)p->elements[u];
            if (!depth && p->elements[u] > NEAR_ELEMENTS) out->far += (double)p->elements[u];
            if (u != TENSOR_C) k.half[u] = halves(&k, u) && depth;
        } else if (halves(&k, u) || (raised(&k, u) && !k.marked[u])) {
            k.half[u] = halves(&k, u) && (k.marked[u] || loaded(&k, u));
            if (!k.half[u]) out->copied += (double)p->elements[u];
            if (!k.half[u] && p->elements[u] > NEAR_ELEMENTS) out->far += (double)p->elements[u];
        }
        for (int v = 0; v < p->nvar; v++)
            k.stride[u][v] = out->stride[u][v] * (u != TENSOR_C && k.half[u] ? 2 : p->bytes);
        if (c.panel) out->stride[u][k.vec] = 1;          /* what a block touches: panels hold neighbours */
    }
    asm_begin(&k.s, waste, sizeof waste, isa != ISA_AVX2, k.pairs ? CARRY_BF16 : (enum carry_type)p->type);
    for (int i = 0; i < threads; i++) {
        double before = k.cycles;
        k.shape = (struct asm_shape){ 0 };
        if (i) shift(&k, var, second, 1, 0);
        emit(&k, 0, e[i], true);
        k.s.at = k.s.start;
        k.s.full = false;
        k.s.nfix = 0;
        if (k.cycles - before > out->cycles) out->cycles = k.cycles - before;
    }
    out->exact = k.exact;
    if (k.exact) out->copied -= (double)p->padded;
    if (k.exact && p->padded > NEAR_ELEMENTS) out->far -= (double)p->padded;
    for (int u = 0; u < 2; u++) out->packed[u] = k.pack_depth[u] >= 0 || (u == TENSOR_B && out->given > 0);
    out->moved += k.moved;
    out->copied += k.copied;
    out->packs = k.packs;
    out->asked = k.asked;
    out->rows = k.rows;
    out->vectors = k.vectors;
    out->threads = threads;
    asm_free(&k.s);
    return k.why;
}

const uint8_t *kernel_bytes(const struct kernel *g)
{
    return g->region;
}

void kernel_free(struct kernel *g)
{
    if (g->region) munmap(g->region, REGION);
    for (int t = 0; t < 4; t++) free(g->scratch[t]), free(g->second[t]);
    free(g->pack);
    free(g->fix);
    *g = (struct kernel){ 0 };
}
