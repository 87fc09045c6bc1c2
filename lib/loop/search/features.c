#include "loop/search/features.h"
#include "loop/code/machine.h"
#include <math.h>
#include <string.h>

const char *const nest_feature[NEST_FEATURES] = {
    "problem_flops", "problem_a", "problem_b", "problem_c", "problem_reuse", "problem_type", "problem_windows",
    "problem_reductions", "problem_variables", "problem_row_a", "problem_row_b", "problem_row_c", "machine_lanes",
    "machine_l1", "machine_l2",
    "pace", "whole", "traffic_1", "traffic_2", "traffic_3", "packing", "rows", "vectors", "tile", "lanes_used",
    "rows_used", "both", "vector_reduced", "vector_a", "moved", "copied", "far", "packs", "packed_a", "packed_b",
    "steps", "passes", "block_a", "block_b", "stride_vector", "crowded_vector", "stride_other", "crowded_other",
    "crowded_c", "outer_a", "outer_b", "inner_a", "inner_b", "outer_loops" };

static double octaves(double x) { return log2(1 + fmax(x, 0)); }
static double crowded(double bytes) { return bytes >= 4096 && fmod(bytes, 4096) == 0; }

/* where the register tile begins: the depth, and the extents there */
static int tile_depth(const struct problem *p, const struct nest *t, const struct kernel_plan *q, int lanes, int32_t *e)
{
    int32_t inner[NEST_LOOPS];
    nest_inner(t->loop, t->n, inner);
    for (int v = 0; v < NEST_VARS; v++) e[v] = v < p->nvar ? p->size[v] : 1;
    for (int d = 0; d < t->n; d++) {
        double n = 1;
        for (int v = 0; v < p->nvar; v++)
            if (!p->reduced[v]) n *= v == q->vector_var ? (e[v] + lanes - 1) / lanes : e[v];
        if (n <= q->rows * q->vectors) return d;
        e[t->loop[d].var] = inner[d];
    }
    return t->n;
}

static double used(int32_t size, double block)           /* share of whole blocks that is filled */
{
    return block < 1 ? 1 : size / (ceil(size / block) * block);
}

static void of_problem(double *f, const struct problem *p, int lanes)
{
    const struct loop_machine *m = machine_here();
    double flops = problem_flops(p), a = (double)p->elements[TENSOR_A], all = 0, plain = 1, reductions = 0;
    for (int u = 0; u < 3; u++) all += (double)p->elements[u];
    for (int v = 0; v < p->nvar; v++) {
        if (p->stride[TENSOR_A][v]) plain *= p->size[v];
        reductions += p->reduced[v] && p->size[v] > 1;
    }
    *f++ = log2(flops);
    for (int u = 0; u < 3; u++) *f++ = octaves((double)p->elements[u]);
    *f++ = log2(flops / all);
    *f++ = p->type;
    *f++ = plain > a;
    *f++ = reductions;
    *f++ = p->nvar;
    for (int u = 0; u < 3; u++) *f++ = octaves((double)p->row[u]);
    *f++ = lanes;
    for (int i = 0; i < 2; i++) *f++ = log2(m->cache[i].bytes);
}

const char *nest_features(struct seen_nest *s, const struct problem *p, const struct nest *t, enum isa isa,
                          bool prepared)
{
    struct model_terms m;
    const char *why = model_terms(&m, p, t, isa, prepared);
    s->seconds = m.seconds;
    if (why) return why;
    const struct kernel_plan *q = &m.plan;
    int lanes = problem_lanes(p, isa), vec = q->vector_var, e0 = 0;
    double *f = s->f, least = problem_flops(p) / (4.0 * lanes), steps = 1, passes = 1, worst = 1;
    int32_t e[NEST_VARS];
    of_problem(f, p, lanes);
    f += NEST_PROBLEM_FEATURES;
    int depth = tile_depth(p, t, q, lanes, e), red = -1;
    bool va = p->stride[TENSOR_A][vec] != 0, vb = p->stride[TENSOR_B][vec] != 0;
    int vt = va && !vb ? TENSOR_A : TENSOR_B, xt = TENSOR_A + TENSOR_B - vt;
    double block[2] = { 1, 1 };
    for (int v = 0; v < p->nvar; v++) {
        if (p->reduced[v]) steps *= e[v];
        else if (v != vec) worst *= used(p->size[v], e[v]);
        for (int u = 0; u < 2; u++)
            if (p->stride[u][v]) block[u] *= e[v];
    }
    for (int d = 0; d < t->n; d++) {
        struct loop l = t->loop[d];
        if (d < depth && p->reduced[l.var]) passes *= l.size + (l.tail > 0);
        if (d >= depth && p->reduced[l.var] && e[l.var] > 1) red = l.var;
        e0 += d < depth && l.size + (l.tail > 0) > 1;
    }
    double sv = red < 0 ? 0 : (double)q->stride[vt][red] * p->bytes, sx = 0, sc = 0;
    for (int v = 0; v < p->nvar; v++) {
        if (p->reduced[v] || v == vec || e[v] < 2) continue;
        sx = fmax(sx, (double)q->stride[xt][v] * p->bytes);
        sc = fmax(sc, (double)q->stride[TENSOR_C][v] * p->bytes);
    }
    int first = -1, last = -1;
    for (int d = 0; d < depth; d++)
        if (t->loop[d].size + (t->loop[d].tail > 0) > 1) {
            if (first < 0) first = t->loop[d].var;
            last = t->loop[d].var;
        }
    *f++ = least / m.plan.cycles;
    *f++ = log2(least / m.cycles);
    for (int i = 0; i < MODEL_LEVELS; i++) *f++ = octaves(m.traffic[i] / least);
    *f++ = octaves(m.packing / least);
    *f++ = q->rows;
    *f++ = q->vectors;
    *f++ = q->rows * q->vectors / (double)isa_accumulators(isa);
    *f++ = used(p->size[vec], (double)q->vectors * lanes);
    *f++ = worst;
    *f++ = va && vb;
    *f++ = p->reduced[vec];
    *f++ = vt == TENSOR_A;
    *f++ = octaves(q->moved * 100 / least);
    *f++ = octaves(q->copied * 100 / least);
    *f++ = octaves(q->far * 100 / least);
    *f++ = octaves(q->packs);
    for (int u = 0; u < 2; u++) *f++ = q->packed[u];
    *f++ = log2(steps);
    *f++ = log2(passes);
    for (int u = 0; u < 2; u++) *f++ = log2(block[u]);
    *f++ = octaves(sv);
    *f++ = crowded(sv);
    *f++ = octaves(sx);
    *f++ = crowded(sx);
    *f++ = crowded(sc);
    for (int u = 0; u < 2; u++) *f++ = first >= 0 && p->stride[u][first] != 0;
    for (int u = 0; u < 2; u++) *f++ = last >= 0 && p->stride[u][last] != 0;
    *f++ = e0;
    return NULL;
}
