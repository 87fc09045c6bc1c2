/* timed.c - see timed.h */
#include "inline/timed.h"
#include "inline/cost.h"
#include "base/checked.h"
#include "base/message.h"
#include "base/rng.h"
#include "measure/runs.h"
#include "table/csvio.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const timed_event[TIMED_EVENTS] = { "instructions", "data_reads", "data_writes", "fetch_misses",
                                                "read_misses", "write_misses", "last_misses", "branches",
                                                "indirect_branches", "mispredictions" };

struct count { uint32_t run, label; double value[TIMED_EVENTS]; };
struct counts {
    struct count *row;
    size_t n, room;
    struct intern runs, labels;
};

static struct count *count_of(const struct counts *c, uint32_t run, uint32_t label)
{
    for (size_t i = c->n; i > 0; i--)
        if (c->row[i - 1].run == run && c->row[i - 1].label == label) return &c->row[i - 1];
    return NULL;
}

static void read_counts(struct counts *c, char **files)
{
    csv *t = csv_files(files);
    int run = csv_need(t, "run"), name = csv_need(t, "label"), metric = csv_need(t, "metric"),
        value = csv_need(t, "value");
    while (csv_next(t)) {
        size_t e = 0;
        while (e < TIMED_EVENTS && !str_is(csv_str(t, metric), timed_event[e])) e++;
        if (e == TIMED_EVENTS || !csv_has(t, value)) continue;
        uint32_t r = intern(&c->runs, csv_str(t, run)), l = intern(&c->labels, csv_str(t, name));
        struct count *at = count_of(c, r, l);
        if (!at) {
            c->row = grow(c->row, c->n + 1, &c->room, sizeof *c->row);
            at = &c->row[c->n++];
            *at = (struct count){ .run = r, .label = l };
            for (size_t k = 0; k < TIMED_EVENTS; k++) at->value[k] = NAN;
        }
        at->value[e] = csv_num(t, value);
    }
    csv_close(t);
}

/* everything counted, in both, and over something */
static bool comparable(const struct count *c, const struct count *base)
{
    bool known = c && base && base->value[0] > 0;
    for (size_t e = 0; e < TIMED_EVENTS && known; e++) known = !isnan(c->value[e]) && !isnan(base->value[e]);
    return known;
}

static void add(struct timed *t, str program, uint32_t label, const struct count *c, const struct count *base,
                const struct pairs *p)
{
    uint32_t k = intern(&t->programs, program);
    size_t i = 0;
    while (i < t->n && (t->build[i].program != k || t->build[i].label != label)) i++;
    if (i == t->n) {
        t->build = grow(t->build, t->n + 1, &t->room, sizeof *t->build);
        t->build[t->n++] = (struct timed_build){ .program = k, .label = label };
    }
    struct timed_build *to = &t->build[i];
    double sum[2] = { 0 }, rounds[2] = { 0 };
    for (size_t j = 0; j < p->n; j++) sum[j % 2] += p->d[j], rounds[j % 2]++;
    for (size_t e = 0; e < TIMED_EVENTS; e++) to->x[e] += (c->value[e] - base->value[e]) / base->value[0];
    to->y += (sum[0] + sum[1]) / (double)p->n;
    for (int h = 0; h < 2; h++) to->half[h] += rounds[h] > 0 ? sum[h] / rounds[h] : NAN;
    to->runs++;
}

static void read_runs(struct timed *t, const struct counts *counts, const char *path, const char *base)
{
    char *files[] = { (char *)(uintptr_t)path, NULL };
    struct runs *r = runs_read(files, &(struct runs_options){ .metric = "cpu" });
    long first = runs_label(r, base), ours = intern_find(&counts->labels, str_of(base));
    if (first < 0 || ours < 0) die("no label '%s' in both tables", base);
    for (size_t k = 0; k < r->benchmark.n; k++) {
        str name = r->benchmark.name[k];
        long run = intern_find(&counts->runs, name);
        const char *dot = memrchr(name.s, '.', name.n);
        const struct count *b = run < 0 ? NULL : count_of(counts, (uint32_t)run, (uint32_t)ours);
        for (size_t l = 0; b && l < r->label.n; l++) {
            long label = intern_find(&counts->labels, r->label.name[l]);
            const struct count *c = label < 0 || label == ours ? NULL
                : count_of(counts, (uint32_t)run, (uint32_t)label);
            if (!comparable(c, b)) continue;
            struct pairs p = runs_pairs(r, &r->main[k], (size_t)first, l);
            if (p.n && !p.errors)
                add(t, (str){ name.s, dot ? (size_t)(dot - name.s) : name.n }, (uint32_t)label, c, b, &p);
            pairs_free(&p);
        }
    }
    runs_free(r);
}

