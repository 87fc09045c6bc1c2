#include "loop/search/moves.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_TILE = 7 };
const int moves_all[MOVES] = {
    ACT_UP, ACT_DOWN, ACT_SWAP_UP, ACT_SWAP_DOWN, ACT_VECTORIZE, MOVE_OUTERMOST, MOVE_INNERMOST,
    MOVE_TILE + 2, MOVE_TILE + 3, MOVE_TILE + 4, MOVE_TILE + 6, MOVE_TILE + 7, MOVE_TILE + 8, MOVE_TILE + 12,
    MOVE_TILE + 14, MOVE_TILE + 16, MOVE_TILE + 24, MOVE_TILE + 28, MOVE_TILE + 32, MOVE_TILE + 48, MOVE_TILE + 64,
    MOVE_BLOCK + 16, MOVE_BLOCK + 32, MOVE_BLOCK + 64, MOVE_BLOCK + 128, MOVE_BLOCK + 256, MOVE_BLOCK + 512
};

const char *move_name(int move, char b[40])
{
    if (move == MOVE_OUTERMOST) return "outermost";
    if (move == MOVE_INNERMOST) return "innermost";
    if (move < MOVE_TILE) return act_name(move, b);
    snprintf(b, 40, "%s_%d", move < MOVE_BLOCK ? "tile" : "block", move & (MOVE_TILE - 1));
    return b;
}

int move_of(str name)
{
    char b[40];
    for (int i = 0; i < MOVES; i++)
        if (str_is(name, move_name(moves_all[i], b))) return moves_all[i];
    return act_of(name);
}

/* ---- to actions ---- */

static bool single(struct loop l)
{
    return l.size == 1 && !l.tail;
}

static int loops_of(const struct nest *t)                /* without those of one iteration, which are innermost */
{
    int n = t->n;
    while (n > 1 && single(t->loop[n - 1])) n--;
    return n;
}

static bool act(const struct problem *p, struct nest *t, int action, struct moved *m)
{
    if (m->n == MOVE_ACTIONS || nest_act(p, t, action, RULE_NONE)) return false;
    m->action[m->n++] = action;
    return true;
}

static bool go(const struct problem *p, struct nest *t, int to, struct moved *m)
{
    bool good = true;
    while (good && t->cursor != to) good = act(p, t, t->cursor > to ? ACT_UP : ACT_DOWN, m);
    return good;
}

static bool carry(const struct problem *p, struct nest *t, int to, struct moved *m)
{
    bool good = true;
    while (good && t->cursor != to) good = act(p, t, t->cursor > to ? ACT_SWAP_UP : ACT_SWAP_DOWN, m);
    return good;
}

void move_begin(const struct problem *p, struct nest *t, struct moved *m)
{
    m->n = 0;
    for (int last = t->n, i = t->n; i-- > 0; )
        if (single(t->loop[i])) {
            go(p, t, i, m);
            carry(p, t, --last, m);
        }
    go(p, t, 0, m);
}

static bool do_it(const struct problem *p, struct nest *t, int move, struct moved *m)
{
    int c = t->cursor, by = move & (MOVE_TILE - 1), last = loops_of(t) - 1;
    if (move == MOVE_OUTERMOST) return carry(p, t, 0, m);
    if (move == MOVE_INNERMOST) return carry(p, t, last, m) && go(p, t, c, m);
    if (move < MOVE_TILE) return act(p, t, move, m) && t->cursor <= last;
    if (t->loop[c].size <= by || (move < MOVE_BLOCK && p->reduced[t->loop[c].var])) return false;
    if (!act(p, t, ACT_SPLIT_ANY + by, m)) return false;
    if (move >= MOVE_BLOCK) return carry(p, t, 0, m);
    return act(p, t, ACT_DOWN, m) && carry(p, t, last + 1, m) && go(p, t, c, m);
}

bool move_do(const struct problem *p, struct nest *t, int move, struct moved *m)
{
    struct nest before = *t;
    struct moved ignored;
    if (!m) m = &ignored;
    m->n = 0;
    bool swap = move == ACT_SWAP_UP || move == ACT_SWAP_DOWN;
    if (do_it(p, t, move, m) && nest_effect(&before, t) && !(swap && nest_same(&before, t))) return true;
    *t = before;
    return false;
}

/* ---- what is seen ---- */

static float logarithm(double x, double scale)
{
    return (float)(log2(1 + x) / scale);
}

