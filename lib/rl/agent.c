#include "rl/agent.h"
#include "rl/gradient.h"
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDEST = 1 << 16 };
static const char *const heads[] = { "qnet", "actor" };

/* values from the outputs of a dueling head, n x (actions + 1) to n x actions: value + advantage - mean advantage; not
 * dueling: copied */
static void agent_duel(const float *y, int n, int actions, bool dueling, float *q)
{
    for (int i = 0; i < n; i++, q += actions, y += actions + dueling) {
        float shift = 0;
        for (int a = 0; a < actions && dueling; a++) shift += y[a];
        if (dueling) shift = y[actions] - shift / (float)actions;
        for (int a = 0; a < actions; a++) q[a] = y[a] + shift;
    }
}

void agent_through_duel(float *d, long n, int a, bool dueling)
{
    for (long i = dueling ? n : 0; i-- > 0; ) {          /* row by row, from the end: the rows grow */
        float *from = d + i * a, *to = d + i * (a + 1), sum = 0;
        for (int k = 0; k < a; k++) sum += from[k];
        memmove(to, from, (size_t)a * sizeof *d);
        for (int k = 0; k < a; k++) to[k] -= sum / (float)a;
        to[a] = sum;
    }
}

void agent_values(const struct agent *g, const float *x, const uint32_t *mask, int n, float *q)
{
    const float *y = net_forward(g->net, x, n);
    if (g->kind != AGENT_SCORES) {
        agent_duel(y, n, g->actions, g->dueling, q);
        return;
    }
    for (int i = 0; i < n; i++, q += g->actions, y += g->actions + 1) {
        policy_softmax(y, mask[i], g->actions, NULL, q);
        for (int a = 0; a < g->actions; a++) q[a] = y[g->actions] + (float)AGENT_HEAT * q[a];
    }
}

/* ---- text ---- */

static void write_weights(sexpw *w, const float *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i % 16 == 0) sexpw_line(w);
        char b[32];
        snprintf(b, sizeof b, "%.9g", (double)v[i]);     /* nine digits: every float reads back equal */
        sexpw_cstr(w, b);
    }
}

void agent_write(const struct agent *g, sexpw *w)
{
    sexpw_begin(w, heads[g->kind]);
    if (g->kind != AGENT_SCORES) sexpw_pair_str(w, "dueling", str_of(g->dueling ? "true" : "false"));
    sexpw_begin(w, "widths");
    for (int l = 0; l <= g->net->layers; l++) sexpw_int(w, g->net->width[l]);
    sexpw_end(w);
    sexpw_begin(w, "weights");
    write_weights(w, g->net->weight, g->net->size);
    sexpw_end(w);
    sexpw_end(w);
}

bool agent_is(const struct sexp *s, snode at)
{
    return sexp_head(s, at, heads[AGENT_VALUES]) || sexp_head(s, at, heads[AGENT_SCORES]);
}

static void read_weights(const struct sexp *s, snode c, float *to, size_t n)
{
    for (; n-- > 0; c = sexp_after(s, c)) {
        double v = sexp_num(s, c);
        if (!(fabs(v) <= FLT_MAX)) sexp_die(s, c, "a weight that is not finite");
        *to++ = (float)v;
    }
}

struct agent agent_read(const struct sexp *s, snode at, int batch)
{
    struct agent g = { 0 };
    g.kind = sexp_head(s, at, heads[AGENT_SCORES]) ? AGENT_SCORES : AGENT_VALUES;
    snode widths = sexp_get(s, at, "widths"), weights = sexp_get(s, at, "weights");
    if (!sexp_head(s, at, heads[g.kind]) || widths == SEXP_NONE || weights == SEXP_NONE)
        sexp_die(s, at, "not a (qnet|actor ... (widths N ...) (weights W ...))");
    int width[NET_LAYERS + 1], n = 0;
    for (snode c = sexp_nth(s, widths, 1); c != SEXP_NONE; c = sexp_after(s, c)) {
        int64_t v = sexp_int(s, c);
        if (n > NET_LAYERS || v < 1 || v > WIDEST) sexp_die(s, c, "not a layer's width, or too many layers");
        width[n++] = (int)v;
    }
    g.dueling = g.kind == AGENT_SCORES || str_is(sexp_str_of(s, at, "dueling"), "true");
    if (n < 2 || width[n - 1] <= g.dueling) sexp_die(s, widths, "too few layers or outputs");
    size_t size = 0;
    for (int l = 1; l < n; l++) size += (size_t)width[l] * (size_t)(width[l - 1] + 1);
    if (sexp_count(s, weights) != size + 1)              /* before any room is made for them */
        sexp_die(s, weights, "%zu weights, the widths need %zu", sexp_count(s, weights) - 1, size);
    openblas_set_num_threads(1);
    g.inputs = width[0];
    g.actions = width[n - 1] - g.dueling;
    g.net = net_new(width, n, batch, 0);
    read_weights(s, sexp_nth(s, weights, 1), g.net->weight, g.net->size);
    return g;
}

void agent_free(struct agent *g)
{
    net_free(g->net);
    *g = (struct agent){ 0 };
}

static bool widths_differ(const struct net *a, const struct net *b)
{
    return a->layers != b->layers || memcmp(a->width, b->width, ((size_t)a->layers + 1) * sizeof *a->width);
}

const char *agent_differs(const struct agent *a, const struct agent *b)
{
    if (a->kind != b->kind || a->dueling != b->dueling) return "another kind";
    return widths_differ(a->net, b->net) ? "other layers" : NULL;
}

void agent_copy(struct agent *to, const struct agent *from)
{
    net_copy(to->net, from->net);
}
