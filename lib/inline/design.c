/* design.c - see design.h */
#include "inline/design.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/message.h"
#include "base/rng.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct design_call *find_or_add(struct design *d, str callee, str chain)
{
    struct buf b = { 0 };
    live_base_key(&b, callee, chain);
    size_t before = d->key.n, k = intern(&d->key, (str){ b.s, b.n });
    free(b.s);
    d->call = grow(d->call, d->key.n, &d->cap, sizeof *d->call);
    if (k == before) d->call[d->n++] = (struct design_call){ .callee = { NULL, 0 } };
    return &d->call[k];
}

/* A row of the call itself names it; a copy's row may come first or alone, where the caller is inlined everywhere. */
void design_read(struct design *d, csv *t)
{
    int callee = csv_need(t, "callee"), chain = csv_need(t, "chain"), heat = csv_need(t, "heat"),
        inlined = csv_need(t, "inlined"), legal = csv_need(t, "legal"), level = csv_need(t, "level");
    while (csv_next(t)) {
        str name = csv_str(t, callee), where = csv_str(t, chain);
        if (str_is(csv_str(t, legal), "no") || !live_stable(where)) continue;
        if (live_stage(where).n) csv_die(t, chain, "a call of a whole-program build, without a stage");
        struct design_call *c = find_or_add(d, name, where);
        if (csv_int(t, level) == 0) {
            if (live_recursive(name, where)) continue;
            c->callee = (str){ arena_copy(&d->text, name.s, name.n), name.n };
            c->chain = (str){ arena_copy(&d->text, where.s, where.n), where.n };
            c->heat = csv_num_or(t, heat, 0);
        }
        c->by_default = c->by_default || str_is(csv_str(t, inlined), "yes");
    }
    size_t n = 0;
    for (size_t k = 0; k < d->n; k++) if (d->call[k].chain.n) d->call[n++] = d->call[k];
    d->n = n;
}

static int by_heat(const void *a, const void *b)
{
    const struct design_call *x = a, *y = b;
    return ORDER(y->heat, x->heat) ?: ORDER(x->order, y->order);
}

void design_factors(struct design *d, size_t most, uint64_t seed)
{
    struct rng r = rng_for(seed, str_of("calls of equal heat"));
    for (size_t k = 0; k < d->n; k++) d->call[k].order = rng_unit(&r);
    if (d->n) qsort(d->call, d->n, sizeof *d->call, by_heat);
    d->factors = most < d->n ? most : d->n;
}

size_t design_most(enum design_kind kind, size_t trials)
{
    return kind != DESIGN_FACTORIAL ? SIZE_MAX : trials ? trials - 1 : 0;
}

void design_free(struct design *d)
{
    free(d->call);
    intern_free(&d->key);
    arena_free(&d->text);
    *d = (struct design){ 0 };
}

/* ---- the kinds; a trial of the first three is the same however many there are */

static void fill_random(const struct design *d, double share, bool flip, struct rng *r, unsigned char *v)
{
    for (size_t k = 0; k < d->factors; k++) {
        bool other = rng_unit(r) < share;
        v[k] = flip ? d->call[k].by_default != other : other;
    }
}

static void fill_groups(const struct design *d, struct rng *r, unsigned char *v)
{
    struct intern callee = { 0 };
    unsigned char *coin = xmalloc(d->factors + 1, 1);
    for (size_t k = 0; k < d->factors; k++) {
        size_t before = callee.n, g = intern(&callee, d->call[k].callee);
        if (g == before) coin[g] = rng_unit(r) < 0.5;
        v[k] = coin[g];
    }
    free(coin);
    intern_free(&callee);
}

/* Entry i, j of the matrix is the parity of the bits that i and j share; column 0, which is constant, is nobody's. */
static void fill_factorial(const struct design *d, size_t trials, uint64_t seed, unsigned char *verdict)
{
    struct rng r = rng_for(seed, str_of("rows and columns"));
    size_t *row = xmalloc(trials, sizeof *row), *column = xmalloc(trials, sizeof *column);
    for (size_t i = 0; i < trials; i++) row[i] = column[i] = i;
    rng_shuffle(&r, row, trials, sizeof *row);
    rng_shuffle(&r, column + 1, trials - 1, sizeof *column);
    for (size_t i = 0; i < trials; i++)
        for (size_t k = 0; k < d->factors; k++)
            verdict[i * d->factors + k] = __builtin_parityll(row[i] & column[k + 1]) != 0;
    free(row);
    free(column);
}

void design_fill(const struct design *d, enum design_kind kind, size_t trials, double share, uint64_t seed,
                 unsigned char *verdict)
{
    if (kind == DESIGN_FACTORIAL) {
        fill_factorial(d, trials, seed, verdict);
        return;
    }
    for (size_t i = 0; i < trials; i++) {
        char name[32];
        snprintf(name, sizeof name, "trial %zu", i);
        struct rng r = rng_for(seed, str_of(name));
        unsigned char *v = verdict + i * d->factors;
        if (kind == DESIGN_GROUPS) fill_groups(d, &r, v);
        else fill_random(d, kind == DESIGN_FLIP ? share : 0.5, kind == DESIGN_FLIP, &r, v);
    }
}

void design_set(const struct design *d, const unsigned char *verdict, struct live *set)
{
    for (size_t k = 0; k < d->n; k++)
        live_add(set, d->call[k].callee, d->call[k].chain, k < d->factors ? verdict[k] : d->call[k].by_default);
    live_sort(set);
}