struct terms moves_terms(const struct problem *p, const struct nest *t, enum isa isa, bool prepared)
{
    struct model_terms m;
    struct terms r = { .seconds = INFINITY, .vector_var = -1 };
    const char *why = model_terms(&m, p, t, isa, prepared);
    double lanes = problem_lanes(p, isa), least = problem_flops(p) / (4 * lanes);
    float *f = r.f;
    *f++ = !why;
    for (int u = 0; u < 3; u++) *f++ = logarithm((double)p->elements[u], 24);
    *f++ = (float)(log2(least) / 32);
    if (why) return r;
    r.seconds = m.seconds;
    r.vector_var = (int8_t)m.plan.vector_var;
    *f++ = (float)fmin(least / m.plan.cycles, 1);
    *f++ = (float)(least / m.cycles);
    *f++ = (float)(log2(least / m.cycles) / 4);
    for (int i = 0; i < MODEL_LEVELS; i++) *f++ = (float)fmin(log2(1 + m.traffic[i] / least), 4);
    *f++ = (float)fmin(log2(1 + m.packing / least), 4);
    *f++ = (float)m.plan.rows / 16;
    *f++ = (float)m.plan.vectors / 4;
    *f++ = (float)(m.plan.rows * m.plan.vectors) / (float)isa_accumulators(isa);
    return r;
}

void moves_seen(const struct problem *p, const struct nest *t, enum isa isa, const struct terms *k, float f[SEEN_ALL])
{
    int32_t inner[NEST_LOOPS], e[NEST_LOOPS + 1][NEST_VARS];
    int n = loops_of(t), lanes = problem_lanes(p, isa), accumulators = isa_accumulators(isa);
    double bytes[NEST_LOOPS + 1][3], registers[NEST_LOOPS + 1];
    nest_inner(t->loop, t->n, inner);
    memset(f, 0, sizeof *f * SEEN_ALL);
    for (int v = 0; v < NEST_VARS; v++) e[n][v] = 1;
    for (int i = n; i >= 0; i--) {                       /* what is inside of loop i, and its extent */
        if (i < n) {
            memcpy(e[i], e[i + 1], sizeof *e);
            e[i][t->loop[i].var] = inner[i] * t->loop[i].size + t->loop[i].tail;
        }
        registers[i] = 1;
        for (int u = 0; u < 3; u++) bytes[i][u] = p->elements[u] ? 4 : 0;
        for (int v = 0; v < p->nvar; v++) {
            for (int u = 0; u < 3; u++)
                if (p->stride[u][v]) bytes[i][u] *= e[i][v];
            if (!p->reduced[v]) registers[i] *= v == k->vector_var ? (e[i][v] + lanes - 1) / lanes : e[i][v];
        }
    }
    for (int s = 0; s < SEEN_LOOPS; s++, f += SEEN_SLOT) {
        int i = t->cursor + s - SEEN_CURSOR;
        if (i < 0 || i >= n) continue;
        struct loop l = t->loop[i];
        f[0] = 1;
        f[1] = log2f((float)l.size) / 8;
        f[2] = (float)l.tail / (float)inner[i];
        f[3] = log2f((float)inner[i]) / 8;
        for (int u = 0; u < 3; u++) {
            f[4 + u] = p->stride[u][l.var] != 0;
            f[7 + u] = p->stride[u][l.var] == 1;
            f[10 + u] = logarithm((double)(p->stride[u][l.var] * inner[i]), 16);
            f[13 + u] = logarithm(bytes[i + 1][u], 24);
        }
        f[16] = logarithm(bytes[i + 1][0] + bytes[i + 1][1] + bytes[i + 1][2], 24);
        f[17] = l.var == k->vector_var;
        f[18] = (l.marks & MARK_VECTORIZE) != 0;
        f[19] = (float)fmin(log2(registers[i]) / 8, 2);
        f[20] = (float)fmin(registers[i + 1] / accumulators, 2);
        f[21] = registers[i] > accumulators && registers[i + 1] <= accumulators;     /* here the register tile ends */
        f[22] = l.var == t->loop[t->cursor].var;
        f[23] = (float)(t->n - n) / 8;
    }
    for (int i = 0; i < SEEN_TILES; i++) {
        int size = t->loop[t->cursor].size, by = moves_all[FIRST_TILE + i] & (MOVE_TILE - 1);
        *f++ = size > by ? (float)size / (float)((size + by - 1) / by * by) : 0;
    }
    memcpy(f, k->f, sizeof k->f);
}
