/* cost.c - see cost.h */
#include "place/cost.h"
#include "place/profile.h"
#include <stdlib.h>
#include <string.h>

static const double OVERLAP = 0.15;                      /* of the shorter of compute and memory, not hidden */
static const struct cost_model machines[] = {
    { "optane", 1.9e12, 110e9, 78e9, 30e9, 5e9, 29e9, 12e9, 3e-6 },
    { "cxl", 1.9e12, 110e9, 78e9, 55e9, 39e9, 50e9, 36e9, 3e-6 },
    { "gpu", 11e12, 450e9, 450e9, 10e9, 10e9, 12e9, 12e9, 5e-6 },   /* copies as the study has them */
    { "disk", 0.25e12, 42e9, 44e9, 3.5e9, 6e9, 3.5e9, 6e9, 3e-6 },
};

const struct cost_model *machine_find(const char *name)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (strcmp(machines[i].name, name) == 0) return &machines[i];
    return NULL;
}

const char *machine_names(void)
{
    return "optane, cxl, gpu, disk";
}

double machine_overlap(const struct cost_model *m, double compute, double memory)
{
    return compute > memory ? compute + OVERLAP * memory + m->start : memory + OVERLAP * compute + m->start;
}

double machine_time(const struct cost_model *m, const struct graph *g, int node, uint32_t slow)
{
    const struct node *n = &g->node[node];
    double compute = n->flops / m->flops, memory = 0;
    for (int i = 0; i < n->nin + n->nout; i++) {
        bool s = i < 32 && slow >> i & 1;
        double rate = i < n->nin ? (s ? m->slow_read : m->fast_read) : s ? m->slow_write : m->fast_write;
        memory += (double)g->tensor[n->operand[i]].bytes / rate;
    }
    return machine_overlap(m, compute, memory);
}

/* ---- tables ---- */

struct timing { uint64_t slow; double seconds; size_t next; };   /* next: of the same kernel, from 1; 0 ends */
struct cost_table {
    struct intern keys;                                  /* op and element counts */
    size_t *first, capfirst;
    struct timing *timing;
    size_t n, cap;
};

/* the number of elements; -1 when this is no shape (the authors' table has a few rows with symbols in it) */
static double product(str s)
{
    double all = 1, one = 0;
    bool digits = false;
    for (size_t i = 0; i <= s.n; i++) {
        if (i < s.n && s.s[i] >= '0' && s.s[i] <= '9') {
            one = one * 10 + (s.s[i] - '0');
            digits = true;
        } else if (digits && (i == s.n || s.s[i] == 'x')) {
            all *= one;
            one = 0;
            digits = false;
        } else return -1;
    }
    return all;
}

static bool add_shapes(str s, struct buf *key)
{
    for (size_t i = 0; i <= s.n; ) {
        size_t end = i;
        while (end < s.n && s.s[end] != ';') end++;
        double elements = s.n > 0 ? product((str){ s.s + i, end - i }) : 0;
        if (elements < 0) return false;
        if (s.n > 0) buf_format(key, ";%.0f", elements);
        i = end + 1;
    }
    buf_char(key, '>');
    return true;
}

struct cost_table *cost_table_read(const char *path)
{
    struct cost_table *c = xcalloc(1, sizeof *c);
    struct buf key = { 0 };
    csv *t = csv_open(path);
    int op = csv_need(t, "op"), ins = csv_need(t, "inshapes"), outs = csv_need(t, "outshapes");
    int in = csv_need(t, "in_tiers"), out = csv_need(t, "out_tiers"), usec = csv_need(t, "usec");
    while (csv_next(t)) {
        key.n = 0;
        buf_str(&key, csv_str(t, op));
        if (!add_shapes(csv_str(t, ins), &key) || !add_shapes(csv_str(t, outs), &key)) continue;
        double us = csv_num(t, usec);
        if (!(us >= 0 && us < 1e12)) csv_die(t, usec, "a time in microseconds");
        size_t known = c->keys.n, k = intern(&c->keys, (str){ key.s, key.n });
        c->first = grow(c->first, k + 1, &c->capfirst, sizeof *c->first);
        if (k == known) c->first[k] = 0;
        c->timing = grow(c->timing, c->n + 1, &c->cap, sizeof *c->timing);
        c->timing[c->n++] =
            (struct timing){ profile_slow(t, in, out), us * 1e-6, c->first[k] };
        c->first[k] = c->n;
    }
    csv_close(t);
    free(key.s);
    return c;
}

void cost_table_free(struct cost_table *c)
{
    if (!c) return;
    intern_free(&c->keys);
    free(c->first);
    free(c->timing);
    free(c);
}

/* the inputs of a matrix product stand in another order there */
static long find(const struct cost_table *c, const struct graph *g, const struct node *n, const char *op,
                 const int *order)
{
    struct buf key = { 0 };
    buf_str(&key, str_of(op));
    for (int i = 0; i < n->nin + n->nout; i++) {
        int o = order && i < n->nin ? order[i] : i;
        if (i == n->nin) buf_char(&key, '>');
        buf_format(&key, ";%llu", (unsigned long long)g->tensor[n->operand[o]].bytes / 4);
    }
    buf_char(&key, '>');
    long k = intern_find(&c->keys, (str){ key.s, key.n });
    free(key.s);
    return k;
}

enum cost_match cost_table_time(const struct cost_table *c, const struct graph *g, int node, uint32_t slow,
                                double *seconds)
{
    static const int swapped[] = { 1, 0, 2 };
    const struct node *n = &g->node[node];
    bool product_of_two = strcmp(n->op, "Dot") == 0 || strcmp(n->op, "MatmulBias") == 0;
    const int *order = NULL;
    long k = find(c, g, n, n->op, NULL);
    if (k < 0 && product_of_two) k = find(c, g, n, n->op, order = swapped);
    if (k < 0 && strcmp(n->op, "Dot") == 0) k = find(c, g, n, "MatmulBias", order = NULL);
    if (k < 0 && strcmp(n->op, "Dot") == 0) k = find(c, g, n, "MatmulBias", order = swapped);
    if (k < 0) return COST_NONE;
    if (order) slow = (slow & ~(uint32_t)3) | (slow >> 1 & 1) | (slow & 1) << 1;
    int best = 65;
    for (size_t i = c->first[k]; i > 0; i = c->timing[i - 1].next) {
        const struct timing *t = &c->timing[i - 1];
        int differ = __builtin_popcountll(t->slow ^ slow);
        if (differ >= best) continue;
        best = differ;
        *seconds = t->seconds;
    }
    return best == 0 ? COST_EXACT : COST_NEAREST;
}
