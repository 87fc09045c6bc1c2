/* history.c - see history.h */
#include "inline/history.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/num.h"
#include "table/csvio.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int compare(const void *a, const void *b)
{
    const struct tried *x = a, *y = b;
    return str_cmp(x->chain, y->chain) ?: ORDER(x->step, y->step) ?: str_cmp(x->decisions, y->decisions) ?:
           str_cmp(x->parent, y->parent);
}

static str keep(struct history *h, str s)
{
    return (str){ arena_copy(&h->text, s.s, s.n), s.n };
}

/* the numbers of a field, separated by blanks */
static void read_runs(struct history *h, struct tried *r, const csv *t, int column)
{
    if (column < 0) return;
    str s = csv_str(t, column);
    r->run = arena_get(&h->numbers, size_mul(s.n / 2 + 1, sizeof *r->run));
    for (size_t i = 0, from = 0; i <= s.n; i++) {
        if (i < s.n && s.s[i] != ' ') continue;
        if (i > from) {
            if (!num_parse(s.s + from, i - from, &r->run[r->nrun]) || !(r->run[r->nrun] > 0))
                csv_die(t, column, "numbers above 0 separated by blanks");
            r->nrun++;
        }
        from = i + 1;
    }
}

/* a count, nan where there is none; ratios and logs are taken of it */
static double count_of(const csv *t, int column)
{
    double v = csv_num_or(t, column, NAN);
    if (v <= 0) csv_die(t, column, "a number above 0");
    return v;
}

static void read_one(struct history *h, const char *path)
{
    csv *t = csv_open(path);
    int program = csv_need(t, "program"), decisions = csv_need(t, "decisions"), parent = csv_need(t, "parent"),
        chain = csv_need(t, "chain"),
        step = csv_need(t, "step");
    int level = csv_need(t, "level"), state = csv_need(t, "state"), reason = csv_find(t, "reason"),
        instructions = csv_need(t, "instructions"),
        text = csv_need(t, "text_bytes"), runs = csv_find(t, "run_instructions");
    while (csv_next(t)) {
        struct tried r = { .program = keep(h, csv_str(t, program)), .decisions = keep(h, csv_str(t, decisions)),
                           .parent = keep(h, csv_str(t, parent)), .chain = keep(h, csv_str(t, chain)),
                           .level = keep(h, csv_str(t, level)), .state = keep(h, csv_str(t, state)),
                           .row = h->n, .step = -1 };
        if (reason >= 0) r.reason = keep(h, csv_str(t, reason));
        if (csv_has(t, step)) r.step = (long)csv_int(t, step);
        r.instructions = count_of(t, instructions);
        r.text_bytes = count_of(t, text);
        read_runs(h, &r, t, runs);
        r.ok = str_is(r.state, "ok");
        h->v = grow(h->v, h->n + 1, &h->cap, sizeof *h->v);
        h->v[h->n++] = r;
    }
    csv_close(t);
}

void history_read(struct history *h, char **paths)
{
    for (; *paths; paths++) {
        struct stat st;
        if (strcmp(*paths, "-") != 0 && (stat(*paths, &st) != 0 || (S_ISREG(st.st_mode) && st.st_size == 0))) continue;
        read_one(h, *paths);
    }
    if (h->n) qsort(h->v, h->n, sizeof *h->v, compare);
    size_t kept = 0;
    for (size_t i = 0; i < h->n; i++) {
        bool again = kept && compare(&h->v[kept - 1], &h->v[i]) == 0;
        if (again && !str_is(h->v[kept - 1].state, "missing")) continue;     /* a compiler that is missing may come */
        kept -= again;
        h->v[kept++] = h->v[i];
    }
    h->n = kept;
}

const struct tried *history_find(const struct history *h, str decisions)
{
    for (size_t i = 0; i < h->n; i++) if (str_eq(h->v[i].decisions, decisions)) return &h->v[i];
    return NULL;
}

double history_instructions(const struct objective *o, const struct tried *t)
{
    double instructions = 0;
    if (!t->nrun || t->nrun != o->base->nrun) return log(t->instructions / o->base->instructions);
    for (size_t i = 0; i < t->nrun; i++) instructions += log(t->run[i] / o->base->run[i]) / (double)t->nrun;
    return instructions;
}

double history_energy(const struct objective *o, const struct tried *t)
{
    if (!t->ok || str_is(t->chain, STOCK_CHAIN)) return INFINITY;
    double instructions = history_instructions(o, t);
    double text = log(t->text_bytes / o->base->text_bytes);
    if (o->text_weight >= 1 && isnan(instructions)) instructions = 0;    /* a search for size runs nothing */
    if (o->max_text_ratio > 0 && text > log(o->max_text_ratio)) return INFINITY;
    if (o->within && instructions > history_instructions(o, o->within)) return INFINITY;
    double e = (1 - o->text_weight) * instructions + o->text_weight * text;
    return isnan(e) ? INFINITY : e;
}

const struct tried *history_best(const struct history *h, const struct objective *o)
{
    const struct tried *best = o->base;
    double least = history_energy(o, o->base); /* 0, but for a base that breaks a limit */
    for (size_t i = 0; i < h->n; i++) {
        double e = history_energy(o, &h->v[i]);
        if (e < least || (e == least && best != o->base && str_cmp(h->v[i].decisions, best->decisions) < 0)) {
            least = e;
            best = &h->v[i];
        }
    }
    return best;
}