void timed_read(struct timed *t, char **events, const char *runs, const char *base)
{
    struct counts counts = { 0 };
    read_counts(&counts, events);
    read_runs(t, &counts, runs, base);
    for (size_t i = 0; i < t->n; i++) {
        struct timed_build *b = &t->build[i];
        for (size_t e = 0; e < TIMED_EVENTS; e++) b->x[e] /= b->runs;
        b->y /= b->runs, b->half[0] /= b->runs, b->half[1] /= b->runs;
    }
    free(counts.row);
    intern_free(&counts.runs);
    intern_free(&counts.labels);
}

void timed_free(struct timed *t)
{
    free(t->build);
    intern_free(&t->programs);
}

/* from all programs but two, -1: from all but one or from all */
static void fit(const struct timed *t, long without, long nor, double penalty, double weight[TIMED_EVENTS])
{
    static const double prior[TIMED_EVENTS] = { 1 };
    double *x = xmalloc(size_mul(t->n + 1, TIMED_EVENTS), sizeof *x), *y = xmalloc(t->n + 1, sizeof *y);
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (t->build[i].program == without || t->build[i].program == nor) continue;
        memcpy(x + n * TIMED_EVENTS, t->build[i].x, sizeof t->build[i].x);
        y[n++] = t->build[i].y;
    }
    cost_fit(x, y, n, TIMED_EVENTS, penalty, prior, weight);
    free(x);
    free(y);
}

static double cost_of(const struct timed_build *b, const double weight[TIMED_EVENTS])
{
    double cost = 0;
    for (size_t e = 0; e < TIMED_EVENTS; e++) cost += weight[e] * b->x[e];
    return cost;
}

/* the sum of squares on each program of weights fitted to the others; ties: the greater penalty */
static double choose_penalty(const struct timed *t, long without)
{
    static const double penalty[] = { 100, 10, 1, 0.1, 0.01 };
    double best = penalty[0], least = INFINITY;
    for (size_t p = 0; p < sizeof penalty / sizeof *penalty; p++) {
        double sum = 0, weight[TIMED_EVENTS];
        for (size_t k = 0; k < t->programs.n; k++) {
            if ((long)k == without) continue;
            fit(t, (long)k, without, penalty[p], weight);
            for (size_t i = 0; i < t->n; i++) {
                double d = t->build[i].program == k ? cost_of(&t->build[i], weight) - t->build[i].y : 0;
                sum += d * d;
            }
        }
        if (sum < least) least = sum, best = penalty[p];
    }
    return best;
}

void timed_fit(const struct timed *t, long without, double penalty, double weight[TIMED_EVENTS])
{
    fit(t, without, -1, penalty < 0 ? choose_penalty(t, without) : penalty, weight);
}

static double error(const double *a, const double *b, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++) s += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(s / (double)n);
}

/* a program's builds, column by column; caller frees time */
struct columns { size_t n; double *time, *first, *second, *plain, *cost; };

static struct columns columns_of(const struct timed *t, uint32_t program, const double weight[TIMED_EVENTS])
{
    double *v = xmalloc(size_mul(t->n + 1, 5), sizeof *v);
    struct columns c = { 0, v, v + t->n, v + 2 * t->n, v + 3 * t->n, v + 4 * t->n };
    for (size_t i = 0; i < t->n; i++) {
        const struct timed_build *b = &t->build[i];
        if (b->program != program) continue;
        c.time[c.n] = b->y, c.first[c.n] = b->half[0], c.second[c.n] = b->half[1], c.plain[c.n] = log1p(b->x[0]);
        c.cost[c.n++] = cost_of(b, weight);
    }
    return c;
}

struct timed_verdict timed_judge(const struct timed *t, uint32_t program, const double weight[TIMED_EVENTS])
{
    struct columns c = columns_of(t, program, weight);
    struct timed_verdict out = { c.n, cost_rank(c.plain, c.time, c.n), cost_rank(c.cost, c.time, c.n),
                                 cost_rank(c.first, c.second, c.n), error(c.plain, c.time, c.n),
                                 error(c.cost, c.time, c.n), error(c.first, c.second, c.n) };
    free(c.time);
    return out;
}

void timed_resample(const struct timed *t, uint32_t program, const double weight[TIMED_EVENTS], uint64_t seed,
                    size_t draws, double *instructions, double *cost)
{
    struct columns c = columns_of(t, program, weight);
    double *v = xmalloc(size_mul(c.n + 1, 3), sizeof *v), *time = v, *plain = v + c.n, *price = v + 2 * c.n;
    struct rng rng = rng_for(seed, t->programs.name[program]);
    for (size_t d = 0; d < draws; d++) {
        for (size_t i = 0; i < c.n; i++) {
            size_t k = rng_below(&rng, c.n);
            time[i] = c.time[k], plain[i] = c.plain[k], price[i] = c.cost[k];
        }
        instructions[d] = cost_rank(plain, time, c.n);
        cost[d] = cost_rank(price, time, c.n);
    }
    free(v);
    free(c.time);
}
