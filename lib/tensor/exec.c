#include "tensor/exec.h"
#include "base/mem.h"
#include "base/message.h"
#include <stdlib.h>
#include <string.h>

/* A block of the device that two units write parts of: it leaves when it is full. */
struct edge { int operand; uint64_t block; size_t filled; char *bytes; };

struct exec {
    const struct kernels *kernels;
    struct team *team;
    struct tier *tier;
    size_t align;                                        /* of the tier */
    char *scratch;
    size_t scratch_bytes;
    char ***at;                                          /* [operand][extent] */
    struct extent *extent;
    size_t cap;                                          /* extents each of these holds */
    struct edge *edge;
    size_t nedge, capedge;
    char *edges;
    size_t edge_used, edge_bytes;
};

struct exec *exec_new(const struct kernels *k, struct team *team, struct tier *tier)
{
    struct exec *x = xcalloc(1, sizeof *x);
    *x = (struct exec){ .kernels = k, .team = team, .tier = tier, .align = tier ? tier_align(tier) : 1 };
    if (x->align > OP_ALIGN)
        die("the slow tier wants transfers in units of %zu bytes, %d at most are supported", x->align, OP_ALIGN);
    x->at = xcalloc(OP_OPERANDS, sizeof *x->at);
    return x;
}

void exec_free(struct exec *x)
{
    for (int i = 0; i < OP_OPERANDS; i++) free(x->at[i]);
    free(x->at);
    free(x->extent);
    free(x->edge);
    pages_free(x->scratch, x->scratch_bytes);
    pages_free(x->edges, x->edge_bytes);
    free(x);
}

uint64_t exec_scratch(const struct exec *x) { return x->scratch_bytes + x->edge_bytes; }

uint64_t exec_staging(const struct op *o, uint32_t slow, enum exec_mode mode)
{
    uint64_t sum = 0;
    for (int i = 0; i < o->nin + o->nout; i++) {
        if (!(slow >> i & 1) || mode == EXEC_DIRECT) continue;
        if (mode == EXEC_STAGED) sum += op_slot(o->bytes[i]);
        else sum += o->buffer[i] * (o->whole[i] || o->units == 1 ? 1 : 2);
    }
    return sum;
}

static void reserve(struct exec *x, const struct op *o, const struct place *p)
{
    size_t need = o->scratch * (size_t)team_size(x->team), edges = 0;
    if (need > x->scratch_bytes) {
        pages_free(x->scratch, x->scratch_bytes);
        x->scratch = pages(x->scratch_bytes = need);
    }
    if ((size_t)o->most > x->cap) {
        x->cap = (size_t)o->most;
        x->extent = xrealloc(x->extent, x->cap, sizeof *x->extent);
        for (int i = 0; i < OP_OPERANDS; i++) x->at[i] = xrealloc(x->at[i], x->cap, sizeof *x->at[i]);
    }
    for (int i = o->nin; i < o->nin + o->nout; i++)
        if (p[i].slow && !o->whole[i]) edges += ((size_t)o->units * (size_t)o->most + 1) * x->align;
    if (edges > x->edge_bytes) {
        pages_free(x->edges, x->edge_bytes);
        x->edges = pages(x->edge_bytes = edges);
    }
    x->nedge = x->edge_used = 0;
}

static uint64_t down(uint64_t n, uint64_t unit) { return n / unit * unit; }
static uint64_t up(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; }

/* Lays the extents of a unit out in a buffer: at[] points at their first bytes.  Returns how many there are. */
static int lay(struct exec *x, const struct op *o, int i, int unit, const struct place *p, char *buffer)
{
    int n = op_extents(o, i, unit, x->extent);
    for (int k = 0; k < n; k++) {
        const struct extent *e = &x->extent[k];
        x->at[i][k] = p->slow ? buffer + (p->offset + e->offset) % x->align : p->fast + e->offset;
        buffer += op_slot(e->bytes);
    }
    return n;
}

static void fetch(struct exec *x, const struct op *o, int i, int unit, const struct place *p, char *buffer,
                  struct transfer *t)
{
    int n = lay(x, o, i, unit, p, buffer);
    for (int k = 0; k < n; k++) {
        uint64_t at = p->offset + x->extent[k].offset, lo = down(at, x->align);
        tier_start(x->tier, t, false, x->at[i][k] - (at - lo), lo,
                   (size_t)(up(at + x->extent[k].bytes, x->align) - lo));
    }
}

/* bytes at `at`, all in one block of the device that others share */
static void send_edge(struct exec *x, int operand, uint64_t at, const char *from, size_t bytes, struct transfer *t)
{
    uint64_t block = down(at, x->align);
    size_t i = 0;
    while (i < x->nedge && !(x->edge[i].operand == operand && x->edge[i].block == block)) i++;
    if (i == x->nedge) {
        x->edge = grow(x->edge, x->nedge + 1, &x->capedge, sizeof *x->edge);
        x->edge[x->nedge++] = (struct edge){ operand, block, 0, x->edges + x->edge_used };
        memset(x->edges + x->edge_used, 0, x->align);
        x->edge_used += x->align;
    }
    memcpy(x->edge[i].bytes + (at - block), from, bytes);
    x->edge[i].filled += bytes;
    if (x->edge[i].filled < x->align) return;
    tier_start(x->tier, t, true, x->edge[i].bytes, block, x->align);
    x->edge[i] = x->edge[--x->nedge];
}

