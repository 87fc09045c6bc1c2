#include "place/wanted.h"
#include "base/compare.h"
#include "base/message.h"
#include "tensor/exec.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FULL_SLOTS = 8 };                                 /* 2^8 combinations of a kernel are still all timed */

static void add(struct wanted *w, struct want x)
{
    w->want = grow(w->want, w->n + 1, &w->cap, sizeof *w->want);
    w->want[w->n++] = x;
}

static void add_modes(struct wanted *w, int kernel, uint32_t slow)
{
    if (!slow) add(w, (struct want){ kernel, 0, EXEC_DIRECT, 0, false, NULL });
    for (int mode = EXEC_STREAMED; slow && mode <= EXEC_STAGED; mode++)
        add(w, (struct want){ kernel, slow, mode, 0, false, NULL });
}

/* copies of 64 KiB, twice that, ... and of the largest tensor that can move */
static void add_copies(struct wanted *w, const struct graph *g)
{
    uint64_t most = 0;
    for (int i = 0; i < g->ntensor; i++)
        if (graph_movable(g, i) && g->tensor[i].bytes > most) most = g->tensor[i].bytes;
    for (uint64_t n = GRAPH_PIN_BYTES; most; n = n * 2 < most ? n * 2 : most) {
        for (int to_fast = 0; to_fast < 2; to_fast++) add(w, (struct want){ WANT_COPY, 0, 0, n, to_fast, NULL });
        if (n >= most) break;
    }
}

/* of all kernels; where all is measured, of each operator as well */
static void add_interference(struct wanted *w, const struct graph *g, bool full)
{
    struct intern ops = { 0 };
    for (int to_fast = 0; to_fast < 2; to_fast++) add(w, (struct want){ WANT_INTERFERENCE, 0, 0, 0, to_fast, NULL });
    for (int n = 0; n < g->nnode && full; n++) {
        size_t before = ops.n;
        intern(&ops, str_of(g->node[n].op));
        for (int to_fast = 0; to_fast < 2 && ops.n > before; to_fast++)
            add(w, (struct want){ WANT_INTERFERENCE, 0, 0, 0, to_fast, g->node[n].op });
    }
    intern_free(&ops);
}

/* kernels with one parameter in slow memory, and with it the value that replaces it */
static void add_offloaded(struct wanted *w, const struct graph *g)
{
    for (int n = 0; n < g->nnode; n++) {
        const struct node *d = &g->node[n];
        for (int i = 0; i < d->nin + d->nout && i < 32; i++) {
            uint32_t slow = node_operands(g, n, graph_home(g, d->operand[i]));
            bool there = !graph_offloadable(g, d->operand[i]);
            for (size_t k = w->n; k-- > 0 && !there;) there = w->want[k].kernel == d->kernel && w->want[k].slow == slow;
            if (!there) add_modes(w, d->kernel, slow);
        }
    }
}

void wanted_all(struct wanted *w, const struct graph *g, bool full, bool offload)
{
    add_copies(w, g);
    for (int k = 0; k < g->nkernel; k++) {
        uint32_t movable = g->kernel[k].movable;
        add_modes(w, k, 0);
        if (full && __builtin_popcount(movable) <= FULL_SLOTS) {
            for (uint32_t set = (0u - movable) & movable; set; set = (set - movable) & movable) add_modes(w, k, set);
        } else {
            for (int i = 0; i < 32; i++)
                if (kernel_movable(g, k, i)) add_modes(w, k, kernel_movable(g, k, i));
        }
    }
    if (offload) add_offloaded(w, g);
    add_interference(w, g, full);
}

static uint32_t slow_of(const struct graph *g, const struct plan *p, int node)
{
    uint32_t slow = 0;
    int nin = g->node[node].nin, all = nin + g->node[node].nout;
    for (int i = 0; i < all && i < 32; i++)
        if ((i < nin ? p->node[node].in_tiers[i] : p->node[node].out_tiers[i - nin]) == 'P') slow |= 1u << i;
    return slow;
}

static int by_identity(const void *a, const void *b)
{
    const struct want *x = a, *y = b;
    return ORDER(x->kernel, y->kernel) ?: ORDER(x->slow, y->slow) ?: ORDER(x->mode, y->mode) ?:
           ORDER(x->bytes, y->bytes) ?: ORDER(x->to_fast, y->to_fast);
}

void wanted_by_plans(struct wanted *w, const struct graph *g, const char *const *plans, int n)
{
    for (int i = 0; i < n; i++) {
        struct plan *p = plan_read(plans[i], g);
        for (int k = 0; k < g->nnode; k++)
            add(w, (struct want){ g->node[k].kernel, slow_of(g, p, k), p->node[k].mode, 0, false, NULL });
        plan_free(p);
    }
    qsort(w->want, w->n, sizeof *w->want, by_identity);
    size_t kept = 0;
    for (size_t i = 0; i < w->n; i++)
        if (!kept || by_identity(&w->want[kept - 1], &w->want[i])) w->want[kept++] = w->want[i];
    w->n = kept;
}

static void must_be(csv *t, const char *column, const char *value)
{
    int col = csv_need(t, column);
    str s = csv_str(t, col);
    if (!str_is(s, value))
        die_at(csv_file(t), csv_line(t), "measured with %s '%.*s', not '%s': another setting needs another file",
               column, (int)s.n, s.s, value);
}

void wanted_drop(struct wanted *w, const struct graph *g, const char *path, int threads, const char *tier,
                 const char *machine)
{
    char number[20];
    struct intern have = { 0 };
    struct buf b = { 0 };
    struct arena a = { 0 };
    csv *t = csv_open(path);
    int key = csv_need(t, "key"), in = csv_need(t, "in_tiers"), out = csv_need(t, "out_tiers"),
        mode = csv_need(t, "mode");
    snprintf(number, sizeof number, "%d", threads);
    while (csv_next(t)) {
        must_be(t, "threads", number);
        must_be(t, "tier", tier);
        must_be(t, "machine", machine);
        b.n = 0;
        buf_format(&b, "%s %s %s %s", csv_cstr(t, key, &a), csv_cstr(t, in, &a), csv_cstr(t, out, &a),
                   csv_cstr(t, mode, &a));
        intern(&have, (str){ b.s, b.n });
        arena_reset(&a);
    }
    csv_close(t);
    size_t kept = 0;
    for (size_t i = 0; i < w->n; i++) {
        const struct want *x = &w->want[i];
        b.n = 0;
        if (x->kernel >= 0) {
            buf_format(&b, "%s ", g->kernel[x->kernel].key);
            profile_tiers(&b, g, x->kernel, x->slow, false);
            buf_char(&b, ' ');
            profile_tiers(&b, g, x->kernel, x->slow, true);
        } else {
            if (x->kernel == WANT_COPY) buf_format(&b, "Move %llu", (unsigned long long)x->bytes);
            else buf_format(&b, "%s%s%s", PROFILE_INTERFERENCE, x->op ? " " : "", x->op ? x->op : "");
            buf_format(&b, x->to_fast ? " P D" : " D P");
        }
        buf_format(&b, " %s", profile_modes[x->kernel >= 0 ? x->mode : 0]);
        if (intern_find(&have, (str){ b.s, b.n }) < 0) w->want[kept++] = *x;
    }
    w->n = kept;
    intern_free(&have);
    arena_free(&a);
    free(b.s);
}