static void send(struct exec *x, const struct op *o, int i, int unit, const struct place *p, char *buffer,
                 struct transfer *t)
{
    int n = lay(x, o, i, unit, p, buffer);
    for (int k = 0; k < n; k++) {
        uint64_t at = p->offset + x->extent[k].offset, end = at + x->extent[k].bytes, lo = up(at, x->align),
                 hi = down(end, x->align);
        const char *from = x->at[i][k];
        if (lo >= hi) {                                  /* no whole block: one or two shared ones */
            uint64_t cut = lo < end ? lo : end;
            if (cut > at) send_edge(x, i, at, from, (size_t)(cut - at), t);
            if (end > cut) send_edge(x, i, cut, from + (cut - at), (size_t)(end - cut), t);
            continue;
        }
        if (lo > at) send_edge(x, i, at, from, (size_t)(lo - at), t);
        tier_start(x->tier, t, true, x->at[i][k] + (lo - at), lo, (size_t)(hi - lo));
        if (end > hi) send_edge(x, i, hi, from + (hi - at), (size_t)(end - hi), t);
    }
}

static void stream(struct exec *x, const struct op *o, const struct place *p, char *staging)
{
    struct transfer in[2] = { { 0 }, { 0 } }, out[2] = { { 0 }, { 0 } }, whole = { 0 };
    char *buffer[OP_OPERANDS][2] = { { 0 } };
    int n = o->nin + o->nout;
    for (int i = 0; i < n; i++) {
        if (!p[i].slow) continue;
        for (int b = 0; b < (o->whole[i] || o->units == 1 ? 1 : 2); b++, staging += o->buffer[i])
            buffer[i][b] = staging;
        if (!buffer[i][1]) buffer[i][1] = buffer[i][0];
        if (i < o->nin) fetch(x, o, i, 0, &p[i], buffer[i][0], o->whole[i] ? &whole : &in[0]);
    }
    tier_finish(x->tier, &whole);
    for (int u = 0; u < o->units; u++) {
        for (int i = 0; i < o->nin && u + 1 < o->units; i++)
            if (p[i].slow && !o->whole[i]) fetch(x, o, i, u + 1, &p[i], buffer[i][(u + 1) & 1], &in[(u + 1) & 1]);
        tier_finish(x->tier, &in[u & 1]);
        tier_finish(x->tier, &out[u & 1]);
        for (int i = 0; i < n; i++) lay(x, o, i, u, &p[i], buffer[i][u & 1]);
        op_run(o, x->kernels, x->team, u, (char *const *const *)x->at, x->scratch);
        for (int i = o->nin; i < n; i++)
            if (p[i].slow && !o->whole[i]) send(x, o, i, u, &p[i], buffer[i][u & 1], &out[u & 1]);
    }
    for (int i = o->nin; i < n; i++)
        if (p[i].slow && o->whole[i])
            tier_start(x->tier, &whole, true, buffer[i][0], p[i].offset, up(o->bytes[i], x->align));
    while (x->nedge) {                                   /* the last block of a tensor is padded */
        struct edge *e = &x->edge[--x->nedge];
        tier_start(x->tier, &whole, true, e->bytes, e->block, x->align);
    }
    tier_finish(x->tier, &whole);
    tier_finish(x->tier, &out[0]);
    tier_finish(x->tier, &out[1]);
}

void exec_run(struct exec *x, const struct op *o, const struct place *p, enum exec_mode mode, char *staging)
{
    int n = o->nin + o->nout;
    struct place near[OP_OPERANDS];
    bool slow = false;
    for (int i = 0; i < n; i++) slow |= p[i].slow;
    reserve(x, o, p);
    if (slow && mode == EXEC_STREAMED) {
        stream(x, o, p, staging);
        return;
    }
    if (slow && mode == EXEC_DIRECT) die("internal: a kernel with slow operands cannot run direct on this tier");
    struct transfer t = { 0 };
    for (int i = 0; i < n; i++) {
        near[i] = (struct place){ false, p[i].slow ? staging : p[i].fast, 0 };
        if (!p[i].slow) continue;
        if (i < o->nin) tier_start(x->tier, &t, false, staging, p[i].offset, up(o->bytes[i], x->align));
        staging += op_slot(o->bytes[i]);
    }
    if (slow) tier_finish(x->tier, &t);
    for (int u = 0; u < o->units; u++) {
        for (int i = 0; i < n; i++) lay(x, o, i, u, &near[i], NULL);
        op_run(o, x->kernels, x->team, u, (char *const *const *)x->at, x->scratch);
    }
    if (!slow) return;
    for (int i = o->nin; i < n; i++)
        if (p[i].slow) tier_start(x->tier, &t, true, near[i].fast, p[i].offset, up(o->bytes[i], x->align));
    tier_finish(x->tier, &t);
}
